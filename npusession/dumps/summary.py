"""Statistics of a tensor, as dumps have them."""

from __future__ import annotations

import math
import typing


class Statistics(typing.NamedTuple):
    """Numbers that describe a tensor.

    Attributes:
        elements: how many there are.
        maximum: of the finite elements, NaN where there are none or elements are no numbers, as are the next three.
        minimum: of the finite elements.
        mean: of the finite elements.
        l2norm: square root of the sum of the squares of the finite elements.
        nan: number of elements that are NaN.
        negative_inf: number of elements that are minus infinity.
        positive_inf: number of elements that are infinity.
    """

    elements: int
    maximum: float = math.nan
    minimum: float = math.nan
    mean: float = math.nan
    l2norm: float = math.nan
    nan: int = 0
    negative_inf: int = 0
    positive_inf: int = 0

    @classmethod
    def of(cls, array: typing.Any) -> Statistics:
        """Return the statistics of a NumPy array of any shape and type."""
        import numpy

        if array.dtype.kind not in "biuf":
            return cls(int(array.size))
        wide = array.astype("float64").ravel()
        finite = wide[numpy.isfinite(wide)]
        counts = (
            int(numpy.isnan(wide).sum()),
            int(numpy.isneginf(wide).sum()),
            int(numpy.isposinf(wide).sum()),
        )
        if not finite.size:
            return cls(int(array.size), math.nan, math.nan, math.nan, math.nan, *counts)
        maximum, minimum, mean = float(finite.max()), float(finite.min()), float(finite.mean())
        return cls(int(array.size), maximum, minimum, mean, float(numpy.linalg.norm(finite)), *counts)
