import typing

__all__ = ["get_gen_ops", "npu_bridge_handle", "version"]
version: str

def get_gen_ops() -> typing.Any: ...

npu_bridge_handle: typing.Any
