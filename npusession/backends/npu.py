"""The real adapter: npu_bridge on TensorFlow 1.15, npu_device.compat.v1 on TensorFlow 2.6."""

from __future__ import annotations

import contextlib
import importlib
import io
import typing

from .._tensorflow import tf1
from ..errors import BackendError
from .base import Backend, Splits

_ADVICE = """  Check that this process sees the CANN environment (source set_env.sh of the toolkit and of tfplugin),
  and that the adapter is installed beside this Python and TensorFlow. To run on the CPU: backend="fake",
  or export NPUSESSION_BACKEND=fake."""


def load() -> Backend:
    """Import the adapter that is installed and bind its functions.

    Importing it has side effects that stay: it replaces ``Session.__init__`` and registers an atexit handler.

    Raises:
        BackendError: no adapter could be imported; the message lists every attempt and its cause.
        TensorFlowNotFoundError: TensorFlow is not installed.
    """
    tf1()
    failures = []
    for attempt in (_npu_bridge, _npu_device):
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                return attempt()
        # The adapter fails in many ways: ImportError, a NameError after a library that did not load, RuntimeError.
        except Exception as error:
            failures.append(f"  {attempt.__doc__}: {type(error).__name__}: {error}")
            # Why its library did not load, it only prints.
            failures.extend(f"    it printed: {line}" for line in printed.getvalue().splitlines() if line.strip())
        finally:
            print(printed.getvalue(), end="", flush=True)
    raise BackendError("no NPU adapter can be imported:\n{}\n{}".format("\n".join(failures), _ADVICE))


def _npu_bridge() -> Backend:
    """npu_bridge.npu_init with hccl.manage.api"""
    return _bind("npu_bridge", "npu_bridge")


def _npu_device() -> Backend:
    """npu_device.compat.v1.npu_init after enable_v1"""
    # Through the attribute: npu_device puts a module of another name there.
    importlib.import_module("npu_device").compat.enable_v1()
    return _bind("npu_device.compat.v1", "npu_device")


def _bind(package: str, distribution: str) -> Backend:
    """Bind the modules of ``package``, which has what npu_bridge has."""

    def load(name: str) -> typing.Any:
        return importlib.import_module(f"{package}.{name}")

    npu_ops = load("npu_init").npu_ops
    ranks = typing.cast("typing.Any", importlib.import_module("hccl.manage.api"))
    version = str(getattr(importlib.import_module(distribution), "__version__", ""))
    return Backend("npu", version, npu_ops, ranks, _splits, load)


def _splits() -> Splits:
    return typing.cast("Splits", importlib.import_module("hccl.split.api"))
