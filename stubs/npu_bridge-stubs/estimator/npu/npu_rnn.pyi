import typing

def npu_dynamic_rnn(
    cell: typing.Any,
    inputs: typing.Any,
    initial_state: typing.Any = None,
    dtype: typing.Any = None,
    sequence_length: typing.Any = None,
    scope: typing.Any = None,
) -> tuple[typing.Any, typing.Any]: ...
