"""The module of the adapter's native library. Scripts can import it; nothing in it is emulated."""

from __future__ import annotations

import typing


def __getattr__(name: str) -> typing.NoReturn:
    raise AttributeError(
        f"tf_adapter.{name}: it belongs to the adapter's native library, which is not emulated; npu_bridge's other "
        "modules do without it"
    )
