"""The emulated packages, for the tests of their ops."""

import contextlib
import importlib

import numpy
import tensorflow

from npusession.backends import load
from npusession.backends.fake import importing
from npusession.backends.fake.runtime import RUNTIME

tf1 = tensorflow.compat.v1


@contextlib.contextmanager
def importable():
    """The emulated packages under their own names; gives what imports one of their modules."""
    with importing.emulated():
        yield importlib.import_module


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
