"""The one owner of the runtime: sharing, conflicts, threads, leaks."""

import gc
import threading
import warnings

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession import Dump, NpuSession, Profiling, System, SystemConflictError  # noqa: E402
from npusession.backends import load  # noqa: E402
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402
from npusession.system import State  # noqa: E402


@pytest.fixture(autouse=True)
def clean():
    """Each test starts with a runtime that never ran."""
    load("fake")
    RUNTIME.reset()


@pytest.fixture
def graph():
    graph = tensorflow.Graph()
    with graph.as_default():
        tensorflow.compat.v1.constant(2, name="two")
    return graph


@pytest.fixture
def plan(graph):
    return NpuSession.for_training(graph=graph, backend="fake")


def count(name):
    return sum(event.name == name for event in RUNTIME.events)


def test_one_initialisation_for_all(plan):
    """Sessions that are open together initialise once and shut down once."""
    with plan.replace(device=0), plan.replace(device=1), plan.replace(device=7):
        pass
    assert count("initialize") == 1
    assert count("shutdown") == 1


@pytest.mark.parametrize("product", ["Ascend310P3", "300I Duo", "Atlas 200I/500 A2"])
def test_no_op(graph, product):
    """Where the reference does not support initialize_system, the first graph initialises the device."""
    plan = NpuSession.for_inference(graph=graph, backend="fake", product=product)
    with plan as s:
        assert (count("initialize"), s.rank_size) == (0, 1)
        assert s.run("two:0") == 2
        assert count("initialize") == 1
    assert not RUNTIME.initialized
    with System(plan):
        for _ in range(2):
            with plan as s:
                assert s.run("two:0") == 2
    # With each session alone on the device.
    assert count("open") == 3
    assert (count("initialize"), count("finalize"), count("shutdown")) == (3, 3, 0)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"profiling": Profiling(output="prof", training_trace=True)}, "profiling_mode=True"),
        ({"op_debug_level": 3}, "op_debug_level=3"),
        ({"precision_mode_v2": "origin"}, "precision_mode_v2='origin'"),
    ],
)
@pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
def test_conflicting_options(plan, change, name):
    """Options of initialisation that come too late are refused, with the line that opened the system."""
    with plan as s, pytest.raises(SystemConflictError) as caught, plan.replace(**change):
        pytest.fail("the second body must not run")
    assert name in str(caught.value)
    assert __file__ in str(caught.value)
    assert s.closed


def test_conflicting_dump(plan, tmp_path):
    """A second session cannot dump to another place than the first one."""
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    with plan.replace(dump=Dump(first)), pytest.raises(SystemConflictError, match="dump_path"):
        plan.replace(dump=Dump(second)).start()


def test_conflicting_scene(plan, graph):
    """Inference cannot open beside a training, nor training beside an inference."""
    inference = NpuSession.for_inference(graph=graph, backend="fake")
    with plan, pytest.raises(SystemConflictError, match="graph_run_mode=0"):
        inference.start()
    with inference, pytest.raises(SystemConflictError, match="graph_run_mode=1"):
        plan.start()


def test_options_that_agree(plan):
    """Options of initialisation that say the same, or the default, may be repeated."""
    with plan.replace(enable_exception_dump=1), plan.replace(enable_exception_dump=1), plan:
        pass
    with plan, plan.replace(enable_exception_dump=2):
        pass


def test_session_options_may_differ(plan):
    """Options that each session has for itself may differ."""
    with plan.replace(deterministic=1), plan.replace(deterministic=0):
        pass


def test_a_refused_session_leaves_the_first_alone(plan):
    """After a conflict the first session goes on, and closing it shuts the system down."""
    with plan as s:
        with pytest.raises(SystemConflictError):
            plan.replace(precision_mode_v2="origin").start()
        assert s.run("two:0") == 2
    assert RUNTIME.events[-1].name == "close"
    assert not RUNTIME.initialized


def test_system_state(plan):
    """The system tells where it is in its life."""
    system = System(plan)
    with system:
        assert system.state is State.OPEN
    assert system.state is State.CLOSED


def test_system_start_and_stop(plan):
    """start and stop may be called twice, and again after that."""
    system = System(plan)
    for _ in range(2):
        system.start()
        system.start()
        system.stop()
        system.stop()
    assert count("shutdown") == 2


def test_system_initialises_again(plan):
    """Held by System, the runtime is there again after it finalised by itself with the last session."""
    with System(plan):
        for _ in range(2):
            with plan as s:
                s.run("two:0")
        assert not RUNTIME.initialized
        with plan as s:
            assert RUNTIME.initialized
            assert s.rank_size == 1
    assert count("initialize") == 3


def test_failing_again(plan):
    """When initialising again fails, the system can still be left."""
    with pytest.raises(RuntimeError, match="again"), System(plan):
        with plan as s:
            s.run("two:0")
        RUNTIME.fail(at="initialize", error=RuntimeError("again"))
        with plan:
            pytest.fail("the body must not run")
    with plan as s:
        assert s.run("two:0") == 2


def test_threads(plan):
    """The same plan can be open in several threads at once; each leaves its own session."""
    barrier = threading.Barrier(4)
    results = []

    def work(device):
        with plan.replace(device=None) as s:
            barrier.wait(60)
            results.append((device, s.run("two:0")))
            barrier.wait(60)

    threads = [threading.Thread(target=work, args=(device,)) for device in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [(device, 2) for device in range(4)]
    assert count("initialize") == count("shutdown") == 1


def test_one_plan_object_in_threads(plan):
    """Threads that enter one and the same plan object do not close each other's session."""
    entered, leave = threading.Event(), threading.Event()

    def work():
        with plan as s:
            entered.set()
            leave.wait(60)
            assert s.run("two:0") == 2

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait(60)
    with plan as s:
        pass
    assert s.closed
    leave.set()
    thread.join()
    assert count("close") == 3


def test_stopping_in_another_thread(plan):
    """Another thread may close the session; the body's end then has nothing left to do."""
    with plan as s:
        thread = threading.Thread(target=s.close)
        thread.start()
        thread.join()
        assert s.closed
    assert count("close") == 2
    assert count("shutdown") == 1


def test_forgotten_session(plan):
    """A session that is forgotten while open gives one warning with its line, and is not torn down at that moment."""
    s = plan.start()
    opening = s._self_opening
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del s
        gc.collect()
    initialized = RUNTIME.initialized
    opening.close()
    assert (initialized, RUNTIME.initialized) == (True, False)
    # What other tests left is collected, too.
    mine = [warning for warning in caught if __file__ in str(warning.message)]
    assert [warning.category for warning in mine] == [ResourceWarning]


def test_closed_session_is_no_leak(plan):
    """A session that was closed is collected without a word."""
    s = plan.start()
    s.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del s
        gc.collect()
