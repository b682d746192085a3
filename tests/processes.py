"""Running small programs in a process of their own."""

import os
import subprocess
import sys
import textwrap

PRELUDE = """
import os, sys, warnings
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.simplefilter("ignore")
"""
SESSION = """
import tensorflow as tf
from npusession import *
from npusession.backends.fake.runtime import RUNTIME
graph = tf.Graph()
with graph.as_default():
    two = tf.constant(2)
plan = NpuSession.for_training(graph=graph, backend="fake", device=1)
def say(*words):
    print(*words, flush=True)
"""


def program(body, session=True):
    """Return the text of a program: quiet settings, a plan if wanted, and the body."""
    return PRELUDE + (SESSION if session else "") + textwrap.dedent(body)


def environment(*without, path=()):
    """Return this process's environment for a program: with ``path`` before PYTHONPATH.

    What configures npusession does not go along, nor do names that begin with one of ``without``. The emulated host
    stays the one of these tests.
    """
    environ = {
        name: value
        for name, value in os.environ.items()
        if name == "NPUSESSION_FAKE_HOST" or not name.startswith(("NPUSESSION", *without))
    }
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*map(str, path), environ.get("PYTHONPATH", "")]))
    return environ


def start(body, *flags, session=True, path=(), **variables):
    """Start a program; ``path`` is put before PYTHONPATH, ``variables`` are added to the environment."""
    environ = {**environment(path=path), **variables}
    return subprocess.Popen(
        [sys.executable, *flags, "-c", program(body, session)],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )


def run(body, *flags, **keywords):
    """Run a program to its end; returns its exit code, output, and error output."""
    process = start(body, *flags, **keywords)
    output, errors = process.communicate(timeout=240)
    return process.returncode, output, errors
