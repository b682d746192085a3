"""What the runtime makes of a parameter_map: takes it, returns an error, or ends the process.

This is the runtime's own reading, not npusession's: unknown names are passed over, an option set through another
field reads as zero or empty, and values are looked at in the runtime's order, so that the first fault decides.
"""

from __future__ import annotations

from ...options.comparison import BUFFER_OPTIMIZE, DUMP_DATA, USE_OFF_LINE
from ...options.debugging import ENABLE_EXCEPTION_DUMP
from ...options.experimental_compiling import JIT_COMPILE, SHAPE_GENERALIZATION_MODE
from ...options.performance_advanced import VARIABLE_PLACEMENT
from ...options.precision import PRECISION_MODE, PRECISION_MODE_V2
from ...options.reserved import GRAPH_SLICE, JOB
from . import verdict_dump as dump
from . import verdict_gears as gears
from . import verdict_steps as steps
from .verdict_reading import Aborted, Parameters, Rejected, read
from .verdict_steps import one_of

__all__ = ["Aborted", "Parameters", "Rejected", "judge", "off_line", "read"]

#: What is looked at before a graph's part in a cluster is.
_FIRST = (
    steps.execution_mode,
    steps.local_rank,
    steps.local_devices,
    one_of(VARIABLE_PLACEMENT, Aborted),
)
#: Parts in a cluster whose graphs stay on the CPU and are not looked at any further.
_ON_THE_CPU = ("ps", "default")
#: What is looked at for a graph that goes to the device.
_THEN = (
    dump.directory,
    dump.steps_and_mode,
    dump.overflow,
    steps.run_mode,
    steps.tuning,
    one_of(PRECISION_MODE, Rejected),
    one_of(PRECISION_MODE_V2, Rejected),
    steps.parallel_models,
    one_of(ENABLE_EXCEPTION_DUMP, Rejected),
    steps.implementation,
    gears.gears,
    one_of(BUFFER_OPTIMIZE, Aborted),
    steps.compression,
    steps.device,
    steps.mixlist,
    steps.one_precision,
    steps.huge_pages,
    one_of(DUMP_DATA, Rejected),
    steps.compile_statistics,
    one_of(JIT_COMPILE, Rejected),
    one_of(SHAPE_GENERALIZATION_MODE, Rejected),
    one_of(GRAPH_SLICE, Rejected),
)


def judge(parameters: Parameters) -> None:
    """Return when the runtime takes the parameters.

    Raises:
        Rejected: it returns an error.
        Aborted: it ends the process.
    """
    for step in _FIRST:
        step(parameters)
    if read(parameters, JOB) in _ON_THE_CPU:
        return
    for step in _THEN:
        step(parameters)


def off_line(parameters: Parameters) -> bool:
    """Tell whether the graph goes to the device; it does unless the switch is there and reads as off."""
    return USE_OFF_LINE.name not in parameters or bool(read(parameters, USE_OFF_LINE))
