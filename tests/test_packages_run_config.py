"""NPURunConfig becomes the parameters that the real estimator makes of it, and NPUEstimator trains with them."""

import importlib
import inspect
import json
import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the adapter imports TensorFlow")

from npusession import IgnoredOptionsWarning, NotEmulatedError, OptionsError  # noqa: E402
from npusession.backends.fake import importing, run_config  # noqa: E402
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402
from npusession.options import TABLE  # noqa: E402
from npusession.proto import parameters_of  # noqa: E402

tf1 = tensorflow.compat.v1
needs_estimator = pytest.mark.skipif(not hasattr(tf1, "estimator"), reason="this TensorFlow has no tf.estimator")
#: What the real estimator writes for NPURunConfig() on a host without TF_CONFIG.
PLAIN = {
    "all_tensor_not_empty": False, "buffer_optimize": "l2_optimize", "deterministic": 0,
    "device_type": "default_device_type", "dynamic_graph_execute_mode": "dynamic_execute",
    "enable_compress_weight": False,
    "enable_data_pre_proc": True, "enable_dump": False, "enable_dump_debug": False, "enable_exception_dump": 2,
    "enable_reduce_precision": False, "enable_small_channel": 0, "event_sync_timeout": -1,
    "experimental_logical_device_cluster_deploy_mode": "LB", "export_compile_stat": 1, "external_weight": False,
    "frozen_variable": False, "graph_max_parallel_model_num": 1, "graph_run_mode": 1, "hcom_multi_mode": False,
    "hcom_parallel": True, "input_batch_cpy": False, "input_fusion_size": 131072, "is_tailing_optimization": False,
    "iterations_per_loop": 1, "jit_compile": "auto", "job": "localhost", "min_group_size": True,
    "mix_compile_mode": False, "oo_constant_folding": True, "oo_level": "O3", "shape_generalization_mode": "STRICT",
    "stream_sync_timeout": -1, "task_index": 0, "use_off_line": True, "variable_placement": "Device",
}  # fmt: skip


@pytest.fixture
def npu_config(monkeypatch):
    """The module, in an environment that describes a job and no cluster."""
    for name in ("TF_CONFIG", "RANK_SIZE", "CM_WORKER_SIZE", "RESTORE_FROM", "LOCAL_CHECKPOINT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JOB_ID", "10087")
    RUNTIME.reset()
    with importing.emulated():
        importlib.import_module("npu_bridge.npu_init")
        yield importlib.import_module("npu_bridge.estimator.npu.npu_config")
    RUNTIME.finalize("end of test")


@pytest.fixture
def npu_estimator(npu_config):
    return importlib.import_module("npu_bridge.estimator.npu.npu_estimator")


def test_without_estimator(npu_config, npu_estimator):
    """Where TensorFlow has no tf.estimator, importing works, and using the classes says which TensorFlow has it."""
    if hasattr(tf1, "estimator"):
        return
    for call in (npu_config.NPURunConfig, npu_estimator.NPUEstimator, lambda: npu_estimator.NPUEstimatorSpec("train")):
        with pytest.raises(NotEmulatedError, match=r"needs tf.estimator, which TensorFlow has up to 2\.15; this is"):
            call()
    keras_to_npu = importlib.import_module("npu_bridge.estimator.npu.keras_to_npu")
    with pytest.raises(NotEmulatedError, match="model_to_npu_estimator needs"):
        keras_to_npu.model_to_npu_estimator()


@needs_estimator
class TestParameters:
    @staticmethod
    def of(config):
        proto = tf1.ConfigProto()
        run_config.add_entry(proto, config)
        return {name: value for name, field, value in parameters_of(proto)}

    def test_defaults(self, npu_config):
        """Without a keyword the parameters are those that the real estimator writes unasked."""
        assert self.of(npu_config.NPURunConfig()) == PLAIN

    def test_fields(self, npu_config):
        """Every parameter goes through the field that the runtime reads."""
        proto = tf1.ConfigProto()
        run_config.add_entry(proto, npu_config.NPURunConfig())
        assert all(field == TABLE[name].field for name, field, _ in parameters_of(proto))

    @staticmethod
    def plain_keywords():
        grouped = {"dump_config", "experimental_config", "dynamic_input_config", "memory_config", "profiling_config"}
        with importing.emulated():
            cls = importlib.import_module("npu_bridge.estimator.npu.npu_config").NPURunConfig
            names = list(inspect.signature(cls.__init__).parameters)[1:]
        return [name for name in names if name not in run_config.OF_TENSORFLOW | grouped | {"horovod_mode"}]

    def test_every_keyword(self, npu_config):
        """Every keyword that is an option arrives as that option, with the value that was given."""
        values = {"b": True, "i": 1, "s": "1"}
        for name in self.plain_keywords():
            value = values[TABLE[name].field]
            if name == "insert_op_file":
                value = b"1"
            keywords = {name: value}
            if name in ("work_path", "distribute_config"):
                keywords["aoe_mode"] = "2"
            wanted = "1" if name == "insert_op_file" else value
            assert self.of(npu_config.NPURunConfig(**keywords))[name] == wanted, name

    def test_numbers_as_text(self, npu_config):
        """Memory sizes are written as text, whatever they were given as."""
        assert self.of(npu_config.NPURunConfig(graph_memory_max_size=5))["graph_memory_max_size"] == "5"

    def test_text_as_text(self, npu_config):
        """insert_op_file is handed on as it is, which TensorFlow refuses for text, as on the real adapter."""
        with pytest.raises(TypeError):
            self.of(npu_config.NPURunConfig(insert_op_file="path"))

    def test_profiling(self, npu_config):
        """Profiling options count when profiling is enabled, and are empty when not given."""
        config = npu_config.ProfilingConfig
        of = lambda *arguments: self.of(npu_config.NPURunConfig(profiling_config=config(*arguments)))  # noqa: E731
        assert of(True, "{}")["profiling_options"] == "{}"
        assert of(True)["profiling_options"] == ""
        found = of(False, "{}")
        assert found["profiling_mode"] is False
        assert "profiling_options" not in found

    def test_dump(self, npu_config):
        """DumpConfig becomes the dump options; without a mode the overflow mode is dropped, as in the real one."""
        dump = npu_config.DumpConfig(enable_dump=True, dump_path="/d", dump_step="1|2", dump_layer="a b")
        found = self.of(npu_config.NPURunConfig(dump_config=dump))
        assert {name: value for name, value in found.items() if "dump" in name} == {
            "enable_dump": True, "enable_dump_debug": False, "dump_path": "/d", "dump_step": "1|2",
            "dump_mode": "output", "dump_debug_mode": "all", "dump_data": "tensor", "dump_layer": "a b",
            "enable_exception_dump": 2,
        }  # fmt: skip
        assert "dump_debug_mode" not in self.of(
            npu_config.NPURunConfig(dump_config=npu_config.DumpConfig(dump_mode=None))
        )

    def test_memory(self, npu_config):
        """MemoryConfig becomes the memory options."""
        memory = npu_config.MemoryConfig(1, None, "MemoryPriority", 2)
        found = self.of(npu_config.NPURunConfig(memory_config=memory))
        assert found["atomic_clean_policy"] == 1
        assert found["memory_optimization_policy"] == "MemoryPriority"
        assert found["variable_use_1g_huge_page"] == 2
        assert "static_memory_policy" not in found

    def test_experimental(self, npu_config):
        """ExperimentalConfig becomes the experimental options, accelerated training among them."""
        graph = npu_config.GraphMemoryOptimizeConfig(graph_slice="auto")
        experimental = npu_config.ExperimentalConfig(
            accelerate_train_mode="fast|step|0.9",
            enable_graph_parallel=True,
            graph_memory_optimize_config=graph,
            resource_config_path="/r",
            logical_device_id="0",
        )
        found = self.of(npu_config.NPURunConfig(experimental_config=experimental))
        assert found["experimental_accelerate_train_mode"] == "fast|step|0.9"
        assert found["enable_graph_parallel"] is True
        assert found["graph_slice"] == "auto"
        assert found["resource_config_path"] == "/r"
        assert found["experimental_logical_device_id"] == "0"

    def test_gears(self, npu_config):
        """The four options of gears count together, or not at all."""
        whole = npu_config.DynamicInputConfig("x:-1", "1;2", 1, 0)
        assert self.of(npu_config.NPURunConfig(dynamic_input_config=whole))["dynamic_dims"] == "1;2"
        part = npu_config.DynamicInputConfig("x:-1", None, 1, 0)
        assert "input_shape" not in self.of(npu_config.NPURunConfig(dynamic_input_config=part))

    def test_tuning(self, npu_config):
        """With a tuning mode the work path is the working directory, unless given; without it nothing is written."""
        assert self.of(npu_config.NPURunConfig(aoe_mode="2"))["work_path"] == "./"
        found = self.of(npu_config.NPURunConfig(work_path="/w", distribute_config="/d"))
        assert not {"work_path", "distribute_config", "aoe_mode"} & set(found)

    def test_task(self, npu_config, monkeypatch):
        """TF_CONFIG's task becomes job and index."""
        monkeypatch.setenv("TF_CONFIG", json.dumps({"task": {"type": "worker", "index": 3}}))
        proto = tf1.ConfigProto()
        config = npu_config.NPURunConfig.__new__(npu_config.NPURunConfig)
        run_config.store(config, run_config_keywords(npu_config))
        run_config.add_entry(proto, config)
        found = {name: value for name, _, value in parameters_of(proto)}
        assert (found["job"], found["task_index"]) == ("worker", 3)

    def test_second_entry(self, npu_config):
        """A session config with an entry gets a second one, as from the real estimator."""
        proto = tf1.ConfigProto()
        proto.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
        run_config.add_entry(proto, npu_config.NPURunConfig())
        assert len(proto.graph_options.rewrite_options.custom_optimizers) == 2

    @pytest.mark.parametrize(
        ("keywords", "error"),
        [
            ({"iterations_per_loop": 0}, ValueError),
            ({"iterations_per_loop": "1"}, TypeError),
            ({"mix_compile_mode": 1}, TypeError),
            ({"mix_compile_mode": True, "iterations_per_loop": 2}, ValueError),
            ({"jit_compile": True}, TypeError),
            ({"dump_config": {}}, ValueError),
            ({"experimental_config": {}}, ValueError),
            ({"dynamic_input_config": {}}, ValueError),
            ({"horovod_mode": 1}, ValueError),
            ({"graph_run_mode": 2}, ValueError),
            ({"graph_run_mode": -1}, ValueError),
            ({"enable_exception_dump": "2"}, TypeError),
            ({"save_checkpoints_steps": 1, "save_checkpoints_secs": 1}, ValueError),
            ({"enable_auto_mix_precision": True}, TypeError),
        ],
    )
    def test_wrong(self, npu_config, keywords, error):
        """Wrong keywords are refused as the real class refuses them."""
        with pytest.raises(error):
            npu_config.NPURunConfig(**keywords)

    def test_groups_refuse(self, npu_config):
        """So are wrong arguments of the classes that group options."""
        with pytest.raises(ValueError, match="'auto' or 'manual'"):
            npu_config.GraphMemoryOptimizeConfig(recompute="on")
        with pytest.raises(ValueError, match="GraphMemoryOptimizeConfig"):
            npu_config.ExperimentalConfig(graph_memory_optimize_config="auto")

    def test_replace(self, npu_config):
        """A copy with a keyword of tf.estimator changed keeps the options."""
        config = npu_config.NPURunConfig(precision_mode="allow_mix_precision").replace(model_dir="/m")
        assert config.model_dir == "/m"
        assert self.of(config)["precision_mode"] == "allow_mix_precision"

    def test_tensorflow_keywords(self, npu_config):
        """Keywords of tf.estimator arrive there; a checkpoint every 100 steps is the default."""
        config = npu_config.NPURunConfig(model_dir="/m", keep_checkpoint_max=3)
        assert (config.model_dir, config.keep_checkpoint_max) == ("/m", 3)
        assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (100, None)
        assert npu_config.NPURunConfig(save_checkpoints_secs=7).save_checkpoints_steps is None


def run_config_keywords(npu_config):
    parameters = inspect.signature(npu_config.NPURunConfig.__init__).parameters
    return {name: parameter.default for name, parameter in list(parameters.items())[1:]}


def model_fn(features, labels, mode, params):
    """A line through the origin."""
    weight = tf1.get_variable("weight", initializer=params.get("start", 0.0))
    prediction = features["x"] * weight
    if mode == "infer":
        return tf1.estimator.EstimatorSpec(mode, predictions={"y": prediction})
    loss = tf1.reduce_mean(tf1.square(prediction - labels))
    step = tf1.train.get_or_create_global_step()
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    metrics = {"error": tf1.metrics.mean_absolute_error(labels, prediction)} if mode == "eval" else None
    return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops=metrics)


def input_fn():
    data = tf1.data.Dataset.from_tensor_slices(({"x": [1.0, 2.0]}, [3.0, 6.0]))
    return tf1.data.make_one_shot_iterator(data.repeat(200).batch(2)).get_next()


def life(*names):
    return [event.name for event in RUNTIME.events if event.name in (names or ("initialize", "finalize"))]


@needs_estimator
class TestEstimator:
    @pytest.fixture
    def make(self, npu_config, npu_estimator, tmp_path):
        """Make an estimator, with keywords of NPURunConfig."""

        def estimator(function=model_fn, model_dir=None, **keywords):
            config = npu_config.NPURunConfig(**{"model_dir": str(tmp_path / "model"), **keywords})
            return npu_estimator.NPUEstimator(model_fn=function, config=config, params={}, model_dir=model_dir)

        return estimator

    def test_train_evaluate_predict(self, make):
        """It trains, evaluates and predicts for real, and each initialises and finalises the device."""
        estimator = make()
        estimator.train(input_fn, steps=40)
        assert life() == ["initialize", "finalize"]
        metrics = estimator.evaluate(input_fn, steps=1)
        assert metrics["error"] < 0.01
        assert life() == ["initialize", "finalize"] * 2
        predictions = [item["y"] for item in estimator.predict(input_fn)]
        assert predictions[:2] == pytest.approx([3.0, 6.0], abs=0.01)
        assert life() == ["initialize", "finalize"] * 3

    def test_options_reach_the_device(self, make):
        """The keywords are the options with which the device is initialised."""
        make(precision_mode="allow_mix_precision").train(input_fn, steps=1)
        assert RUNTIME.parameters["precision_mode"] == ("s", "allow_mix_precision")

    def test_loop(self, make):
        """iterations_per_loop makes that many steps per run."""
        estimator = make(iterations_per_loop=5, save_checkpoints_steps=10)
        runs = []

        class Counter(tf1.train.SessionRunHook):
            def after_run(self, run_context, run_values):
                runs.append(1)

        estimator.train(input_fn, max_steps=20, hooks=[Counter()])
        assert estimator.get_variable_value("global_step") == 20
        assert len(runs) == 4

    def test_checkpoints(self, make):
        """Checkpoints are written as often as asked for, and kept as many."""
        estimator = make(save_checkpoints_steps=10, keep_checkpoint_max=2)
        estimator.train(input_fn, max_steps=30)
        state = tf1.train.get_checkpoint_state(estimator.model_dir)
        assert [path.rpartition("-")[2] for path in state.all_model_checkpoint_paths] == ["20", "30"]

    def test_host_call(self, make, npu_estimator, tmp_path):
        """The host call gets the tensors of each step."""
        got = []

        def with_host_call(features, labels, mode, params):
            spec = model_fn(features, labels, mode, params)

            def note(step, loss):
                return tf1.py_func(lambda *values: got.append(values), [step, loss], [])

            return npu_estimator.NPUEstimatorSpec(
                mode,
                loss=spec.loss,
                train_op=spec.train_op,
                host_call=(note, [tf1.train.get_global_step().read_value(), spec.loss]),
            )

        make(with_host_call).train(input_fn, steps=3)
        first = int(got[0][0])
        assert [int(step) for step, _ in got] == [first, first + 1, first + 2]

    def test_host_call_with_summaries(self, make, npu_estimator, tmp_path):
        """A host call that writes summaries, as scripts do it, writes them."""
        from tensorflow.python.ops import summary_ops_v2 as summary

        def with_host_call(features, labels, mode, params):
            spec = model_fn(features, labels, mode, params)

            def write(loss):
                with summary.create_file_writer(str(tmp_path / "log")).as_default(), summary.always_record_summaries():
                    summary.scalar("loss", loss, step=tf1.train.get_global_step())
                    return tf1.summary.all_v2_summary_ops()

            return npu_estimator.NPUEstimatorSpec(
                mode, loss=spec.loss, train_op=spec.train_op, host_call=(write, {"loss": spec.loss})
            )

        make(with_host_call).train(input_fn, steps=5)
        (file,) = (tmp_path / "log").iterdir()
        events = tf1.train.summary_iterator(str(file))
        assert sum(value.tag == "loss" for event in events for value in event.summary.value) == 5

    @pytest.mark.parametrize(
        ("host_call", "error"),
        [
            (1, ValueError),
            ((print,), ValueError),
            ((1, []), TypeError),
            ((print, 1), ValueError),
            ((lambda a: a, []), RuntimeError),
        ],
    )
    def test_wrong_host_call(self, npu_estimator, host_call, error):
        """A host call of another form is refused when the spec is made."""
        with tf1.Graph().as_default(), pytest.raises(error, match="host_call"):
            npu_estimator.NPUEstimatorSpec("train", loss=tf1.constant(1.0), train_op=tf1.no_op(), host_call=host_call)

    def test_wrong_config(self, npu_estimator):
        """Without an NPURunConfig it is refused."""
        with pytest.raises(ValueError, match="NPURunConfig, not a RunConfig"):
            npu_estimator.NPUEstimator(model_fn, config=tf1.estimator.RunConfig())

    def test_no_job(self, make, monkeypatch):
        """Without JOB_ID it is refused as on the real adapter, with what to set."""
        monkeypatch.delenv("JOB_ID")
        with pytest.raises(ValueError, match="set JOB_ID"):
            make()

    def test_job_file(self, npu_estimator, npu_config, monkeypatch, tmp_path):
        """A file describes the job in place of the environment."""
        monkeypatch.delenv("JOB_ID")
        file = tmp_path / "job.json"
        file.write_text(json.dumps({"device_info": {"Index": 0}, "rank_table_file": "r", "rank_size": 1}))
        common = importlib.import_module("npu_bridge.estimator.npu.npu_common")
        assert common.NPUBasics(str(file)).size() == 1
        assert common.NPUBasics("another").jobinfo._rank_table_file == "r"
        npu_estimator.NPUEstimator(
            model_fn, config=npu_config.NPURunConfig(model_dir=str(tmp_path)), job_start_file=str(file)
        )

    def test_two_directories(self, make):
        """Two different model directories are refused."""
        with pytest.raises(ValueError, match="but the NPURunConfig has"):
            make(model_dir="/another")

    def test_intervals(self, npu_config, npu_estimator, tmp_path):
        """What an estimator is to do within a run of several steps is reported, with its line, if it was given."""
        config = npu_config.NPURunConfig(model_dir=str(tmp_path), iterations_per_loop=15, save_checkpoints_steps=20)
        with pytest.warns(IgnoredOptionsWarning, match="save_checkpoints_steps = 20"):
            npu_estimator.NPUEstimator(model_fn, config=config)
        (event,) = (event for event in RUNTIME.events if event.name == "ignored")
        assert "save_checkpoints_steps: 20 steps are no whole number of runs" in event.detail
        assert __file__ in event.detail
        RUNTIME.configure(strict=True)
        with pytest.raises(OptionsError, match="save_checkpoints_steps=15 or 30"):
            npu_estimator.NPUEstimator(model_fn, config=config)

    def test_no_directory(self, npu_config, npu_estimator, tmp_path, monkeypatch):
        """Without a model directory checkpoints go to a new one in the working directory."""
        monkeypatch.chdir(tmp_path)
        made = npu_estimator.NPUEstimator(model_fn, config=npu_config.NPURunConfig())
        assert os.path.dirname(made.model_dir) == str(tmp_path.resolve())
        assert os.path.basename(made.model_dir).startswith("model_dir_")

    def test_wrong_spec(self, make):
        """A model function that returns something else is refused."""
        with pytest.raises((RuntimeError, ValueError), match="EstimatorSpec"):
            make(lambda features, labels, mode, params: 1).train(input_fn, steps=1)

    def test_keras_model(self, npu_config, tmp_path):
        """A compiled Keras model becomes an NPUEstimator that trains."""
        keras = tf1.keras
        with tf1.Graph().as_default():
            model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
            model.compile(keras.optimizers.SGD(0.01), "mse")
            keras_to_npu = importlib.import_module("npu_bridge.estimator.npu.keras_to_npu")
            estimator = keras_to_npu.model_to_npu_estimator(
                model, model_dir=str(tmp_path), config=npu_config.NPURunConfig(model_dir=str(tmp_path))
            )
        name = model.input_names[0]

        def data():
            return tf1.data.Dataset.from_tensors(({name: [[1.0]]}, [[3.0]])).repeat()

        RUNTIME.reset()
        estimator.train(data, steps=2)
        assert life() == ["initialize", "finalize"]
