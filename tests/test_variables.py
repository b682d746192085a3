"""The environment beside the options: what counts is told, and what contradicts is found."""

import pytest

from npusession import NpuSession, OptionsError, Product, Severity, check_parameters
from npusession.explain import Origin
from npusession.options.variables import VARIABLES

TABLE = {"RANK_TABLE_FILE": "/no/such/rank_table.json", "RANK_ID": "0", "RANK_SIZE": "8", "ASCEND_DEVICE_ID": "0"}
CHIEF = {
    "CM_CHIEF_IP": "192.0.2.1",
    "CM_CHIEF_PORT": "6000",
    "CM_CHIEF_DEVICE": "0",
    "CM_WORKER_SIZE": "8",
    "CM_WORKER_IP": "192.0.2.1",
    "ASCEND_DEVICE_ID": "0",
}


def found(environ, params=(), **more):
    return [(problem.code, problem.severity) for problem in check_parameters(list(params), environ=environ, **more)]


def row(plan, name, **environ):
    return {row.name: row for row in plan.explain(environ)}[name]


@pytest.mark.parametrize(
    ("option", "value", "variable", "set_to"),
    [
        ("profiling_mode", False, "PROFILING_MODE", "true"),
        ("profiling_options", "{}", "PROFILING_OPTIONS", '{"output": "/data/prof"}'),
        ("aoe_mode", "2", "AOE_MODE", "4"),
        ("hccl_timeout", 1836, "HCCL_EXEC_TIMEOUT", "600"),
        ("debug_dir", "/data/debug", "ASCEND_WORK_PATH", "/data/work"),
        ("op_compiler_cache_dir", "/data/cache", "ASCEND_CACHE_PATH", "/data/all"),
        ("session_device_id", 1, "ASCEND_DEVICE_ID", "1"),
    ],
)
def test_option_before_variable(option, value, variable, set_to):
    """An option that is given counts, and the variable that it goes before is named; left out, the variable counts."""
    given = {"profiling_mode": True, option: value} if option == "profiling_options" else {option: value}
    explained = row(NpuSession.for_training(product="A2", **given), option, **{variable: set_to})
    assert (explained.value, explained.origin, explained.over) == (value, Origin.GIVEN, variable)
    explained = row(NpuSession.for_training(product="A2"), option, **{variable: set_to})
    assert (explained.value, explained.origin, explained.detail) == (set_to, Origin.ENVIRONMENT, variable)


def test_variable_before_option():
    """NPU_COLLECT_PATH makes enable_exception_dump count as 1, whatever the plan says."""
    explained = row(NpuSession.for_training(enable_exception_dump=2), "enable_exception_dump", NPU_COLLECT_PATH="/data")
    assert (explained.value, explained.origin, explained.detail) == (1, Origin.ENVIRONMENT, "NPU_COLLECT_PATH")


@pytest.mark.parametrize("variable", VARIABLES, ids=[variable.name for variable in VARIABLES])
def test_variable_without_option(variable):
    """A variable that stands for no option is explained where it is set, and only there."""
    plan = NpuSession.for_training()
    explained = row(plan, variable.name, **{variable.name: "1"})
    assert (explained.value, explained.detail, explained.option) == ("1", variable.text, None)
    assert variable.text_zh
    assert variable.name not in {row.name for row in plan.explain({})}


def test_two_clusters():
    """A cluster that is described twice is an error, wherever it is checked; one description is fine."""
    assert found(CHIEF) == []
    for name, value in TABLE.items():
        if name not in CHIEF:
            assert found({**CHIEF, name: value}, host=False) == [("NPU441", Severity.ERROR)]


def test_table_of_another_host():
    """A rank table has to be there on the host that the parameters are for, and cannot be on another."""
    assert found(TABLE) == [("NPU442", Severity.ERROR)]
    assert found(TABLE, host=False) == []


def test_cluster_of_another_product():
    """A cluster without a rank table is an error on products that cannot do it."""
    assert found(CHIEF, product="A2") == found(CHIEF, product=Product.ATLAS_TRAINING) == []
    assert found(CHIEF, product="A3") == [("NPU448", Severity.ERROR)]


def test_device_is_told_once():
    """A device id that is none is one problem, not one of the options and one of the cluster."""
    assert found({"ASCEND_DEVICE_ID": "one"}) == [("NPU401", Severity.ERROR)]


def test_cluster_of_a_plan(monkeypatch):
    """A plan finds contradictions of the cluster before anything starts, with its own device in mind."""
    for name, value in {**CHIEF, "RANK_SIZE": "8"}.items():
        monkeypatch.setenv(name, value)
    plan = NpuSession.for_training(backend="fake")
    assert [problem.code for problem in plan.check()] == ["NPU441"]
    with pytest.raises(OptionsError, match="unset RANK_SIZE"):
        plan.ready()
    monkeypatch.delenv("RANK_SIZE")
    monkeypatch.delenv("ASCEND_DEVICE_ID")
    assert [(problem.code, problem.severity) for problem in plan.check()] == [("NPU450", Severity.WARNING)]
    assert [problem.code for problem in plan.replace(device=3).check()] == []


def test_hf32():
    """HF32 is switched by 0 or 1, on products that have it, where operators compute in float32."""
    assert found({"ENABLE_HF32_EXECUTION": "1"}) == found({"ENABLE_HF32_EXECUTION": "0"}, product="A2") == []
    warning = [("NPU408", Severity.WARNING)]
    assert found({"ENABLE_HF32_EXECUTION": "True"}) == warning
    assert found({"ENABLE_HF32_EXECUTION": "1"}, product="atlas-training") == warning
    assert found({"ENABLE_HF32_EXECUTION": "1"}, scene="inference") == warning
    kept = [("precision_mode_v2", "s", "origin")]
    assert found({"ENABLE_HF32_EXECUTION": "1"}, kept, scene="inference") == []


def test_dumped_graphs():
    """A path for graphs counts when they are dumped, and NPU_COLLECT_PATH goes before it."""
    graphs = {"DUMP_GRAPH_PATH": "/data/graphs"}
    assert found({**graphs, "DUMP_GE_GRAPH": "2"}) == []
    assert found(graphs) == [("NPU409", Severity.WARNING)]
    problems = check_parameters([], environ={**graphs, "DUMP_GE_GRAPH": "2", "NPU_COLLECT_PATH": "/data"})
    assert ["does not count" in problem.message for problem in problems if problem.code == "NPU409"] == [True]
