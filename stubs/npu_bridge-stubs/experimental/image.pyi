import typing

dtypes: typing.Any

def decode_image(
    contents: typing.Any, channels: int = 0, dtype: typing.Any = ..., expand_animations: bool = True
) -> typing.Any: ...
