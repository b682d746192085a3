"""What a check reports: rules with stable codes, problems, and the report that collects them."""

from __future__ import annotations

import dataclasses
import enum
import typing

from .._text import shorten


class Severity(enum.Enum):
    """How bad a problem is."""

    #: Fails, aborts the process, is ignored, or does something else than what was asked.
    ERROR = "error"
    #: Deprecated, dependent on the version, or only useful in another setting.
    WARNING = "warning"


class Page(enum.Enum):
    """The vendor's reference pages that the table is made from."""

    SESSION = "session configuration reference"
    VARIABLES = "environment variable reference"
    SESS_RUN = "sess.run session configuration (earlier releases)"
    RUNTIME = "measured on the runtime"


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule that options must keep.

    Attributes:
        code: stable identifier, ``NPU`` and three digits; the first digit tells the kind (1 names and values,
            2 options among each other, 3 the ConfigProto, 4 the environment, 5 side files, 6 rank tables).
        slug: the kind of mistake in words, shared by all rules of that kind.
        title: the rule in one sentence.
        severity: of the problems it finds, unless one says otherwise.
        source: the page of the reference that it comes from; a group adds its section for its own rules.
    """

    code: str
    slug: str
    title: str
    severity: Severity = Severity.ERROR
    source: str = dataclasses.field(default=Page.SESSION.value, compare=False)


MISSPELT = Rule("NPU101", "misspelt-option", "The runtime ignores a name that it does not know.")
UNKNOWN = Rule("NPU102", "unknown-option", "No option of this name is known.")
REMOVED = Rule("NPU103", "removed-option", "The runtime no longer reads this option.")
WRONG_FIELD = Rule("NPU104", "wrong-field", "An option set through another field of AttrValue reads as zero or empty.")
BAD_VALUE = Rule("NPU105", "bad-value", "The value is outside what the reference allows.")
BAD_TYPE = Rule("NPU106", "bad-value", "The value has a type that cannot be read as this option.")
GIVEN_TWICE = Rule("NPU107", "given-twice", "An option is given in two places with different values.")
DEPRECATED = Rule("NPU108", "deprecated-option", "The option will go in a later release.", Severity.WARNING)
WRONG_SCENE = Rule("NPU109", "wrong-scene", "The option belongs to the other of training and online inference.")
WRONG_PRODUCT = Rule("NPU110", "wrong-product", "The product at hand does not support the option or value.")
PROFILING_KEY = Rule("NPU111", "profiling-key-as-option", "Keys of profiling_options are not options themselves.")
UNCHECKED = Rule("NPU112", "unchecked-option", "The option is passed on unchecked.", Severity.WARNING)
BAD_PATH = Rule("NPU113", "bad-value", "The path must exist and have the right kind and rights.")
BROKEN_FILE = Rule("NPU114", "bad-value", "A side file keeps to its format.")

BASE_RULES = (
    MISSPELT, UNKNOWN, REMOVED, WRONG_FIELD, BAD_VALUE, BAD_TYPE, GIVEN_TWICE, DEPRECATED, WRONG_SCENE,
    WRONG_PRODUCT, PROFILING_KEY, UNCHECKED, BAD_PATH, BROKEN_FILE,
)  # fmt: skip


class Problem(typing.NamedTuple):
    """One thing that is wrong with a set of options, with all that is needed to put it right.

    Attributes:
        rule: the rule that is broken; ``code`` and ``slug`` are its.
        option: name of the option, or of the environment variable or proto field; in a rank table the JSON path.
        message: what is wrong, in one line.
        value: the value seen; ``None`` when it is an absence that is wrong.
        allowed: what would be right, empty when the rule is not about values.
        why: the rule, and the page and section of the reference that it comes from.
        fix: what to write instead.
        severity: ``Severity.ERROR`` or ``Severity.WARNING``.
        source: the file, or what stands for it when text was read; empty for what is in no text.
        line: line of the place in it, counted from 1.
        column: character in that line, counted from 1.
    """

    rule: Rule
    option: str
    message: str
    value: object = None
    allowed: str = ""
    why: str = ""
    fix: str = ""
    severity: Severity = Severity.ERROR
    source: str = ""
    line: int = 0
    column: int = 0

    @property
    def code(self) -> str:
        """The rule's stable code, such as ``NPU105``."""
        return self.rule.code

    @property
    def slug(self) -> str:
        """The kind of mistake in words, such as ``bad-value``."""
        return self.rule.slug

    def __repr__(self) -> str:
        # Without the value, whose own repr may raise: an exception has to be printable.
        return f"<Problem {self.rule.code} {self.option}: {self.message}>"

    @property
    def place(self) -> str:
        """What is wrong, after file, line and column where it stands in a text."""
        return f"{self.source}:{self.line}:{self.column}: {self.option}" if self.line else self.option

    def __str__(self) -> str:
        seen = "" if self.value is None else f" = {shorten(self.value)}"
        lines = [f"  {self.code} {self.place}{seen}: {self.message}"]
        for label, text in (("allowed", self.allowed), ("why", self.why), ("fix", self.fix)):
            if text:
                lines.append(f"      {label + ':':<8} {text}")
        return "\n".join(lines)


class Report(typing.Sequence[Problem]):
    """The problems of one check, errors first; true when there is an error among them."""

    def __init__(self, problems: typing.Iterable[Problem] = ()) -> None:
        found = tuple(problems)
        self._errors = tuple(problem for problem in found if problem.severity is Severity.ERROR)
        self._warnings = tuple(problem for problem in found if problem.severity is Severity.WARNING)
        self._problems = self._errors + self._warnings

    @typing.overload
    def __getitem__(self, index: int) -> Problem: ...

    @typing.overload
    def __getitem__(self, index: slice) -> tuple[Problem, ...]: ...

    def __getitem__(self, index: int | slice) -> Problem | tuple[Problem, ...]:
        return self._problems[index]

    def __iter__(self) -> typing.Iterator[Problem]:
        return iter(self._problems)

    def __len__(self) -> int:
        return len(self._problems)

    def __bool__(self) -> bool:
        return bool(self._errors)

    def __repr__(self) -> str:
        return "Report({})".format(", ".join(f"{problem.code} {problem.option}" for problem in self))

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that must be put right."""
        return self._errors

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that one may live with."""
        return self._warnings
