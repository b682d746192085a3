"""Emulated collectives of a process that is alone: what it gives, with the checks of the vendor's reference."""

import types

import pytest

pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy as np
from emulated import importable, session, tf1

from npusession import errors
from npusession.backends.fake import collectives


@pytest.fixture(scope="module")
def hccl():
    with importable() as load:
        yield load("npu_bridge.hccl.hccl_ops")


@pytest.fixture(scope="module")
def experimental():
    with importable() as load:
        yield load("npu_bridge.experimental.hccl")


X = np.arange(6, dtype="f").reshape(3, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda hccl, x: hccl.allreduce(x, "max"),
        lambda hccl, x: hccl.allgather(x, 1),
        lambda hccl, x: hccl.broadcast([x, x], 0)[1],
        lambda hccl, x: hccl.reduce(x, "prod", 0),
        lambda hccl, x: hccl.reduce_scatter(x, "sum", 1),
    ],
    ids=["allreduce", "allgather", "broadcast", "reduce", "reduce_scatter"],
)
def test_alone(hccl, call):
    """Rank 0 of 1 gets back what it gives, in the same shape."""
    with session() as s:
        result = call(hccl, tf1.constant(X))
        assert result.shape.as_list() == [3, 2]
        np.testing.assert_array_equal(s.run(result), X)


def test_all_to_all(hccl):
    """A rank that is alone sends to itself, from and to the places that it names."""
    with session() as s:
        data = np.arange(10, dtype="i4")
        moved = hccl.all_to_all_v(data, [4], [2], [4], [1])
        matrix = hccl.all_to_all_v_c(data, [[3]], 0)
        assert [list(result) for result in s.run([moved, matrix])] == [[0, 2, 3, 4, 5], [0, 1, 2]]
        with pytest.raises(tf1.errors.InvalidArgumentError, match="receives what it sends"):
            s.run(hccl.all_to_all_v(data, [4], [0], [3], [0]))


def test_gradient_overridden(hccl):
    """A gradient that a script sets for the op's type counts, where the adapter has one and where it has none."""
    name = "TimesFiveInTestOfCollectives"
    tf1.RegisterGradient(name)(lambda op, gradient: gradient * 5)
    with session() as s:
        x = tf1.constant(X)
        with tf1.get_default_graph().gradient_override_map({"HcomAllReduce": name, "HcomAllGather": name}):
            results = hccl.allreduce(x, "sum"), hccl.allgather(x, 1)
        plain = hccl.allreduce(x, "sum")
        for result, factor in zip((*results, plain), (5, 5, 1)):
            np.testing.assert_array_equal(s.run(tf1.gradients(result, x)[0]), np.full_like(X, factor))


def test_gradient(hccl):
    """An allreduce is differentiable, and so is its gradient's; the other collectives have no gradient."""
    with session() as s:
        x = tf1.constant(X)
        (first,) = tf1.gradients(hccl.allreduce(x, "sum") ** 3, x)
        (second,) = tf1.gradients(first, x)
        found = s.run([first, second])
        np.testing.assert_allclose(found[0], 3 * X**2)
        np.testing.assert_allclose(found[1], 6 * X)
        assert any(op.name.endswith("HcomAllReduce") for op in tf1.get_default_graph().get_operations())
        for result in (hccl.allgather(x, 1), hccl.broadcast([x], 0)[0], hccl.reduce(x, "sum", 0)):
            with pytest.raises(LookupError, match="No gradient"):
                tf1.gradients(result, x)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda hccl: hccl.allreduce(X, "mean"), ValueError, "reduction='mean'; it is one of min, max, prod, sum"),
        (lambda hccl: hccl.allreduce(X, "sum", fusion=3), ValueError, "fusion=3; it is one of 0, 1, 2"),
        (lambda hccl: hccl.allreduce(X, "sum", 2, 2**31), ValueError, "fusion_id=2147483648; it is -1 to 2147483647"),
        (lambda hccl: hccl.allreduce(X, "sum", group=""), ValueError, "group=''; the name of a group has 1 to 127"),
        (lambda hccl: hccl.allreduce(X, "sum", group="g" * 128), ValueError, "1 to 127 characters"),
        (lambda hccl: hccl.allreduce(X.astype("d"), "sum"), TypeError, "HcomAllReduce: input is float64"),
        (lambda hccl: hccl.allgather(X, 0), ValueError, "rank_size=0; it is 1 or more"),
        (lambda hccl: hccl.allgather(X, 1, fusion=1), ValueError, "fusion=1; it is one of 0, 2"),
        (lambda hccl: hccl.allgather(np.float32(1), 1), ValueError, "a scalar has no first axis"),
        (lambda hccl: hccl.broadcast(X, 0), TypeError, "input is a list of tensors"),
        (lambda hccl: hccl.broadcast([X], -1), ValueError, "root_rank=-1; it is 0 or more"),
        (lambda hccl: hccl.broadcast([X], "0"), TypeError, "root_rank is an int, not '0'"),
        (lambda hccl: hccl.reduce_scatter(X, "sum", 2), ValueError, "first axis has 3, no multiple of rank_size=2"),
        (lambda hccl: hccl.send(X, True, 1), TypeError, "sr_tag is an int, not True"),
        (lambda hccl: hccl.receive((2,), tf1.string, 0, 1), TypeError, "HcomReceive: T is string"),
    ],
)
def test_arguments(hccl, call, error, text):
    """What HCCL does not take is refused when the graph is built, with the value and what is allowed."""
    with session(), pytest.raises(error, match=text.replace("'", ".")):
        call(hccl)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda hccl: hccl.allgather(tf1.constant(X), 4), "rank_size=4"),
        (lambda hccl: hccl.broadcast([tf1.constant(X)], 3), "root_rank=3"),
        (lambda hccl: hccl.send(tf1.constant(X), 0, 1), "dest_rank=1"),
        (lambda hccl: hccl.receive((2, 3), tf1.float32, 0, 1), "src_rank=1"),
    ],
    ids=["allgather", "broadcast", "send", "receive"],
)
def test_other_ranks(hccl, call, text):
    """A rank that is not there fails when the graph is run, not when it is built, and is named."""
    with session() as s:
        result = call(hccl)
        with pytest.raises(tf1.errors.InvalidArgumentError, match=text):
            s.run(result)


def test_shapes(hccl):
    """Shapes are known when the graph is built: more or less along the first axis."""
    with session():
        x = tf1.placeholder(tf1.float32, (8, 2))
        assert hccl.allgather(x, 4).shape.as_list() == [32, 2]
        assert hccl.reduce_scatter(x, "sum", 4).shape.as_list() == [2, 2]
        assert hccl.receive((2, 3), tf1.float16, 0, 1).shape.as_list() == [2, 3]
        assert hccl.allgather(tf1.placeholder(tf1.float32, (None, 2)), 4).shape.as_list() == [None, 2]


@pytest.mark.parametrize(
    ("environment", "size"), [({}, 1), ({"RANK_SIZE": "8"}, 8), ({"CM_WORKER_SIZE": "2"}, 2), ({"RANK_SIZE": "1"}, 1)]
)
def test_world_size(monkeypatch, experimental, environment, size):
    """The number of ranks comes from the environment."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert collectives.world_size() == experimental.get_user_rank_size() == size


@pytest.mark.parametrize("value", ["", "0", "-1", "two", "²"])
def test_bad_world_size(monkeypatch, value):
    """What is no positive number is an error that shows it."""
    monkeypatch.setenv("RANK_SIZE", value)
    with pytest.raises(ValueError, match=f"RANK_SIZE='{value}' is no positive number"):
        collectives.world_size()


@pytest.mark.parametrize("call", ["allreduce", "broadcast", "send"])
def test_several_ranks(hccl, monkeypatch, call):
    """Where the environment describes several ranks, a collective does not pretend that they took part."""
    monkeypatch.setenv("RANK_SIZE", "4")
    with session() as s:
        x = tf1.constant(X)
        result = {
            "allreduce": lambda: hccl.allreduce(x, "sum"),
            "broadcast": lambda: hccl.broadcast([x], 0),
            "send": lambda: hccl.send(x, 0, 1),
        }[call]()
        with pytest.raises(errors.CollectiveError, match="needs the other ranks of the job"):
            s.run(result)


def test_experimental_ranks(monkeypatch, experimental):
    """RANK_ID is read from the environment; HCCL answers after initialisation only."""
    monkeypatch.delenv("RANK_ID", raising=False)
    with pytest.raises(TypeError, match="RANK_ID is not set"):
        experimental.get_user_rank_id()
    monkeypatch.setenv("RANK_ID", "3")
    assert experimental.get_user_rank_id() == 3
    assert experimental.c_str("group").value == b"group"
    with session() as s:
        with pytest.raises(ValueError, match="get rank size error"):
            experimental.get_actual_rank_size()
        s.run(tf1.constant(1))
        assert experimental.get_actual_rank_size() == 1
    assert isinstance(experimental, types.ModuleType)
