"""The plan of a session: immutable, checked when it is made, and opened as often as one likes."""

from __future__ import annotations

import dataclasses
import os
import threading
import types
import typing

from ._gather import GROUPS, Given, gather, group_of, product_of, scene_of
from ._placement import check_cluster
from ._tensorflow import tf1
from .backends import NAMES, Backend, load
from .environment import DEVICE_VARIABLES, original
from .errors import OptionsError
from .explain import Row, rows
from .frontends.methods import FrontendMethods
from .options import TABLE, AcceleratedTraining, Dump, Profiling, Report, Scene, check, unknown_name
from .options.basic import GRAPH_RUN_MODE, RUN_MODES, SESSION_DEVICE_ID
from .options.kinds import Wire
from .options.model import problem
from .options.problems import BAD_TYPE, BAD_VALUE
from .planfile import read, write
from .products import Product, detect
from .proto import build, options_of
from .system import State, runtime

if typing.TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options.keywords import InferenceOptions, TrainingOptions
    from .running import RunningSession


@dataclasses.dataclass(frozen=True, repr=False)
class NpuSession(FrontendMethods):
    """A plan: everything that a session on the NPU needs, checked before native code sees it.

    Made by :meth:`for_training`, :meth:`for_inference` or :meth:`from_config`; entering it opens the session::

        with NpuSession.for_training(device=0, dump=Dump("/data/dump", steps="0|5")) as s:
            s.run(train_op)

    A plan can be compared, printed, pickled (unless it is bound to a graph), and entered again after it closed.

    Attributes:
        scene: training or inference.
        graph: the graph to run, ``None`` for the default graph at the time of opening.
        target: the execution engine to connect to, empty for the one in the process.
        backend: ``"npu"``, ``"fake"``, or ``None`` to find out when it opens.
        product: the product family at hand, when it is known.
        record: the file that sessions write their record to, ``None`` for no record.
    """

    scene: Scene
    _given: Given
    graph: typing.Any = None
    target: str = ""
    backend: str | None = None
    product: Product | None = None
    record: str | None = None
    _entered: typing.Any = dataclasses.field(default_factory=threading.local, compare=False)

    @classmethod
    def for_training(
        cls,
        device: int | str | None = None,
        *,
        dump: Dump | None = None,
        profiling: Profiling | None = None,
        accelerate: AcceleratedTraining | None = None,
        config: typing.Any = None,
        graph: typing.Any = None,
        target: str = "",
        backend: str | None = None,
        product: Product | str | None = None,
        record: str | os.PathLike[str] | None = None,
        extra_options: typing.Mapping[str, object] | None = None,
        **options: Unpack[TrainingOptions],
    ) -> NpuSession:
        """Plan a training session.

        Every value may also come as the text of a command line flag, and ``None`` (for groups ``False`` too) means
        not given, so that no branch is needed for flags.

        Args:
            device: logical id of the device. The environment's ASCEND_DEVICE_ID or DEVICE_ID must agree with it.
                By default what the environment names, else device 0.
            dump: data dump or overflow detection; fixed when the runtime is initialised.
            profiling: what to profile; fixed when the runtime is initialised.
            accelerate: accelerated training.
            config: a ``tf.compat.v1.ConfigProto`` to extend; copied, and nothing in it is lost.
            graph: the graph to run; by default the default graph at the time of opening.
            target: the execution engine to connect to; by default the one in the process.
            backend: ``"npu"`` or ``"fake"``; by default the variable NPUSESSION_BACKEND, else what can be imported.
            product: the product family, for rules that depend on it: a :class:`Product`, its name, or a SoC version
                such as ``"Ascend910B1"``. By default it is asked of ``npu-smi`` when the session opens on an NPU.
            record: file to which each session of this process adds its record, as JSON lines: life cycle, options,
                step times, losses and phases; ``npusession report`` shows it. Rank 1 writes ``run.rank1.jsonl``
                beside ``run.jsonl``, and so on. By default none is kept.
            extra_options: options that are newer than this package, passed on unchecked with a warning.
            **options: any option of the reference, by its own name.

        Raises:
            OptionsError: lists every problem of the options, each with the rule it breaks and a way to mend it.
        """
        groups = {"dump": dump, "profiling": profiling, "accelerate": accelerate}
        known_product = product_of(product)
        given = gather(Scene.TRAINING, device, groups, options, config, extra_options, known_product)
        where = _known_target(target), _known_backend(backend)
        return cls(Scene.TRAINING, given, graph, *where, known_product, _known_record(record))

    @classmethod
    def for_inference(
        cls,
        device: int | str | None = None,
        *,
        dump: Dump | None = None,
        profiling: Profiling | None = None,
        config: typing.Any = None,
        graph: typing.Any = None,
        target: str = "",
        backend: str | None = None,
        product: Product | str | None = None,
        record: str | os.PathLike[str] | None = None,
        extra_options: typing.Mapping[str, object] | None = None,
        **options: Unpack[InferenceOptions],
    ) -> NpuSession:
        """Plan an online inference session; the arguments are those of :meth:`for_training`.

        Raises:
            OptionsError: lists every problem, among them options that apply to training only.
        """
        known_product = product_of(product)
        groups = {"dump": dump, "profiling": profiling}
        given = gather(Scene.INFERENCE, device, groups, options, config, extra_options, known_product)
        where = _known_target(target), _known_backend(backend)
        return cls(Scene.INFERENCE, given, graph, *where, known_product, _known_record(record))

    @classmethod
    def from_config(cls, config: typing.Any, **changes: typing.Any) -> NpuSession:
        """Take over a configuration that exists.

        Args:
            config: a ``tf.compat.v1.ConfigProto``, read strictly (a wrong field is an error, not a zero); a mapping of
                the keywords of :meth:`for_training`, with ``scene`` (``"training"`` or ``"inference"``) and groups as
                mappings of their own; or the path of a TOML or JSON file of such a mapping, or of a ConfigProto,
                serialised or in text format.
            **changes: keywords that are added to it, ``scene`` among them.

        Raises:
            OptionsError: lists every problem of names, fields and values.
            PlanFileError: the file is not in one of these formats.
            OSError: the file cannot be read.
        """
        if isinstance(config, (str, os.PathLike)):
            config = read(config)
        scene = scene_of(changes.pop("scene", None))
        if isinstance(config, typing.Mapping):
            # The one word that Python itself would trip over.
            names = [name for name in config if not isinstance(name, str) or name == "cls"]
            if names:
                raise OptionsError([unknown_name(name) for name in names])
            keywords = {**config, **changes}
            scene = scene or scene_of(keywords.pop("scene", None)) or Scene.TRAINING
            keywords.pop("scene", None)
        else:
            given, report = options_of(config, changes.get("extra_options") or {})
            if report:
                raise OptionsError(report)
            keywords = {"config": config, **changes}
            inference = given.get(GRAPH_RUN_MODE.name) == RUN_MODES[Scene.INFERENCE]
            # One that contradicts the ConfigProto is reported with all the rest.
            scene = scene or (Scene.INFERENCE if inference else Scene.TRAINING)
        for keyword in GROUPS:
            if isinstance(keywords.get(keyword), typing.Mapping):
                keywords[keyword] = group_of(keyword, keywords[keyword])
        make = cls.for_training if scene is Scene.TRAINING else cls.for_inference
        return make(**keywords)

    def replace(self, **changes: typing.Any) -> NpuSession:
        """Return a plan like this one with some keywords of :meth:`for_training` changed; ``None`` takes one out.

        Raises:
            OptionsError: the options do not go together.
        """
        keywords: dict[str, typing.Any] = {
            **self._checked(), "extra_options": self._unchecked(), "accelerate": self.accelerate,
            "config": self._base(), "graph": self.graph, "target": self.target,
            "backend": self.backend, "product": self.product, "record": self.record,
        }  # fmt: skip
        if self.scene is Scene.INFERENCE:
            del keywords["accelerate"]
        if "device" in changes:
            keywords.pop(SESSION_DEVICE_ID.name, None)
        for keyword, group in GROUPS.items():
            for name in group.NAMES:
                if keyword in changes:
                    keywords.pop(name, None)
                elif name in changes and keyword == "accelerate" and self.accelerate is not None:
                    # The numbers stay, with another mode.
                    keywords[keyword] = dataclasses.replace(self.accelerate, mode=changes[name])
        keywords.update(changes)
        make = type(self).for_training if self.scene is Scene.TRAINING else type(self).for_inference
        return make(**keywords)

    def for_scene(self, scene: Scene | str, **changes: typing.Any) -> NpuSession:
        """Return a plan like this one for the other scene, as for serving on what a training was made with.

        ::

            with plan.for_scene("inference", graph=frozen) as s:
                s.run("digits:0", {"images:0": images})

        Options that do not apply to that scene are left out: accelerated training, iterations_per_loop and the like.
        Overflow detection, which is for training, is left out whole. The others stay, and are checked for the scene.

        Args:
            scene: ``"training"`` or ``"inference"``.
            **changes: keywords to add or to change, as for :meth:`replace`: the graph to serve, or the gears of its
                inputs.

        Raises:
            OptionsError: there is no such scene, or options do not go together in it.
        """
        wanted = scene_of(scene)
        if wanted is None or wanted is self.scene:
            return self.replace(**changes)
        kept = {
            name: value
            for name, value in self._given.options
            if name != GRAPH_RUN_MODE.name and (name not in TABLE or wanted in TABLE[name].scenes)
        }
        if self.dump is not None and self.dump.overflow_mode is not None:
            kept = {name: value for name, value in kept.items() if name not in Dump.NAMES}
        given = self._given._replace(options=tuple(kept.items()), accelerate=None)
        return dataclasses.replace(self, scene=wanted, _given=given).replace(**changes)

    @property
    def options(self) -> typing.Mapping[str, Wire]:
        """The options that were given, canonical values by name, groups included."""
        return types.MappingProxyType(dict(self._given.options))

    @property
    def device(self) -> int | None:
        """Logical id of the device, ``None`` when the environment decides."""
        device = self.options.get(SESSION_DEVICE_ID.name)
        return None if device is None else int(device)

    @property
    def accelerate(self) -> AcceleratedTraining | None:
        """The accelerated training that is on, with its numbers."""
        return self._given.accelerate

    @property
    def dump(self) -> Dump | None:
        """The data dump or overflow detection that is on."""
        return Dump.from_options(self.options)

    @property
    def profiling(self) -> Profiling | None:
        """The profiling that is on."""
        return Profiling.from_options(self.options)

    def effective(self, name: str) -> Wire | None:
        """Return the value that an option has in this plan: as given, else the reference's default, if it has one."""
        return self.options.get(name, TABLE[name].default(self.scene, self.product) if name in TABLE else None)

    def config_proto(self, base: typing.Any = None) -> typing.Any:
        """Return a new ``tf.compat.v1.ConfigProto`` that carries the options, as the reference shows it.

        Args:
            base: a ConfigProto to extend in place of the plan's own; copied, nothing in it is lost. Options in it are
                checked together with the plan's.

        Raises:
            OptionsError: ``base`` contradicts the plan or the runtime's needs.
            TensorFlowNotFoundError: TensorFlow is not installed.
        """
        if base is not None:
            return self.replace(config=base).config_proto()
        return build(self.options, self._base())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a TOML or JSON file that :meth:`from_config` reads, whole or not at all.

        Args:
            path: ends in ``.toml`` or ``.json``.

        Raises:
            ValueError: the ending is another, or the plan is bound to a graph or extends a ConfigProto, which such a
                file cannot hold.
        """
        if self.graph is not None or self._given.config:
            raise ValueError("a plan that is bound to a graph or extends a ConfigProto cannot be written to a file")
        keywords: dict[str, object] = {"scene": self.scene.value, **self._checked()}
        if self._given.unchecked:
            keywords["extra_options"] = self._unchecked()
        if self.accelerate is not None:
            keywords["accelerate"] = {n: v for n, v in vars(self.accelerate).items() if v is not None}
        if self.product is not None:
            keywords["product"] = self.product.value
        keywords.update(
            {n: v for n, v in (("target", self.target), ("backend", self.backend), ("record", self.record)) if v}
        )
        write(path, keywords)

    def explain(self, environ: typing.Mapping[str, str] | None = None) -> tuple[Row, ...]:
        """Tell the effective value of every option, and where it comes from.

        Args:
            environ: the environment that the runtime will see; by default that of the process.
        """
        return rows(self, os.environ if environ is None else environ)

    def with_paths(self, paths: typing.Mapping[str, Wire]) -> NpuSession:
        """Return this plan with side files that were values given by their paths."""
        options = tuple((name, paths.get(name, value)) for name, value in self._given.options)
        return dataclasses.replace(self, _given=self._given._replace(options=options))

    def check(self) -> Report:
        """Check the plan once more, now against this host: its environment, and whether paths are there."""
        environ = original()
        opened = runtime.state is State.OPEN
        if opened:
            # The device to initialise is settled; sessions on other devices may join.
            for name in DEVICE_VARIABLES:
                environ.pop(name, None)
        # An explicit fake is no word about this host's devices.
        product = self.product or (None if self.backend == "fake" else detect())
        _, report = check(self._checked(), scene=self.scene, product=product, environ=environ, host=True)
        missing = () if self.accelerate is None else self.accelerate.missing(environ)
        # So are the ranks.
        cluster = () if opened else check_cluster(environ, product, self.device)
        return Report([*report, *missing, *cluster])

    def ready(self) -> Backend:
        """Check the plan against this host and load its backend, in that order.

        Raises:
            OptionsError: the plan does not fit this host or its environment.
            BackendError: the backend cannot be loaded.
        """
        report = self.check()
        if report:
            raise OptionsError(report.errors)
        return load(self.backend)

    def start(self) -> RunningSession:
        """Open the session without ``with``; call :meth:`RunningSession.close` or ``stop`` in a ``finally``.

        Raises:
            OptionsError: the plan does not fit this host or its environment.
            BackendError: the backend cannot be loaded.
            SystemConflictError: the runtime is open with other options of initialisation.
            GraphRequiredError: TensorFlow runs eagerly, and there is no graph to run.
            OSError: the record cannot be written.
        """
        return self._open(needs_graph=True)

    def __enter__(self) -> RunningSession:
        session = self._open(needs_graph=False)
        session.__enter__()
        # Per thread: several threads may have the same plan open, and each leaves its own.
        self._entered.__dict__.setdefault("sessions", []).append(session)
        return session

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._entered.sessions.pop().__exit__(kind, error, traceback)

    def _open(self, *, needs_graph: bool) -> RunningSession:
        # Imported here, for wrapt alone takes longer to import than the rest of this package.
        from .running import RunningSession

        return RunningSession.open(self, needs_graph=needs_graph)

    def __getstate__(self) -> dict[str, typing.Any]:
        if self.graph is not None:
            raise TypeError("a plan that is bound to a graph cannot be pickled; pickle plan.replace(graph=None)")
        return {name: value for name, value in self.__dict__.items() if name != "_entered"}

    def __setstate__(self, state: dict[str, typing.Any]) -> None:
        self.__dict__.update(state, _entered=threading.local())

    def __repr__(self) -> str:
        shown: dict[str, object] = dict(self._checked())
        shown.update(extra_options=self._unchecked(), accelerate=self.accelerate, graph=self.graph, target=self.target)
        shown.update(backend=self.backend, product=self.product and self.product.value, record=self.record)
        if self._given.config is not None:
            shown["config"] = "<ConfigProto: {}>".format(" ".join(self._given.config.text.split()))
        # A group's or a keyword's empty value is its default; an option's is a value.
        words = [f"{name}={value!r}" for name, value in shown.items() if value or name in TABLE]
        return "NpuSession.for_{}({})".format(self.scene.value, ", ".join(words))

    def _checked(self) -> dict[str, Wire]:
        return {name: value for name, value in self._given.options if name not in dict(self._given.unchecked)}

    def _unchecked(self) -> dict[str, Wire]:
        return {name: value for name, value in self._given.options if name in dict(self._given.unchecked)}

    def _base(self) -> typing.Any:
        return None if self._given.config is None else tf1().ConfigProto.FromString(self._given.config.content)


def _known_backend(backend: object) -> str | None:
    if backend is None or (isinstance(backend, str) and backend in NAMES):
        return backend
    allowed = " and ".join(map(repr, NAMES))
    raise OptionsError([problem(BAD_VALUE, "backend", "no such backend", value=backend, allowed=allowed)])


def _known_target(target: object) -> str:
    if isinstance(target, str):
        return target
    raise OptionsError([problem(BAD_TYPE, "target", "not text", value=target, allowed="the address of an engine")])


def _known_record(record: object) -> str | None:
    """Read the path of a record; empty text, as an unset flag gives it, is none."""
    path = os.fspath(record) if isinstance(record, os.PathLike) else record
    if path is None or (isinstance(path, str) and "\0" not in path):
        return path or None
    raise OptionsError(
        [problem(BAD_TYPE, "record", "no path", value=record, allowed='a path, as in record="run.jsonl"')]
    )
