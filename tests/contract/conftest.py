"""The contract suite runs on one backend per process: NPUSESSION_BACKEND, or the fake."""

import os

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

from npusession import NpuSession  # noqa: E402

BACKEND = os.environ.get("NPUSESSION_BACKEND", "fake")


@pytest.fixture
def tf1():
    return tensorflow.compat.v1


@pytest.fixture
def graph():
    """A fresh graph, so that tests see nothing of each other."""
    return tensorflow.Graph()


@pytest.fixture
def plan(graph):
    """A plan for training on the backend at hand, bound to the test's graph."""
    return NpuSession.for_training(graph=graph, backend=BACKEND)
