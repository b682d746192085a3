"""The runtime's other checks, each of an option or of a few that belong together."""

from __future__ import annotations

import os
import typing

from ...options.aoe import AOE_MODE, WORK_PATH
from ...options.basic import GRAPH_RUN_MODE, RUN_MODES, SESSION_DEVICE_ID
from ...options.data_augmentation import LOCAL_DEVICE_LIST, LOCAL_RANK_ID
from ...options.debugging import EXPORT_COMPILE_STAT
from ...options.deprecated import DYNAMIC_GRAPH_EXECUTE_MODE, DYNAMIC_INPUT, OP_SELECT_IMPLMODE, OPTYPELIST_FOR_IMPLMODE
from ...options.kinds import Integer
from ...options.memory import VARIABLE_USE_1G_HUGE_PAGE
from ...options.model import Option
from ...options.performance_advanced import GRAPH_MAX_PARALLEL_MODEL_NUM
from ...options.precision import MODIFY_MIXLIST, PRECISION_MODE, PRECISION_MODE_V2
from ...options.precision_rules import MIXED
from ...options.reserved import COMPRESS_WEIGHT_CONF, ENABLE_COMPRESS_WEIGHT
from .verdict_gears import is_list
from .verdict_reading import Aborted, Parameters, Rejected, given, int32, is_directory, read, shown, words

#: One check, which raises when it finds a fault.
Step = typing.Callable[[Parameters], None]

#: The reference does not know that the runtime takes each form for all operators too.
_FOR_ALL = "_for_all"


def one_of(option: Option, fault: type[Exception]) -> Step:
    """Make the check that an option, if it is there, reads as one of its words."""

    def step(parameters: Parameters) -> None:
        if given(parameters, option) and read(parameters, option) not in words(option):
            raise fault(shown(parameters, option))

    return step


def execution_mode(parameters: Parameters) -> None:
    """How dynamic inputs are executed counts where they are on."""
    if read(parameters, DYNAMIC_INPUT):
        one_of(DYNAMIC_GRAPH_EXECUTE_MODE, Aborted)(parameters)


def local_rank(parameters: Parameters) -> None:
    """The rank within the host has a range."""
    kind = LOCAL_RANK_ID.kind
    within = isinstance(kind, Integer) and kind.minimum <= read(parameters, LOCAL_RANK_ID) <= kind.maximum
    if given(parameters, LOCAL_RANK_ID) and not within:
        raise Aborted(shown(parameters, LOCAL_RANK_ID))


def local_devices(parameters: Parameters) -> None:
    """The other devices of the host are a list of numbers."""
    if given(parameters, LOCAL_DEVICE_LIST) and not is_list(read(parameters, LOCAL_DEVICE_LIST)):
        raise Aborted(shown(parameters, LOCAL_DEVICE_LIST))


def run_mode(parameters: Parameters) -> None:
    """Training or inference; all negative numbers pass."""
    if read(parameters, GRAPH_RUN_MODE) > max(RUN_MODES.values()):
        raise Aborted(shown(parameters, GRAPH_RUN_MODE))


def tuning(parameters: Parameters) -> None:
    """A mode of tuning, which the environment gives when the option is left out, needs a directory to work in."""
    mode = read(parameters, AOE_MODE) if given(parameters, AOE_MODE) else os.environ.get(AOE_MODE.replaces[0], "")
    if not mode:
        return
    if mode not in words(AOE_MODE):
        raise Rejected(f"{AOE_MODE.name} is {mode!r}")
    path = read(parameters, WORK_PATH) if given(parameters, WORK_PATH) else os.curdir
    if not is_directory(path):
        raise Aborted(f"{WORK_PATH.name} {path!r} is no directory that can be read and written")


def parallel_models(parameters: Parameters) -> None:
    """A graph runs once at a time at least."""
    if given(parameters, GRAPH_MAX_PARALLEL_MODEL_NUM) and read(parameters, GRAPH_MAX_PARALLEL_MODEL_NUM) < 1:
        raise Rejected(shown(parameters, GRAPH_MAX_PARALLEL_MODEL_NUM))


def implementation(parameters: Parameters) -> None:
    """A list of operator types needs the form that they are to be taken in."""
    if not given(parameters, OP_SELECT_IMPLMODE):
        if given(parameters, OPTYPELIST_FOR_IMPLMODE):
            raise Aborted(f"{OPTYPELIST_FOR_IMPLMODE.name} is set without {OP_SELECT_IMPLMODE.name}")
        return
    forms = words(OP_SELECT_IMPLMODE)
    if read(parameters, OP_SELECT_IMPLMODE) not in (*forms, *(f"{form}{_FOR_ALL}" for form in forms)):
        raise Aborted(shown(parameters, OP_SELECT_IMPLMODE))


def compression(parameters: Parameters) -> None:
    """The two ways to compress weights exclude each other, even where they are off or empty."""
    if given(parameters, ENABLE_COMPRESS_WEIGHT) and given(parameters, COMPRESS_WEIGHT_CONF):
        raise Aborted(f"{ENABLE_COMPRESS_WEIGHT.name} and {COMPRESS_WEIGHT_CONF.name} are both set")


def device(parameters: Parameters) -> None:
    """Devices are counted from 0."""
    if read(parameters, SESSION_DEVICE_ID) < 0:
        raise Aborted(shown(parameters, SESSION_DEVICE_ID))


def mixlist(parameters: Parameters) -> None:
    """Lists of operators need a precision that mixes types; the older option goes first where both are there."""
    if not given(parameters, MODIFY_MIXLIST):
        return
    precision = PRECISION_MODE if given(parameters, PRECISION_MODE) else PRECISION_MODE_V2
    if read(parameters, precision) not in MIXED[precision.name]:
        raise Rejected(f"{MODIFY_MIXLIST.name} is set, but {shown(parameters, precision)}")


def one_precision(parameters: Parameters) -> None:
    """The two options of precision exclude each other."""
    if given(parameters, PRECISION_MODE) and given(parameters, PRECISION_MODE_V2):
        raise Rejected(f"{PRECISION_MODE.name} and {PRECISION_MODE_V2.name} are both set")


def huge_pages(parameters: Parameters) -> None:
    """The size of pages is compared in 32 bits."""
    if int32(read(parameters, VARIABLE_USE_1G_HUGE_PAGE)) not in words(VARIABLE_USE_1G_HUGE_PAGE):
        raise Rejected(shown(parameters, VARIABLE_USE_1G_HUGE_PAGE))


def compile_statistics(parameters: Parameters) -> None:
    """When statistics are written is compared in 32 bits, and passed over when set through another field."""
    # What is passed over reads as zero, which is allowed.
    if int32(read(parameters, EXPORT_COMPILE_STAT)) not in words(EXPORT_COMPILE_STAT):
        raise Rejected(shown(parameters, EXPORT_COMPILE_STAT))
