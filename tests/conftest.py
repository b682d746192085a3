"""What all tests share."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from processes import environment

try:
    import hypothesis
except ImportError:
    # The host of an adapter, which runs the contract suite, need not have it.
    pass
else:
    # The same examples in every run: a test that fails on one machine fails on all of them.
    hypothesis.settings.register_profile("npusession", deadline=None, max_examples=100, derandomize=True)
    hypothesis.settings.load_profile("npusession")

# Programs that a shell starts in the background, and all their children, ignore Ctrl-C, which tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# An emulated host of this run's own: nobody else's process holds its devices.
os.environ["NPUSESSION_FAKE_HOST"] = f"tests.{os.getpid()}"


def pytest_make_parametrize_id(val):
    """A long text is cut in the name of its test."""
    return f"{val[:60]}..." if isinstance(val, str) and len(val) > 80 else None


@pytest.fixture(autouse=True)
def nothing_left(unchanged_environment):
    """Whatever a test does, it leaves the environment as it was, and nothing to the runtime of the next one."""
    yield
    emulation = sys.modules.get("npusession.backends.fake.runtime")
    if emulation is not None:
        emulation.RUNTIME.kept.clear()


@pytest.fixture(scope="session")
def tf1():
    """The version 1 API of TensorFlow."""
    return pytest.importorskip("tensorflow", reason="a ConfigProto needs TensorFlow").compat.v1


@pytest.fixture
def directory(tmp_path):
    """A directory that dumps can go to, as text."""
    return str(tmp_path)


@pytest.fixture
def emulated(tf1):
    """The emulated runtime, as in a new process."""
    from npusession.backends import load
    from npusession.backends.fake.runtime import RUNTIME

    load("fake")
    RUNTIME.reset()
    yield RUNTIME
    RUNTIME.finalize("end of test")
    RUNTIME.reset()


@pytest.fixture
def run_script(tmp_path):
    """Run a script's text with `npusession run`, or with Python alone; returns exit code, output, and error output."""

    def run(text, *arguments, options=("--report", "none"), plain=False, **variables):
        script = tmp_path / "sub" / "script.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(textwrap.dedent(text))
        environ = environment("JOB_ID", "RANK", path=[ROOT])
        environ.update(TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore", **variables)
        command = [sys.executable, *([] if plain else ["-m", "npusession", "run", *options])]
        process = subprocess.run(
            [*command, os.path.join("sub", "script.py"), *arguments],
            cwd=str(tmp_path),
            env=environ,
            capture_output=True,
            text=True,
            timeout=240,
        )
        return process.returncode, process.stdout, process.stderr

    return run
