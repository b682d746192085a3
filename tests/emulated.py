"""The emulated packages, for the tests of their ops."""

import contextlib
import importlib
import pathlib
import sys

import numpy
import tensorflow

import npusession
from npusession.backends import load
from npusession.backends.fake.runtime import RUNTIME

tf1 = tensorflow.compat.v1
PACKAGES = str(pathlib.Path(npusession.__file__).parent / "backends" / "fake" / "packages")
NAMES = ("hccl", "npu_bridge", "npu_device")


@contextlib.contextmanager
def importable():
    """The emulated packages under their own names; gives what imports one of their modules."""
    sys.path.insert(0, PACKAGES)
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(PACKAGES)
        for name in [name for name in sys.modules if name.partition(".")[0] in NAMES]:
            del sys.modules[name]


@contextlib.contextmanager
def session(seed=None):
    """A session of the emulation over a graph of its own, which is the default one."""
    load("fake")
    RUNTIME.reset()
    try:
        with tensorflow.Graph().as_default():
            if seed is not None:
                tf1.set_random_seed(seed)
            with tf1.Session() as opened:
                yield opened
    finally:
        RUNTIME.finalize("end of test")


def ready(opened):
    """Initialise the variables."""
    opened.run(tf1.global_variables_initializer())


def numeric_gradient(function, value, step=1e-3):
    """The gradient of a function from an array to a number, by central differences."""
    result = numpy.zeros_like(value)
    for index in numpy.ndindex(*value.shape):
        up, down = value.copy(), value.copy()
        up[index] += step
        down[index] -= step
        result[index] = (function(up) - function(down)) / (2 * step)
    return result
