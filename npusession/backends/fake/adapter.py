"""What the Python half of the emulated adapter keeps for the process."""

from __future__ import annotations

import typing

#: Values that init_resource leaves for the rank getters, by name.
VALUES: dict[str, typing.Any] = {}
#: The gradients of the optimizer that was built last, when it shards the update of weights.
GRADIENTS: list[typing.Any] = []

SATURATION, INF_NAN = 0, 1
#: Whether numbers that overflow saturate, or become infinite as on the CPU.
sat_mode = INF_NAN
