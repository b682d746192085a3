"""The generated files are what the generator makes, and no problem code lacks its example."""

import os
import pathlib
import runpy
import subprocess
import sys

import pytest

from npusession import NpuSession, OptionsError, configfiles, hccl, proto
from npusession.frontends import estimator
from npusession.options import RULES

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODES = {*RULES, *configfiles.RULES, *hccl.RULES, *(rule.code for rule in (*proto.RULES, *estimator.RULES))}
MADE = runpy.run_path(str(ROOT / "tools" / "problem_examples.py"))
DESCRIBED = MADE["DESCRIBED"]


@pytest.mark.skipif(sys.version_info < (3, 9), reason="the generator runs on 3.9 and newer; its text may differ here")
def test_generated_files_are_fresh():
    """Pages and types are those of the table and the rules as they are; whatever the caller's environment says."""
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ASCEND_DEVICE_ID": "x",
        "NPU_COLLECT_PATH": "/data",
        "AOE_MODE": "9",
    }
    command = [sys.executable, str(ROOT / "tools" / "reference.py"), "--check"]
    result = subprocess.run(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
    assert result.returncode == 0, result.stdout.decode("utf-8", "replace")


def test_every_code_has_an_example():
    """Each code has one example, be it of options, ConfigProtos, side files, clusters or rank tables."""
    assert {*MADE["EXAMPLES"], *DESCRIBED} == CODES
    assert not set(MADE["EXAMPLES"]) & set(DESCRIBED)
    assert set(MADE["FIXES"]) <= set(MADE["EXAMPLES"])


@pytest.mark.parametrize("code", sorted(DESCRIBED))
def test_described_examples(code, tf1):
    """The examples that the generator leaves alone, since it may lack TensorFlow, break their rules."""
    from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

    names = {"config": tf1.ConfigProto(), "RewriterConfig": RewriterConfig, "NpuSession": NpuSession}
    with pytest.raises(OptionsError) as caught:
        exec(DESCRIBED[code].example, names)
    assert [problem.code for problem in caught.value.problems] == [code]
