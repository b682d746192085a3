"""Plans in files: TOML or JSON of the keywords of a plan, or a ConfigProto, serialised or in text format."""

from __future__ import annotations

import os
import typing

from ._compat import shallow
from ._tensorflow import tf1
from .errors import NpuSessionError

#: Endings of files that hold a ConfigProto.
_TEXT_PROTO = (".pbtxt", ".textproto", ".prototxt", ".config")
_BINARY_PROTO = (".pb", ".bin")


class PlanFileError(NpuSessionError, ValueError):
    """A file that is in none of the formats of plans, or is broken; the message names the place."""


def read(path: str | os.PathLike[str]) -> typing.Any:
    """Read a plan file; returns the mapping of a TOML or JSON file, or a ConfigProto.

    The format follows the ending; a file with another ending is taken for a ConfigProto in text format or, failing
    that, serialised.

    Raises:
        PlanFileError: the content is not in the format, with line and column where its parser tells them.
        OSError: the file cannot be read.
        TensorFlowNotFoundError: it is a ConfigProto, and TensorFlow is not installed.
    """
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        raise
    except Exception as error:
        # A null character, surrogates, or an object whose path cannot be told.
        raise PlanFileError(f"no path of a file: {type(error).__name__}") from error
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending in (".toml", ".json"):
        mapping = _mapping(path, content, ending)
        if not isinstance(mapping, dict):
            raise PlanFileError(f"{os.fspath(path)}: a plan is an object of keywords, not a {type(mapping).__name__}")
        return mapping
    faults = []
    readers = {"text": _text_proto, "binary": _binary_proto}
    kinds = ["text"] if ending in _TEXT_PROTO else ["binary"] if ending in _BINARY_PROTO else ["text", "binary"]
    for kind in kinds:
        try:
            return readers[kind](content)
        except ValueError as error:
            faults.append(f"{kind}: {error}")
    raise PlanFileError("{}: no ConfigProto ({})".format(os.fspath(path), "; ".join(faults)))


def write(path: str | os.PathLike[str], keywords: typing.Mapping[str, object]) -> None:
    """Write the keywords of a plan as TOML or JSON, by the path's ending; a reader never sees half a file."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending == ".json":
        import json

        text = json.dumps(keywords, indent=2, ensure_ascii=False) + "\n"
    elif ending == ".toml":
        import tomli_w

        text = tomli_w.dumps(keywords)
    else:
        raise ValueError(f"{os.fspath(path)}: a plan is written to a .toml or a .json file")
    # Imported where it is used, as in other modules here: importing the package has to be quick.
    import tempfile

    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, suffix=ending)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mapping(path: str | os.PathLike[str], content: bytes, ending: str) -> object:
    try:
        text = content.decode("utf-8-sig")
        if ending == ".json":
            import json

            return json.loads(shallow(text))
        return _toml().loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanFileError(f"{os.fspath(path)}: {error}") from error


def _toml() -> typing.Any:
    try:
        import tomllib
    except ImportError:
        # Python 3.10 and earlier.
        import tomli as tomllib
    return tomllib


def _text_proto(content: bytes) -> typing.Any:
    from google.protobuf import text_format

    config = tf1().ConfigProto()
    try:
        return text_format.Parse(content.decode("utf-8"), config)
    except text_format.ParseError as error:
        raise ValueError(error) from error


def _binary_proto(content: bytes) -> typing.Any:
    from google.protobuf.message import DecodeError

    try:
        return tf1().ConfigProto.FromString(content)
    except DecodeError as error:
        raise ValueError(error) from error
