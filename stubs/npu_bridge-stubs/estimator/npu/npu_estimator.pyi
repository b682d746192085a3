import typing

from . import util as util
from .npu_common import NPUBasics as NPUBasics
from .npu_config import NPURunConfig as NPURunConfig
from .npu_hook import NPUBroadcastGlobalVariablesHook as NPUBroadcastGlobalVariablesHook
from .npu_hook import NPUCheckpointSaverHook as NPUCheckpointSaverHook
from .npu_hook import NPUInfeedOutfeedSessionHook as NPUInfeedOutfeedSessionHook
from .npu_hook import NPULogOutfeedSessionHook as NPULogOutfeedSessionHook
from .npu_hook import SetIterationsVarHook as SetIterationsVarHook
from .npu_saver import NPUSaver as NPUSaver

def no_check_override() -> typing.ContextManager[None]: ...

class NPUEstimatorSpec(typing.Any):
    def __new__(
        cls,
        mode: str,
        predictions: typing.Any = None,
        loss: typing.Any = None,
        train_op: typing.Any = None,
        eval_metric_ops: typing.Any = None,
        export_outputs: typing.Any = None,
        training_chief_hooks: typing.Any = None,
        training_hooks: typing.Any = None,
        scaffold: typing.Any = None,
        evaluation_hooks: typing.Any = None,
        prediction_hooks: typing.Any = None,
        host_call: typing.Any = None,
    ) -> NPUEstimatorSpec: ...

class NPUEstimator(typing.Any):
    def __init__(
        self,
        model_fn: typing.Any = None,
        model_dir: str | None = None,
        config: typing.Any = None,
        params: typing.Any = None,
        job_start_file: str = "",
        warm_start_from: typing.Any = None,
    ) -> None: ...
