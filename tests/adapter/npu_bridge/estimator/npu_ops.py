"""The ops that open and close the runtime; what they do is printed."""

import sys

import tensorflow as tf

initialized = False


def _initialize():
    global initialized
    initialized = True
    print("initialize", file=sys.stderr)


def _shutdown():
    global initialized
    initialized = False
    print("shutdown", file=sys.stderr)


def initialize_system(name=None):
    if tf.compat.v1.executing_eagerly():
        raise RuntimeError("not compatible with eager execution")
    return tf.compat.v1.numpy_function(_initialize, [], [], name=name)


def shutdown_system(name=None):
    return tf.compat.v1.numpy_function(_shutdown, [], [], name=name)
