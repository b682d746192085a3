"""Estimators that run on an NPU: here they train on the CPU, through sessions that the emulation sees."""

from __future__ import annotations

import contextlib
import os
import random
import string
import sys
import typing

from npusession._site import caller
from npusession._tensorflow import tf1
from npusession.backends.fake import estimators, host_calls, loops, run_config, silence
from npusession.backends.fake.runtime import RUNTIME
from npusession.frontends.arguments import split_runs

from . import util
from .npu_common import NPUBasics
from .npu_config import NPURunConfig
from .npu_hook import (
    NPUBroadcastGlobalVariablesHook,
    NPUCheckpointSaverHook,
    NPUInfeedOutfeedSessionHook,
    NPULogOutfeedSessionHook,
    SetIterationsVarHook,
)
from .npu_saver import NPUSaver

_EstimatorSpec: typing.Any = estimators.base("EstimatorSpec")
_Estimator: typing.Any = estimators.base("Estimator")


def no_check_override() -> typing.ContextManager[None]:
    """Let subclasses of Estimator define its members, within a ``with`` statement."""
    return _no_check_override()


@contextlib.contextmanager
def _no_check_override() -> typing.Iterator[None]:
    estimator = estimators.require("no_check_override").Estimator
    check = estimator._assert_members_are_not_overridden
    estimator._assert_members_are_not_overridden = lambda self: None
    try:
        yield
    finally:
        estimator._assert_members_are_not_overridden = check


class NPUEstimatorSpec(_EstimatorSpec):
    """What a model function returns: EstimatorSpec, and a function that the host calls with tensors of each step."""

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
    ) -> NPUEstimatorSpec:
        """Check and keep; ``host_call`` is a function and a list of its tensors, or a dict of them by argument."""
        if host_call is not None:
            host_calls.check(host_call)
        spec = super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=eval_metric_ops,
            export_outputs=export_outputs,
            training_chief_hooks=training_chief_hooks,
            training_hooks=training_hooks,
            scaffold=scaffold,
            evaluation_hooks=evaluation_hooks,
            prediction_hooks=prediction_hooks,
        )
        spec._host_call = host_call
        return typing.cast(NPUEstimatorSpec, spec)


#: Steps after which an estimator saves, summarises and logs, with what nobody asked for.
_INTERVALS = {"save_checkpoints_steps": None, "save_summary_steps": 0, "log_step_count_steps": 100}


class NPUEstimator(_Estimator):
    """An Estimator whose sessions are configured for an NPU.

    As with the real one, the first graph that runs initialises the device, and the session that closes finalises it:
    ``train`` and ``evaluate`` initialise each.

    Args:
        model_fn: model function, which returns an EstimatorSpec or an :class:`NPUEstimatorSpec`.
        model_dir: directory for checkpoints; by default that of ``config``, or a new one in the working directory.
        config: an NPURunConfig.
        params: parameters of the model function.
        job_start_file: JSON file that describes the job; by default the environment does, with ``JOB_ID``.
        warm_start_from: checkpoint to start from; by default the job's, or what ``RESTORE_FROM`` names.

    Raises:
        NotEmulatedError: this TensorFlow has no tf.estimator.
        ValueError: ``config`` is no NPURunConfig, nothing describes the job, or two model directories are given.
    """

    def __init__(
        self,
        model_fn: typing.Any = None,
        model_dir: str | None = None,
        config: typing.Any = None,
        params: typing.Any = None,
        job_start_file: str = "",
        warm_start_from: typing.Any = None,
    ) -> None:
        if not isinstance(config, NPURunConfig):
            raise ValueError(f"config is an NPURunConfig, not a {type(config).__name__}")
        from tensorflow_estimator.python.estimator.estimator import _verify_model_fn_args

        _verify_model_fn_args(model_fn, params)
        if config.session_config is None:
            config = config.replace(session_config=tf1().ConfigProto())
        run_config.add_entry(config.session_config, config)
        given = {
            name: getattr(config, name) for name, unasked in _INTERVALS.items() if getattr(config, name) != unasked
        }
        silence.report_problems(RUNTIME, 0, split_runs(config.iterations_per_loop or 1, given), f" ({caller()})")
        job = NPUBasics(job_start_file).jobinfo
        if job is None:
            raise ValueError(
                "nothing describes the job: set JOB_ID in the environment, as launch scripts do, or give job_start_file"
            )
        model_dir = _model_dir(model_dir, config.model_dir)
        with no_check_override():
            super().__init__(
                model_fn=_with_hooks(model_fn, model_dir, config, job._device_info),
                model_dir=model_dir,
                config=config,
                params=params or {},
                warm_start_from=warm_start_from or job._local_checkpoint_dir or os.environ.get("RESTORE_FROM"),
            )


def _model_dir(given: str | None, configured: str | None) -> str:
    if given is not None and configured is not None and given != configured:
        raise ValueError(f"model_dir={given!r}, but the NPURunConfig has model_dir={configured!r}")
    if given or configured:
        return typing.cast(str, given or configured)
    while True:
        letters = "".join(random.sample(string.ascii_letters + string.digits, 10))
        path = os.path.join(os.getcwd(), f"model_dir_{letters}")
        if not os.path.exists(path):
            tf1().logging.warning("no model_dir was given: checkpoints go to %s", path)
            return path


def _with_hooks(model_fn: typing.Any, model_dir: str, config: NPURunConfig, device: typing.Any) -> typing.Any:
    """Return a model function that adds the adapter's hooks to what another one returns."""
    from tensorflow.python.util.function_utils import fn_args

    accepted = fn_args(model_fn)

    def with_hooks(features: typing.Any, labels: typing.Any, mode: str, params: typing.Any) -> typing.Any:
        offered = {"labels": labels, "mode": mode, "params": params, "config": config}
        spec = model_fn(features=features, **{name: offered[name] for name in offered if name in accepted})
        if mode not in ("train", "eval"):
            return spec
        if not isinstance(spec, tf1().estimator.EstimatorSpec):
            raise RuntimeError(f"a model function returns an EstimatorSpec, not a {type(spec).__name__}")
        hooks: list[typing.Any] = []
        if mode == "train":
            size = util.get_ranksize()
            if size.isdigit() and int(size) > 1 and not config.horovod_mode:
                hooks.append(NPUBroadcastGlobalVariablesHook(device._root_rank, device._index))
            if config.save_checkpoints_steps or config.save_checkpoints_secs:
                hooks.append(
                    NPUCheckpointSaverHook(
                        checkpoint_dir=model_dir,
                        save_secs=config.save_checkpoints_secs,
                        save_steps=config.save_checkpoints_steps,
                        saver=NPUSaver(max_to_keep=config.keep_checkpoint_max),
                    )
                )
        if isinstance(spec, NPUEstimatorSpec):
            host_call = spec._host_call
            if host_call is not None:
                after = spec.train_op if mode == "train" else spec.loss
                spec = spec._replace(loss=host_calls.called_with(spec.loss, host_call, after))
                hooks.append(NPUInfeedOutfeedSessionHook([], mode))
            hooks.append(NPULogOutfeedSessionHook(sys.stderr))
        if mode == "train" and config.iterations_per_loop > 1:
            hooks.append(SetIterationsVarHook(config.iterations_per_loop))
            spec = spec._replace(train_op=loops.group(spec.train_op))
        field = "training_hooks" if mode == "train" else "evaluation_hooks"
        return spec._replace(**{field: (*hooks, *(getattr(spec, field) or ()))})

    return with_hooks
