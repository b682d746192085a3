"""Importing this has the Dropout layers of Keras drop out as the device does."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import keras_sessions

from .. import npu_ops


def dropout_call(self: typing.Any, inputs: typing.Any, training: typing.Any = None) -> typing.Any:
    """``Dropout.call``, by the adapter's dropout where the layer has no noise shape."""
    if training is None:
        training = keras_sessions.sessions().learning_phase()
    shape = self._get_noise_shape(inputs)

    def dropped() -> typing.Any:
        if shape is not None:
            return tf1().nn.dropout(inputs, noise_shape=shape, seed=self.seed, rate=self.rate)
        return npu_ops.dropout(inputs, noise_shape=None, seed=self.seed, keep_prob=1.0 - self.rate)

    if isinstance(training, (bool, int)):
        return dropped() if training else tf1().identity(inputs)
    return tf1().cond(tf1().cast(training, tf1().bool), dropped, lambda: tf1().identity(inputs))


# Keras 3 has no graphs for it to run in; its layers stay as they are.
if hasattr(keras_sessions.backend(), "set_session"):
    tf1().keras.layers.Dropout.call = dropout_call
