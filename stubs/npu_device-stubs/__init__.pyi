import typing

from . import compat as compat

__all__ = ["compat", "open"]

def open(device_id: int | None = None) -> typing.Any: ...
def __getattr__(name: str) -> typing.Any: ...
