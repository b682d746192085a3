"""A plan for training as a plan for serving."""

import pytest

from npusession import AcceleratedTraining, Dump, NpuSession, OptionsError, Profiling, Scene

GEARS = {"input_shape": "x:-1,2", "dynamic_dims": "1;4", "dynamic_node_type": 1}


@pytest.fixture
def plan():
    return NpuSession.for_training(
        device=1,
        backend="fake",
        accelerate=AcceleratedTraining.by_step(10),
        profiling=Profiling(output="/data", aicpu=True),
        hcom_parallel=True,
        deterministic=1,
        graph_run_mode=1,
    )


def test_inference(plan):
    """What only a training can use is left out, everything else stays, and changes are taken in."""
    served = plan.for_scene("inference", **GEARS)
    assert served.scene is Scene.INFERENCE
    profiling = {name: plan.options[name] for name in Profiling.NAMES}
    assert dict(served.options) == {
        "session_device_id": 1, "deterministic": 1, "graph_run_mode": 0, **profiling, **GEARS
    }  # fmt: skip
    assert served.backend == "fake"
    assert served.accelerate is None
    assert "graph_run_mode" not in plan.for_scene(Scene.INFERENCE).for_scene("training").options


def test_same(plan):
    """For its own scene a plan stays what it is."""
    assert plan.for_scene("training") == plan


@pytest.mark.parametrize(
    ("dump", "left"),
    [
        (Dump("/data", steps="1|2", mode="all"), {"enable_dump": True, "dump_path": "/data", "dump_mode": "all"}),
        (Dump.overflow("/data"), {}),
    ],
)
def test_dump(dump, left):
    """A dump goes on without steps; overflow detection ends."""
    served = NpuSession.for_training(dump=dump).for_scene("inference")
    assert {name: value for name, value in served.options.items() if "dump" in name} == left


def test_refusals(plan):
    """What does not go together in the other scene is told, and so is a scene that there is not."""
    with pytest.raises(OptionsError, match="iterations_per_loop"):
        plan.for_scene("inference", iterations_per_loop=2)
    with pytest.raises(OptionsError, match=r"NPU109 .*training_trace"):
        plan.replace(profiling=Profiling(training_trace=True)).for_scene("inference")
    with pytest.raises(OptionsError, match="NPU223"):
        plan.replace(enable_small_channel=0).for_scene("inference")
    with pytest.raises(OptionsError, match="serving"):
        plan.for_scene("serving")


@pytest.mark.parametrize("form", ["frozen graph", "SavedModel"])
def test_serving(form, tmp_path):
    """A frozen graph or a SavedModel is served by the plan of its training, with gears."""
    tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")
    tf1 = tensorflow.compat.v1
    with tensorflow.Graph().as_default() as graph:
        x = tf1.placeholder(tensorflow.float32, [None, 2], name="x")
        weight = tf1.get_variable("weight", [2, 1], initializer=tf1.ones_initializer())
        y = tf1.matmul(x, weight, name="y")
        initialize = tf1.global_variables_initializer()
    training = NpuSession.for_training(graph=graph, backend="fake", accelerate=AcceleratedTraining.by_step(10))
    with training as s:
        s.run(initialize)
        frozen = tf1.graph_util.convert_variables_to_constants(s, graph.as_graph_def(), ["y"])
        tf1.saved_model.simple_save(s, str(tmp_path / "model"), {"x": x}, {"y": y})
    with tensorflow.Graph().as_default() as graph:
        if form == "frozen graph":
            tf1.import_graph_def(frozen, name="")
    with training.for_scene("inference", graph=graph, **GEARS) as s:
        if form == "SavedModel":
            tf1.saved_model.load(s, ["serve"], str(tmp_path / "model"))
        assert s.run("y:0", {"x:0": [[1.0, 2.0]] * 4}).tolist() == [[3.0]] * 4
