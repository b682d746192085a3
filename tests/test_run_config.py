"""Plans as configurations of estimators: what RunConfig and the adapter's NPURunConfig make of them."""

import json
import pathlib
import re

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="a configuration needs TensorFlow")

from npusession import AcceleratedTraining, Dump, LifecycleError, NpuSession, OptionsError, Profiling  # noqa: E402
from npusession.backends.fake import run_config  # noqa: E402
from npusession.options import TABLE, Scene  # noqa: E402
from npusession.proto import parameters_of  # noqa: E402

tf1 = tensorflow.compat.v1
needs_estimator = pytest.mark.skipif(not hasattr(tf1, "estimator"), reason="this TensorFlow has no tf.estimator")
MODULE = "npu_bridge.estimator.npu.npu_config"
API = json.loads((pathlib.Path(__file__).parent / "data/npu_bridge_api.json").read_text("utf-8"))["modules"][MODULE]
GEARS = {"input_shape": "x:-1", "dynamic_dims": "1;2", "dynamic_node_type": 1, "compile_hybrid_mode": 0}
DUMPED = {"enable_dump": True, "dump_path": "/data"}
OVERFLOW = {"enable_dump_debug": True, "dump_path": "/data"}
#: What some options need beside them, and the value of their own where the first that fits does not go with it.
COMPANIONS = {
    "enable_dump": DUMPED, "dump_mode": DUMPED, "dump_step": DUMPED, "dump_data": DUMPED, "dump_layer": DUMPED,
    "dump_path": DUMPED, "enable_dump_debug": OVERFLOW, "dump_debug_mode": OVERFLOW, **dict.fromkeys(GEARS, GEARS),
    "work_path": {"aoe_mode": "2"}, "distribute_config": {"aoe_mode": "2"},
    "profiling_mode": Profiling(output="/data", aicpu=True).to_options(),
    "profiling_options": Profiling(output="/data", aicpu=True).to_options(),
}  # fmt: skip
#: Keywords of NPURunConfig that are no options.
OTHERS = {*run_config.OF_TENSORFLOW, "horovod_mode"}


def keywords(cls):
    """Return the keywords of a class of the adapter."""
    return {part.split("=")[0].strip() for part in API[cls]["__init__"].strip("()").split(",")[1:]}


def class_of(keyword):
    return "".join(map(str.capitalize, keyword.split("_")))


def test_keywords():
    """The table's keywords are those of the adapter's classes, each is an option's, and none is missing."""
    named = {"NPURunConfig": set()}
    for option in TABLE.values():
        cls = "NPURunConfig"
        parts = option.run_config.split(".") if option.run_config else []
        for part in parts:
            named.setdefault(cls, set()).add(part)
            cls = class_of(part)
    # The one that the estimator does not hand on.
    named["GraphMemoryOptimizeConfig"].add("recompute")
    assert {cls: keywords(cls) - (OTHERS if cls == "NPURunConfig" else set()) for cls in named} == named
    assert {cls for cls in API if cls.endswith("Config")} == set(named)


def made(config):
    proto = tf1.ConfigProto()
    run_config.add_entry(proto, config)
    return {name: (field, value) for name, field, value in parameters_of(proto)}


def given_to(plan):
    return {name: (field, value) for name, field, value in parameters_of(plan.config_proto())}


def a_value(option):
    """Return a value that an option takes, and does not have by default."""
    values = [value for value in option.values.values() if value != option.default(Scene.TRAINING)]
    if values:
        return values[-1]
    for value in (2, "1", "a", "a:1", "0,1", "2|4", "1024", "/data/file", 3600, 20):
        try:
            return option.kind.parse(value)
        except Exception:
            continue
    return None


@needs_estimator
@pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
class TestNpuRunConfig:
    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch):
        monkeypatch.delenv("TF_CONFIG", raising=False)

    @pytest.mark.parametrize("name", [name for name, option in TABLE.items() if option.run_config])
    def test_each_option(self, name):
        """Whatever option a plan has, NPUEstimator gives the runtime just what the plan's own sessions give it."""
        option = TABLE[name]
        make = NpuSession.for_training if Scene.TRAINING in option.scenes else NpuSession.for_inference
        value = a_value(option)
        try:
            plan = make(backend="fake", **{name: value, **COMPANIONS.get(name, {})})
        except OptionsError:
            pytest.skip("goes with others only; see the test of groups")
        found, empty = made(plan.npu_run_config()), made(make(backend="fake").npu_run_config())
        assert {key: found[key] for key in plan.options} == given_to(plan)
        # What the plan leaves out is as the estimator has it, but for the companions of a group.
        others = {key for key in empty if key not in plan.options}
        assert {key: found[key] for key in others if key in found} == {key: empty[key] for key in others}

    def test_groups(self):
        """Dump, profiling, accelerated training, memory, side by side."""
        plan = NpuSession.for_training(
            backend="fake",
            device=0,
            dump=Dump("/data/dump", steps="0|5", mode="all"),
            profiling=Profiling(output="/data/profile", training_trace=True),
            accelerate=AcceleratedTraining.by_step(100),
            static_memory_policy=2,
            memory_optimization_policy="MemoryPriority",
            graph_slice="auto",
            insert_op_file="/data/aipp.cfg",
            config=tf1.ConfigProto(intra_op_parallelism_threads=3),
        )
        config = plan.npu_run_config(model_dir="/data/model", save_checkpoints_steps=50)
        found = made(config)
        assert {key: found[key] for key in plan.options} == given_to(plan)
        assert (config.model_dir, config.save_checkpoints_steps) == ("/data/model", 50)
        assert config.session_config.intra_op_parallelism_threads == 3
        assert not config.session_config.graph_options.rewrite_options.custom_optimizers

    def test_overflow(self):
        """Overflow detection goes the same way."""
        plan = NpuSession.for_training(backend="fake", dump=Dump.overflow("/data/dump", "all"))
        found = made(plan.npu_run_config())
        assert {key: found[key] for key in plan.options} == given_to(plan)

    def test_gears(self):
        """The options of gears go together."""
        plan = NpuSession.for_inference(backend="fake", **GEARS)
        found = made(plan.npu_run_config())
        assert {key: found[key] for key in plan.options} == given_to(plan)


class TestRefusals:
    def test_no_keyword(self):
        """An option that NPURunConfig does not know is refused, and so are gears that it would drop."""
        plan = NpuSession.for_training(backend="fake", graph_exec_timeout=600000)
        with pytest.raises(OptionsError, match=r"NPU307 graph_exec_timeout.*no keyword"):
            plan.npu_run_config()
        plan = NpuSession.for_inference(backend="fake", input_shape="x:-1", dynamic_dims="1;2", dynamic_node_type=1)
        with pytest.raises(OptionsError, match=r"NPU308 .*without compile_hybrid_mode"):
            plan.npu_run_config()

    def test_newer_option(self):
        """So is an option that is newer than the table."""
        with pytest.warns(UserWarning, match="newer"):
            plan = NpuSession.for_training(backend="fake", extra_options={"newer": 1})
        with pytest.raises(OptionsError, match="NPU307 newer"):
            plan.npu_run_config()

    @pytest.mark.parametrize("name", ["precision_mode", "dump_config", "session_config"])
    def test_arguments_of_the_plan(self, name):
        """What the plan says is not said again."""
        with pytest.raises(TypeError, match=f"{name}=None cannot be given here"):
            NpuSession.for_training(backend="fake").npu_run_config(**{name: None})

    @pytest.mark.parametrize("method", ["run_config", "npu_run_config"])
    @pytest.mark.parametrize("name", ["save_checkpoints_steps", "save_summary_steps", "log_step_count_steps"])
    @pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
    def test_loop(self, method, name):
        """What happens every so many steps happens after a whole number of runs."""
        plan = NpuSession.for_training(backend="fake", iterations_per_loop=10, enable_data_pre_proc=True)
        with pytest.raises(OptionsError, match=f"NPU235 {name} = 25: .*(.|\n)*{re.escape(name)}=20 or 30"):
            getattr(plan, method)(**{name: 25})

    @pytest.mark.parametrize("method", ["run_config", "npu_run_config"])
    def test_no_estimators(self, method):
        """Where TensorFlow has no estimators that is what the error says."""
        if hasattr(tf1, "estimator"):
            pytest.skip("this TensorFlow has estimators")
        with pytest.raises(LifecycleError, match=r"has no tf\.estimator, which went with 2\.16"):
            getattr(NpuSession.for_training(backend="fake"), method)()


@needs_estimator
def test_run_config():
    """A RunConfig carries the plan, and takes the arguments that it always takes."""
    plan = NpuSession.for_training(backend="fake", precision_mode_v2="mixed_float16")
    config = plan.run_config(model_dir="/data/model", save_checkpoints_steps=7, log_step_count_steps=None)
    assert config.session_config == plan.config_proto()
    assert (config.model_dir, config.save_checkpoints_steps) == ("/data/model", 7)


@needs_estimator
@pytest.mark.parametrize("method", ["run_config", "npu_run_config"])
def test_directory_of_a_rank(method, monkeypatch):
    """Estimators save on each rank: ranks above 0 have directories of their own, beside that of rank 0."""
    make = getattr(NpuSession.for_training(backend="fake"), method)
    for rank, folder in (("0", "/data/model"), ("3", "/data/model.rank3"), ("none", "/data/model")):
        monkeypatch.setenv("RANK_ID", rank)
        assert make(model_dir=pathlib.Path("/data/model")).model_dir == folder
    monkeypatch.setenv("RANK_ID", "3")
    assert make().model_dir is None
