"""Basic options: what the graph is run for, on which device, and whether bit for bit the same each time."""

from __future__ import annotations

import typing

from ..environment import DEVICE_VARIABLES, device_in
from . import variables
from .kinds import IntChoice, Integer, Value
from .model import Default, Group, Note, Option, Scene, Scope, Settings, problem
from .problems import Problem, Rule

GRAPH_RUN_MODE = Option(
    "graph_run_mode",
    IntChoice((Value(0, "online inference", "在线推理"), Value(1, "training", "训练"))),
    "What the graph is run for: training or online inference.",
    "图执行模式：训练或在线推理。",
    scope=Scope.INIT,
    defaults=(Default(1),),
)
#: What the option above says of each scene.
RUN_MODES = {Scene.INFERENCE: 0, Scene.TRAINING: 1}
SESSION_DEVICE_ID = Option(
    "session_device_id",
    Integer(0, unit="(logical device id)", unit_zh="（Device 逻辑 ID）"),
    "Logical id of the device that this session's graphs run on.",
    "本 session 的图运行所在 Device 的逻辑 ID。",
    notes=(
        Note(
            "Models of one script go to different devices through a session each, every one with an id of its own.",
            "同一脚本中的多个模型可各建一个 session，并分别指定不同的 ID，从而运行在不同 Device 上。",
        ),
        Note(
            "The environment decides which device the system itself is initialised on; 0 when it names none.",
            "系统初始化所用的 Device 仍取自环境变量，均未设置时为 0。",
        ),
    ),
    replaces=DEVICE_VARIABLES,
)
DETERMINISTIC = Option(
    "deterministic",
    IntChoice(
        (
            Value(0, "results may differ from run to run", "关闭，多次执行的结果可能不同"),
            Value(1, "same input, same output; slower", "开启，相同输入得到相同输出，算子变慢"),
        )
    ),
    "Whether the same input on the same hardware always gives the same output.",
    "是否开启确定性计算：相同硬件与输入下多次执行结果一致，性能会下降。",
    defaults=(Default(0),),
    notes=(
        Note(
            "Results differ when threads of an operator add floating-point numbers in another order each time.",
            "结果差异一般来自算子内异步多线程执行，使浮点数累加顺序变化。",
        ),
        Note(
            "Not needed as a rule; of use when runs of a model differ, and while accuracy is debugged.",
            "通常无需开启；模型多次结果不一致或做精度调试时使用。",
        ),
        Note(
            "For results that are entirely the same the script has to fix its random seeds too.",
            "若要结果完全确定，脚本中还须固定随机数种子。",
        ),
    ),
)

BAD_DEVICE = Rule(
    "NPU401", "bad-environment", "A device id in the environment that is no whole number ends the process."
)
OTHER_DEVICE = Rule("NPU402", "device-mismatch", "The environment decides which device is initialised.")


def bad_device(environ: typing.Mapping[str, str]) -> Problem | None:
    """Return the problem of an environment that names a device by something else than its id."""
    named = device_in(environ)
    if named is None:
        return None
    name, value = named
    if value.isascii() and value.isdigit() and len(value) <= 9:
        return None
    return problem(
        BAD_DEVICE, name, "not a device id", value=value, allowed="a whole number from 0", fix=f"unset {name}"
    )  # fmt: skip


def _device_in_environment(settings: Settings) -> typing.Iterator[Problem]:
    named = device_in(settings.environ)
    if named is None:
        return
    name, value = named
    device = settings.get(SESSION_DEVICE_ID.name)
    bad = bad_device(settings.environ)
    if bad:
        yield bad
    elif device is not None and int(value) != device:
        yield problem(
            OTHER_DEVICE,
            name,
            f"the session asks for device {device}, but device {value} would be initialised",
            value=value,
            fix=f"device={value}, or export {name}={device}, or unset {name}",
        )


GROUP = Group(
    "basic",
    "Basic functions",
    "基础功能",
    (GRAPH_RUN_MODE, SESSION_DEVICE_ID, DETERMINISTIC),
    (BAD_DEVICE, OTHER_DEVICE, *variables.RULES),
    (_device_in_environment, *variables.CHECKS),
)
