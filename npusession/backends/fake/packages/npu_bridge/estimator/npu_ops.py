"""Placeholder: the ops that open and close the runtime."""

import typing

from npusession.backends.fake.npu_ops import initialize_system, shutdown_system

NPUInit, NPUShutdown = initialize_system, shutdown_system
dropout: typing.Any = None

__all__ = ["NPUInit", "NPUShutdown", "dropout", "initialize_system", "shutdown_system"]
