"""Scripts of the shapes that users have run unmodified, to their end."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the scripts import TensorFlow")

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "tests" / "scripts"
tf1 = tensorflow.compat.v1
ESTIMATOR = None if hasattr(tf1, "estimator") else "this TensorFlow has no tf.estimator"
KERAS = None if hasattr(tf1.keras.backend, "set_session") else "this Keras has no sessions"
CONTRIB = None if hasattr(tensorflow, "contrib") or tensorflow.__version__ < "2" else "this TensorFlow has no contrib"
FREEZING = None if tensorflow.__version__ < "2.16" else "this TensorFlow has no convert_variables_to_constants there"

#: Name, arguments, exit code, last line of output, number of initialisations, whether the script shut down, and a
#: reason to leave it out.
CASES = [
    ("explicit_session", ["--epochs", "9"], 0, "epoch 8 loss decreasing", 1, False, None),
    ("config_helper", [], 0, "accurate True", 2, True, None),
    ("npu_estimator", ["--train_steps", "20"], 0, "steps 20", 2, True, ESTIMATOR),
    ("plain_estimator", [], 0, "steps 20", 1, True, ESTIMATOR),
    ("loss_scale_hook", ["--steps", "8"], 0, "steps 8 overflows 1", 2, True, ESTIMATOR),
    ("keras_session", [], 0, "predicted (64, 2)", 1, True, KERAS),
    ("interactive", [], 0, "[-2.0, -1.0]", 1, True, None),
    ("monitored", [], 0, "runs 5", 1, True, None),
    ("resource", [], 0, "rank 0 of 1 0 1", 1, True, None),
    ("loop", [], 0, "steps 40", 1, True, None),
    ("app_run", ["--message", "hello", "rest"], 3, "hello 1 ['rest']", 1, True, None),
    ("frozen", [], 0, "[[11.0]]", 2, True, FREEZING),
    ("supervisor", [], 0, "done", 1, True, CONTRIB),
]


def execute(script, arguments, folder, code=0):
    """Run a script in a folder with `npusession run`, to this exit code; return its last line and the report."""
    # The emulated host stays the one of these tests.
    environ = {
        key: value
        for key, value in os.environ.items()
        if key == "NPUSESSION_FAKE_HOST" or not key.startswith(("NPUSESSION", "JOB_ID", "RANK"))
    }
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), environ.get("PYTHONPATH", "")]))
    environ.update(TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
    report = folder / "report.json"
    options = ["--report", "json", "--report-file", str(report)]
    process = subprocess.run(
        [sys.executable, "-m", "npusession", "run", *options, str(script), *arguments],
        cwd=str(folder),
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == code, process.stderr
    return process.stdout.splitlines()[-1], json.loads(report.read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_script(case, tmp_path):
    """The script comes to its end with the exit code and the life cycle that it has on a host."""
    name, arguments, code, last, initialised, shut_down, reason = case
    if reason is not None:
        pytest.skip(reason)
    line, found = execute(SCRIPTS / f"{name}.py", arguments, tmp_path, code)
    assert line == last
    assert found["exit_code"] == code
    assert len(found["initialized"]) == initialised
    assert found["shut_down"] is shut_down
    assert found["runs"] >= 1


def test_every_script():
    """Every script is run."""
    assert {case[0] for case in CASES} == {path.stem for path in SCRIPTS.glob("*.py")}


def test_example(tmp_path):
    """The example of a script for the adapter learns to read digits, and leaves the device as it found it."""
    pytest.importorskip("sklearn", reason="the example trains on scikit-learn's images")
    line, found = execute(ROOT / "examples" / "npu_bridge_digits.py", ["--epochs", "5"], tmp_path)
    said, accuracy = line.rsplit(" ", 1)
    assert said == "rank 0 of 1: accuracy"
    assert float(accuracy) > 0.9
    assert found["shut_down"]
