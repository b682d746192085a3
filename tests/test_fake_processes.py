"""The emulated device and processes: one process per device, forks, and the end of the process."""

import os
import signal

import pytest
from processes import run, start

pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")
linux = pytest.mark.skipif(not os.path.exists("/proc/self"), reason="devices are claimed on Linux only")

BARE = """
import tensorflow as tf
from npusession.backends import load
from npusession.backends.fake.runtime import RUNTIME
tf1 = tf.compat.v1
load("fake")
graph = tf.Graph()
with graph.as_default():
    tf1.constant(2, name="two")
def say(*words):
    print(*words, flush=True)
"""
HOLD = (
    BARE
    + """
session = tf1.Session(graph=graph)
session.run("two:0")
say("holds", os.getpid())
import time
time.sleep(200)
"""
)
TRY = (
    BARE
    + """
try:
    tf1.Session(graph=graph).run("two:0")
except tf.errors.InternalError as error:
    say(error.message)
else:
    say("mine")
"""
)


@linux
def test_one_process_per_device(monkeypatch):
    """A second process on the same device is refused, and told who holds it; on another device or host it is not."""
    monkeypatch.setenv("NPUSESSION_FAKE_HOST", f"ownership {os.getpid()} " + "x" * 200)
    holder = start(HOLD, session=False)
    try:
        word, pid = holder.stdout.readline().split()
        assert word == "holds"
        refused = run(TRY, session=False)[1]
        assert f"device 0 is held by process {pid};" in refused
        assert "NPUSESSION_FAKE_HOST" in refused
        assert run(TRY, session=False, ASCEND_DEVICE_ID="1")[1] == "mine\n"
        assert run(TRY, session=False, NPUSESSION_FAKE_HOST="another")[1] == "mine\n"
        holder.kill()
        holder.wait()
        # However it ended, the device is free.
        assert run(TRY, session=False)[1] == "mine\n"
    finally:
        holder.kill()
        holder.communicate()


@linux
def test_released_when_finalised():
    """The device is free again once the runtime is finalised, and the next session takes it again."""
    code, output, errors = run(
        BARE
        + """
for _ in range(2):
    with tf1.Session(graph=graph) as session:
        session.run("two:0")
        say(sorted(RUNTIME._claims))
    say(sorted(RUNTIME._claims))
with tf1.Session(graph=graph) as session:
    session.run("two:0")
    child = os.fork()
    if not child:
        say(sorted(RUNTIME._claims))
        os._exit(0)
    os.waitpid(child, 0)
    say(sorted(RUNTIME._claims))
""",
        session=False,
    )
    assert code == 0, errors
    assert output.split("\n")[:-1] == ["[0]", "[]", "[0]", "[]", "[]", "[0]"]


def test_fork_with_a_bare_session():
    """A child of a fork that runs its parent's session, or one of its own, is told to spawn; the parent goes on."""
    code, output, errors = run(
        BARE
        + """
from npusession import ForkedError
session = tf1.Session(graph=graph)
session.run("two:0")
child = os.fork()
if not child:
    for attempt in (session, tf1.Session(graph=graph)):
        try:
            attempt.run("two:0")
        except ForkedError as error:
            say("spawn" in str(error), str(os.getppid()) in str(error))
    os._exit(0)
os.waitpid(child, 0)
say(session.run("two:0"))
session.close()
say(RUNTIME.initialized)
""",
        session=False,
    )
    assert code == 0, errors
    assert output.splitlines() == ["True True", "True True", "2", "False"]


def test_fork_before_initialisation():
    """A child that was forked before anything was initialised is a process of its own."""
    code, output, errors = run(
        BARE
        + """
child = os.fork()
if not child:
    with tf1.Session(graph=graph) as session:
        say(session.run("two:0"))
    say([event.name for event in RUNTIME.events])
    os._exit(0)
os.waitpid(child, 0)
say([event.name for event in RUNTIME.events])
""",
        session=False,
    )
    assert code == 0, errors
    assert output.splitlines() == ["2", "['open', 'initialize', 'run', 'close', 'finalize']", "[]"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('RUNTIME.configure(strict_abort=True); os.environ["TF_CONFIG"] = \'{"task": 1}\'', "TF_CONFIG"),
        ('RUNTIME.configure(strict_abort=True); os.environ["ASCEND_DEVICE_ID"] = "-1"', "ASCEND_DEVICE_ID='-1'"),
    ],
)
@pytest.mark.parametrize("how", ["op", "graph"])
def test_strict_abort(body, words, how):
    """With strict_abort the process really dies where the real one does, with a line that says why."""
    run_it = 'tf1.Session(graph=graph).run("two:0")'
    if how == "op":
        run_it = """
from npusession.backends.fake import npu_ops
with graph.as_default():
    initialize = npu_ops.initialize_system()
tf1.Session(graph=graph).run(initialize)
"""
    code, _, errors = run(BARE + body + "\n" + run_it, session=False)
    assert code == -signal.SIGABRT
    assert "npusession: the real process would abort here: " in errors
    assert words in errors


def test_strict_abort_on_options():
    """Options that the real process dies of end it too."""
    code, _, errors = run(
        BARE
        + """
RUNTIME.configure(strict_abort=True)
config = tf1.ConfigProto()
entry = config.graph_options.rewrite_options.custom_optimizers.add()
entry.name = "NpuOptimizer"
entry.parameter_map["graph_run_mode"].i = 3
tf1.Session(graph=graph, config=config).run("two:0")
""",
        session=False,
    )
    assert code == -signal.SIGABRT
    assert "graph_run_mode is 3" in errors


def test_parameter_server():
    """Where TF_CONFIG says that this is a parameter server nothing is initialised, and a graph for the device fails."""
    code, output, errors = run(
        BARE
        + """
try:
    tf1.Session(graph=graph).run("two:0")
except tf.errors.InternalError as error:
    say("parameter server" in str(error), RUNTIME.initialized)
""",
        session=False,
        TF_CONFIG='{"task": {"type": "ps"}}',
    )
    assert (code, output) == (0, "True False\n"), errors


def test_evaluator_has_no_ranks():
    """An evaluator is initialised without HCCL."""
    code, output, errors = run(
        BARE
        + """
from npusession.backends.fake import ranks
with tf1.Session(graph=graph) as session:
    session.run("two:0")
    try:
        ranks.get_rank_size()
    except ValueError as error:
        say(error)
""",
        session=False,
        TF_CONFIG='{"task": {"type": "evaluator"}}',
    )
    assert (code, output) == (0, "get rank size error. ret[5]\n"), errors


def test_after_the_adapters_exit_handler():
    """Once the adapter's handler at exit has run, an initialisation is skipped on a dead runtime, and a graph fails."""
    code, output, errors = run(
        """
import atexit
def late():
    try:
        with tf1.Session(graph=graph) as session:
            session.run("two:0")
    except tf.errors.InternalError as error:
        say(error.message)
    say([event.name for event in RUNTIME.events])
atexit.register(late)
"""
        + BARE
        + """
session = tf1.Session(graph=graph)
session.run("two:0")
""",
        session=False,
    )
    assert code == 0, errors
    message, events = output.splitlines()
    assert "the adapter closed the device when the process began to exit" in message
    assert events == str(["open", "initialize", "run", "finalize", "open", "initialize", "close"])
