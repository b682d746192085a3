"""One run of a session, with what the device does around it."""

from __future__ import annotations

import typing

from . import loops, profiler
from .nodes import ancestors, by_name
from .npu_ops import Lifecycle, lifecycle_ops
from .precision import prepare, simulate
from .runtime import RUNTIME

if typing.TYPE_CHECKING:
    from .device import DeviceSession


class Run:
    """One call of a session's ``_do_run``.

    Args:
        session: the TensorFlow session.
        device: what the emulation knows of it.
        do_run: TensorFlow's own method.
        targets: operations to run.
        fetches: tensors to return.
        feeds: values by tensor.
        buffers: TensorFlow's, for options and metadata, each ``None`` without.
    """

    def __init__(
        self,
        session: typing.Any,
        device: DeviceSession,
        do_run: typing.Callable[..., typing.Any],
        targets: typing.Sequence[typing.Any],
        fetches: typing.Sequence[typing.Any],
        feeds: typing.Mapping[typing.Any, typing.Any],
        buffers: typing.Tuple[typing.Any, typing.Any],
    ) -> None:
        self._graph = session.graph
        self._session = session
        self._device = device
        self._do_run = do_run
        self._targets, self._fetches, self._feeds = targets, fetches, feeds
        #: For options and metadata.
        self._buffers = buffers

    def make(self, handle: object) -> typing.Any:
        """Make the run; returns the values of the fetches.

        Args:
            handle: of a partial run, ``None`` for a whole one.
        """
        if handle is None:
            prepare(self._graph)
        lifecycle = self._begin()
        try:
            # A part of a run takes just what was announced for it.
            if handle is not None:
                return self._do_run(self._session, handle, self._targets, self._fetches, self._feeds, *self._buffers)
            caller = self._buffers
            # TensorFlow fills a RunMetadata once only.
            self._buffers = (caller[0], None)
            for _ in range(self._steps() - 1):
                self._step()
            self._buffers = caller
            return self._step()
        except Exception:
            for operation in lifecycle:
                if operation.error is not None:
                    raise operation.error from None
            raise

    def _begin(self) -> list[Lifecycle]:
        """Do what comes before a run; returns the initialize and shutdown ops that are in it."""
        known = lifecycle_ops(self._graph)
        operations = self._operations()
        asked = {operation.name for operation in operations}
        self._device.before_run(lifecycle_only=bool(asked) and asked <= known.keys())
        lifecycle = [known[name] for name in asked & known.keys()]
        for operation in lifecycle:
            RUNTIME.faults.trip(operation.moment)
            operation.session, operation.error = self._device, None
        if RUNTIME.faults.in_graphs:
            fed = by_name(self._feeds)
            for operation in ancestors(operations, fed):
                if not any(tensor.name in fed for tensor in operation.outputs):
                    RUNTIME.faults.trip(operation.name, self._device.timeout)
        return lifecycle

    def _operations(self) -> list[typing.Any]:
        return [getattr(item, "op", item) for item in (*self._targets, *self._fetches)]

    def _steps(self) -> int:
        """Return how many training steps the device makes in this run."""
        if not self._device.on_device:
            return 1

        def read(tensor: typing.Any) -> typing.Any:
            return self._do_run(self._session, None, [], [tensor], {}, None, None)[0]

        steps = loops.steps_of(read, self._graph, self._operations())
        if steps > 1:
            self._device.before_loop(steps)
        return steps

    def _step(self) -> typing.Any:
        artefacts = self._device.artefacts
        if artefacts is None or artefacts.idle:
            return self._call(self._fetches)
        return artefacts.run(self._call, self._targets, self._fetches, self._feeds)

    def _call(self, wanted: typing.Sequence[typing.Any], trace: bool = True) -> typing.Any:
        wanted, fed = simulate(self._graph, self._device, wanted, self._feeds)

        def run(*buffers: typing.Any) -> typing.Any:
            return self._do_run(self._session, None, self._targets, wanted, fed, *buffers)

        profile = (RUNTIME.profile or profiler.current()) if trace and self._device.on_device else None
        return run(*self._buffers) if profile is None else profile.traced(run, *self._buffers)
