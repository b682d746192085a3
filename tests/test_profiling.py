"""Profiling: each of the 24 keys, the rules between them, and the text that the runtime reads."""

import dataclasses
import json
import pathlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import HOSTILE, anything, attempt, contained

from npusession import NpuSession, OptionsError, Product, Profiling, Scene, Severity
from npusession.options import check
from npusession.options.profiling_keys import BY_NAME, EXCLUDED_BY_INSTR_PROFILING_FREQ

pytestmark = pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")

KEYS = [field.name for field in dataclasses.fields(Profiling)]


def rendered(**keys):
    """Return the keys as the runtime will read them."""
    return json.loads(NpuSession.for_training(profiling=Profiling(**keys)).options["profiling_options"])


def found(product=None, scene=Scene.TRAINING, **keys):
    """Return code and severity of what is wrong with some keys."""
    _, report = check(Profiling(**keys).to_options(), scene=scene, product=product)
    return [(problem.code, problem.severity.value) for problem in report]


SWITCHES = ("training_trace", "hccl", "aicpu", "l2", "msproftx", "runtime_api", "instr_profiling")
VALID = [
    *((name, value, value) for name in SWITCHES for value in ("on", "off")),
    *((name, value, text) for name in SWITCHES for value, text in ((True, "on"), (False, "off"))),
    *((name, value, value) for name in ("task_trace", "task_time") for value in ("on", "off", "l0", "l1")),
    *((name, value, text) for name in ("task_trace", "task_time") for value, text in ((True, "on"), (False, "off"))),
    *(("ge_api", value, value) for value in ("off", "l0", "l1")),
    ("ge_api", False, "off"),
    ("output", "/tmp/profiling", "/tmp/profiling"),
    ("output", "数据/a b", "数据/a b"),
    ("output", pathlib.PurePosixPath("/tmp/p"), "/tmp/p"),
    ("output", b"/tmp/p", "/tmp/p"),
    ("storage_limit", "200MB", "200MB"),
    ("storage_limit", "4294967295MB", "4294967295MB"),
    ("fp_point", "", ""),
    ("fp_point", "scope/conv1", "scope/conv1"),
    ("bp_point", "", ""),
    ("bp_point", "gradients/conv1", "gradients/conv1"),
    *(
        ("aic_metrics", value, value)
        for value in (
            "ArithmeticUtilization", "PipeUtilization", "Memory", "MemoryL0", "MemoryUB", "ResourceConflictRatio",
            "L2Cache", "MemoryAccess", "Custom:0x49,0x8,0x15,0x1b,0x64,0x10", "Custom:1", "Custom:110", "Custom:0x6E",
            "Custom:0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8",
        )
    ),
    ("sys_hardware_mem_freq", 1, "1"),
    ("sys_hardware_mem_freq", 100, "100"),
    ("llc_profiling", "read", "read"),
    ("llc_profiling", "write", "write"),
    ("sys_io_sampling_freq", 1, "1"),
    ("sys_io_sampling_freq", 100, "100"),
    ("sys_interconnection_freq", 1, "1"),
    ("sys_interconnection_freq", 50, "50"),
    ("dvpp_freq", 1, "1"),
    ("dvpp_freq", "100", "100"),
    ("instr_profiling_freq", 300, "300"),
    ("instr_profiling_freq", 30000, "30000"),
    ("host_sys", "cpu", "cpu"),
    ("host_sys", "cpu,mem,disk,network,osrt", "cpu,mem,disk,network,osrt"),
    ("host_sys", ["cpu", "mem"], "cpu,mem"),
    ("host_sys_usage", "mem", "mem"),
    ("host_sys_usage", ("cpu", "mem"), "cpu,mem"),
    ("host_sys_usage_freq", 1, "1"),
    ("host_sys_usage_freq", 50, "50"),
]  # fmt: skip
INVALID = [
    *((name, value) for name in SWITCHES for value in ("yes", "l0", "", 1, 2.0)),
    *((name, value) for name in ("task_trace", "task_time") for value in ("l2", "yes", 0)),
    *(("ge_api", value) for value in ("on", True, "l2")),
    *(("output", value) for value in ("", "a\nb", "a\tb", "a\fb", "a\x7fb", "a\bb", "a\vb", "a\rb")),
    *(("output", value) for value in (True, 1.5, ["/tmp"])),
    *(
        ("storage_limit", value)
        for value in ("200", 200, "199MB", "4294967296MB", "MB", "1GB", "200 MB", "-200MB", "200mb", "٢٠٠MB", "2e2MB")
    ),
    *((name, value) for name in ("fp_point", "bp_point") for value in (True, 1.5, ["conv1"])),
    *(
        ("aic_metrics", value)
        for value in (
            "memory", "", "Custom", "Custom:", "custom:0x1", "Custom:0", "Custom:0x0", "Custom:0x6F", "Custom:111",
            "Custom:0x1;0x2", "Custom:0x1, 0x2", "Custom:-1", "Custom:0xG", "Custom:1,2,3,4,5,6,7,8,9",
            ["Memory", "MemoryUB"],
        )
    ),
    *(("sys_hardware_mem_freq", value) for value in (0, 10001, "fast")),
    *(("llc_profiling", value) for value in ("Read", "both", True)),
    *(("sys_io_sampling_freq", value) for value in (0, 101)),
    *(("sys_interconnection_freq", value) for value in (0, 51)),
    *(("dvpp_freq", value) for value in (0, 101, "50Hz", True, 50.0)),
    *(("instr_profiling_freq", value) for value in (299, 30001)),
    *(("host_sys", value) for value in ("gpu", "cpu;mem", "cpu, mem", "", ["cpu", "gpu"], [])),
    *(("host_sys_usage", value) for value in ("disk", "cpu,disk")),
    *(("host_sys_usage_freq", value) for value in (0, 51)),
]  # fmt: skip


def test_every_key_is_tried():
    """There is no key without a valid and an invalid value below."""
    assert len(KEYS) == 24
    assert set(KEYS) == set(BY_NAME) == {name for name, *_ in VALID} == {name for name, _ in INVALID}


@pytest.mark.parametrize(("name", "value", "text"), VALID)
def test_valid(name, value, text):
    """A value that the reference allows reaches the runtime as the text that it knows."""
    assert rendered(**{name: value}) == {name: text}


@pytest.mark.parametrize(("name", "value"), INVALID)
def test_invalid(name, value):
    """A value that the reference does not allow is refused under its key."""
    with pytest.raises(OptionsError) as caught:
        NpuSession.for_training(profiling=Profiling(**{name: value}))
    shown = [problem.option for problem in caught.value.problems if problem.severity is Severity.ERROR]
    assert shown == [f"profiling_options[{name!r}]"]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("training_trace", "True", "on"),
        ("task_trace", "false", "off"),
        ("dvpp_freq", " 50 ", "50"),
        ("dvpp_freq", "+50", "50"),
        ("host_sys_usage_freq", "007", "7"),
    ],
)
def test_text_from_flags(name, value, text):
    """The text of a flag reaches the runtime in the runtime's own spelling, not the flag's."""
    assert rendered(**{name: value})[name] == text


def test_unit_is_named():
    """A size without its unit is answered with the one that was meant."""
    with pytest.raises(OptionsError) as caught:
        NpuSession.for_training(profiling=Profiling(storage_limit=500))
    (problem,) = caught.value.problems
    assert "unit" in problem.message
    assert '"500MB"' in problem.fix


@pytest.mark.parametrize("name", EXCLUDED_BY_INSTR_PROFILING_FREQ)
def test_instr_profiling_freq_excludes(name):
    """Sampling of instructions cannot be combined with a trace of operators, unless that is off."""
    value = {"aic_metrics": "Memory", "fp_point": "conv1", "bp_point": "conv1"}.get(name, "on")
    assert ("NPU207", "error") in found(instr_profiling_freq=300, **{name: value})
    if name != "aic_metrics":
        off = "" if "point" in name else False
        assert "NPU207" not in [code for code, _ in found(instr_profiling_freq=300, **{name: off})]


@pytest.mark.parametrize("name", sorted(set(KEYS) - set(EXCLUDED_BY_INSTR_PROFILING_FREQ) - {"instr_profiling_freq"}))
def test_instr_profiling_freq_allows(name):
    """Sampling of instructions goes with everything else."""
    value = next(value for key, value, _ in VALID if key == name)
    assert "NPU207" not in [code for code, _ in found(instr_profiling_freq=300, **{name: value})]


@pytest.mark.parametrize(
    ("keys", "codes"),
    [
        ({"task_trace": "l0", "task_time": "l1"}, ["NPU107"]),
        ({"task_trace": "l1", "task_time": "l1"}, []),
        ({"task_time": "on"}, ["NPU208"]),
        ({"task_time": "l0", "training_trace": False}, ["NPU208"]),
        ({"task_time": "off"}, []),
        ({"hccl": True}, ["NPU108"]),
    ],
)
def test_combinations(keys, codes):
    """Keys that contradict each other, or want each other, are reported."""
    keys.setdefault("training_trace", None if "NPU208" in codes else True)
    assert [code for code, _ in found(**keys)] == codes


@pytest.mark.parametrize(
    ("keys", "product", "severity"),
    [
        ({"instr_profiling": True}, Product.ATLAS_350, None),
        ({"instr_profiling": True}, Product.ATLAS_A2, "error"),
        ({"instr_profiling": True}, None, "warning"),
        ({"instr_profiling_freq": 300}, Product.ATLAS_A2, None),
        ({"instr_profiling_freq": 300}, Product.ATLAS_TRAINING, "error"),
        ({"sys_io_sampling_freq": 50}, Product.ATLAS_INFERENCE, "error"),
        ({"sys_io_sampling_freq": 50}, Product.ATLAS_A2, None),
        ({"aic_metrics": "L2Cache"}, Product.ATLAS_TRAINING, "error"),
        ({"aic_metrics": "L2Cache"}, Product.ATLAS_A2, None),
        ({"aic_metrics": "MemoryAccess"}, Product.ATLAS_350, "error"),
        ({"sys_hardware_mem_freq": 100}, Product.ATLAS_A2, None),
        ({"sys_hardware_mem_freq": 101}, Product.ATLAS_A2, "error"),
        ({"sys_hardware_mem_freq": 10000}, Product.ATLAS_350, None),
    ],
)
def test_products(keys, product, severity):
    """What the product at hand cannot profile is reported."""
    severities = [severity for code, severity in found(product=product, **keys) if code in ("NPU105", "NPU110")]
    assert severities == ([] if severity is None else [severity])


def test_inference():
    """Online inference can trace tasks, but no iterations."""
    assert found(scene=Scene.INFERENCE, task_trace="on", aicpu=True) == []
    assert found(scene=Scene.INFERENCE, training_trace=True) == [("NPU109", "error")]
    assert found(scene=Scene.INFERENCE, training_trace=False) == []


def test_nothing_to_collect():
    """Profiling without a key switches profiling on, and warns that nothing says what to collect."""
    assert Profiling().to_options() == {"profiling_mode": True}
    assert found() == [("NPU206", "warning")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("output=/tmp", "NPU105"),
        ("task_trace:training_trace", "NPU105"),
        ('["task_trace"]', "NPU105"),
        ('{"l2": "on", "l2": "off"}', "NPU105"),
        ('{"op_trace": "on"}', "NPU102"),
        ('{"l2": null}', "NPU106"),
        ('{"l2": ["on"]}', "NPU106"),
        ('{"output": {"path": "/tmp"}}', "NPU106"),
        ("[" * 10**5, "NPU105"),
    ],
)
def test_wrong_text(text, code):
    """Options of profiling as text are checked as well as typed ones."""
    _, report = check({"profiling_mode": True, "profiling_options": text}, scene=Scene.TRAINING)
    assert [problem.code for problem in report.errors] == [code]


@pytest.mark.parametrize("text", ['{"task_time": true, "training_trace": true}', '{"dvpp_freq": 50}'])
def test_values_that_are_no_text(text):
    """JSON values that are no text reach the runtime as text, as all its keys are."""
    plan = NpuSession.for_training(profiling_mode=True, profiling_options=text)
    assert {type(value) for value in json.loads(plan.options["profiling_options"]).values()} == {str}


def test_names_in_any_language():
    """Names that are not ASCII stand in the text as they are."""
    plan = NpuSession.for_training(profiling=Profiling(output="/数据"))
    assert plan.options["profiling_options"] == '{"output": "/数据"}'


@pytest.mark.parametrize(
    "profiling",
    [
        Profiling(),
        Profiling(output="/tmp"),
        Profiling(output="/tmp", training_trace="on", task_time="l1", fp_point="", bp_point=""),
        Profiling(**{name: text for name, _, text in VALID if name not in EXCLUDED_BY_INSTR_PROFILING_FREQ}),
    ],
)
def test_round_trip(profiling):
    """A plan gives back the profiling that it was made with."""
    assert NpuSession.for_training(profiling=profiling).profiling == profiling
    assert Profiling.from_options(profiling.to_options()) == profiling


@pytest.mark.parametrize(("name", "value", "text"), VALID)
def test_round_trip_of_each_key(name, value, text):
    """A plan gives a key back as the text that it stands for."""
    profiling = NpuSession.for_training(profiling=Profiling(**{name: value})).profiling
    assert profiling == Profiling(**{name: text})


@pytest.mark.parametrize(
    ("options", "profiling"),
    [
        ({}, None),
        ({"profiling_mode": False}, None),
        ({"profiling_mode": "True"}, Profiling()),
        ({"profiling_mode": True, "profiling_options": '{"l2": "on"}'}, Profiling(l2="on")),
        ({"profiling_mode": True, "profiling_options": {"l2": True}}, Profiling(l2="on")),
    ],
)
def test_profiling_of_options(options, profiling):
    """The profiling of a plan that was made from options is the same as one made from a Profiling."""
    assert NpuSession.for_training(**options).profiling == profiling


def test_switched_off():
    """Options of profiling without profiling are an error, since they would be ignored."""
    with pytest.raises(OptionsError) as caught:
        NpuSession.for_training(profiling_mode=False, profiling_options='{"l2": "on"}')
    assert [problem.code for problem in caught.value.problems] == ["NPU205"]


@given(st.sampled_from(KEYS), anything)
@example("output", b"\xff")
@example("host_sys", ["cpu", b"mem"])
def test_any_argument(name, value):
    """Whatever a key is given, the plan is made or every problem is listed."""
    plan = attempt(NpuSession.for_training, profiling=Profiling(**{name: value}))
    assert str(plan)
    if isinstance(plan, NpuSession):
        assert plan.profiling.to_options() == plan.options


@pytest.mark.parametrize("hostile", sorted(HOSTILE))
def test_hostile_arguments(hostile):
    """An argument whose methods raise is reported like any wrong one."""
    values = list(contained(HOSTILE[hostile]()))
    for name in KEYS:
        for value in values:
            assert str(attempt(NpuSession.for_training, profiling=Profiling(**{name: value})))
