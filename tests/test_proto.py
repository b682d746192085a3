"""Options to ConfigProto and back."""

import pytest
from hypothesis import given, settings
from strategies import valid_options

from npusession import AcceleratedTraining, Dump, NpuSession, OptionsError, Profiling, Scene
from npusession.options import TABLE
from npusession.proto import KEPT_PASSES, RULES, check_config, options_of

pytestmark = pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
NAME = "NpuOptimizer"
#: RewriterConfig.OFF
OFF = 2


@pytest.fixture
def npu_config(tf1):
    """A function that builds a ConfigProto by hand, as the reference shows it; parameters are (name, field, value)."""

    def make(*parameters, name=NAME, **rewrites):
        from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

        config = tf1.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = name
        for option, field, value in parameters:
            setattr(custom_op.parameter_map[option], field, tf1.compat.as_bytes(value) if field == "s" else value)
        config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
        config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
        for field, value in rewrites.items():
            setattr(config.graph_options.rewrite_options, field, value)
        return config

    return make


@pytest.fixture
def rich_config(tf1):
    """A ConfigProto as scripts have it, with all sorts of settings of its own."""
    config = tf1.ConfigProto(
        allow_soft_placement=True,
        log_device_placement=True,
        intra_op_parallelism_threads=3,
        inter_op_parallelism_threads=4,
        device_count={"CPU": 2, "GPU": 0},
    )
    config.gpu_options.allow_growth = True
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    config.graph_options.optimizer_options.global_jit_level = tf1.OptimizerOptions.OFF
    config.graph_options.rewrite_options.min_graph_nodes = -1
    other = config.graph_options.rewrite_options.custom_optimizers.add()
    other.name = "OtherOptimizer"
    other.parameter_map["level"].i = 2
    return config


def entries(config, name=NAME):
    return [entry for entry in config.graph_options.rewrite_options.custom_optimizers if entry.name == name]


def codes(call, *arguments, **keywords):
    with pytest.raises(OptionsError) as caught:
        call(*arguments, **keywords)
    return [problem.code for problem in caught.value.problems]


#: Name, field and value of every option as the reference shows it, with what has to stand beside it.
SHOWN = [
    ("graph_run_mode", "i", 1, {}),
    ("session_device_id", "i", 0, {}),
    ("session_device_id", "i", 7, {}),
    ("deterministic", "i", 1, {}),
    ("atomic_clean_policy", "i", 1, {}),
    ("static_memory_policy", "i", 0, {}),
    ("variable_use_1g_huge_page", "i", 2, {}),
    ("external_weight", "b", True, {}),
    ("input_fusion_size", "i", 25600, {}),
    ("input_batch_cpy", "b", True, {}),
    ("ac_parallel_enable", "s", "1", {}),
    ("compile_dynamic_mode", "b", True, {}),
    ("all_tensor_not_empty", "b", True, {}),
    ("mix_compile_mode", "b", True, {}),
    ("enable_exception_dump", "i", 1, {}),
    ("op_debug_config", "s", "/root/test0.cfg", {}),
    ("debug_dir", "s", "/home/test", {}),
    ("export_compile_stat", "i", 1, {}),
    ("precision_mode_v2", "s", "origin", {}),
    ("precision_mode", "s", "allow_mix_precision", {}),
    ("customize_dtypes", "s", "/home/test/customize_dtypes.cfg", {}),
    ("enable_dump", "b", True, {"dump_path": "/home/test/output"}),
    ("dump_mode", "s", "all", {}),
    ("enable_dump_debug", "b", True, {"dump_path": "/home/test/output"}),
    ("dump_debug_mode", "s", "all", {}),
    ("dump_path", "s", "/home/test/output", {}),
    ("dump_step", "s", "0|5|10", {}),
    ("dump_data", "s", "stats", {}),
    ("dump_layer", "s", "nodename1 nodename2 nodename3", {}),
    ("fusion_switch_file", "s", "/home/test/fusion_switch.cfg", {}),
    ("use_off_line", "b", True, {}),
    ("iterations_per_loop", "i", 10, {}),
    ("hcom_parallel", "b", True, {}),
    ("enable_small_channel", "i", 1, {}),
    ("op_precision_mode", "s", "/home/test/op_precision.ini", {}),
    ("enable_scope_fusion_passes", "s", "ScopeLayerNormPass,ScopeClipBoxesPass", {}),
    ("stream_max_parallel_num", "s", "DNN_VM_AICPU:10,AIcoreEngine:1", {}),
    ("is_tailing_optimization", "b", True, {}),
    ("variable_placement", "s", "Device", {}),
    (
        "profiling_options",
        "s",
        '{"output":"/tmp/profiling","training_trace":"on","fp_point":"","bp_point":""}',
        {"profiling_mode": True},
    ),
    ("profiling_mode", "b", True, {}),
    ("aoe_mode", "s", "2", {}),
    ("work_path", "s", "/home/test/output", {"aoe_mode": "2"}),
    ("aoe_config_file", "s", "/home/test/cfg/tuning_config.cfg", {"aoe_mode": "2"}),
    ("op_compiler_cache_mode", "s", "enable", {}),
    ("op_compiler_cache_dir", "s", "/home/test/kernel_cache", {}),
    ("aicore_num", "s", "2|4", {}),
    ("oo_constant_folding", "b", True, {}),
    ("local_rank_id", "i", 0, {"local_device_list": "0,1"}),
    ("local_device_list", "s", "0,1", {"local_rank_id": 0}),
    ("hccl_timeout", "i", 1800, {}),
    ("op_wait_timeout", "i", 120, {}),
    ("op_execute_timeout", "i", 90, {}),
    ("stream_sync_timeout", "i", 60000, {}),
    ("event_sync_timeout", "i", 60000, {}),
    ("graph_compiler_cache_dir", "s", "/root/build_cache_dir", {}),
    ("jit_compile", "s", "auto", {}),
    ("shape_generalization_mode", "s", "FULL", {"jit_compile": "true"}),
    ("experimental_accelerate_train_mode", "s", "fast|step|0.9", {}),
    ("experimental_accelerate_train_mode", "s", "fast|loss|1.05", {}),
    ("auto_multistream_parallel_mode", "s", "cv", {}),
    ("op_debug_level", "i", 0, {}),
    ("enable_data_pre_proc", "b", True, {}),
    ("variable_format_optimize", "b", True, {}),
    ("op_select_implmode", "s", "high_precision", {}),
    ("optypelist_for_implmode", "s", "Pooling,SoftmaxV2", {"op_select_implmode": "high_precision"}),
    ("dynamic_input", "b", True, {}),
    ("dynamic_graph_execute_mode", "s", "dynamic_execute", {"dynamic_input": True}),
]


@pytest.mark.parametrize(
    ("name", "field", "value", "beside"),
    [pytest.param(*shown, id=shown[0]) for shown in SHOWN if shown[0] in TABLE],
)
def test_as_the_reference_shows_it(npu_config, name, field, value, beside):
    """Each option stands in the ConfigProto as the reference's own example writes it, field by field."""
    parameters = [(name, field, value), *((other, TABLE[other].field, beside[other]) for other in beside)]
    by_hand = npu_config(*parameters)
    assert NpuSession.for_training(**{name: value}, **beside).config_proto() == by_hand
    assert NpuSession.from_config(by_hand).config_proto() == by_hand


def test_the_examples_cover_the_table():
    """Every option of the reference that applies to training is among the examples."""
    shown = {name for name, *_ in SHOWN}
    assert {"precision_mode", "dump_path", "profiling_options"} <= shown & set(TABLE)
    assert len(shown & set(TABLE)) > 20


def test_the_smallest_training(npu_config):
    """A plan gives the ConfigProto of the reference's own training example."""
    assert NpuSession.for_training(use_off_line=True).config_proto() == npu_config(("use_off_line", "b", True))
    assert NpuSession.for_training().config_proto() == npu_config()


@pytest.mark.parametrize("device", [0, 1, 7])
def test_devices(npu_config, device):
    """One script may run sessions on several devices, as in the reference's example."""
    config = npu_config(("session_device_id", "i", device))
    assert NpuSession.for_training(device=device).config_proto() == config
    # A number that is set to 0 is still set.
    (parameter,) = entries(config)[0].parameter_map.values()
    assert parameter.WhichOneof("value") == "i"


def test_inference(npu_config):
    """An online inference session says so in its ConfigProto."""
    config = NpuSession.for_inference(quant_dumpable=1).config_proto()
    assert config == npu_config(("graph_run_mode", "i", 0), ("quant_dumpable", "s", "1"))
    assert NpuSession.from_config(config).scene is Scene.INFERENCE


def test_groups(npu_config, directory):
    """Typed groups come out as the options that they stand for."""
    plan = NpuSession.for_training(
        dump=Dump(directory, steps="0|5-10", mode="all"),
        profiling=Profiling(output="/数据", training_trace=True),
        accelerate=AcceleratedTraining.by_step(1000, dtype="bfloat16", fraction=0.5),
    )
    assert plan.config_proto() == npu_config(
        ("enable_dump", "b", True),
        ("dump_path", "s", directory),
        ("dump_step", "s", "0|5-10"),
        ("dump_mode", "s", "all"),
        ("profiling_mode", "b", True),
        ("profiling_options", "s", '{"output": "/数据", "training_trace": "on"}'),
        ("experimental_accelerate_train_mode", "s", "fast1|step|0.5"),
    )


def test_extra_options(npu_config):
    """Options that are newer than the table travel in the field of their type."""
    plan = NpuSession.for_training(extra_options={"flag": False, "level": 3, "mode": "new"})
    assert plan.config_proto() == npu_config(("flag", "b", False), ("level", "i", 3), ("mode", "s", "new"))


def test_extends_a_config(rich_config, npu_config):
    """Extending the caller's ConfigProto loses nothing of it and changes nothing in it."""
    before = type(rich_config)()
    before.CopyFrom(rich_config)
    built = NpuSession.for_training(device=2, config=rich_config).config_proto()
    assert rich_config == before

    assert len(entries(built)) == 1
    assert len(entries(built, "OtherOptimizer")) == 1
    rewrite = built.graph_options.rewrite_options
    assert (rewrite.remapping, rewrite.memory_optimization) == (OFF, OFF)
    # Without what was added, it is the caller's to the last field.
    del rewrite.custom_optimizers[1]
    rewrite.ClearField("remapping")
    rewrite.ClearField("memory_optimization")
    assert built == rich_config
    assert built is not rich_config


def test_extends_an_entry(npu_config):
    """An NpuOptimizer entry of the caller's is extended, and keeps what it has; there is never a second one."""
    config = npu_config(("precision_mode", "s", "allow_mix_precision"), ("deterministic", "i", 1))
    plan = NpuSession.for_training(config=config, iterations_per_loop=8, deterministic="on")
    built = plan.config_proto()
    assert built == npu_config(
        ("precision_mode", "s", "allow_mix_precision"), ("deterministic", "i", 1), ("iterations_per_loop", "i", 8)
    )
    assert plan.options["precision_mode"] == "allow_mix_precision"
    assert config == npu_config(("precision_mode", "s", "allow_mix_precision"), ("deterministic", "i", 1))


def test_keeps_the_order_of_optimizers(rich_config):
    """Other custom optimizers stay where they are, before and after."""
    entry = rich_config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = NAME
    rich_config.graph_options.rewrite_options.custom_optimizers.add().name = "Last"
    built = NpuSession.for_training(device=1, config=rich_config).config_proto()
    names = [entry.name for entry in built.graph_options.rewrite_options.custom_optimizers]
    assert names == ["OtherOptimizer", NAME, "Last"]


def test_base_in_place_of_the_plan_s_own(rich_config, npu_config, tf1):
    """A base that is given to config_proto takes the place of the plan's, and is extended in the same way."""
    plan = NpuSession.for_training(device=3, config=rich_config)
    assert plan.config_proto(tf1.ConfigProto()) == npu_config(("session_device_id", "i", 3))
    base = npu_config(("session_device_id", "i", 3), ("deterministic", "i", 1))
    assert plan.config_proto(base) == base
    assert plan.config_proto(base) is not base
    assert codes(plan.config_proto, npu_config(("session_device_id", "i", 4))) == ["NPU107"]


def test_each_config_is_new(rich_config):
    """A ConfigProto that a plan hands out may be changed without changing the plan."""
    plan = NpuSession.for_training(config=rich_config)
    first = plan.config_proto()
    first.intra_op_parallelism_threads = 99
    entries(first)[0].parameter_map["deterministic"].i = 1
    assert plan.config_proto() != first
    rich_config.intra_op_parallelism_threads = 99
    assert plan.config_proto().intra_op_parallelism_threads == 3


@pytest.mark.parametrize("config", [5, "config", b"", [], {}, object(), True])
def test_wrong_type(config, tf1):
    """What is no ConfigProto is refused, and not replaced in silence."""
    assert codes(NpuSession.for_training, config=config) == ["NPU306"]
    assert codes(NpuSession.for_training().config_proto, config) == ["NPU306"]


def test_wrong_message(tf1):
    """Another message, or the class in place of an object, is no ConfigProto."""
    for config in (tf1.ConfigProto, tf1.GPUOptions(), tf1.ConfigProto().graph_options):
        assert codes(NpuSession.from_config, config) == ["NPU306"]
    assert codes(NpuSession.from_config, None) == ["NPU306"]


def test_two_entries(npu_config):
    """Two NpuOptimizer entries, which bypass the runtime's checks, are refused."""
    config = npu_config()
    config.graph_options.rewrite_options.custom_optimizers.add().name = NAME
    assert codes(NpuSession.for_training, config=config) == ["NPU301"]
    assert codes(NpuSession.from_config, config) == ["NPU301"]
    assert codes(NpuSession.for_training().config_proto, config) == ["NPU301"]


@pytest.mark.parametrize("name", ["", "NPUOptimizer", "npu_optimizer", "Npu"])
def test_wrong_name(npu_config, name):
    """Options in an entry of another name, which never reach the runtime, are refused."""
    config = npu_config(("precision_mode", "s", "force_fp32"), name=name)
    assert codes(NpuSession.from_config, config) == ["NPU302"]
    assert codes(NpuSession.for_training, config=config) == ["NPU302"]


@pytest.mark.parametrize(
    ("rewrites", "code"),
    [
        ({"remapping": 1}, "NPU303"),
        ({"remapping": 3}, "NPU303"),
        ({"memory_optimization": 3}, "NPU304"),
        *(({field: OFF}, "NPU305") for field in KEPT_PASSES),
        ({"disable_model_pruning": True}, "NPU305"),
    ],
    ids=str,
)
def test_rewriter_settings(npu_config, rewrites, code):
    """A setting of the graph rewriter that the NPU cannot do with is refused, not overwritten."""
    config = npu_config(**rewrites)
    (problem,) = check_config(config)
    assert (problem.code, problem.option) == (code, "rewrite_options.{}".format(*rewrites))
    assert problem.fix
    assert codes(NpuSession.for_training, config=config) == [code]
    assert codes(NpuSession.for_training().config_proto, config) == [code]


@pytest.mark.parametrize(
    "rewrites",
    [
        {"remapping": 0, "memory_optimization": 0},
        {"memory_optimization": 1},
        {"constant_folding": 1, "layout_optimizer": 1},
        {"function_optimization": 3},
        {"debug_stripper": OFF, "meta_optimizer_iterations": 1},
    ],
    ids=str,
)
def test_harmless_rewriter_settings(npu_config, rewrites):
    """Settings of the rewriter that the NPU does not mind stay as they are."""
    config = npu_config(**rewrites)
    built = NpuSession.for_training(config=config).config_proto().graph_options.rewrite_options
    for field, value in rewrites.items():
        assert getattr(built, field) == (OFF if field in ("remapping", "memory_optimization") else value)


def test_every_rule_is_broken_here(npu_config):
    """There is no rule about a ConfigProto that nobody can break."""
    assert {rule.code for rule in RULES} == {f"NPU30{number}" for number in range(1, 7)}


def test_all_problems_at_once(npu_config):
    """Everything that is wrong with a ConfigProto is listed together."""
    config = npu_config(("precision_mode", "b", True), ("sump_mode", "s", "all"), remapping=1)
    assert codes(NpuSession.from_config, config) == ["NPU303"]
    config = npu_config(("precision_mode", "b", True), ("sump_mode", "s", "all"), ("l2", "s", "on"))
    assert sorted(codes(NpuSession.from_config, config)) == ["NPU101", "NPU104", "NPU111"]


FIELDS = {"b": True, "i": 1, "f": 1.0, "type": 1}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_wrong_fields(npu_config, name):
    """An option set through a field that the runtime does not read is an error, and not a zero."""
    right = TABLE[name].field
    for field, value in [*FIELDS.items(), ("s", "1")]:
        if field == right:
            continue
        options, report = options_of(npu_config((name, field, value)))
        (problem,) = report
        assert (problem.code, problem.option) == ("NPU104", name)
        assert f".{field}" in problem.message
        assert f'parameter_map["{name}"].{right} = ' in problem.fix
        assert options == {}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_no_field(npu_config, name):
    """An entry that was touched and never set is an error."""
    config = npu_config()
    entries(config)[0].parameter_map[name].SetInParent()
    assert [problem.code for problem in options_of(config)[1]] == ["NPU104"]


@pytest.mark.parametrize("field", ["shape", "list", "func"])
def test_message_fields(npu_config, field):
    """A field that holds a message is a wrong field like any other."""
    config = npu_config()
    getattr(entries(config)[0].parameter_map["precision_mode"], field).SetInParent()
    assert [problem.code for problem in options_of(config)[1]] == ["NPU104"]


each_bad_parameter = pytest.mark.parametrize(
    ("parameter", "code"),
    [
        (("dump_mode", "s", "both"), "NPU105"),
        (("session_device_id", "i", -1), "NPU105"),
        (("session_device_id", "i", 2**32), "NPU105"),
        (("iterations_per_loop", "i", 0), "NPU105"),
        (("precision_mode", "s", b"\xff"), "NPU105"),
        (("precision_mode", "b", True), "NPU104"),
        (("enable_dump", "b", True), "NPU203"),
        (("training_trace", "s", "on"), "NPU111"),
        (("precision_mod", "s", "force_fp32"), "NPU101"),
        (("nothing_like_it", "b", True), "NPU102"),
    ],
)


@each_bad_parameter
def test_parameters_of_a_config(npu_config, parameter, code):
    """What stands in a ConfigProto is checked like what is given by name."""
    config = npu_config(parameter)
    assert codes(NpuSession.from_config, config) == [code]
    assert codes(NpuSession.for_training, config=config) == [code]


@each_bad_parameter
def test_parameters_of_a_base(npu_config, parameter, code):
    """What stands in a base is checked before it is handed on to the runtime."""
    assert codes(NpuSession.for_training().config_proto, npu_config(parameter)) == [code]


def test_bad_value_under_a_good_one(npu_config):
    """A bad value in the ConfigProto is reported even if a good one is given by name."""
    config = npu_config(("dump_mode", "s", "both"))
    assert codes(NpuSession.for_training, config=config, dump_mode="all")


def test_given_twice(npu_config):
    """An option that the ConfigProto has and that is given with another value is reported, and not overwritten."""
    config = npu_config(("deterministic", "i", 0), ("precision_mode", "s", "force_fp32"))
    assert codes(NpuSession.for_training, config=config, deterministic=1) == ["NPU107"]
    assert codes(NpuSession.from_config, config, precision_mode="allow_mix_precision") == ["NPU107"]
    assert NpuSession.for_training(config=config, deterministic="0").options["deterministic"] == 0


def test_scene_contradiction(npu_config):
    """A ConfigProto of the other scene is reported."""
    assert codes(NpuSession.for_training, config=npu_config(("graph_run_mode", "i", 0))) == ["NPU107"]
    assert codes(NpuSession.for_inference, config=npu_config(("graph_run_mode", "i", 1))) == ["NPU107"]


def test_newer_options_in_a_config(npu_config):
    """A ConfigProto with an option that is newer than the table can be taken over when the option is named."""
    plan = NpuSession.for_training(extra_options={"newer_than_this": 3}, device=1)
    again = NpuSession.from_config(plan.config_proto(), extra_options={"newer_than_this": 3})
    assert again.options == plan.options
    assert again.config_proto() == plan.config_proto()


@pytest.mark.parametrize("scene", list(Scene), ids=lambda scene: scene.value)
def test_round_trip(tf1, scene):
    """Any right options come back from the ConfigProto as they went in."""

    @settings(max_examples=60)
    @given(valid_options(scene))
    def check(options):
        make = NpuSession.for_training if scene is Scene.TRAINING else NpuSession.for_inference
        plan = make(**options)
        config = plan.config_proto()
        assert options_of(config)[0] == dict(plan.options)
        again = NpuSession.from_config(config)
        assert again.options == plan.options
        assert again.scene is plan.scene
        assert again.config_proto() == config

    check()
