"""What a job of any number of ranks gets from npusession.hccl.

Run by ``npusession launch --fake --nproc N`` it is a program that asserts what every rank sees; with one rank the tests
call its functions.
"""

import os
import sys

import numpy
import tensorflow

from npusession import NpuSession, hccl

tf1 = tensorflow.compat.v1


def plan(graph):
    return NpuSession.for_training(graph=graph, backend="fake")


def computed(build, feed=None):
    """Build tensors in a graph of their own within HCCL, and return their values."""
    with hccl.init(NpuSession.for_training(backend="fake")), tensorflow.Graph().as_default() as graph:
        tensors = build()
        with plan(graph) as s:
            s.run(tf1.global_variables_initializer())
            return s.run(tensors, feed)


def check_places():
    """Every rank has its place."""
    with hccl.init(NpuSession.for_training(backend="fake")):
        assert 0 <= hccl.rank() < hccl.size()
        assert 0 <= hccl.local_rank() < hccl.local_size() <= hccl.size()


def check_reductions():
    """Reductions over all ranks."""

    def build():
        own = tf1.constant([1.0, 2.0]) * (hccl.rank() + 1)
        reductions = {name: hccl.allreduce(own, name) for name in ("sum", "max", "min", "prod")}
        return {**reductions, "mean": hccl.mean({"own": own}), "root": hccl.reduce(own, "sum", 0)}

    values = computed(build)
    everybody = [numpy.array([1.0, 2.0]) * (rank + 1) for rank in range(hccl.size())]
    numpy.testing.assert_allclose(values["sum"], sum(everybody))
    numpy.testing.assert_allclose(values["max"], numpy.max(everybody, axis=0))
    numpy.testing.assert_allclose(values["min"], numpy.min(everybody, axis=0))
    numpy.testing.assert_allclose(values["prod"], numpy.prod(everybody, axis=0))
    numpy.testing.assert_allclose(values["mean"]["own"], numpy.mean(everybody, axis=0))
    if hccl.rank() == 0:
        numpy.testing.assert_allclose(values["root"], sum(everybody))


def check_moves():
    """Data that goes from rank to rank."""

    def build():
        rank, size = hccl.rank(), hccl.size()
        return {
            "gathered": hccl.allgather(tf1.fill([1, 2], rank)),
            "one": hccl.broadcast(tf1.constant(rank + 5), root=size - 1),
            "two": hccl.broadcast([tf1.constant([rank]), tf1.constant(0.5 + rank)]),
            "part": hccl.reduce_scatter(tf1.range(size, dtype=tf1.int32)),
            "exchanged": hccl.alltoallv(
                tf1.range(size * 2, dtype=tf1.int32) + 100 * rank,
                [2] * size,
                [2 * other for other in range(size)],
                [2] * size,
                [2 * other for other in range(size)],
            ),
        }

    values = computed(build)
    rank, size = hccl.rank(), hccl.size()
    assert values["gathered"].tolist() == [[other, other] for other in range(size)]
    assert values["one"] == size + 4
    assert [value.tolist() for value in values["two"]] == [[0], 0.5]
    assert values["part"].tolist() == [rank * size]
    expected = [100 * other + 2 * rank + number for other in range(size) for number in (0, 1)]
    assert values["exchanged"].tolist() == expected


def check_gradients():
    """The gradient of a sum over ranks is the sum of all ranks' gradients."""

    def build():
        x = tf1.constant([3.0])
        return tf1.gradients(hccl.allreduce(x) * (hccl.rank() + 1), x)[0]

    assert computed(build).tolist() == [sum(range(1, hccl.size() + 1))]


def check_group():
    """A group of the first ranks counts for itself, forward and backward."""
    with hccl.init(NpuSession.for_training(backend="fake")), tensorflow.Graph().as_default() as graph:
        ranks = list(range(max(1, hccl.size() // 2)))
        if hccl.rank() not in ranks:
            return
        with hccl.group("first", ranks) as first:
            assert (first.rank, first.size) == (hccl.rank(), len(ranks))
            x = tf1.constant([1.0])
            total = hccl.allreduce(x, group=first)
            gradient = tf1.gradients(total * 3, x)[0]
            with plan(graph) as s:
                assert s.run(total).tolist() == [first.size]
                assert s.run(gradient).tolist() == [3 * first.size]


def check_group_over_sessions():
    """A group is there again when the runtime has finalised with the last session and initialises again."""
    with hccl.init(NpuSession.for_training(backend="fake")), tensorflow.Graph().as_default() as graph:
        with hccl.group("all", range(hccl.size())) as everybody:
            gathered = hccl.allgather([everybody.rank], group="all")
            for _ in range(2):
                with plan(graph) as s:
                    assert s.run(gathered).tolist() == list(range(hccl.size()))


def check_neighbours():
    """A ring of ranks hands something on."""
    with hccl.init(NpuSession.for_training(backend="fake")), tensorflow.Graph().as_default() as graph:
        rank, size = hccl.rank(), hccl.size()
        if size == 1:
            return
        if rank == 0:
            sent, received = hccl.send(tf1.constant([7, 8]), dest=1, tag=3), None
        elif rank == 1:
            sent, received = None, hccl.receive([2], "int32", source=0, tag=3)
        else:
            return
        with plan(graph) as s:
            if sent is not None:
                s.run(sent)
            else:
                assert s.run(received).tolist() == [7, 8]


def check_variables():
    """Every rank starts from the root's variables, whatever their kind."""
    with hccl.init(NpuSession.for_training(backend="fake")), tensorflow.Graph().as_default() as graph:
        rank = hccl.rank()
        made = [
            tf1.get_variable("ref", initializer=[1.0 * rank, 2.0], use_resource=False),
            tf1.get_variable("resource", initializer=rank, use_resource=True),
            tf1.get_variable("flag", initializer=rank == 0, trainable=False, use_resource=True),
        ]
        broadcast = hccl.broadcast_variables(0)
        initialize = tf1.global_variables_initializer()
        with plan(graph) as s:
            s.run(initialize)
            s.run(broadcast)
            values = s.run(made)
    assert values[0].tolist() == [0.0, 2.0]
    assert (values[1], values[2]) == (0, True)


def check_training():
    """Ranks with different data train one model, from the root's variables, in monitored sessions too."""
    system = hccl.init(NpuSession.for_training(backend="fake"))
    with system, tensorflow.Graph().as_default():
        step = tf1.train.get_or_create_global_step()
        weight = tf1.get_variable("weight", initializer=10.0 * hccl.rank() + 1.0)
        loss = tf1.square(weight - hccl.rank())
        # Whoever starts a job without the launcher need not have given it one.
        job = {name: os.environ.pop(name) for name in ("JOB_ID",) if name in os.environ}
        optimizer = hccl.distributed_optimizer(tf1.train.GradientDescentOptimizer(0.25))
        train = optimizer.minimize(loss, global_step=step)
        assert "JOB_ID" not in os.environ
        os.environ.update(job)
        average = hccl.mean(loss)
        config = NpuSession.for_training(backend="fake").config_proto()
        hooks = [hccl.BroadcastVariablesHook()]
        with tf1.train.MonitoredTrainingSession(config=config, hooks=hooks) as session:
            begin, first_loss = session.run([weight, average])
            session.run(train)
            end = session.run(weight)
    others = numpy.arange(hccl.size())
    assert begin == 1.0
    numpy.testing.assert_allclose(first_loss, numpy.mean((1.0 - others) ** 2))
    numpy.testing.assert_allclose(end, 1.0 - 0.25 * numpy.mean(2 * (1.0 - others)), rtol=1e-6)


CHECKS = [function for name, function in sorted(vars().items()) if name.startswith("check_")]

if __name__ == "__main__":
    for check in [function for function in CHECKS if function.__name__ in sys.argv[1:]] or CHECKS:
        check()
    print("says rank", hccl.rank(), "of", hccl.size(), "is content", flush=True)
