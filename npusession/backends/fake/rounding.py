"""How matrix operators compute in each precision mode, for the simulation of low precision."""

from __future__ import annotations

import typing

from ...configfiles import MixList
from ...options.basic import GRAPH_RUN_MODE
from ...options.model import Scene
from ...options.precision import MODIFY_MIXLIST, PRECISION_MODE, PRECISION_MODE_V2
from ...products import ALL_PRODUCTS
from .runtime import RUNTIME
from .verdicts import Parameters, read


class Rounding(typing.NamedTuple):
    """How matrix operators compute.

    Attributes:
        inputs: the type that their inputs are rounded to, ``None`` for none.
        outputs: the type that their outputs are rounded to.
        kept: types of operators that are not rounded after all.
    """

    inputs: str | None = None
    outputs: str | None = None
    kept: frozenset[str] = frozenset()


_KEPT = Rounding()
_FLOAT16, _BFLOAT16 = Rounding("float16", "float16"), Rounding("bfloat16", "bfloat16")
_FLOAT16_IN = Rounding("float16")
#: By the values of both options; those that are not here keep float32 in matrix operators, or are not simulated.
_MODES = {
    "allow_fp32_to_fp16": _FLOAT16,
    "force_fp16": _FLOAT16,
    "fp16": _FLOAT16,
    "allow_mix_precision": _FLOAT16,
    "allow_mix_precision_fp16": _FLOAT16,
    "mixed_float16": _FLOAT16,
    "allow_mix_precision_bf16": _BFLOAT16,
    "mixed_bfloat16": _BFLOAT16,
    "force_fp32": _FLOAT16_IN,
    "cube_fp16in_fp32out": _FLOAT16_IN,
}


#: The modes in which a list says which operators are lowered.
_MIXED = frozenset(mode for mode in _MODES if "mix" in mode)


class Precision:
    """The precision of one session.

    Args:
        parameters: the session's options.
    """

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._black: frozenset[str] | None = None

    def rounding(self, low: str | None = None) -> Rounding:
        """Return how matrix operators compute now.

        Args:
            low: the mode that accelerated training sets in its low phase, ``None`` outside of it.
        """
        mode = low or read(self._parameters, PRECISION_MODE_V2) or read(self._parameters, PRECISION_MODE)
        mode = mode or self._default()
        found = _MODES.get(mode, _KEPT)
        return found._replace(kept=self._kept()) if mode in _MIXED else found

    def _default(self) -> str:
        product = RUNTIME.settings.product
        inference = GRAPH_RUN_MODE.name in self._parameters and read(self._parameters, GRAPH_RUN_MODE) == 0
        scene = Scene.INFERENCE if inference else Scene.TRAINING
        for default in PRECISION_MODE.defaults:
            # Where no product is set, what only some products do is not done.
            known = default.products >= ALL_PRODUCTS if product is None else product in default.products
            if scene in default.scenes and known:
                return str(default.value)
        return ""

    def _kept(self) -> frozenset[str]:
        if self._black is None:
            path = read(self._parameters, MODIFY_MIXLIST)
            try:
                self._black = frozenset(MixList.read(path).black_add if path else ())
            except (OSError, ValueError):
                # What the compiler makes of such a file is not known.
                self._black = frozenset()
        return self._black
