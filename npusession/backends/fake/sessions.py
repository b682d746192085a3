"""The emulation's hold on TensorFlow's sessions.

Importing the real adapter replaces ``Session.__init__`` and ``InteractiveSession.__init__`` for the whole process, and
its native half sees each run. The emulation does the former the same way, and the latter from Python. Sessions that
were made before it is installed are left alone.
"""

from __future__ import annotations

import functools
import typing

from ..._site import caller
from ..._tensorflow import tf1
from ...options import OPTIMIZER_NAME
from . import collectives, python_nodes
from .device import DeviceSession
from .importing import NAMES
from .precision import prepare
from .runs import Run
from .runtime import RUNTIME

#: Attribute of a TensorFlow session that holds its device session.
_ATTRIBUTE = "_npusession_device"
#: Attribute of one that is none of the device's: the line that made it, until its first run.
_SITE = "_npusession_site"
#: Position of config in Session(target, graph, config) and InteractiveSession(target, graph, config).
_CONFIG = 2
#: Class or module, name of what was replaced in it, and what it was before.
_replaced: list[tuple[typing.Any, str, typing.Any]] = []
#: Whether every session gets an NpuOptimizer entry. The adapter does that once its npu_init is imported; with the rest
#: of it, sessions of other configurations are TensorFlow's own.
_defaults = False


def install(*, defaults: bool = True) -> None:
    """Replace the methods; they are replaced once.

    Args:
        defaults: whether sessions without an NpuOptimizer entry get one, from now on.
    """
    global _defaults
    _defaults = _defaults or defaults
    tf1()
    from tensorflow.python.autograph.core import config as autograph
    from tensorflow.python.client.session import BaseSession

    if _replaced:
        return
    for cls in (tf1().Session, tf1().InteractiveSession):
        _replace(cls, "__init__", _initializing)
    _replace(BaseSession, "_do_run", _running)
    _replace(BaseSession, "make_callable", _calling)
    _replace(BaseSession, "_make_callable_from_options", _calling_from_options)
    _replace(BaseSession, "close", _closing)
    # AutoGraph rewrites what is called within a layer or a dataset's function. The emulation's code needs none of it.
    ours = tuple(map(autograph.DoNotConvert, (__name__.partition(".")[0], *NAMES)))
    _replace(autograph, "CONVERSION_RULES", lambda rules: (*ours, *rules))


def uninstall() -> None:
    """Put the methods back; sessions that are open are ordinary ones from then on."""
    global _defaults
    _defaults = False
    while _replaced:
        owner, name, before = _replaced.pop()
        if before is None:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def installed() -> bool:
    """Return whether new sessions are the emulation's."""
    return bool(_replaced)


def _replace(owner: typing.Any, name: str, wrap: typing.Callable[..., typing.Any]) -> None:
    _replaced.append((owner, name, vars(owner).get(name)))
    setattr(owner, name, wrap(getattr(owner, name)))


def device_session(session: typing.Any) -> DeviceSession | None:
    """Return what the emulation knows of a TensorFlow session."""
    return typing.cast("DeviceSession | None", getattr(session, _ATTRIBUTE, None))


def prepare_config(config: typing.Any) -> typing.Any:
    """Bring a ConfigProto into the form that the adapter gives every session, in place, as the adapter does."""
    rewrite = config.graph_options.rewrite_options
    off = type(rewrite).OFF
    if not _has_entry(config):
        rewrite.custom_optimizers.add().name = OPTIMIZER_NAME
        rewrite.memory_optimization = off
    config.allow_soft_placement = True
    config.log_device_placement = False
    rewrite.remapping = off
    config.graph_options.optimizer_options.global_jit_level = type(config.graph_options.optimizer_options).OFF
    return config


def _has_entry(config: typing.Any) -> bool:
    return any(entry.name == OPTIMIZER_NAME for entry in config.graph_options.rewrite_options.custom_optimizers)


def _misnamed(config: typing.Any) -> str:
    """Say that a configuration means the device, but misses it by the name of its entry."""
    entries = config.graph_options.rewrite_options.custom_optimizers if config is not None else ()
    return "".join(f" (its custom optimizer is named {entry.name!r})" for entry in entries if entry.parameter_map)


def _initializing(initialize: typing.Callable[..., None]) -> typing.Callable[..., None]:
    @functools.wraps(initialize)
    def wrapped(self: typing.Any, *args: typing.Any, **keywords: typing.Any) -> None:
        # As with the adapter, None is fine as a keyword, and an AttributeError as the third positional argument.
        config = args[_CONFIG] if len(args) > _CONFIG else keywords.get("config") or tf1().ConfigProto()
        if _defaults:
            config = prepare_config(config)
        if config is not None:
            collectives.make_room(config)
        keywords["config"] = config
        initialize(self, *args[:_CONFIG], **keywords)
        if config is not None and _has_entry(config):
            setattr(self, _ATTRIBUTE, DeviceSession(config))
        else:
            setattr(self, _SITE, f"{caller()}{_misnamed(config)}")

    return wrapped


def _running(do_run: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    @functools.wraps(do_run)
    def wrapped(
        self: typing.Any,
        handle: object,
        targets: typing.Any,
        fetches: typing.Any,
        feeds: typing.Any,
        *buffers: typing.Any,
    ) -> typing.Any:
        device = device_session(self)
        if device is None:
            site = vars(self).pop(_SITE, None)
            if site is not None:
                RUNTIME.record("host", 0, site)
            return do_run(self, handle, targets, fetches, feeds, *buffers)
        return Run(self, device, do_run, targets, fetches, feeds, buffers).make(handle)

    return python_nodes.translated(wrapped)


def _calling(make_callable: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    """Let the callables that do without ``run`` be runs, so that dump, profile and life cycle hold for them."""

    @functools.wraps(make_callable)
    def wrapped(
        self: typing.Any, fetches: typing.Any, feed_list: typing.Any = None, accept_options: bool = False
    ) -> typing.Any:
        prepare(self.graph)
        # Made in any case, for what it refuses. With a list of feeds, TensorFlow's callable is a call of run().
        call = make_callable(self, fetches, feed_list, accept_options)
        if device_session(self) is None or feed_list is not None:
            return call
        return functools.partial(self.run, fetches)

    return wrapped


def _calling_from_options(make_callable: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    """The same for the callables that Keras makes, and prepared steps."""

    @functools.wraps(make_callable)
    def wrapped(self: typing.Any, options: typing.Any) -> typing.Any:
        call = make_callable(self, options)
        device = device_session(self)
        if device is None:
            return call

        def run(*values: typing.Any, run_metadata: typing.Any = None) -> typing.Any:
            if options.tensor_connection:
                # Tensors that stand in for feeds: there is no run like it.
                device.before_run(lifecycle_only=False)
                return call(*values, run_metadata=run_metadata)
            feeds = dict(zip(options.feed, values))
            results = self.run([*options.fetch, *options.target], feeds, run_metadata=run_metadata)
            return results[: len(options.fetch)]

        return run

    return wrapped


def _closing(close: typing.Callable[..., None]) -> typing.Callable[..., None]:
    @functools.wraps(close)
    def wrapped(self: typing.Any) -> None:
        device = device_session(self)
        if device is None:
            close(self)
            return
        setattr(self, _ATTRIBUTE, None)
        try:
            RUNTIME.faults.trip("close")
        finally:
            close(self)
            device.close()

    return wrapped
