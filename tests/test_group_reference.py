"""The examples of the reference, and whatever else may be given, for debugging, precision, comparison and the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import HOSTILE, anything, contained

from npusession import Problem, Product, Profiling
from npusession.options import (
    GROUPS,
    TABLE,
    Scene,
    aoe,
    check,
    comparison_rules,
    debugging,
    deprecated_rules,
    legacy,
    precision_rules,
    profiling_keys,
    profiling_rules,
    reserved,
)

MODULES = (debugging, precision_rules, comparison_rules, profiling_rules, aoe, deprecated_rules, legacy, reserved)
NAMES = [option.name for module in MODULES for option in module.GROUP.options]
#: Name, and value as it stands in an example of the reference, or in the pages of earlier releases.
EXAMPLES = [
    ("enable_exception_dump", 1),
    ("op_debug_config", b"/root/test0.cfg"),
    ("debug_dir", b"/home/test"),
    ("export_compile_stat", 1),
    ("precision_mode_v2", b"origin"),
    ("precision_mode", b"allow_mix_precision"),
    ("modify_mixlist", b"/home/test/ops_info.json"),
    ("customize_dtypes", b"/home/test/customize_dtypes.cfg"),
    ("enable_dump", True),
    ("dump_mode", b"all"),
    ("enable_dump_debug", True),
    ("dump_debug_mode", b"all"),
    ("dump_path", b"/home/test/output"),
    ("dump_path", b"output"),
    ("dump_path", b"/home/HwHiAiUser/output"),
    ("dump_step", b"0|5|10"),
    ("dump_step", b"0|3-5|10"),
    ("dump_data", b"stats"),
    ("dump_layer", b"nodename1 nodename2 nodename3"),
    ("quant_dumpable", b"1"),
    ("fusion_switch_file", b"/home/test/fusion_switch.cfg"),
    ("buffer_optimize", b"l2_optimize"),
    ("use_off_line", True),
    ("profiling_mode", True),
    ("profiling_options", b'{"output":"/tmp/profiling","training_trace":"on","fp_point":"","bp_point":""}'),
    ("aoe_mode", b"2"),
    ("work_path", b"/home/test/output"),
    ("work_path", b"output"),
    ("aoe_config_file", b"/home/test/cfg/tuning_config.cfg"),
    ("op_debug_level", 0),
    ("enable_data_pre_proc", True),
    ("variable_format_optimize", True),
    ("op_select_implmode", b"high_precision"),
    ("optypelist_for_implmode", b"Pooling"),
    ("optypelist_for_implmode", b"Pooling,SoftmaxV2"),
    ("dynamic_input", True),
    ("dynamic_graph_execute_mode", b"dynamic_execute"),
    (
        "dynamic_inputs_shape_range",
        b"getnext:[128 ,3~5, 2~128, -1],[64 ,3~5, 2~128, -1];data:[128 ,3~5, 2~128, -1]",
    ),
    ("dynamic_inputs_shape_range", b"getnext:[3,3,4,10],[-1,3,2~1000,-1],[-1,-1,-1,-1]"),
    ("dynamic_inputs_shape_range", b"getnext:[3~5],[3~6]"),
    ("dynamic_inputs_shape_range", b"data:[3~5],[3~6]"),
    ("dynamic_inputs_shape_range", b"data:[3~6],[3~5]"),
    ("graph_memory_max_size", b"274877906944"),
    ("graph_memory_max_size", b"256 * 1024 * 1024 * 1024"),
    ("variable_memory_max_size", b"0"),
    ("auto_tune_mode", b"RL,GA"),
]
#: What an example needs beside it, by the reference.
DUMP = {"enable_dump": True, "dump_path": "/home/test/output"}
COMPANIONS = {
    "modify_mixlist": {"precision_mode_v2": "mixed_float16"},
    "customize_dtypes": {"precision_mode_v2": "mixed_float16"},
    "enable_dump": DUMP,
    "enable_dump_debug": {"dump_path": "/home/test/output"},
    "quant_dumpable": DUMP,
    "profiling_options": {"profiling_mode": True},
    "work_path": {"aoe_mode": "2"},
    "aoe_config_file": {"aoe_mode": "2"},
    "optypelist_for_implmode": {"op_select_implmode": "high_precision"},
    "dynamic_graph_execute_mode": {"dynamic_input": True},
    "dynamic_inputs_shape_range": {"dynamic_input": True},
}
#: What the pages give as examples of keys of profiling_options.
KEYS = [
    {"output": "/home/output"},
    {"output": "output"},
    {"storage_limit": "200MB"},
    {"fp_point": "", "bp_point": "", "training_trace": "on"},
    {"aic_metrics": "Custom:0x49,0x8,0x15,0x1b,0x64,0x10"},
    {"host_sys": "cpu,mem"},
]


def test_every_option_has_an_example():
    """The examples leave out no option that a page describes and the runtime reads."""
    described = {name for name in NAMES if not TABLE[name].removed} - {option.name for option in reserved.GROUP.options}
    assert {name for name, _ in EXAMPLES} == described


@pytest.mark.parametrize(("name", "value"), EXAMPLES, ids=[f"{name}-{value}" for name, value in EXAMPLES])
def test_example(name, value):
    """What the reference gives as an example is taken to the letter, on a product and in a scene that have it."""
    option = TABLE[name]
    scene = Scene.TRAINING if Scene.TRAINING in option.scenes else Scene.INFERENCE
    product = next(product for product in Product if product in option.products)
    read, report = check(dict(COMPANIONS.get(name, {}), **{name: value}), scene=scene, product=product)
    assert not report
    assert read[name] == (value.decode() if isinstance(value, bytes) else value)


@pytest.mark.parametrize("keys", KEYS)
def test_example_of_a_key(keys):
    """What the reference gives as an example of a key of profiling is taken to the letter."""
    _, report = check(Profiling(**keys).to_options(), scene=Scene.TRAINING)
    assert list(report) == []


def values():
    """Yield every value of every choice that can be given, with what it belongs to."""
    for module in MODULES:
        for option in module.GROUP.options:
            for value in getattr(option.kind, "values", ()):
                yield option, value


@pytest.mark.parametrize(
    ("option", "value"), list(values()), ids=[f"{option.name}-{value.value}" for option, value in values()]
)
def test_every_value(option, value):
    """Every value that the reference names is taken where it applies."""
    scene = Scene.INFERENCE if Scene.INFERENCE in option.scenes else Scene.TRAINING
    product = next(product for product in Product if product in option.products & value.products)
    companions = COMPANIONS.get(option.name, {})
    _, report = check(dict(companions, **{option.name: value.value}), scene=scene, product=product)
    assert not report


@pytest.mark.parametrize("name", [*NAMES, *profiling_keys.BY_NAME])
def test_described(name):
    """Every value is described in both languages, and every remark is made in both."""
    option = profiling_keys.BY_NAME[name] if name not in NAMES else TABLE[name]
    for value in getattr(option.kind, "values", ()):
        assert value.summary
        assert value.summary_zh
    for note in option.notes:
        assert note.text.isascii()
        assert not note.text_zh.isascii()


@given(st.sampled_from(NAMES), anything, st.sampled_from(list(Scene)), st.booleans())
def test_any_value(name, value, scene, host):
    """Whatever is given is read or reported; what is read, reads again as the same."""
    read, report = check({name: value}, scene=scene, host=host)
    assert all(isinstance(problem, Problem) for problem in report)
    if name in read:
        again, _ = check(read, scene=scene)
        assert again == read


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("maker", list(HOSTILE))
def test_hostile_objects(name, maker):
    """Objects whose methods raise, and monsters, are reported like any other value."""
    for value in contained(HOSTILE[maker]()):
        _, report = check({name: value}, scene=Scene.TRAINING, host=True)
        assert all(str(problem) for problem in report)


@given(st.dictionaries(st.sampled_from(NAMES), anything, max_size=6), st.sampled_from([None, *Product]))
def test_any_values_together(options, product):
    """Whatever is given together is reported, and only what was given is reported on."""
    _, report = check(options, scene=Scene.TRAINING, product=product)
    assert {problem.option.split("[")[0] for problem in report} <= set(options)


#: Right by itself, each of them.
RIGHT = {name: st.sampled_from([value for other, value in EXAMPLES if other == name]) for name, _ in EXAMPLES}
ENVIRONMENT = {
    name: st.sampled_from(["", "1", "2", "/data", "true", "\udcff", "九"])
    for name in ("AOE_MODE", "NPU_COLLECT_PATH", "ASCEND_WORK_PATH", "PROFILING_MODE", "PROFILING_OPTIONS")
}


@given(
    st.fixed_dictionaries({}, optional=RIGHT),
    st.fixed_dictionaries({}, optional=ENVIRONMENT),
    st.sampled_from(list(Scene)),
    st.sampled_from([None, *Product]),
)
def test_rules_on_right_values(options, environ, scene, product):
    """Rules look at any mixture of right values and variables, and name one that was given."""
    _, report = check(options, scene=scene, product=product, environ=environ)
    for problem in report:
        assert problem.option.split("[")[0] in {*options, *environ}
        assert problem.message
        assert problem.why
        assert problem.fix or problem.allowed


def test_order_of_groups():
    """The groups stand in the order of the reference, and after them what it does not describe."""
    assert [group.name for group in GROUPS] == [
        "basic", "memory", "dynamic_shape", "mixed_compute", "debugging", "precision", "comparison", "performance",
        "profiling", "aoe", "compilation", "data_augmentation", "recovery", "experimental", "deprecated", "legacy",
        "reserved",
    ]  # fmt: skip
