"""The emulation's hold on TensorFlow's sessions.

Importing the real adapter replaces ``Session.__init__`` and ``InteractiveSession.__init__`` for the whole process, and
its native half sees each run. The emulation does the former the same way, and the latter from Python. Sessions that
were made before it is installed are left alone.
"""

from __future__ import annotations

import functools
import typing

from ..._tensorflow import tf1
from ...options import OPTIMIZER_NAME
from . import loops
from .device import DeviceSession
from .npu_ops import lifecycle_ops
from .runtime import RUNTIME

#: Attribute of a TensorFlow session that holds its device session.
_ATTRIBUTE = "_npusession_device"
#: Position of config in Session(target, graph, config) and InteractiveSession(target, graph, config).
_CONFIG = 2
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
    from tensorflow.python.client.session import BaseSession

    if hasattr(BaseSession, "_npusession_installed"):
        return
    BaseSession._npusession_installed = True
    for cls in (tf1().Session, tf1().InteractiveSession):
        cls.__init__ = _initializing(cls.__init__)
    BaseSession.run = _profiling(BaseSession.run)
    BaseSession._do_run = _running(loops.repeated(BaseSession._do_run, _on_device))
    BaseSession.make_callable = _calling(BaseSession.make_callable)
    BaseSession.close = _closing(BaseSession.close)


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


def _on_device(session: typing.Any) -> bool:
    device = device_session(session)
    return device is not None and device.on_device


def _initializing(initialize: typing.Callable[..., None]) -> typing.Callable[..., None]:
    @functools.wraps(initialize)
    def wrapped(self: typing.Any, *args: typing.Any, **keywords: typing.Any) -> None:
        # As with the adapter, None is fine as a keyword, and an AttributeError as the third positional argument.
        config = args[_CONFIG] if len(args) > _CONFIG else keywords.get("config") or tf1().ConfigProto()
        if _defaults:
            config = prepare_config(config)
        keywords["config"] = config
        initialize(self, *args[:_CONFIG], **keywords)
        if config is not None and _has_entry(config):
            setattr(self, _ATTRIBUTE, DeviceSession(config))

    return wrapped


def _running(do_run: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    @functools.wraps(do_run)
    def wrapped(
        self: typing.Any, handle: object, targets: typing.Any, fetches: typing.Any, feeds: typing.Any, *rest: typing.Any
    ) -> typing.Any:
        device = device_session(self)
        if device is None:
            return do_run(self, handle, targets, fetches, feeds, *rest)
        lifecycle = lifecycle_ops(self.graph)
        asked = {getattr(item, "op", item).name for item in (*targets, *fetches)}
        device.before_run(lifecycle_only=bool(asked) and asked <= lifecycle.keys())
        for name in asked & lifecycle.keys():
            RUNTIME.trip(lifecycle[name].moment)
            lifecycle[name].session = device
        if device.dump is None or handle is not None:
            return do_run(self, handle, targets, fetches, feeds, *rest)
        dumped = device.dump.begin(targets, fetches, feeds)
        if dumped is None:
            return do_run(self, handle, targets, fetches, feeds, *rest)
        results = do_run(self, handle, targets, [*fetches, *dumped.tensors], feeds, *rest)
        dumped.write(results[len(fetches) :])
        return results[: len(fetches)]

    return wrapped


def _profiling(run: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    @functools.wraps(run)
    def wrapped(
        self: typing.Any,
        fetches: typing.Any,
        feed_dict: typing.Any = None,
        options: typing.Any = None,
        run_metadata: typing.Any = None,
    ) -> typing.Any:
        device = device_session(self)
        profile = RUNTIME.profile if device is not None and device.on_device else None
        if profile is None or options is not None or run_metadata is not None:
            return run(self, fetches, feed_dict, options, run_metadata)
        options, run_metadata = profile.begin()
        results = run(self, fetches, feed_dict, options, run_metadata)
        profile.add(run_metadata)
        return results

    return wrapped


def _calling(make_callable: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    @functools.wraps(make_callable)
    def wrapped(self: typing.Any, *args: typing.Any, **keywords: typing.Any) -> typing.Any:
        device = device_session(self)
        call = make_callable(self, *args, **keywords)
        if device is None:
            return call

        def run(*values: typing.Any, **more: typing.Any) -> typing.Any:
            device.before_run(lifecycle_only=False)
            return call(*values, **more)

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
            RUNTIME.trip("close")
        finally:
            close(self)
            device.close()

    return wrapped
