"""Profiling: a directory as the profiler makes it, with a timeline that Chrome's tracing page and Perfetto open."""

from __future__ import annotations

import json
import os
import random
import string
import time
import typing

from ..._tensorflow import tf1
from ...options.kinds import Refused
from ...options.profiling import PROFILING_MODE, PROFILING_OPTIONS, load
from .verdicts import Parameters, read

#: Runs that a timeline holds; later ones would only make it too large to open.
MAX_RUNS = 100


class Profile:
    """The profile of one initialisation of the runtime.

    ``{output}/PROF_{number}_{time}_{random}/`` holds ``host``, ``device_{id}`` and ``mindstudio_profiler_output``, and
    the last of them the timeline.

    Args:
        output: directory that holds all profiles; made when it is not there.
        device: logical id of the device.
    """

    def __init__(self, output: str, device: int) -> None:
        moment = time.strftime("%Y%m%d%H%M%S") + f"{int(time.time() % 1 * 1000):03}"
        letters = "".join(random.choice(string.ascii_uppercase) for _ in range(16))
        os.makedirs(output, exist_ok=True)
        number = 1 + sum(name.startswith("PROF_") for name in os.listdir(output))
        self.path = os.path.join(output, f"PROF_{number:06}_{moment}_{letters}")
        self._timeline = os.path.join(self.path, "mindstudio_profiler_output", f"msprof_{moment}.json")
        for name in ("host", f"device_{device}", "mindstudio_profiler_output"):
            os.makedirs(os.path.join(self.path, name))
        self._events: list[typing.Any] = []
        self._runs = 0

    @classmethod
    def of(cls, parameters: Parameters, device: int) -> Profile | None:
        """Return the profile that the options of initialisation ask for, ``None`` when profiling is off."""
        if not read(parameters, PROFILING_MODE):
            return None
        try:
            keys = load(read(parameters, PROFILING_OPTIONS) or "{}")
        except Refused:
            # The runtime hands the text on as it is, and the profiler then collects nothing.
            return None
        return cls(str(keys.get("output") or os.environ.get("ASCEND_WORK_PATH") or os.getcwd()), device)

    def begin(self) -> tuple[typing.Any, typing.Any]:
        """Return the RunOptions and RunMetadata for a run, ``None`` for both once there are enough runs."""
        if self._runs >= MAX_RUNS:
            return None, None
        return tf1().RunOptions(trace_level=tf1().RunOptions.FULL_TRACE), tf1().RunMetadata()

    def add(self, metadata: typing.Any) -> None:
        """Take in what a run that was begun brought."""
        if metadata is None:
            return
        from tensorflow.python.client.timeline import Timeline

        trace = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())
        for event in trace["traceEvents"]:
            event.setdefault("args", {})["run"] = self._runs
        self._events += trace["traceEvents"]
        self._runs += 1

    def write(self) -> None:
        """Write the timeline, once the runtime is finalised."""
        with open(self._timeline, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": self._events}, file)
