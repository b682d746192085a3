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


@dataclasses.dataclass(frozen=True)
class Backend:
    """A loaded adapter.

    Attributes:
        name: ``"npu"`` or ``"fake"``.
        version: the adapter's version, or an empty string when it does not tell.
        npu_ops: module with ``initialize_system`` and ``shutdown_system``.
        ranks: module with the rank queries.
    """

    name: str
    version: str
    npu_ops: Operations
    ranks: Ranks
