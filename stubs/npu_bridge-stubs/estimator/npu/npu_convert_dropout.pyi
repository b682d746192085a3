import typing

from .. import npu_ops as npu_ops

def dropout_call(self: typing.Any, inputs: typing.Any, training: typing.Any = None) -> typing.Any: ...
