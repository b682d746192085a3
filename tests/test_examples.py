"""The examples run."""

import os
import pathlib
import subprocess
import sys

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the examples run sessions")
pytest.importorskip("sklearn", reason="the data is scikit-learn's")

tf1 = tensorflow.compat.v1
ROOT = pathlib.Path(__file__).resolve().parent.parent
ESTIMATORS = hasattr(tf1, "estimator")
#: Each way of running, and whether this TensorFlow has it.
WAYS = {
    "monitored": True, "supervisor": True, "interactive": True, "keras": hasattr(tf1.keras.backend, "set_session"),
    "estimator": ESTIMATORS, "npu_estimator": ESTIMATORS,
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_frontends(way, tmp_path):
    """Each way trains to the same accuracy."""
    if not WAYS[way]:
        pytest.skip("this TensorFlow does not have it any more")
    # The runtime's own variables, JOB_ID among them, are the example's to set.
    environ = {name: value for name, value in os.environ.items() if name != "JOB_ID"}
    environ.update(TMPDIR=str(tmp_path), PYTHONPATH=str(ROOT), PYTHONWARNINGS="ignore")
    command = [sys.executable, str(ROOT / "examples/frontends.py"), way, "--backend", "fake"]
    done = subprocess.run(command, env=environ, cwd=str(tmp_path), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    name, accuracy = done.stdout.strip().rsplit(" ", 1)
    assert name == f"{way}: accuracy"
    assert float(accuracy) >= 0.95
