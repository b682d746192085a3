"""The plan of a session: what it holds, how it compares, prints and travels, and what it refuses."""

import copy
import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import valid_options

from npusession import AcceleratedTraining, Dump, NpuSession, OptionsError, Product, Profiling, Scene

pytestmark = pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
MODE = "experimental_accelerate_train_mode"
FULL = {
    "device": 1,
    "dump": Dump("/data", steps="0|5-10"),
    "profiling": Profiling(output="/tmp", aicpu=True),
    "accelerate": AcceleratedTraining.by_step(100),
    "target": "grpc://localhost:2222",
    "backend": "fake",
    "record": "run.jsonl",
    "precision_mode_v2": "origin",
    "deterministic": 1,
}


def problems(make, *arguments, **keywords):
    with pytest.raises(OptionsError) as caught:
        make(*arguments, **keywords)
    return [(problem.code, problem.option) for problem in caught.value.problems]


@pytest.fixture
def full():
    return NpuSession.for_training(**FULL)


def test_empty():
    """No option at all is a legal plan, with nothing in it."""
    plan = NpuSession.for_training()
    assert dict(plan.options) == {}
    assert plan.scene is Scene.TRAINING
    assert (plan.device, plan.dump, plan.profiling, plan.accelerate, plan.graph, plan.backend) == (None,) * 6


def test_options(full):
    """All that was given can be read off the plan, canonical and in one place."""
    assert dict(full.options) == {
        "deterministic": 1,
        "dump_path": "/data",
        "dump_step": "0|5-10",
        "enable_dump": True,
        MODE: "fast|step|0.9",
        "precision_mode_v2": "origin",
        "profiling_mode": True,
        "profiling_options": '{"output": "/tmp", "aicpu": "on"}',
        "session_device_id": 1,
    }
    assert full.device == 1
    assert full.dump == FULL["dump"]
    assert full.profiling == Profiling(output="/tmp", aicpu="on")
    assert full.accelerate == FULL["accelerate"]
    assert full.target == FULL["target"]
    assert full.backend == "fake"
    assert full.record == "run.jsonl"


def test_inference():
    """An inference plan says so to the runtime, once."""
    assert dict(NpuSession.for_inference().options) == {"graph_run_mode": 0}
    assert NpuSession.for_inference(graph_run_mode=0) == NpuSession.for_inference()
    assert NpuSession.for_inference().scene is Scene.INFERENCE


def test_record(tmp_path):
    """A record's path comes as text or as a path; an empty flag is none, and what is no path is refused."""
    assert NpuSession.for_inference(record=tmp_path / "run.jsonl").record == str(tmp_path / "run.jsonl")
    assert NpuSession.for_training(record="").record is None
    assert NpuSession.for_training() == NpuSession.for_training(record=None)
    for wrong in (1, True, b"run.jsonl", "a\0b", ["run.jsonl"]):
        assert problems(NpuSession.for_training, record=wrong) == [("NPU106", "record")]


def test_frozen(full):
    """A plan cannot be changed, neither its attributes nor its options."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        full.target = "elsewhere"
    with pytest.raises(TypeError):
        full.options["deterministic"] = 0


def test_flags():
    """Text from command line flags makes the same plan as values do; None and False stand for nothing given."""
    by_text = NpuSession.for_training("1", deterministic="True", use_off_line="on", iterations_per_loop="8")
    assert by_text == NpuSession.for_training(1, deterministic=1, use_off_line=True, iterations_per_loop=8)
    nothing = dict.fromkeys(("device", "config", "graph", "backend", "product", "extra_options", "deterministic"))
    nothing.update(dump=False, profiling=False, accelerate=False)
    assert NpuSession.for_training(**nothing) == NpuSession.for_training()


def test_equal(full):
    """Plans are equal when they do the same, however they were written."""
    same = NpuSession.for_training(
        **{**FULL, "device": "1", "deterministic": "on", "dump": Dump(b"/data", steps=[0, range(5, 11)])}
    )
    assert same == full
    assert hash(same) == hash(full)
    assert len({same, full}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"device": 2},
        {"dump": Dump("/elsewhere", steps="0|5-10")},
        {"dump": None},
        {"profiling": None},
        {"accelerate": AcceleratedTraining.by_step(101)},
        {"target": ""},
        {"record": None},
        {"record": "other.jsonl"},
        {"backend": "npu"},
        {"product": Product.ATLAS_A2},
        {"deterministic": 0},
        {"deterministic": None},
        {"extra_options": {"newer": 1}},
        {"graph": object()},
    ],
    ids=lambda change: "-".join(change),
)
def test_unequal(full, change):
    """Plans that differ in anything are not equal."""
    assert NpuSession.for_training(**{**FULL, **change}) != full


def test_unequal_scenes():
    """A training plan equals no inference plan."""
    assert NpuSession.for_training() != NpuSession.for_inference()
    assert NpuSession.for_training(graph_run_mode=1) != NpuSession.for_inference()


def test_unequal_types():
    """True and 1 travel in different fields, so that plans with the one and with the other are not equal."""
    plans = [NpuSession.for_training(extra_options={"newer": value}) for value in (True, 1)]
    assert plans[0] != plans[1]


def test_equal_configs(tf1):
    """Plans that extend equal ConfigProtos are equal, in whatever order these were filled."""
    configs = tf1.ConfigProto(), tf1.ConfigProto()
    names = [f"name_{number}" for number in range(20)]
    for config, order in zip(configs, (names, names[::-1])):
        other = config.graph_options.rewrite_options.custom_optimizers.add()
        other.name = "OtherOptimizer"
        for name in order:
            config.device_count[name] = 1
            other.parameter_map[name].i = 1
    assert configs[0] == configs[1]
    plans = [NpuSession.for_training(config=config) for config in configs]
    assert plans[0] == plans[1]
    assert hash(plans[0]) == hash(plans[1])


def evaluated(plan):
    names = {"NpuSession": NpuSession, "AcceleratedTraining": AcceleratedTraining}
    return eval(repr(plan), names)


@pytest.mark.parametrize(
    "plan",
    [
        NpuSession.for_training(),
        NpuSession.for_inference(),
        NpuSession.for_training(**FULL),
        NpuSession.for_training(use_off_line=False, device=0, dump_layer="层"),
        NpuSession.for_inference(quant_dumpable=1, dump=Dump("/data")),
        NpuSession.for_training(accelerate=AcceleratedTraining.by_loss(0.5, 2)),
    ],
)
def test_repr(plan):
    """A printed plan is the call that makes it."""
    assert evaluated(plan) == plan
    assert "\n" not in repr(plan)


def test_repr_of_extra_options():
    """Extra options and a product are printed as what they are."""
    plan = NpuSession.for_training(extra_options={"newer": "x"}, product=Product.ATLAS_A2)
    assert repr(plan).startswith("NpuSession.for_training(extra_options={'newer': 'x'}, product=")
    assert "atlas-a2" in repr(plan)
    assert evaluated(plan.replace(product=None)) == plan.replace(product=None)


def test_repr_names_the_config(tf1):
    """A plan that extends a ConfigProto does not print as one that extends none."""
    config = tf1.ConfigProto(allow_soft_placement=True)
    assert repr(NpuSession.for_training(config=config)) != repr(NpuSession.for_training())


@given(valid_options(Scene.TRAINING))
def test_repr_property(options):
    """Whatever the options, a printed plan is the call that makes it."""
    plan = NpuSession.for_training(**options)
    assert evaluated(plan) == plan


@pytest.mark.parametrize("again", [lambda plan: pickle.loads(pickle.dumps(plan)), copy.copy, copy.deepcopy])
def test_pickle(full, again):
    """A plan can be sent to another process, and copied."""
    for plan in (full, full.replace(extra_options={"newer": 1}, product=Product.ATLAS_A2), NpuSession.for_inference()):
        assert again(plan) == plan
        assert hash(again(plan)) == hash(plan)
        assert repr(again(plan)) == repr(plan)


def test_pickle_with_config(tf1):
    """A plan takes the ConfigProto that it extends along."""
    plan = NpuSession.for_training(config=tf1.ConfigProto(intra_op_parallelism_threads=3))
    assert pickle.loads(pickle.dumps(plan)).config_proto() == plan.config_proto()


def test_no_pickle_with_graph():
    """A plan that is bound to a graph says how to pickle it without."""
    plan = NpuSession.for_training(graph=object())
    with pytest.raises(TypeError, match=r"replace\(graph=None\)"):
        pickle.dumps(plan)
    assert pickle.loads(pickle.dumps(plan.replace(graph=None))) == NpuSession.for_training()


@pytest.mark.parametrize(
    "change",
    [
        {"device": 2},
        {"device": None},
        {"device": "0"},
        {"dump": Dump.overflow("/data")},
        {"dump": Dump("/data", mode="all")},
        {"dump": None},
        {"profiling": Profiling(output="/tmp", l2=True)},
        {"profiling": None},
        {"accelerate": AcceleratedTraining.by_loss(1.0, 2.0)},
        {"accelerate": None},
        {"target": ""},
        {"record": None},
        {"record": "other.jsonl"},
        {"backend": "npu"},
        {"backend": None},
        {"graph": object()},
        {"precision_mode_v2": None, "precision_mode": "must_keep_origin_dtype"},
        {"deterministic": 0, "iterations_per_loop": 8},
        {"deterministic": None},
        {"dump": None, "profiling": None, "accelerate": None, "device": None},
        {},
    ],
    ids=lambda change: "-".join(change),
)
def test_replace(full, change):
    """Replacing keywords makes the plan that these keywords would have made; None takes one out."""
    before = repr(full)
    assert full.replace(**change) == NpuSession.for_training(**{**FULL, **change})
    assert repr(full) == before


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ({"session_device_id": None}, {"deterministic": 1}),
        ({"session_device_id": 3}, {"deterministic": 1, "session_device_id": 3}),
        ({"dump_mode": "all"}, {"deterministic": 1, "session_device_id": 1, "dump_mode": "all"}),
    ],
)
def test_replace_by_option_name(change, options):
    """What a keyword stands for may be replaced by the option's own name as well."""
    assert dict(NpuSession.for_training(device=1, deterministic=1).replace(**change).options) == options


@pytest.mark.parametrize("mode", ["fast|step|0.5", None])
@pytest.mark.parametrize("given", [{MODE: "fast|step"}, {"accelerate": AcceleratedTraining.by_step(10)}])
def test_replace_the_mode_of_acceleration(given, mode):
    """The mode of accelerated training can be replaced or taken out by the option's own name."""
    plan = NpuSession.for_training(**given).replace(**{MODE: mode})
    assert plan.options.get(MODE) == mode
    assert (plan.accelerate is None) == (mode is None)


def test_replace_extra_options(full):
    """Extra options stay in a plan until they are taken out."""
    plan = full.replace(extra_options={"newer": 1})
    assert plan.replace(device=2).options["newer"] == 1
    assert plan.replace(extra_options=None) == full


def test_replace_in_inference():
    """A plan for inference stays one."""
    plan = NpuSession.for_inference(dump=Dump("/data"))
    assert plan.replace(device=1) == NpuSession.for_inference(1, dump=Dump("/data"))
    assert plan.replace(dump=None) == NpuSession.for_inference()


def test_replace_checks(full):
    """A plan that is replaced is checked as a whole."""
    assert problems(full.replace, precision_mode="force_fp32") == [("NPU201", "precision_mode"), ("NPU209", MODE)]
    assert problems(full.replace, device=-1) == [("NPU105", "session_device_id")]


def test_replace_keeps_the_config(tf1):
    """A plan that is replaced still extends the ConfigProto that it was made with."""
    plan = NpuSession.for_training(config=tf1.ConfigProto(intra_op_parallelism_threads=3), device=1)
    config = plan.replace(device=2, deterministic=1).config_proto()
    assert config.intra_op_parallelism_threads == 3
    assert plan.replace(config=None) == NpuSession.for_training(device=1)
    other = tf1.ConfigProto(intra_op_parallelism_threads=5)
    assert plan.replace(config=other) == NpuSession.for_training(config=other, device=1)


def test_replace_options_of_the_config(tf1):
    """Options that came with the ConfigProto can be replaced and taken out like any others."""
    plan = NpuSession.from_config(NpuSession.for_training(**{**FULL, "target": ""}).config_proto())
    assert plan.replace(deterministic=0).options["deterministic"] == 0
    changed = plan.replace(dump=None, device=None, deterministic=None)
    assert set(changed.options) == {MODE, "precision_mode_v2", "profiling_mode", "profiling_options"}
    assert NpuSession.from_config(changed.config_proto()).options == changed.options


def test_from_mapping(full):
    """A mapping of keywords makes the plan that the keywords make."""
    assert NpuSession.from_config(FULL) == full
    assert NpuSession.from_config({}) == NpuSession.for_training()
    assert NpuSession.from_config({"scene": "inference", "device": 1}) == NpuSession.for_inference(1)
    assert NpuSession.from_config({"scene": Scene.INFERENCE}) == NpuSession.for_inference()
    assert NpuSession.from_config(FULL, device=2, dump=None) == full.replace(device=2, dump=None)
    assert NpuSession.from_config({"device": None, "scene": "training"}) == NpuSession.for_training()


def test_from_mapping_of_groups():
    """Groups in a mapping may be mappings of their own."""
    plan = NpuSession.from_config({"dump": {"path": "/data", "mode": "all"}, "profiling": {"output": "/tmp"}})
    assert plan.dump == Dump("/data", mode="all")
    assert plan.profiling == Profiling(output="/tmp")
    accelerate = {"mode": "fast|step", "total_steps": 10}
    assert NpuSession.from_config({"accelerate": accelerate}).accelerate == AcceleratedTraining("fast|step", 10)


@pytest.mark.parametrize(
    "config",
    [
        {"scene": "both"},
        {"dump": {"pth": "/data"}},
        {"dump": {}},
        {"profiling": {"op_trace": "on"}},
        {"learning_rate": 1},
        {"device": "first"},
    ],
    ids=str,
)
def test_wrong_mapping(config):
    """What is wrong with a mapping is listed, its scene and its groups included."""
    assert problems(NpuSession.from_config, config)


def test_from_proto(tf1, full):
    """A plan that was written as a ConfigProto comes back with the same options."""
    again = NpuSession.from_config(full.config_proto())
    assert again.options == full.options
    assert again.dump == full.dump
    # What has no place in a ConfigProto can be added.
    others = {"accelerate": full.accelerate, "backend": "fake", "target": full.target, "record": full.record}
    again = NpuSession.from_config(full.config_proto(), **others)
    assert again.accelerate == full.accelerate
    assert again.backend == "fake"


@pytest.mark.parametrize(
    ("name", "options", "value"),
    [
        ("dump_mode", {}, "output"),
        ("dump_mode", {"dump_mode": "all"}, "all"),
        ("use_off_line", {"use_off_line": False}, False),
        ("precision_mode_v2", {}, None),
        ("precision_mode_v2", {"product": Product.ATLAS_A2}, "origin"),
        ("no_such_option", {}, None),
    ],
)
def test_effective(name, options, value):
    """The value that an option has in a plan is the one given, else the reference's default."""
    assert NpuSession.for_training(**options).effective(name) == value


@pytest.mark.parametrize("scene", list(Scene), ids=lambda scene: scene.value)
@given(data=st.data())
def test_from_its_own_options(scene, data):
    """A plan made of another one's options is equal to it."""
    plan = NpuSession.from_config({**data.draw(valid_options(scene)), "scene": scene})
    assert NpuSession.from_config({**plan.options, "scene": scene.value}) == plan
    assert plan.replace() == plan
    assert plan.replace(device=3).replace(device=plan.device) == plan
