"""What happens to the process around a session: signals, exit, fork."""

import signal
import sys

import pytest
from processes import run, start

pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

AT_EXIT = """
import atexit
atexit.register(lambda: say(*[event.name for event in RUNTIME.events]))
"""
WHOLE_LIFE = "open initialize open close shutdown finalize close"
#: Once a graph ran, the runtime finalises by itself when the session closes.
LIFE_WITH_A_RUN = "open initialize open run close finalize shutdown close"


def test_ctrl_c():
    """Ctrl-C in the body closes the session, shuts the system down, and ends the program as Ctrl-C does."""
    process = start(
        AT_EXIT
        + """
import time
try:
    with plan as s:
        say("running")
        # One that comes just before a sleep is noticed after it.
        while True:
            time.sleep(0.05)
finally:
    say("closed" if s.closed else "open", "ASCEND_DEVICE_ID" in os.environ)
"""
    )
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=240)
    assert output.splitlines() == ["closed False", WHOLE_LIFE]
    assert "KeyboardInterrupt" in errors
    assert process.returncode in (1, -signal.SIGINT)


def test_sys_exit():
    """sys.exit in the body closes the session and keeps its exit code."""
    code, output, _ = run(
        AT_EXIT
        + """
with plan as s:
    sys.exit(7)
"""
    )
    assert (code, output.strip()) == (7, WHOLE_LIFE)


def test_exit_inside_app_run():
    """A script under tf.compat.v1.app.run, which exits the interpreter itself, is shut down."""
    code, output, _ = run(
        AT_EXIT
        + """
def main(arguments):
    with plan as s:
        say(s.run(two))
tf.compat.v1.app.run(main)
""",
    )
    assert (code, output.split("\n")[:2]) == (0, ["2", LIFE_WITH_A_RUN])


def test_forgotten_until_exit():
    """A session that was never closed is closed at exit, in the right order, with a warning that names its line."""
    code, output, errors = run(
        AT_EXIT
        + """
warnings.simplefilter("always", ResourceWarning)
s = plan.start()
say(s.run(two))
"""
    )
    assert code == 0
    assert output.splitlines() == ["2", LIFE_WITH_A_RUN]
    assert errors.count("was forgotten while it was open") == 1


def test_system_forgotten_until_exit():
    """A System that was never stopped is stopped at exit."""
    code, output, _ = run(AT_EXIT + "system = System(plan).start()\n")
    assert (code, output.strip()) == (0, "open initialize shutdown finalize close")


@pytest.mark.parametrize("ending", ["sys.exit(0)", "os._exit(0)"])
def test_fork(ending):
    """A forked child cannot use its parent's session, is told so, and leaves the parent's runtime alone."""
    code, output, errors = run(
        f"""
with plan as s:
    say(s.run(two))
    child = os.fork()
    if child == 0:
        for attempt in (lambda: s.run(two), plan.start):
            try:
                attempt()
            except ForkedError as error:
                say("spawn" in str(error))
        s.close()
        say([event.name for event in RUNTIME.events])
        {ending}
    say(os.waitpid(child, 0)[1])
    say(s.run(two), RUNTIME.initialized)
say([event.name for event in RUNTIME.events][-4:])
"""
    )
    assert code == 0, errors
    assert output.splitlines() == [
        "2",
        "True",
        "True",
        "['open', 'initialize', 'open', 'run']",
        "0",
        "2 True",
        "['close', 'finalize', 'shutdown', 'close']",
    ]


def test_spawned_child():
    """A spawned process opens a session on a device of its own, from a plan that was pickled to it."""
    code, output, errors = run(
        '''
import pickle, subprocess
child = """
import pickle, sys, tensorflow as tf
plan = pickle.loads(sys.stdin.buffer.read())
with plan.replace(graph=tf.Graph(), device=2) as s:
    print(s.plan.device)
"""
with plan as s:
    sent = pickle.dumps(plan.replace(graph=None))
    # The device that the environment names is the parent's.
    environ = {name: value for name, value in os.environ.items() if name != "ASCEND_DEVICE_ID"}
    command = [sys.executable, "-W", "ignore", "-c", child]
    done = subprocess.run(command, input=sent, stdout=subprocess.PIPE, env=environ)
    say(done.stdout.decode().strip(), s.run(two))
'''
    )
    assert (code, output.strip()) == (0, "2 2"), errors


def test_import_is_light():
    """Importing npusession imports neither TensorFlow nor an adapter, nor anything heavy."""
    code, output, errors = run(
        "import npusession; print(sorted({'tensorflow', 'npu_bridge', 'numpy', 'tqdm', 'wrapt'} & set(sys.modules)))",
        session=False,
    )
    assert (code, output.strip()) == (0, "[]"), errors


def test_without_tensorflow():
    """Without TensorFlow a plan can be made and checked; opening it says how to get TensorFlow."""
    code, output, errors = run(
        """
sys.modules["tensorflow"] = None
from npusession import *
plan = NpuSession.for_training(device=0, backend="fake")
try:
    plan.start()
except ImportError as error:
    print(type(error).__name__)
    print(error)
""",
        session=False,
    )
    assert code == 0, errors
    assert output.startswith("TensorFlowNotFoundError\n")
    assert 'pip install "npusession[tensorflow]"' in output
    assert "NPU host" in output


@pytest.mark.skipif(sys.version_info < (3, 8), reason="TensorFlow 1 builds graphs by default")
def test_eager_tensors():
    """In TensorFlow 2's eager mode a fetch that was computed eagerly is refused with what to do about it."""
    code, output, errors = run(
        """
try:
    NpuSession.for_training(backend="fake").start()
except GraphRequiredError as error:
    say("start", "graph=" in str(error))
eager = tf.constant(1)
try:
    with NpuSession.for_training(backend="fake") as s:
        s.run(eager)
except GraphRequiredError as error:
    say("run", "disable_eager_execution" in str(error))
with NpuSession.for_training(backend="fake") as s:
    say(s.run(tf.constant(1) + 1))
"""
    )
    assert code == 0, errors
    assert output.splitlines() == ["start True", "run True", "2"]
