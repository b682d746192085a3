"""What ranks tell the hub, and how it tells whether they mean the same."""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    import numpy as np

Arrays = typing.List["np.ndarray"]


class Call(typing.NamedTuple):
    """One collective, as one rank calls it.

    Attributes:
        kind: ``"allreduce"`` and so on.
        group: name of the group.
        members: ranks of the group, in the group's own order.
        name: name of the operation in the graph, by which the ranks' calls are matched.
        number: how often this operation has run before.
        options: what must be the same on all ranks, such as the reduction or the root.
        own: what may differ between them, such as counts.
        graph: all collectives of the rank's graph, to tell where graphs differ.
    """

    kind: str
    group: str
    members: tuple[int, ...]
    name: str
    number: int
    options: tuple[tuple[str, object], ...] = ()
    own: tuple[tuple[str, typing.Any], ...] = ()
    graph: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, int]:
        """What the calls of one collective have in common."""
        return self.group, self.name, self.number

    def shown(self, arrays: Arrays) -> str:
        """Say what is called, with what."""
        options = "".join(f", {name}={value}" for name, value in self.options)
        tensors = ", ".join(f"{array.dtype}{list(array.shape)}" for array in arrays)
        return f"{self.kind}({tensors}{options})"


#: Kinds whose tensors may have other shapes on other ranks.
_OWN_SHAPES = ("alltoallv", "alltoallvc", "broadcast")


def disagreement(calls: typing.Mapping[int, tuple[Call, Arrays]]) -> str | None:
    """Say how the ranks' calls of one collective differ, ``None`` when they do not.

    Args:
        calls: by rank.
    """
    forms = {rank: _form(call, arrays) for rank, (call, arrays) in calls.items()}
    if len(set(forms.values())) == 1:
        return None
    by_text: dict[str, list[int]] = {}
    for rank, (call, arrays) in sorted(calls.items()):
        members = f" in a group of ranks {list(call.members)}"
        by_text.setdefault(call.shown(arrays) + members, []).append(rank)
    return "; ".join(f"{ranks_shown(ranks)}: {text}" for text, ranks in by_text.items())


def ranks_shown(ranks: typing.Iterable[int]) -> str:
    """Return ``rank 3`` or ``ranks 0, 2``."""
    listed = sorted(ranks)
    return "{} {}".format("rank" if len(listed) == 1 else "ranks", ", ".join(map(str, listed)))


def graphs_shown(graphs: typing.Mapping[int, tuple[str, ...]]) -> str:
    """Say how the collectives in the ranks' graphs differ; empty when they do not.

    Args:
        graphs: by rank.
    """
    first = min(graphs)
    for rank, listing in sorted(graphs.items()):
        only_first = [entry for entry in graphs[first] if entry not in listing]
        only_rank = [entry for entry in listing if entry not in graphs[first]]
        sides = [(first, only_first), (rank, only_rank)]
        texts = [f"rank {owner} has {', '.join(entries[:3])}" for owner, entries in sides if entries]
        if texts:
            return "the ranks run different graphs: only " + ", only ".join(texts)
    return ""


def _form(call: Call, arrays: Arrays) -> object:
    if call.kind == "send":
        # The receiver has nothing to show; its options say what it expects.
        return call.kind, call.members, call.options
    types = tuple(str(array.dtype) for array in arrays)
    shapes = () if call.kind in _OWN_SHAPES else tuple(array.shape for array in arrays)
    return call.kind, call.members, call.options, types, shapes
