"""The Keras that knows sessions."""

from __future__ import annotations

import importlib
import types
import typing

from ..._tensorflow import tf1


def keras() -> typing.Any:
    """Return ``tf.keras`` with optimizers of Keras 2, else what TensorFlow keeps of Keras 2 inside.

    Keras 3, which has no sessions, comes with TensorFlow 2.16 and later.
    """
    public = tf1().keras
    if hasattr(public.optimizers.Optimizer, "get_updates"):
        return public
    inside = "tensorflow.python.keras."
    return types.SimpleNamespace(
        constraints=importlib.import_module(inside + "constraints"),
        initializers=importlib.import_module(inside + "initializers"),
        layers=types.SimpleNamespace(
            InputSpec=importlib.import_module(inside + "engine.input_spec").InputSpec,
            Layer=importlib.import_module(inside + "engine.base_layer").Layer,
        ),
        optimizers=types.SimpleNamespace(
            Optimizer=importlib.import_module(inside + "optimizer_v2.optimizer_v2").OptimizerV2,
            get=importlib.import_module(inside + "optimizers").get,
        ),
        regularizers=importlib.import_module(inside + "regularizers"),
    )
