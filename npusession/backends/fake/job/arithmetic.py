"""What each rank gets out of a collective."""

from __future__ import annotations

import functools
import typing

import numpy as np

from .calls import Arrays, Call

_REDUCTIONS: dict[str, np.ufunc] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def results(calls: typing.Sequence[tuple[Call, Arrays]]) -> list[Arrays]:
    """Compute a collective.

    Args:
        calls: what each member of the group gave, in the group's order.

    Returns:
        What each member gets, in the same order.

    Raises:
        ValueError: the ranks' counts do not fit together.
    """
    call = calls[0][0]
    return _KINDS[call.kind]([arrays for _, arrays in calls], [dict(each.own) for each, _ in calls], dict(call.options))


Payloads = typing.Sequence[Arrays]
Own = typing.Sequence[typing.Dict[str, typing.Any]]
Options = typing.Dict[str, typing.Any]


def _reduced(payloads: Payloads, options: Options) -> Arrays:
    reduction = _REDUCTIONS[options["reduction"]]
    # In the order of ranks, so that every run gives the same bits.
    return [functools.reduce(reduction, arrays) for arrays in zip(*payloads)]


def _allreduce(payloads: Payloads, own: Own, options: Options) -> list[Arrays]:
    return [_reduced(payloads, options)] * len(payloads)


def _reduce(payloads: Payloads, own: Own, options: Options) -> list[Arrays]:
    # The others keep their own: what they get is not defined.
    reduced = _reduced(payloads, options)
    return [reduced if rank == options["root"] else arrays for rank, arrays in enumerate(payloads)]


def _reduce_scatter(payloads: Payloads, own: Own, options: Options) -> list[Arrays]:
    parts = [np.split(array, len(payloads)) for array in _reduced(payloads, options)]
    return [[part[rank] for part in parts] for rank in range(len(payloads))]


def _allgather(payloads: Payloads, own: Own, options: Options) -> list[Arrays]:
    return [[np.concatenate(arrays) for arrays in zip(*payloads)]] * len(payloads)


def _broadcast(payloads: Payloads, own: Own, options: Options) -> list[Arrays]:
    return [payloads[options["root"]]] * len(payloads)


def _send(payloads: Payloads, own: Own, options: Options) -> list[Arrays]:
    # The sender is the first of the two.
    return [[], payloads[0]]


def _alltoallv(payloads: Payloads, own: Own, options: Options) -> list[Arrays]:
    received: list[Arrays] = []
    for to, wanted in enumerate(own):
        counts, places = wanted["recv_counts"], wanted["recv_displacements"]
        out = np.zeros(max([0, *np.add(counts, places)]), payloads[0][0].dtype)
        for source, arrays in enumerate(payloads):
            count, place = own[source]["send_counts"][to], own[source]["send_displacements"][to]
            if count != counts[source]:
                raise ValueError(
                    f"rank {source} of the group sends {count} elements to rank {to}, which expects {counts[source]}"
                )
            if place + count > arrays[0].size:
                raise ValueError(
                    f"rank {source} of the group sends elements {place} to {place + count} to rank {to}, "
                    f"but has {arrays[0].size}"
                )
            out[places[source] : places[source] + count] = arrays[0].ravel()[place : place + count]
        received.append([out])
    return received


def _alltoallvc(payloads: Payloads, own: Own, options: Options) -> list[Arrays]:
    matrix = np.reshape(options["counts"], (len(payloads), len(payloads)))
    offsets = np.cumsum(matrix, axis=1) - matrix
    for source, arrays in enumerate(payloads):
        if matrix[source].sum() > arrays[0].size:
            raise ValueError(
                f"rank {source} of the group is to send {matrix[source].sum()} elements, but has {arrays[0].size}"
            )
    return [
        [
            np.concatenate(
                [
                    arrays[0].ravel()[offsets[source, to] : offsets[source, to] + matrix[source, to]]
                    for source, arrays in enumerate(payloads)
                ]
            )
        ]
        for to in range(len(payloads))
    ]


_KINDS: dict[str, typing.Callable[[Payloads, Own, Options], list[Arrays]]] = {
    "allreduce": _allreduce,
    "reduce": _reduce,
    "reduce_scatter": _reduce_scatter,
    "allgather": _allgather,
    "broadcast": _broadcast,
    "send": _send,
    "alltoallv": _alltoallv,
    "alltoallvc": _alltoallvc,
}
