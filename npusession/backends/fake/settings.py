"""What the emulation is told about the host that it stands for, and how strict it is."""

from __future__ import annotations

import dataclasses
import json
import os
import typing

from ...products import Product

#: Settings as JSON, for processes that a process on the emulation starts.
VARIABLE = "NPUSESSION_FAKE_SETTINGS"


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of the emulation, changed with ``RUNTIME.configure``.

    Attributes:
        devices: how many devices the emulated host has; their ids start at 0.
        product: the product family of the devices, which ``Product.of`` takes by any name. By default
            none in particular, so that rules of products do not count.
        strict: whether options that the runtime would ignore in silence fail the session's first run.
        strict_abort: whether the process really ends with SIGABRT where the real one does; by default that is an
            :class:`~npusession.NpuAbortError`.
        simulate_precision: whether low precision is really computed, so that its effect can be seen.
        job: what counts as JOB_ID where the environment has none; empty for nothing.

    Raises:
        ValueError: there is no such product, or the number of devices is none.
        TypeError: a value has another type.
    """

    devices: int = 8
    product: Product | None = None
    strict: bool = False
    strict_abort: bool = False
    simulate_precision: bool = False
    job: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.devices, int) or isinstance(self.devices, bool):
            raise TypeError(f"devices={self.devices!r}: a number of devices is an int")
        if self.devices < 1:
            raise ValueError(f"devices={self.devices}: a host has at least 1 device")
        if self.product is not None:
            object.__setattr__(self, "product", Product.of(self.product))
        for name in ("strict", "strict_abort", "simulate_precision"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name}={getattr(self, name)!r}: True or False")
        if not isinstance(self.job, str):
            raise TypeError(f"job={self.job!r}: a JOB_ID is text")

    def hand_on(self) -> None:
        """Have the processes that this one starts begin with these settings."""
        values = dataclasses.asdict(self)
        os.environ[VARIABLE] = json.dumps({**values, "product": self.product and self.product.value})


def inherited() -> dict[str, typing.Any]:
    """Return the settings that the process which started this one handed on.

    Raises:
        ValueError: the variable holds something else.
    """
    text = os.environ.get(VARIABLE)
    if text is None:
        return {}
    try:
        return dict(json.loads(text))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{VARIABLE}={text!r}: it is set by npusession run, as a JSON object ({error})") from error
