from . import v1 as v1

__all__ = ["enable_v1", "v1"]

def enable_v1() -> None: ...
