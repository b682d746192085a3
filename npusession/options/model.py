"""What the option table is made of."""

from __future__ import annotations

import dataclasses
import enum
import typing

from ..products import ALL_PRODUCTS, Product
from .kinds import Choice, Flag, IntChoice, Kind, Wire
from .problems import Page, Problem, Rule, Severity


class Scope(enum.Enum):
    """When the runtime reads an option."""

    #: Once per process, when the system is initialised, from the session that initialises it.
    INIT = "init"
    #: From each session's own configuration.
    SESSION = "session"


class Scene(enum.Enum):
    """What a session is for."""

    TRAINING = "training"
    INFERENCE = "inference"

    # Members are singletons. Enum's own hash is a Python function, and sets of scenes are asked at every option.
    __hash__ = object.__hash__


class Status(enum.Enum):
    """How the reference stands to an option."""

    #: Described, and here to stay.
    CURRENT = "current"
    #: Described, and announced to go.
    DEPRECATED = "deprecated"
    #: Of earlier releases only.
    LEGACY = "legacy"
    #: Read by the runtime, and not described.
    RESERVED = "reserved"


class Note(typing.NamedTuple):
    """A remark of the reference on an option: a product, a constraint, a file that appears somewhere."""

    text: str
    text_zh: str


BOTH = frozenset(Scene)
TRAINING = frozenset({Scene.TRAINING})
INFERENCE = frozenset({Scene.INFERENCE})


class Default(typing.NamedTuple):
    """What holds when an option is not given, in some scenes and on some products."""

    value: Wire
    scenes: frozenset[Scene] = BOTH
    products: frozenset[Product] = ALL_PRODUCTS


@dataclasses.dataclass(frozen=True, eq=False)
class Option:
    """One option of the session configuration.

    Attributes:
        name: the vendor's name, the key in ``parameter_map``.
        kind: how values are read; it implies the field of AttrValue.
        summary: what the option does, one line.
        summary_zh: the same in Chinese.
        page: the reference page that describes it.
        scope: when the runtime reads it.
        scenes: what it applies to.
        products: the product families that support it.
        defaults: what holds when it is not given; the first entry that fits counts.
        status: how the reference stands to it.
        instead: what to do instead, for an option that is deprecated or of earlier releases.
        removed: whether the runtime no longer reads it at all.
        since: the release that brought it, where that is known.
        notes: what else the reference says of it.
        replaces: environment variables that count when the option is not given.
        yields_to: environment variables that go before the option, with the value that then holds.
        file_format: name of the side file's format in :mod:`npusession.configfiles`, for an option that is a path
            to one.
        run_config: the keyword of NPURunConfig that the option is, such as ``precision_mode``, or within an object
            ``dump_config.dump_path``; by default the option's name, and empty when there is none.
        keys: what stands within the value, described as options are.
    """

    name: str
    kind: Kind
    summary: str
    summary_zh: str
    page: Page = Page.SESSION
    scope: Scope = Scope.SESSION
    scenes: frozenset[Scene] = BOTH
    products: frozenset[Product] = ALL_PRODUCTS
    defaults: tuple[Default, ...] = ()
    status: Status = Status.CURRENT
    instead: str = ""
    removed: bool = False
    since: str = ""
    notes: tuple[Note, ...] = ()
    replaces: tuple[str, ...] = ()
    yields_to: typing.Mapping[str, Wire] = dataclasses.field(default_factory=dict)
    file_format: str = ""
    run_config: str = "="
    keys: tuple[Option, ...] = ()
    #: The page and section that describe it; the group that has the option adds the section.
    source: str = dataclasses.field(init=False, repr=False)
    #: Canonical form of each value of a choice or a flag.
    values: typing.Mapping[object, Wire] = dataclasses.field(init=False, repr=False)
    #: Those of them of which there is nothing to say: here to stay, for both scenes and on every product.
    usual: typing.Mapping[object, Wire] = dataclasses.field(init=False, repr=False)
    #: Those of them that only some products know.
    limited: typing.Mapping[Wire, frozenset[Product]] = dataclasses.field(init=False, repr=False)
    #: Whether it is here to stay, for both scenes and on every product.
    unrestricted: bool = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        choices = self.kind.values if isinstance(self.kind, (Choice, IntChoice)) else ()
        values: dict[object, Wire] = {choice.value: choice.value for choice in choices}
        if isinstance(self.kind, Flag):
            values = {True: True, False: False}
        limited = {choice.value: choice.products for choice in choices if choice.products != ALL_PRODUCTS}
        unrestricted = self.scenes == BOTH and self.products == ALL_PRODUCTS and not self.instead
        derived: dict[str, object] = {
            "source": self.page.value,
            "run_config": self.name if self.run_config == "=" else self.run_config,
            "values": values,
            "usual": {value: wire for value, wire in values.items() if unrestricted and wire not in limited},
            "limited": limited,
            "unrestricted": unrestricted,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def field(self) -> str:
        """The field of AttrValue that the runtime reads: ``b``, ``i`` or ``s``."""
        return self.kind.field

    def default(self, scene: Scene, product: Product | None = None) -> Wire | None:
        """Return the value that holds when the option is not given, ``None`` when nothing does.

        With ``product=None`` only a default that holds on every product is returned.
        """
        for default in self.defaults:
            known = default.products == ALL_PRODUCTS if product is None else product in default.products
            if scene in default.scenes and known:
                return default.value
        return None


class Settings(typing.Dict[str, Wire]):
    """The options that were given, canonical values by name, with the setting in which they will run.

    A plain dictionary underneath, as rules ask for options all the time.

    Attributes:
        scene: what the session is for.
        product: the product family at hand, ``None`` when it is not known.
        environ: the environment that the runtime will see.
        host: whether the options are about to be used on this host, so that paths must be there.
        refused: names that were given too, with values that could not be read and are reported by themselves.
    """

    def __init__(
        self,
        given: typing.Mapping[str, Wire],
        scene: Scene,
        product: Product | None = None,
        environ: typing.Mapping[str, str] | None = None,
        host: bool = False,
    ) -> None:
        super().__init__(given)
        self.scene = scene
        self.product = product
        self.environ = environ or {}
        self.host = host
        self.refused: set[str] = set()

    def names(self, option: Option) -> bool:
        """Tell whether an option was given, be it with a value that is refused."""
        return option.name in self or option.name in self.refused


#: A rule between options: yields the problems that it sees.
Check = typing.Callable[[Settings], typing.Iterable[Problem]]


@dataclasses.dataclass(frozen=True, eq=False)
class Group:
    """One group of the vendor's reference: its options and the rules between them.

    Attributes:
        name: short name, also the module's.
        title: the heading in words.
        title_zh: the heading in the vendor's page.
        options: the options as data.
        rules: every rule that ``checks`` may report.
        checks: functions that look at several options at once.
    """

    name: str
    title: str
    title_zh: str
    options: tuple[Option, ...]
    rules: tuple[Rule, ...] = ()
    checks: tuple[Check, ...] = ()

    def __post_init__(self) -> None:
        # Known here only, and wanted with every problem.
        items: tuple[Option | Rule, ...] = (*self.options, *self.keys, *self.rules)
        for item in items:
            if item.source == Page.SESSION.value:
                object.__setattr__(item, "source", f"{item.source}, section {self.title_zh}")

    @property
    def keys(self) -> tuple[Option, ...]:
        """What stands within the value of one of the options."""
        return tuple(key for option in self.options for key in option.keys)


def problem(
    rule: Rule,
    option: Option | str,
    message: str,
    *,
    value: object = None,
    allowed: str = "",
    fix: str = "",
    why: str = "",
    severity: Severity | None = None,
) -> Problem:
    """Build a problem; the reason defaults to the rule, and the place in the reference that it comes from."""
    name, source = (option.name, option.source) if isinstance(option, Option) else (option, rule.source)
    reason = why or "{} ({})".format(rule.title.rstrip("."), source)
    return Problem(rule, name, message, value, allowed, reason, fix, severity or rule.severity)
