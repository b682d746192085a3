"""What npusession needs of an NPU adapter: a bag of the adapter's own functions."""

from __future__ import annotations

import dataclasses
import typing

from .._compat import Protocol


class Operations(Protocol):
    """The part of ``npu_bridge.estimator.npu_ops`` that opens and closes the runtime."""

    def initialize_system(self, name: str | None = None) -> typing.Any:
        """Return an op that initialises the runtime when it is run; only in a graph."""

    def shutdown_system(self, name: str | None = None) -> typing.Any:
        """Return an op that finalises the runtime when it is run; only in a graph."""


class Ranks(Protocol):
    """The part of ``hccl.manage.api`` that tells the process's place in its group; ValueError before initialisation."""

    def get_rank_id(self, group: str = "hccl_world_group") -> int:
        """Return the rank of this process, from 0."""

    def get_rank_size(self, group: str = "hccl_world_group") -> int:
        """Return the number of ranks."""

    def get_local_rank_id(self, group: str = "hccl_world_group") -> int:
        """Return the rank of this process within its server."""

    def get_local_rank_size(self, group: str = "hccl_world_group") -> int:
        """Return the number of ranks on this server."""


class Loop(Protocol):
    """An ``IterationPerLoop`` of the adapter: a loop whose graph is built before its number of steps is set."""

    def create_iteration_per_loop_var(self, train_op: typing.Any) -> typing.Any:
        """Add the loop's variables to the graph, and return the operation to run."""

    def load_iteration_per_loop_var(self, sess: typing.Any, iterations_per_loop: int = 1) -> None:
        """Set the number of steps in a run."""


class Utilities(Protocol):
    """The part of ``npu_bridge.estimator.npu.util`` that makes several training steps in one run."""

    def set_iteration_per_loop(
        self, sess: typing.Any, train_op: typing.Any, iterations_per_loop: int = 1
    ) -> typing.Any:
        """Add the loop to the graph, set its number of steps, and return the operation to run."""

    @property
    def IterationPerLoop(self) -> typing.Callable[[], Loop]:
        """The class that does it in two steps."""


@dataclasses.dataclass(frozen=True)
class Backend:
    """A loaded adapter.

    Attributes:
        name: ``"npu"`` or ``"fake"``.
        version: the adapter's version, or an empty string when it does not tell.
        npu_ops: module with ``initialize_system`` and ``shutdown_system``.
        ranks: module with the rank queries.
        util: module with the loops over training steps.
    """

    name: str
    version: str
    npu_ops: Operations
    ranks: Ranks
    util: Utilities
