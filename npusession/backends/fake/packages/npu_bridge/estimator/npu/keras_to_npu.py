"""Keras models as NPU estimators."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import estimators

from .npu_estimator import NPUEstimator


def model_to_npu_estimator(
    keras_model: typing.Any = None,
    keras_model_path: str | None = None,
    custom_objects: dict[str, typing.Any] | None = None,
    model_dir: str | None = None,
    checkpoint_format: str = "saver",
    config: typing.Any = None,
    job_start_file: str = "",
) -> NPUEstimator:
    """Make an NPUEstimator of a compiled Keras model.

    Args:
        keras_model: the model.
        keras_model_path: a saved model, in place of ``keras_model``.
        custom_objects: classes that the saved model needs.
        model_dir: directory for checkpoints.
        checkpoint_format: of the initial checkpoint.
        config: an NPURunConfig.
        job_start_file: JSON file that describes the job; by default the environment does.

    Raises:
        NotEmulatedError: this TensorFlow has no tf.estimator.
        ValueError: as from NPUEstimator.
    """
    estimator = estimators.require("model_to_npu_estimator")
    plain = tf1().keras.estimator.model_to_estimator(
        keras_model=keras_model,
        keras_model_path=keras_model_path,
        custom_objects=custom_objects,
        model_dir=model_dir,
        config=estimator.RunConfig(model_dir=model_dir),
        checkpoint_format=checkpoint_format,
    )
    return NPUEstimator(
        model_fn=plain._model_fn,
        model_dir=model_dir,
        config=config,
        job_start_file=job_start_file,
        warm_start_from=plain._warm_start_settings,
    )
