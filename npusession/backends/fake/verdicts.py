"""What the runtime makes of a parameter_map: takes it, returns an error, or ends the process.

This is the runtime's own reading, not npusession's: unknown names are passed over, an option set through another
field reads as zero or empty, and values are looked at in the runtime's order, so that the first fault decides.
"""

from __future__ import annotations

import typing

from ...options.comparison import BUFFER_OPTIMIZE, DUMP_DATA, USE_OFF_LINE
from ...options.compilation import OO_CONSTANT_FOLDING
from ...options.debugging import ENABLE_EXCEPTION_DUMP, EXPORT_COMPILE_STAT
from ...options.deprecated import OP_DEBUG_LEVEL
from ...options.experimental_compiling import JIT_COMPILE, SHAPE_GENERALIZATION_MODE
from ...options.model import Option
from ...options.performance_advanced import VARIABLE_PLACEMENT
from ...options.precision import PRECISION_MODE, PRECISION_MODE_V2
from ...options.reserved import GRAPH_SLICE, JOB
from . import verdict_dump as dump
from . import verdict_gears as gears
from . import verdict_steps as steps
from .verdict_reading import Aborted, Parameters, Rejected, given, read
from .verdict_steps import one_of

__all__ = ["Aborted", "Parameters", "Rejected", "judge", "on_device", "read"]

#: What is looked at before a graph's part in a cluster is.
_FIRST = (
    steps.execution_mode,
    steps.local_rank,
    steps.local_devices,
    one_of(VARIABLE_PLACEMENT, Aborted),
)
#: Parts in a cluster whose graphs stay on the CPU and are not looked at any further.
_ON_THE_CPU = ("ps", "default")
_precision, _precision_v2 = one_of(PRECISION_MODE, Rejected), one_of(PRECISION_MODE_V2, Rejected)
#: What is looked at for a graph that goes to the device.
_THEN = (
    dump.directory,
    dump.steps_and_mode,
    dump.overflow,
    steps.run_mode,
    steps.tuning,
    _precision,
    _precision_v2,
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


#: Options that the runtime keeps for the whole process, by the check after which it does, even if a later one fails.
_KEPT_AFTER = {
    steps.run_mode: (OP_DEBUG_LEVEL,),
    _precision: (PRECISION_MODE,),
    _precision_v2: (PRECISION_MODE_V2,),
    steps.compile_statistics: (EXPORT_COMPILE_STAT, OO_CONSTANT_FOLDING),
}
#: Those of them that are passed over when set through another field; the others then read as zero or empty.
_BY_FIELD = (EXPORT_COMPILE_STAT, OO_CONSTANT_FOLDING)


def judge(parameters: Parameters, keep: typing.Callable[[Option], object] | None = None) -> None:
    """Return when the runtime takes the parameters.

    Args:
        parameters: what it is given.
        keep: called with each option that stays in force for the rest of the process.

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
        for option in _KEPT_AFTER.get(step, ()):
            read_at_all = option not in _BY_FIELD or parameters.get(option.name, ("",))[0] == option.field
            if keep is not None and given(parameters, option) and read_at_all:
                keep(option)


def on_device(parameters: Parameters) -> bool:
    """Tell whether the graph goes to the device; it does unless its part in a cluster or a switch keeps it from it."""
    switched_off = given(parameters, USE_OFF_LINE) and not read(parameters, USE_OFF_LINE)
    return not switched_off and read(parameters, JOB) not in _ON_THE_CPU
