"""What the emulation is told about the host that it stands for, and how strict it is."""

from __future__ import annotations

import dataclasses

from ...products import Product


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

    Raises:
        ValueError: there is no such product, or the number of devices is none.
        TypeError: a value has another type.
    """

    devices: int = 8
    product: Product | None = None
    strict: bool = False
    strict_abort: bool = False
    simulate_precision: bool = False

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
