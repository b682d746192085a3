"""The examples of the reference, and whatever else may be given, for the groups of options without a class."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import HOSTILE, anything, contained

from npusession import Problem, Product
from npusession.options import (
    TABLE,
    Scene,
    basic,
    check,
    compilation,
    data_augmentation,
    dynamic_shape,
    experimental,
    memory,
    mixed_compute,
    performance,
    recovery,
)

GROUPS = (
    basic, memory, dynamic_shape, mixed_compute, performance, compilation, data_augmentation, recovery, experimental
)  # fmt: skip
NAMES = [option.name for module in GROUPS for option in module.GROUP.options]
#: Name, and value as it stands in an example, or is named among the values.
EXAMPLES = [
    ("graph_run_mode", 1),
    ("session_device_id", 0),
    ("session_device_id", 1),
    ("session_device_id", 7),
    ("deterministic", 1),
    ("atomic_clean_policy", 1),
    ("static_memory_policy", 0),
    ("static_memory_policy", 2),
    ("static_memory_policy", 3),
    ("static_memory_policy", 4),
    ("variable_use_1g_huge_page", 2),
    ("external_weight", True),
    ("input_fusion_size", 25600),
    ("input_batch_cpy", True),
    ("input_shape", b"data:1,1,40,-1;label:1,-1;mask:-1,-1"),
    ("dynamic_dims", b"20,20,1,1;40,40,2,2;80,60,4,4"),
    ("dynamic_node_type", 0),
    ("compile_hybrid_mode", 1),
    ("ac_parallel_enable", b"1"),
    ("compile_dynamic_mode", True),
    ("all_tensor_not_empty", True),
    ("mix_compile_mode", True),
    ("in_out_pair_flag", False),
    ("in_out_pair", str([[["import/conv2d_1/convolution"], ["import/conv2d_59/BiasAdd", "import/conv2d_67/BiasAdd"]]])),
    ("iterations_per_loop", 10),
    ("hcom_parallel", True),
    ("enable_small_channel", 1),
    ("op_precision_mode", b"/home/test/op_precision.ini"),
    ("enable_scope_fusion_passes", b"ScopeLayerNormPass,ScopeClipBoxesPass"),
    ("stream_max_parallel_num", b"DNN_VM_AICPU:10,AIcoreEngine:1"),
    ("stream_max_parallel_num", b"DNN_VM_TF:10,DNN_V100:1"),
    ("is_tailing_optimization", True),
    ("variable_placement", b"Device"),
    ("frozen_variable", True),
    ("graph_max_parallel_model_num", 4),
    ("op_compiler_cache_mode", b"enable"),
    ("op_compiler_cache_dir", b"/home/test/kernel_cache"),
    ("aicore_num", b"2|4"),
    ("oo_constant_folding", True),
    ("local_rank_id", 0),
    ("local_device_list", b"0,1"),
    ("hccl_timeout", 1800),
    ("op_wait_timeout", 120),
    ("op_execute_timeout", 90),
    ("stream_sync_timeout", 60000),
    ("event_sync_timeout", 60000),
    ("graph_compiler_cache_dir", b"/root/build_cache_dir"),
    ("jit_compile", b"auto"),
    ("shape_generalization_mode", b"FULL"),
    ("experimental_accelerate_train_mode", b"fast|step|0.9"),
    ("experimental_accelerate_train_mode", b"fast|loss|1.05"),
    ("auto_multistream_parallel_mode", b"cv"),
]
#: What an example needs beside it, by the reference.
COMPANIONS = {
    "input_shape": {"dynamic_dims": "20,20,1,1;40,40,2,2", "dynamic_node_type": 0},
    "dynamic_dims": {"input_shape": "data:1,1,40,-1;label:1,-1;mask:-1,-1", "dynamic_node_type": 0},
    "dynamic_node_type": {"input_shape": "data:-1", "dynamic_dims": "1;2"},
    "compile_hybrid_mode": {"input_shape": "data:-1", "dynamic_dims": "1;2", "dynamic_node_type": 1},
    "in_out_pair": {"mix_compile_mode": True},
    "in_out_pair_flag": {"mix_compile_mode": True, "in_out_pair": [["a"], ["b"]]},
    "local_device_list": {"local_rank_id": 0},
    "shape_generalization_mode": {"jit_compile": "true"},
}


def test_every_option_has_an_example():
    """The examples leave out no option of these groups."""
    assert {name for name, _ in EXAMPLES} == set(NAMES)


@pytest.mark.parametrize(("name", "value"), EXAMPLES, ids=[f"{name}-{value}" for name, value in EXAMPLES])
def test_example(name, value):
    """What the reference gives as an example is taken to the letter, on a product and in a scene that have it."""
    option = TABLE[name]
    scene = next(iter(option.scenes))
    product = next(product for product in Product if product in option.products)
    read, report = check(dict(COMPANIONS.get(name, {}), **{name: value}), scene=scene, product=product)
    assert not report
    assert read[name] == (value.decode() if isinstance(value, bytes) else value)


@pytest.mark.parametrize("name", NAMES)
def test_described(name):
    """Every value is described in both languages, and every remark is made in both."""
    option = TABLE[name]
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
        _, report = check({name: value}, scene=Scene.INFERENCE, host=True)
        assert all(str(problem) for problem in report)


@given(st.dictionaries(st.sampled_from(NAMES), anything, max_size=6), st.sampled_from([None, *Product]))
def test_any_values_together(options, product):
    """Whatever is given together is reported, and only what was given is reported on."""
    _, report = check(options, scene=Scene.INFERENCE, product=product)
    assert {problem.option for problem in report} <= set(options)


#: Right by itself, each of them.
RIGHT = {name: st.sampled_from([value for other, value in EXAMPLES if other == name]) for name in NAMES}


@given(st.fixed_dictionaries({}, optional=RIGHT), st.sampled_from(list(Scene)), st.sampled_from([None, *Product]))
def test_rules_on_right_values(options, scene, product):
    """Rules between options look at any mixture of right values, and name an option that was given."""
    _, report = check(options, scene=scene, product=product)
    for problem in report:
        assert problem.option in options
        assert problem.message
        assert problem.why
        assert problem.fix or problem.allowed


@pytest.mark.parametrize(
    ("refused", "rest"),
    [
        ({"dynamic_dims": "20;a"}, {"input_shape": "x:-1", "dynamic_node_type": 1, "compile_hybrid_mode": 1}),
        ({"mix_compile_mode": "maybe"}, {"in_out_pair": [["a"], ["b"]], "variable_placement": "Host"}),
        ({"in_out_pair": "a,b"}, {"mix_compile_mode": True, "in_out_pair_flag": False}),
        ({"local_rank_id": 8}, {"local_device_list": "0,1"}),
        ({"local_device_list": "0;1"}, {"local_rank_id": 0}),
        ({"jit_compile": "True"}, {"shape_generalization_mode": "FULL"}),
    ],
)
def test_refused_is_not_missing(refused, rest):
    """What was given with a bad value is reported for that, and not as missing too."""
    _, report = check(dict(rest, **refused), scene=Scene.INFERENCE)
    assert [(problem.code, problem.option) for problem in report] == [("NPU105", name) for name in refused]


def test_environment_is_read_as_text():
    """Odd variables in the environment are reported or passed over, never raised on."""
    names = (
        "HCCL_EXEC_TIMEOUT", "ASCEND_MAX_OP_CACHE_SIZE", "ASCEND_REMAIN_CACHE_SIZE_RATIO", "RANK_SIZE",
        "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM",
    )  # fmt: skip
    for text in ("", " ", "\n", "1e3", "九", "9" * 5000, os.fsdecode(b"\xff")):
        check(
            {"stream_sync_timeout": 1, "auto_multistream_parallel_mode": "cv"},
            scene=Scene.TRAINING,
            environ={name: text for name in names},
        )
