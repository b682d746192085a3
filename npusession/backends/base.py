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
    """The part of ``hccl.manage.api`` that tells the process's place in a group; ValueError before initialisation."""

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


class Groups(Ranks, Protocol):
    """All of ``hccl.manage.api``: ranks, and groups of some of them."""

    def create_group(self, group: str, rank_num: int, rank_ids: list[int]) -> None:
        """Create a group of some ranks of the world; the process is one of them."""

    def destroy_group(self, group: str) -> None:
        """Destroy a group that was created."""

    def get_world_rank_from_group_rank(self, group: str, group_rank_id: int) -> int:
        """Return the rank in the world of a rank in a group."""

    def get_group_rank_from_world_rank(self, world_rank_id: int, group: str) -> int:
        """Return the rank in a group of a rank in the world."""


class Splits(Protocol):
    """``hccl.split.api``: how gradients are split for communication."""

    def set_split_strategy_by_idx(self, idxList: list[int], group: str = "hccl_world_group") -> None:
        """Split gradients after certain indices."""

    def set_split_strategy_by_size(
        self, dataSizeList: list[int] | list[float], group: str = "hccl_world_group"
    ) -> None:
        """Split gradients by percentages of their data."""


#: Imports a module of the adapter, by its name within ``npu_bridge``.
Importer = typing.Callable[[str], typing.Any]


@dataclasses.dataclass(frozen=True)
class Backend:
    """A loaded adapter.

    What only jobs of several ranks need is imported when it is asked for.

    Attributes:
        name: ``"npu"`` or ``"fake"``.
        version: the adapter's version, or an empty string when it does not tell.
        npu_ops: module with ``initialize_system`` and ``shutdown_system``.
        ranks: module with ranks and groups.
        load_splits: imports the module that splits gradients.
        load: imports a module of the adapter by its name within ``npu_bridge``, such as ``"hccl.hccl_ops"``.
    """

    name: str
    version: str
    npu_ops: Operations
    ranks: Groups
    load_splits: typing.Callable[[], Splits] = dataclasses.field(repr=False)
    load: Importer = dataclasses.field(repr=False)

    @property
    def splits(self) -> Splits:
        """``hccl.split.api``."""
        return self.load_splits()

    @property
    def util(self) -> Utilities:
        """``npu_bridge.estimator.npu.util``: loops over training steps."""
        return typing.cast(Utilities, self.load("estimator.npu.util"))

    @property
    def hccl_ops(self) -> typing.Any:
        """``npu_bridge.hccl.hccl_ops``: the collectives, which add ops to the default graph."""
        return self.load("hccl.hccl_ops")

    @property
    def npu_optimizer(self) -> typing.Any:
        """``npu_bridge.estimator.npu.npu_optimizer``: optimizers that average gradients over ranks."""
        return self.load("estimator.npu.npu_optimizer")
