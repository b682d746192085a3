"""Profiling: a directory as the profiler makes it, with a timeline that Chrome's tracing page and Perfetto open.

It starts with the initialisation of the runtime and ends with its finalisation. Every run in between is in it: the
timeline is written as runs come, so that it takes no memory, and continues in a further file where one gets large.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import string
import threading
import time
import typing

from ...options.kinds import Refused
from ...options.profiling import PROFILING_MODE, PROFILING_OPTIONS, load
from .places import work_path
from .verdicts import Parameters, read

#: Size in bytes at which a timeline continues in another file; pages that show one get slow far beyond it.
MAX_BYTES = 64 * 2**20
_MEGABYTE = 2**20
#: Space in bytes that the runtime leaves free on a disk.
_KEPT_FREE = 20 * 2**20
#: Process of the events that describe whole runs; TensorFlow's own begin at 0.
_ITERATIONS = 1_000_000
_ON, _OFF, _LIGHT = "on", "off", "l0"


class Profile:
    """The profile of one initialisation of the runtime.

    ``{output}/PROF_{number}_{time}_{random}/`` holds ``host``, ``device_{id}`` and ``mindstudio_profiler_output``, and
    the last of them the timeline.

    Args:
        output: directory that holds all profiles; made when it is not there.
        device: logical id of the device.
        operators: ``"l1"`` for a timeline of operators, ``"l0"`` for one without details, ``"off"`` for none.
        iterations: whether the timeline tells of whole runs.
        limit: bytes that timelines may take; the oldest go first. No limit by default.
    """

    def __init__(
        self, output: str, device: int, operators: str = "l1", iterations: bool = False, limit: int | None = None
    ) -> None:
        self._moment = time.strftime("%Y%m%d%H%M%S") + f"{int(time.time() % 1 * 1000):03}"
        letters = "".join(random.choice(string.ascii_uppercase) for _ in range(16))
        os.makedirs(output, exist_ok=True)
        number = 1 + sum(name.startswith("PROF_") for name in os.listdir(output))
        self.path = os.path.join(output, f"PROF_{number:06}_{self._moment}_{letters}")
        self._results = os.path.join(self.path, "mindstudio_profiler_output")
        for name in ("host", f"device_{device}", "mindstudio_profiler_output"):
            os.makedirs(os.path.join(self.path, name))
        self._operators = operators
        self._iterations = iterations
        self._limit = limit
        self._runs = 0
        self._flows = 0
        self._files: list[str] = []
        self._file: typing.TextIO | None = None
        self._described: set[str] = set()
        self._ended = False
        self._lock = threading.Lock()

    @classmethod
    def of(cls, parameters: Parameters, device: int) -> Profile | None:
        """Return the profile that options or environment ask for, ``None`` when profiling is off."""
        on, text = read(parameters, PROFILING_MODE), read(parameters, PROFILING_OPTIONS)
        if PROFILING_MODE.name not in parameters:
            # An option that is given goes before its variable.
            on = os.environ.get(PROFILING_MODE.replaces[0], "").lower() == "true"
            text = text or os.environ.get(PROFILING_OPTIONS.replaces[0], "")
        if not on:
            return None
        try:
            keys = load(text or "{}")
        except Refused:
            # The runtime hands the text on as it is, and the profiler then collects nothing.
            return None
        output = str(keys.get("output") or work_path() or os.getcwd())
        limit = str(keys.get("storage_limit", "")).replace("MB", "")
        # With nothing free at the start, nothing is written.
        if not limit and _free(output) < _KEPT_FREE:
            return None
        level = str(keys.get("task_time", keys.get("task_trace", "l1"))).replace(_ON, "l1")
        traced = keys.get("training_trace") == _ON
        return cls(output, device, level, traced, int(limit) * _MEGABYTE if limit.isdigit() else None)

    def traced(self, run: typing.Callable[..., typing.Any], options: typing.Any, metadata: typing.Any) -> typing.Any:
        """Make a run and write it.

        Args:
            run: makes it, with TensorFlow's buffers of its options and for its metadata.
            options: the caller's buffer, ``None`` without.
            metadata: the caller's buffer, ``None`` without.
        """
        from tensorflow.core.protobuf import config_pb2
        from tensorflow.python.client.session import tf_session

        own = []
        if options is None:
            trace = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
            options = tf_session.TF_NewBufferFromString(trace.SerializeToString())
            own.append(options)
        if metadata is None:
            metadata = tf_session.TF_NewBuffer()
            own.append(metadata)
        try:
            began = time.time()
            results = run(options, metadata)
            # Caller's options without tracing leave the statistics empty; the run still is an iteration.
            found = config_pb2.RunMetadata.FromString(bytes(tf_session.TF_GetBuffer(metadata)))
            self._add_run(found.step_stats, began, time.time())
        finally:
            for buffer in own:
                tf_session.TF_DeleteBuffer(buffer)
        return results

    def _add_run(self, step_stats: typing.Any, began: float, ended: float) -> None:
        from tensorflow.python.client.timeline import Timeline

        events: list[dict[str, typing.Any]] = []
        if self._iterations:
            title = {"name": f"Iteration {self._runs}", "cat": "Iteration", "ph": "X", "pid": _ITERATIONS, "tid": 0}
            events.append({"name": "process_name", "ph": "M", "pid": _ITERATIONS, "args": {"name": "Iterations"}})
            events.append({**title, "ts": int(began * 1e6), "dur": int((ended - began) * 1e6), "args": {}})
        if self._operators != _OFF:
            events += json.loads(Timeline(step_stats).generate_chrome_trace_format())["traceEvents"]
        with self._lock:
            # A run may finalise the runtime, and with it the profile.
            if not self._ended:
                self._add(events)

    def _add(self, events: typing.Iterable[dict[str, typing.Any]]) -> None:
        flows = self._flows
        for event in events:
            if event["ph"] in "stf":
                # Numbers of arrows begin anew with each run.
                event["id"] += flows
                self._flows = max(self._flows, event["id"] + 1)
            if self._operators == _LIGHT and event.get("cat") != "Iteration" and event["ph"] == "X":
                event["args"] = {"name": event["args"].get("name", event["name"])}
            event.setdefault("args", {})["run"] = self._runs
            self._write(event)
        self._runs += 1
        if self._file is None:
            return
        # A process that dies leaves all but the end, which viewers do without.
        self._file.flush()
        if self._file.tell() >= MAX_BYTES:
            self._end_file()

    def close(self) -> None:
        """End the timeline, once the runtime is finalised."""
        with self._lock:
            if not self._files:
                self._begin_file()
            self._end_file()
            self._ended = True

    def _write(self, event: dict[str, typing.Any]) -> None:
        file = self._file or self._begin_file()
        if event["ph"] == "M":
            del event["args"]["run"]
        line = json.dumps(event)
        if event["ph"] == "M":
            if line in self._described:
                return
            self._described.add(line)
        file.write((",\n" if file.tell() > len(_BEGINNING) else "") + line)

    def _begin_file(self) -> typing.TextIO:
        slices = f"slice_{len(self._files)}_" if self._files else ""
        path = os.path.join(self._results, f"msprof_{slices}{self._moment}.json")
        self._files.append(path)
        self._described.clear()
        # Open for as long as the runtime is.
        self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115
        self._file.write(_BEGINNING)
        return self._file

    def _end_file(self) -> None:
        if self._file is None:
            return
        self._file.write("\n]}\n")
        self._file.close()
        self._file = None
        kept = [path for path in self._files if os.path.exists(path)]
        while self._limit is not None and len(kept) > 1 and sum(map(os.path.getsize, kept)) > self._limit:
            os.remove(kept.pop(0))


_BEGINNING = '{"traceEvents": [\n'


def _free(directory: str) -> int:
    """Return the free space in bytes where a directory is, or will be."""
    directory = os.path.abspath(directory)
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    return shutil.disk_usage(directory).free
