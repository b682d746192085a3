"""What the device calls a model: all that runs for the same fetches and feeds, compiled once and run many times."""

from __future__ import annotations

import typing

from .nodes import ancestors, by_name
from .precision import is_rounding
from .runtime import RUNTIME


class Model:
    """A model.

    Attributes:
        number: counts the models of this process.
        runs: how often it ran.
        operations: its operators, inputs first.
    """

    def __init__(self, items: typing.Sequence[typing.Any], fed: typing.Container[str]) -> None:
        self.number = RUNTIME.model_number()
        self.runs = 0
        # What the simulation of low precision put in between is no operator of the user's.
        self.operations = [item for item in ancestors(items, fed) if not is_rounding(item)]
        self._tasks = {item.name: task for task, item in enumerate(self.operations)}

    def task_of(self, operation: typing.Any) -> int:
        """Return the number of an operator's task on the device."""
        return self._tasks[operation.name]


class Models:
    """The models of one session."""

    def __init__(self) -> None:
        self._models: dict[object, Model] = {}

    def of(
        self,
        targets: typing.Sequence[typing.Any],
        fetches: typing.Sequence[typing.Any],
        feeds: typing.Mapping[typing.Any, typing.Any],
    ) -> tuple[Model, bool]:
        """Return the model of a run, and whether it is new."""
        fed = by_name(feeds)
        signature = tuple(
            tuple(sorted(names)) for names in ([item.name for item in targets], [item.name for item in fetches], fed)
        )
        new = signature not in self._models
        if new:
            self._models[signature] = Model([*targets, *fetches], fed)
        return self._models[signature], new
