import typing

def file_constant(
    shape: typing.Sequence[int],
    dtype: typing.Any,
    file_path: str | None = None,
    file_id: str | None = None,
    name: str | None = None,
) -> typing.Any: ...
