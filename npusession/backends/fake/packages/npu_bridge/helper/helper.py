"""The library of the adapter's ops, which the emulation does not have."""

from __future__ import annotations

import typing

from npusession.errors import NotEmulatedError

version = "v1.15.0"


class _Library:
    """Has every op, and fails when one is called."""

    def __getattr__(self, name: str) -> typing.Callable[..., typing.Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def op(*args: object, **keywords: object) -> typing.NoReturn:
            raise NotEmulatedError(
                f"{name} is an op of the adapter's library, which runs on a device only.\n"
                "  Call the function of npu_bridge that wraps it; those are emulated where the CPU has an equal."
            )

        return op


npu_bridge_handle = _Library()


def get_gen_ops() -> typing.Any:
    """Return the library of the adapter's ops."""
    return npu_bridge_handle
