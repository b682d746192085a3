import typing

__all__ = ["npu_unary_ops"]
npu_unary_ops: typing.Any
