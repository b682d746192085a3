"""The contract: what every backend must do, the same tests for the emulation and for a real adapter.

Loading a real adapter changes TensorFlow for good, so that a process tests one backend: the one that
NPUSESSION_BACKEND names, or the fake. ``make contract`` runs both.
"""

import importlib.util
import os

import pytest

CHOSEN = os.environ.get("NPUSESSION_BACKEND", "fake")
INSTALLED = any(map(importlib.util.find_spec, ("npu_bridge", "npu_device")))


# What nobody chose is only there to be told of.
@pytest.fixture(params=["fake", "npu"] if INSTALLED and "NPUSESSION_BACKEND" not in os.environ else [CHOSEN])
def backend(request):
    """The loaded backend; the fake one is fresh for each test."""
    if request.param != CHOSEN:
        pytest.skip(f"a process tests one backend; this one's is {CHOSEN} (NPUSESSION_BACKEND)")
    if request.param == "npu" and not INSTALLED:
        pytest.skip("neither npu_bridge nor npu_device is installed")
    pytest.importorskip("tensorflow", reason="sessions need TensorFlow")
    from npusession.backends import load
    from npusession.testing import FakeNpu

    if request.param == "fake":
        with FakeNpu():
            yield load("fake")
    else:
        yield load("npu")


@pytest.fixture
def runtime(backend):
    """The loaded backend, with a runtime behind it."""
    if backend.version.endswith("-standin"):
        pytest.skip("the stand-in for an adapter has no runtime")
    return backend
