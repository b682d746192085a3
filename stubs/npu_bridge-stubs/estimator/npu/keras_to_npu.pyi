import typing

from .npu_estimator import NPUEstimator as NPUEstimator

def model_to_npu_estimator(
    keras_model: typing.Any = None,
    keras_model_path: str | None = None,
    custom_objects: dict[str, typing.Any] | None = None,
    model_dir: str | None = None,
    checkpoint_format: str = "saver",
    config: typing.Any = None,
    job_start_file: str = "",
) -> NPUEstimator: ...
