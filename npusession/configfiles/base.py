"""What all side files have in common: they are read, checked, and written in one piece."""

from __future__ import annotations

import dataclasses
import os
import typing

from ..errors import NpuSessionError, OptionsError
from ..options.problems import Problem, Rule, Severity
from ..products import Product
from ._rules import BAD_NAME, EMPTY, report
from ._write import write_whole

if typing.TYPE_CHECKING:
    from ._source import Source

Self = typing.TypeVar("Self", bound="ConfigFile")


class ConfigFileError(NpuSessionError, ValueError):
    """A side file that does not keep to its format.

    Attributes:
        path: the file, or what stands for it when text was read.
        line: line of the fault, counted from 1.
        column: character in that line, counted from 1.
        problem: what is there.
        expected: what should be there instead.
    """

    def __init__(self, path: str, line: int, column: int, problem: str, expected: str) -> None:
        self.path, self.line, self.column, self.problem, self.expected = path, line, column, problem, expected
        super().__init__(path, line, column, problem, expected)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.problem}; expected {self.expected}"


@dataclasses.dataclass(frozen=True)
class ConfigFile:
    """A side file as a value: frozen, hashable, picklable, and equal to another that says the same in the same order.

    Comments and layout are not part of the value; writing a value that was read leaves them out.
    """

    #: The format's name, as the option table writes it.
    format: typing.ClassVar[str]
    #: How a file of this format usually ends.
    suffix: typing.ClassVar[str]
    #: The rules that only this format has.
    rules: typing.ClassVar[tuple[Rule, ...]] = ()
    #: Whether a value made without arguments sets something.
    _sets_by_default: typing.ClassVar[bool] = False

    #: What was noticed in the text that this value was read from.
    _found: typing.Tuple[Problem, ...] = dataclasses.field(default=(), init=False, repr=False, compare=False)

    @classmethod
    def read(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Read a file.

        Args:
            path: the file, in UTF-8 with or without a byte order mark, with line ends of any system.

        Raises:
            ConfigFileError: the file does not keep to the format; it says where, and what was expected.
            OSError: the file is not there or cannot be read.
        """
        with open(path, "rb") as file:
            data = file.read()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-8")
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            raise ConfigFileError(os.fsdecode(path), line, column, "bytes that are not UTF-8", "UTF-8") from None
        return cls.parse(text, os.fsdecode(path))

    @classmethod
    def parse(cls: type[Self], text: str, source: str = "<text>") -> Self:
        """Read text.

        Args:
            text: what a file of this format holds.
            source: what to call it in errors.

        Raises:
            ConfigFileError: the text does not keep to the format; it says where, and what was expected.
        """
        from ._source import Source

        reading = Source(text, source)
        value = cls._parse(reading)
        object.__setattr__(value, "_found", tuple(reading.found))
        return value

    def check(self, product: Product | str | None = None) -> list[Problem]:
        """Return what is wrong with the value: errors and warnings, each with its code, place and fix.

        Args:
            product: the product family that the file is for, by any of its names; when it is not known, what only
                some products support is a warning.

        Raises:
            ValueError: nothing is known by that product name.
        """
        known = None if product is None else Product.of(product)
        problems = [*self._found, *self._problems(known)]
        if not self._sets_by_default and self == type(self)():
            problems.append(report(EMPTY, self.format, "nothing is set", fix="leave the option out"))
        return problems

    def text(self) -> str:
        """Return the file's text, which ends with a newline and reads back as an equal value.

        Raises:
            OptionsError: a name or word cannot be written so that it reads back; :meth:`check` says the same.
        """
        text = self._render()
        try:
            text.encode("utf-8")
            same = self.parse(text) == self
        except (ConfigFileError, UnicodeEncodeError):
            same = False
        if not same:
            errors = [problem for problem in self.check() if problem.severity is Severity.ERROR]
            raise OptionsError(errors or [report(BAD_NAME, self.format, "the text would not read back as this value")])
        return text

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> str:
        """Write the file and return its path.

        The file appears complete or not at all, in UTF-8. One that is overwritten keeps its permissions, and a
        symbolic link goes on pointing at it.

        Args:
            path: where to write; the directory must exist.
            overwrite: replace a file that is there.

        Raises:
            FileExistsError: something is there and ``overwrite`` is not set.
            OptionsError: the value cannot be written; see :meth:`text`.
            OSError: the file cannot be written.
        """
        data = self.text().encode("utf-8")
        return write_whole(os.fsdecode(path), data, overwrite)

    @classmethod
    def _parse(cls: type[Self], source: Source) -> Self:
        raise NotImplementedError

    def _problems(self, product: Product | None) -> typing.Iterable[Problem]:
        raise NotImplementedError

    def _render(self) -> str:
        raise NotImplementedError
