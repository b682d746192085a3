"""What compiling leaves behind: descriptions of kernels, and fusions."""

import json
import os

import pytest
from processes import run

tensorflow = pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

from npusession import NpuSession, Product  # noqa: E402
from npusession.configfiles import FusionSwitch, OpDebugConfig  # noqa: E402

tf1 = tensorflow.compat.v1
pytestmark = pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")


@pytest.fixture
def graph(emulated, tmp_path, monkeypatch):
    """Two dense layers, in an empty working directory."""
    for name in ("ASCEND_WORK_PATH", "NPU_COLLECT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    graph = tensorflow.Graph()
    with graph.as_default():
        hidden = tf1.placeholder(tf1.float32, (None, 4), name="x")
        for _ in range(2):
            hidden = tf1.nn.bias_add(tf1.matmul(hidden, tf1.ones((4, 4))), tf1.ones(4))
        tf1.nn.softmax(tf1.nn.relu(hidden), name="result")
    return graph


def train(graph, **options):
    with NpuSession.for_training(graph=graph, backend="fake", **options) as s:
        for _ in range(2):
            s.run("result:0", {"x:0": [[1.0] * 4]})


def files(path):
    return sorted(
        os.path.relpath(os.path.join(directory, name), str(path))
        for directory, _, names in os.walk(str(path))
        for name in names
    )


def kernels(directory):
    return {content["opType"]: content for content in (json.loads(path.read_text()) for path in directory.iterdir())}


def fusions(path):
    return list(json.loads(path.read_text()).values())


@pytest.mark.parametrize("options", [{}, {"export_compile_stat": 0}, {"op_debug_level": 0}, {"debug_dir": "debug"}])
def test_nothing_when_not_asked_for(graph, tmp_path, options):
    """Without the options nothing is written."""
    train(graph, **options)
    assert files(tmp_path) == []


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_kernels(graph, tmp_path, level):
    """A debug level leaves one description for each type of operator that computes, with its real tensors."""
    train(graph, op_debug_level=level)
    found = kernels(tmp_path / "kernel_meta")
    assert {"MatMul", "BiasAdd", "Softmax", "Relu"} <= set(found)
    assert not {"Placeholder", "Const"} & set(found)
    product = found["MatMul"]
    assert product["supportInfo"]["inputs"][0] == {"dtype": "DT_FLOAT", "format": "ND", "shape": [-1, 4]}
    assert (tmp_path / "kernel_meta" / (product["binFileName"] + ".json")).exists()
    assert (product["blockDim"], len(product["parameters"])) == (-1, 3)


@pytest.mark.parametrize(
    ("options", "work", "place"),
    [
        ({"debug_dir": "debug"}, None, "debug"),
        ({"debug_dir": "debug"}, "work", "debug"),
        ({}, "work", "work"),
        ({}, None, "."),
    ],
)
def test_place_of_kernels(graph, tmp_path, monkeypatch, options, work, place):
    """debug_dir goes first, then ASCEND_WORK_PATH, then the working directory."""
    if work:
        monkeypatch.setenv("ASCEND_WORK_PATH", str(tmp_path / work))
    train(graph, op_debug_level=3, export_compile_stat=0, **options)
    assert {os.path.normpath(os.path.dirname(file)) for file in files(tmp_path)} == {
        os.path.normpath(os.path.join(place, "kernel_meta"))
    }


@pytest.mark.parametrize(
    ("words", "operators", "types"),
    [
        (["dump_cce"], [], {"MatMul", "BiasAdd", "Softmax", "Relu", "Fill"}),
        (["ccec_g"], [], set()),
        (["dump_loc"], ["OpType::MatMul", "Relu"], {"MatMul", "Relu"}),
    ],
)
def test_debug_config(graph, tmp_path, words, operators, types):
    """The debug file says whether kernels are kept, and of which operators."""
    OpDebugConfig(words, operators).write(str(tmp_path / "debug.cfg"))
    train(graph, op_debug_config=str(tmp_path / "debug.cfg"))
    directory = tmp_path / "kernel_meta"
    assert (set(kernels(directory)) - {"Fill"} if directory.exists() else set()) == types - {"Fill"}


def test_kernels_while_collecting(graph, tmp_path, monkeypatch):
    """A debug level of 0 keeps kernels after all while NPU_COLLECT_PATH is set."""
    monkeypatch.setenv("NPU_COLLECT_PATH", str(tmp_path / "collected"))
    train(graph, op_debug_level=0)
    assert "MatMul" in kernels(tmp_path / "kernel_meta")


@pytest.mark.parametrize("form", [1, 2])
def test_fusions(graph, tmp_path, form):
    """The file counts the patterns that the graph really has."""
    train(graph, export_compile_stat=form)
    assert files(tmp_path) == ["fusion_result.json"]
    (content,) = fusions(tmp_path / "fusion_result.json")
    assert content["graph_fusion"]["MatMulBiasAddFusionPass"] == {"effect_times": "2", "match_times": "2"}
    assert content["graph_fusion"]["SoftmaxFusionPass"]["match_times"] == "1"
    assert "ConvBatchnormFusionPass" not in content["graph_fusion"]
    assert set(content) == {"graph_fusion", "ub_fusion"}


def test_when_fusions_are_written(graph, tmp_path):
    """1 writes once the runtime is finalised, 2 as soon as the graph is compiled."""
    for form, there in ((1, False), (2, True)):
        with NpuSession.for_training(graph=graph, backend="fake", export_compile_stat=form) as s:
            s.run("result:0", {"x:0": [[1.0] * 4]})
            assert (tmp_path / "fusion_result.json").exists() == there
        (tmp_path / "fusion_result.json").unlink()


def test_work_path(graph, tmp_path, monkeypatch):
    """ASCEND_WORK_PATH takes the file of fusions, and asks for it by itself."""
    monkeypatch.setenv("ASCEND_WORK_PATH", str(tmp_path / "work"))
    train(graph)
    assert files(tmp_path) == [os.path.join("work", "FE", str(os.getpid()), "fusion_result.json")]


@pytest.mark.parametrize(
    ("switch", "left"),
    [
        (FusionSwitch({"MatMulBiasAddFusionPass": "off"}), {"SoftmaxFusionPass"}),
        (FusionSwitch({"ALL": "off", "SoftmaxFusionPass": "on"}), {"SoftmaxFusionPass"}),
        (FusionSwitch({"ALL": "off"}), set()),
    ],
)
def test_switched_off(graph, tmp_path, switch, left):
    """Passes that the switch file turns off do not appear."""
    switch.write(str(tmp_path / "fusion.cfg"))
    train(graph, export_compile_stat=2, fusion_switch_file=str(tmp_path / "fusion.cfg"))
    assert set(fusions(tmp_path / "fusion_result.json")[0]["graph_fusion"]) == left


def test_product_without_buffer_fusion(graph, emulated, tmp_path):
    """Atlas 350 has no UB fusion, so its file has none."""
    emulated.configure(product=Product.ATLAS_350)
    train(graph, export_compile_stat=2)
    assert set(fusions(tmp_path / "fusion_result.json")[0]) == {"graph_fusion"}


def test_several_graphs(graph, tmp_path):
    """Each model has an entry of its own, also when the runtime was initialised again."""
    for _ in range(2):
        with NpuSession.for_training(graph=graph, backend="fake", export_compile_stat=1) as s:
            s.run("result:0", {"x:0": [[1.0] * 4]})
            s.run("Relu:0", {"x:0": [[1.0] * 4]})
    assert len(fusions(tmp_path / "fusion_result.json")) == 4


@pytest.mark.parametrize(("form", "end", "there"), [(1, "", True), (1, "os._exit(0)", False), (2, "os._exit(0)", True)])
def test_end_of_the_process(tmp_path, form, end, there):
    """1 writes at a normal exit, even of a session that is left open; 2 also where the process dies."""
    code, _, errors = run(
        f"""
        os.chdir({str(tmp_path)!r})
        session = plan.replace(export_compile_stat={form}).__enter__()
        session.run(two)
        {end}
        """
    )
    assert code == 0, errors
    assert (tmp_path / "fusion_result.json").exists() == there
