"""Keras in a session of its own."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
from tensorflow.python.keras import backend as K  # noqa: F401

tf.disable_v2_behavior() if tf.__version__ >= "2" else None
npu_keras_sess = set_keras_session_npu_config()
data = np.random.RandomState(0).rand(64, 3)
labels = (data.sum(1) > 1.5).astype(int)
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(8, activation="relu", input_shape=(3,)), tf.keras.layers.Dense(2, activation="softmax")]
)
model.compile(
    npu_keras_optimizer(tf.keras.optimizers.SGD(0.1)),
    "sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
callbacks = npu_callbacks_append(callbacks_list=[tf.keras.callbacks.TerminateOnNaN()])
model.fit(data, labels, epochs=2, verbose=0, callbacks=callbacks)
print("predicted", model.predict(data).shape)
close_session(npu_keras_sess)
