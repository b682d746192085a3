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
from .device import DeviceSession
from .npu_ops import lifecycle_ops
from .runtime import RUNTIME

#: Attribute of a TensorFlow session that holds its device session.
_ATTRIBUTE = "_npusession_device"
#: Position of config in Session(target, graph, config) and InteractiveSession(target, graph, config).
_CONFIG = 2


def install() -> None:
    """Replace the methods; a second call does nothing."""
    tf1()
    from tensorflow.python.client.session import BaseSession

    if hasattr(BaseSession, "_npusession_installed"):
        return
    BaseSession._npusession_installed = True
    for cls in (tf1().Session, tf1().InteractiveSession):
        cls.__init__ = _initializing(cls.__init__)
    BaseSession.run = _profiling(BaseSession.run)
    BaseSession._do_run = _running(BaseSession._do_run)
    BaseSession.make_callable = _calling(BaseSession.make_callable)
    BaseSession._make_callable_from_options = _calling_from_options(BaseSession._make_callable_from_options)
    BaseSession.close = _closing(BaseSession.close)


def device_session(session: typing.Any) -> DeviceSession | None:
    """Return what the emulation knows of a TensorFlow session."""
    return typing.cast("DeviceSession | None", getattr(session, _ATTRIBUTE, None))


def prepare_config(config: typing.Any) -> typing.Any:
    """Bring a ConfigProto into the form that the adapter gives every session, in place, as the adapter does."""
    rewrite = config.graph_options.rewrite_options
    off = type(rewrite).OFF
    if all(entry.name != OPTIMIZER_NAME for entry in rewrite.custom_optimizers):
        rewrite.custom_optimizers.add().name = OPTIMIZER_NAME
        rewrite.memory_optimization = off
    config.allow_soft_placement = True
    config.log_device_placement = False
    rewrite.remapping = off
    config.graph_options.optimizer_options.global_jit_level = type(config.graph_options.optimizer_options).OFF
    return config


def _initializing(initialize: typing.Callable[..., None]) -> typing.Callable[..., None]:
    @functools.wraps(initialize)
    def wrapped(self: typing.Any, *args: typing.Any, **keywords: typing.Any) -> None:
        # As with the adapter, None is fine as a keyword, and an AttributeError as the third positional argument.
        config = args[_CONFIG] if len(args) > _CONFIG else keywords.get("config") or tf1().ConfigProto()
        keywords["config"] = prepare_config(config)
        initialize(self, *args[:_CONFIG], **keywords)
        setattr(self, _ATTRIBUTE, DeviceSession(keywords["config"]))

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
    """Let the callables that do without ``run`` be runs, so that dump, profile and life cycle hold for them."""

    @functools.wraps(make_callable)
    def wrapped(
        self: typing.Any, fetches: typing.Any, feed_list: typing.Any = None, accept_options: bool = False
    ) -> typing.Any:
        # Made in any case, for what it refuses.
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
            RUNTIME.trip("close")
        finally:
            close(self)
            device.close()

    return wrapped
