"""Collectives, groups and training over ranks; here in one process, with a rank table of one and without any."""

import subprocess
import sys

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="collectives are ops of TensorFlow")

import hccl_program  # noqa: E402

from npusession import GraphRequiredError, NotInitializedError, NpuSession, Product, hccl  # noqa: E402
from npusession.hccl import ClusterError, RankTable  # noqa: E402
from npusession.testing import FakeNpu  # noqa: E402

tf1 = tensorflow.compat.v1


@pytest.fixture(params=["rank table", "alone"])
def job(request, tmp_path, monkeypatch):
    """A job of one rank, once with a rank table, and once with nothing that tells HCCL of a cluster."""
    if request.param == "rank table":
        describe(monkeypatch, tmp_path)
    with FakeNpu():
        yield request.param
        hccl.shutdown()


@pytest.fixture
def told(tmp_path, monkeypatch):
    """HCCL is initialised for a job of one rank, and the default graph is a new one."""
    describe(monkeypatch, tmp_path)
    with FakeNpu(), hccl.init(), tensorflow.Graph().as_default():
        yield


def describe(monkeypatch, directory):
    path = RankTable.single_server("0", device_ips={}).write(directory / "rank_table.json")
    for name, value in {"RANK_TABLE_FILE": path, "RANK_ID": "0", "RANK_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("check", hccl_program.CHECKS, ids=[check.__name__ for check in hccl_program.CHECKS])
def test_one_rank(job, check):
    """A job of one rank computes what it says for any number of them."""
    check()


VECTOR = [1.0, 2.0]
REFUSED = {
    "reduction": (lambda: hccl.allreduce(VECTOR, "mean"), ValueError, "hccl.mean"),
    "no reduction": (lambda: hccl.reduce(VECTOR, "Sum"), ValueError, "sum, max, min, prod"),
    "dtype": (lambda: hccl.allreduce(tf1.constant(VECTOR, tf1.float64)), TypeError, "tf.cast"),
    "bool": (lambda: hccl.allgather([True]), TypeError, "the tensor is bool"),
    "text": (lambda: hccl.broadcast(tf1.constant("text")), TypeError, "string"),
    "no tensor": (lambda: hccl.allreduce(object()), TypeError, "object"),
    "slices": (lambda: hccl.allreduce(tf1.IndexedSlices(VECTOR, [0, 1])), TypeError, "distributed_optimizer"),
    "8 GiB": (lambda: hccl.allreduce(tf1.placeholder(tf1.float32, [2**31 + 1])), ValueError, "8589934592 at most"),
    "root": (lambda: hccl.broadcast(VECTOR, root=1), ValueError, "only rank 0"),
    "negative root": (lambda: hccl.reduce(VECTOR, root=-1), ValueError, "root=-1"),
    "root of text": (lambda: hccl.broadcast(VECTOR, root="0"), TypeError, "whole number"),
    "root of bool": (lambda: hccl.broadcast(VECTOR, root=False), TypeError, "whole number"),
    "nothing": (lambda: hccl.broadcast([]), ValueError, "empty"),
    "scalar": (lambda: hccl.allgather(1.0), ValueError, "tf.reshape"),
    "scalar to scatter": (lambda: hccl.reduce_scatter(1.0), ValueError, "tf.reshape"),
    "fusion": (lambda: hccl.allgather(VECTOR, fusion=1), ValueError, "one of 0, 2"),
    "fused maximum": (lambda: hccl.allreduce(VECTOR, "max", fusion=1), ValueError, "fusion=1"),
    "fusion without id": (lambda: hccl.allreduce(VECTOR, fusion=2), ValueError, "0 to 2147483647"),
    "fusion id": (lambda: hccl.allreduce(VECTOR, fusion=2, fusion_id=2**31), ValueError, "2147483648"),
    "no fusion id": (lambda: hccl.allreduce(VECTOR, fusion_id=0.5), TypeError, "fusion_id"),
    "send to itself": (lambda: hccl.send(VECTOR, 0), ValueError, "this very rank"),
    "send beyond": (lambda: hccl.send(VECTOR, 1), ValueError, "dest=1"),
    "receive from itself": (lambda: hccl.receive([2], "float32", 0), ValueError, "this very rank"),
    "receive what": (lambda: hccl.receive([2], "complex64", 0), TypeError, "complex64"),
    "receive how much": (lambda: hccl.receive([None, 2], "float32", 0), ValueError, "every length"),
    "group": (lambda: hccl.allreduce(VECTOR, group="none"), ValueError, "no group 'none'"),
    "no group": (lambda: hccl.allreduce(VECTOR, group=3), TypeError, "group=3"),
    "counts": (lambda: hccl.alltoallv(VECTOR, [1, 1], [0, 0], [1, 1], [0, 0]), ValueError, "each of 1 ranks"),
    "negative count": (lambda: hccl.alltoallv(VECTOR, [-1], [0], [1], [0]), ValueError, "negative"),
    "beyond the data": (lambda: hccl.alltoallv(VECTOR, [2], [1], [2], [0]), ValueError, "ends at 3"),
    "count of floats": (lambda: hccl.alltoallv(VECTOR, [1.0], [0], [1], [0]), TypeError, "send_counts"),
    "average of integers": (lambda: hccl.mean({"a": 1}), TypeError, "averages"),
    "optimizer": (lambda: hccl.distributed_optimizer("sgd"), TypeError, "'sgd'"),
    "variables of text": (lambda: hccl.broadcast_variables(0, [text_variable()]), TypeError, r"words:0 \(string\)"),
    "root of variables": (lambda: hccl.broadcast_variables(3), ValueError, "root=3"),
}


def text_variable():
    return tf1.get_variable("words", initializer="text")


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(told, call, error, message):
    """A wrong argument is refused before native code sees it, and nothing of the collective is in the graph."""
    with pytest.raises(error, match=message):
        call()
    assert not [op for op in tf1.get_default_graph().get_operations() if "Hcom" in op.name]


def test_tags(told):
    """A tag is a number of 31 bits."""
    from npusession.hccl import _place

    with pytest.raises(ValueError, match="tag=2147483648"):
        _place.known_tag(_place.place_of("send", None), 2**31)
    assert _place.known_tag(_place.place_of("send", None), 2**31 - 1) == 2**31 - 1


@pytest.mark.parametrize(
    ("product", "dtype", "reduction", "fine"),
    [
        (Product.ATLAS_TRAINING, "int16", "sum", False),
        (Product.ATLAS_A2, "int16", "sum", True),
        (Product.ATLAS_A2, "int16", "prod", False),
        (Product.ATLAS_300I_DUO, "int64", "sum", False),
        (Product.ATLAS_300I_DUO, "int16", "max", False),
        (None, "int16", "prod", True),
    ],
)
def test_dtypes_of_products(job, product, dtype, reduction, fine):
    """What a product does not reduce is refused when the product is known."""
    with hccl.init(NpuSession.for_training(product=product)), tensorflow.Graph().as_default():
        if fine:
            assert hccl.allreduce(tf1.constant([1], dtype), reduction).dtype == dtype
        else:
            with pytest.raises(TypeError, match=dtype):
                hccl.allreduce(tf1.constant([1], dtype), reduction)


NOT_DIFFERENTIABLE = {
    "maximum": lambda x: hccl.allreduce(x, "max"),
    "allgather": hccl.allgather,
    "broadcast": hccl.broadcast,
    "reduce": hccl.reduce,
    "reduce_scatter": hccl.reduce_scatter,
    "alltoallv": lambda x: hccl.alltoallv(x, [2], [0], [2], [0]),
}


@pytest.mark.parametrize("collective", NOT_DIFFERENTIABLE.values(), ids=NOT_DIFFERENTIABLE)
def test_no_gradient(job, collective):
    """Only the sum over ranks has a gradient; all else says so, also in a process that is alone."""
    with hccl.init(), tensorflow.Graph().as_default():
        x = tf1.constant(VECTOR)
        result = collective(x)
        with pytest.raises(LookupError, match="stop_gradient"):
            tf1.gradients(result, x)


def test_eager(job):
    """Executed eagerly, a collective says that it needs a graph."""
    if not tensorflow.executing_eagerly():
        pytest.skip("TensorFlow 1 builds graphs")
    with hccl.init():
        for call in (hccl.allreduce, hccl.mean, hccl.allgather):
            with pytest.raises(GraphRequiredError, match="eagerly"):
                call(VECTOR)


def test_optimizer_of_another_size(told, monkeypatch):
    """An adapter that would count other ranks than HCCL averages nothing in silence; it is an error here."""
    monkeypatch.setenv("RANK_SIZE", "8")
    with pytest.raises(ClusterError, match="export RANK_SIZE=1"):
        hccl.distributed_optimizer(tf1.train.GradientDescentOptimizer(1.0))


def test_optimizer_of_keras(told):
    """An optimizer of Keras 2 averages too; one of Keras 3 is refused."""
    optimizer = tensorflow.keras.optimizers.SGD(0.1)
    if tensorflow.__version__.startswith("1."):
        assert type(hccl.distributed_optimizer(optimizer)).__name__ == "KerasDistributeOptimizer"
    elif not hasattr(optimizer, "get_gradients"):
        with pytest.raises(TypeError, match="Keras 3"):
            hccl.distributed_optimizer(optimizer)


def test_before_initialisation(job):
    """Collectives, groups, splits, hooks and optimizers need HCCL, and say how to get it."""
    calls = [
        lambda: hccl.allreduce(VECTOR),
        lambda: hccl.alltoallv(VECTOR, [1], [0], [1], [0]),
        lambda: hccl.mean(VECTOR),
        lambda: hccl.broadcast_variables(),
        lambda: hccl.BroadcastVariablesHook(),
        lambda: hccl.distributed_optimizer(tf1.train.GradientDescentOptimizer(1.0)),
        lambda: hccl.split_by_size([100]),
        lambda: hccl.group("g", [0]).__enter__(),
    ]
    for after in ("is not initialised.", "it was shut down"):
        for call in calls:
            with pytest.raises(NotInitializedError, match=after) as caught:
                call()
            assert "hccl.init(" in str(caught.value)
        hccl.init().stop()


def test_importing():
    """Importing it imports neither TensorFlow nor NumPy."""
    code = "import sys, npusession.hccl; print({'tensorflow', 'numpy', 'npu_bridge'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).stdout == b"set()\n"
