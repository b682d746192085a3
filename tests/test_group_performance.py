"""The options of performance."""

import pytest
from grouping import check_examples, codes, inferring, read, refusal, report

from npusession import NpuSession, OptionsError, Product, Severity
from npusession.frontends.arguments import check
from npusession.options import TABLE, Scene
from npusession.options.performance import GROUP
from npusession.options.performance_advanced import parse_parallel


def checked_steps(steps):
    """Return what is wrong with so many steps between checkpoints, in a loop of ten."""
    plan = NpuSession.for_training(iterations_per_loop=10, enable_data_pre_proc=True)
    try:
        check(plan, {"save_checkpoints_steps": steps}, {})
    except OptionsError as error:
        return error.problems
    return ()


@pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
def test_rules():
    """Every rule of the group can be broken and kept."""
    loop = {"iterations_per_loop": 10, "enable_data_pre_proc": True}
    check_examples(
        {
            "NPU220": (report(mix_compile_mode=True, **loop), report(mix_compile_mode=False, **loop)),
            "NPU221": (report(**dict(loop, enable_data_pre_proc=False)), report(**loop)),
            "NPU222": (
                report(variable_placement="Host"),
                report(variable_placement="Host", mix_compile_mode=True),
            ),
            "NPU223": (
                report(Scene.INFERENCE, enable_small_channel=0),
                report(Scene.INFERENCE, enable_small_channel=1),
            ),
            "NPU224": (
                report(stream_max_parallel_num="DNN_VM_TF:10,DNN_V100:1"),
                report(stream_max_parallel_num="DNN_VM_AICPU:10,AIcoreEngine:1"),
            ),
            "NPU225": (
                report(op_precision_mode="/data/op.ini", op_select_implmode="high_precision"),
                report(op_precision_mode="/data/op.ini"),
            ),
            "NPU235": (checked_steps(25), checked_steps(20)),
        },
        GROUP,
    )


@pytest.mark.parametrize(
    ("sunk", "found"),
    [(True, ([], ["NPU108"])), (False, (["NPU221"], ["NPU108"])), (None, ([], ["NPU221"]))],
)
def test_loop_needs_its_input_on_the_device(sunk, found):
    """Several steps per run are refused where GetNext is kept on the host, and remarked on where nothing is said."""
    assert codes(iterations_per_loop=10, enable_data_pre_proc=sunk) == found


def test_one_step_per_run():
    """A single step per run goes with everything."""
    assert codes(iterations_per_loop=1, mix_compile_mode=True) == ([], [])
    assert inferring(iterations_per_loop=1) == ([], [])


@pytest.mark.parametrize("value", [0, -3, 2**31, 1.0, "many", True])
def test_bad_steps(value):
    """Steps per run are counted from 1."""
    refusal("iterations_per_loop", value)


@pytest.mark.parametrize(
    ("placement", "mixed", "errors"),
    [("Device", None, []), ("Device", False, []), ("Host", True, []), ("Host", False, ["NPU222"]),
     ("Host", None, ["NPU222"])],
)  # fmt: skip
def test_placement(placement, mixed, errors):
    """Variables may be on the host in mixed computing only."""
    assert codes(variable_placement=placement, mix_compile_mode=mixed) == (errors, [])


def test_placement_is_spelt_as_in_the_reference():
    """Another spelling, which ends the process, is refused with the one that was meant."""
    assert refusal("variable_placement", "device").fix == "variable_placement='Device'"
    refusal("variable_placement", "CPU")


@pytest.mark.parametrize(
    ("value", "parallel"),
    [
        ("DNN_VM_AICPU:10,AIcoreEngine:1", {"DNN_VM_AICPU": 10, "AIcoreEngine": 1}),
        ("AIcoreEngine:4", {"AIcoreEngine": 4}),
        ("DNN_VM_TF:10,DNN_V100:1", {"DNN_VM_TF": 10, "DNN_V100": 1}),
        (["DNN_VM_AICPU:2", "AIcoreEngine:3"], {"DNN_VM_AICPU": 2, "AIcoreEngine": 3}),
    ],
)
def test_parallel(value, parallel):
    """The engines of this release and of earlier ones are taken."""
    assert parse_parallel(read("stream_max_parallel_num", value)) == parallel


@pytest.mark.parametrize(
    "value",
    ["", "__bogus__", "/no/such/dir", "a\nb;c=d", "AIcoreEngine", "AIcoreEngine:", "AIcoreEngine:0", "AIcoreEngine:-1",
     "AIcoreEngine:1.5", "AIcoreEngine:1,", "AIcoreEngine:1;DNN_VM_AICPU:1", "aicoreengine:1", "AIcoreEngine: 1",
     "AIcoreEngine:1,AIcoreEngine:2", "AIcoreEngine:2147483648", 1, {"AIcoreEngine": 1}],
)  # fmt: skip
def test_bad_parallel(value):
    """Unknown engines and anything but whole numbers from 1 are refused."""
    refusal("stream_max_parallel_num", value)


def test_earlier_engines():
    """Engines of earlier releases pass, with their names of today."""
    (problem,) = report(stream_max_parallel_num="DNN_VM_TF:10")
    assert problem.severity is Severity.WARNING
    assert problem.fix == "DNN_VM_AICPU for DNN_VM_TF"


@pytest.mark.parametrize("value", ["ScopeLayerNormPass,ScopeClipBoxesPass", "One", ["One", "Two"], "my.ns::Pass_2"])
def test_passes(value):
    """Names of fusion rules may be given as text or as a list."""
    assert read("enable_scope_fusion_passes", value) == (value if isinstance(value, str) else ",".join(value))


@pytest.mark.parametrize("value", ["", ",", "One,", "One,,Two", "One, Two", "/no/such/dir", "a\nb;c=d", [], True])
def test_bad_passes(value):
    """A list with a gap, or with what is no name, is refused."""
    refusal("enable_scope_fusion_passes", value)


def test_small_channel():
    """Training has small channels off and may turn them on; online inference has them on, come what may."""
    assert [TABLE["enable_small_channel"].default(scene) for scene in (Scene.TRAINING, Scene.INFERENCE)] == [0, 1]
    assert codes(enable_small_channel=1) == ([], [])
    assert inferring(enable_small_channel=0) == (["NPU223"], [])
    refusal("enable_small_channel", 2)


def test_file_overrides_the_older_options():
    """Both older options are refused beside the file that overrides them."""
    found = report(
        op_precision_mode="op.ini", op_select_implmode="high_precision", optypelist_for_implmode="Pooling"
    ).errors
    assert [(problem.code, problem.option) for problem in found] == [
        ("NPU225", "op_select_implmode"), ("NPU225", "optypelist_for_implmode")
    ]  # fmt: skip


def test_file_must_be_there(tmp_path):
    """The file must exist when it is used, not when a plan is made."""
    path = tmp_path / "op_precision.ini"
    assert codes(op_precision_mode=path) == ([], [])
    assert codes(op_precision_mode=path, host=True) == (["NPU113"], [])
    assert codes(op_precision_mode=tmp_path, host=True) == (["NPU113"], [])
    path.write_text("[ByOpType]\nAdd=high_precision\n")
    link = tmp_path / "link.ini"
    link.symlink_to(path)
    for given in (path, link):
        assert codes(op_precision_mode=given, host=True) == ([], [])


@pytest.mark.parametrize("value", [0, -2, 2**31, 1.5])
def test_bad_parallel_models(value):
    """The number of executions at a time is from 1 to the largest of 32 bits."""
    refusal("graph_max_parallel_model_num", value)


def test_scenes():
    """What is for training, and what is for online inference, is refused in the other."""
    assert inferring(hcom_parallel=False, is_tailing_optimization=True) == (["NPU109"] * 2, [])
    assert codes(frozen_variable=True, graph_max_parallel_model_num=4) == (["NPU109"] * 2, [])
    assert codes(hcom_parallel=False, is_tailing_optimization=True, enable_small_channel=1) == ([], [])
    assert inferring(frozen_variable=True, graph_max_parallel_model_num=2147483647) == ([], [])


@pytest.mark.parametrize(
    ("name", "default"),
    [("hcom_parallel", True), ("is_tailing_optimization", False), ("variable_placement", "Device"),
     ("iterations_per_loop", 1), ("stream_max_parallel_num", "DNN_VM_AICPU:1,AIcoreEngine:1")],
)  # fmt: skip
def test_defaults(name, default):
    """What holds in a training when nothing is given is known."""
    assert TABLE[name].default(Scene.TRAINING, Product.ATLAS_A3) == default
