"""What a session's runs leave on disk: dumps of data, overflows and failures, and what compiling leaves behind."""

from __future__ import annotations

import typing

from ...options.deprecated import DYNAMIC_INPUT
from ...options.dynamic_shape import COMPILE_DYNAMIC_MODE
from .compiling import CompileFiles
from .dump import DataDump
from .exceptions import Call, ExceptionDump
from .models import Models
from .nodes import by_name
from .overflow import OverflowDump
from .verdicts import Parameters, read


class Artefacts:
    """What one session leaves on disk.

    Attributes:
        idle: whether that is nothing, whatever its runs do.

    Args:
        parameters: the session's options.
        session: number of the session.
        device: logical id of the device.
    """

    def __init__(self, parameters: Parameters, session: int, device: int) -> None:
        self._models = Models()
        self._compiling = CompileFiles.of(parameters, session)
        self._exceptions = ExceptionDump.of(parameters, device)
        self._dumps: list[DataDump | OverflowDump] = []
        # On networks of dynamic shape the full exception dump goes before the others.
        dynamic = read(parameters, COMPILE_DYNAMIC_MODE) or read(parameters, DYNAMIC_INPUT)
        if not (dynamic and self._exceptions is not None and self._exceptions.full):
            asked = DataDump.of(parameters, device), OverflowDump.of(parameters, device)
            self._dumps += [dump for dump in asked if dump is not None]
        self.idle = not self._dumps and self._compiling is None and self._exceptions is None

    def run(
        self,
        call: Call,
        targets: typing.Sequence[typing.Any],
        fetches: typing.Sequence[typing.Any],
        feeds: typing.Mapping[typing.Any, typing.Any],
    ) -> typing.Sequence[typing.Any]:
        """Make a run and write what it leaves behind; returns the values of ``fetches``."""
        if not self._dumps and self._compiling is None:
            return self._call(call, fetches, feeds)
        model, new = self._models.of(targets, fetches, feeds)
        if new and self._compiling is not None:
            self._compiling.compiled(model)
        values = by_name(feeds)
        seen = {dump: dump.tensors(model) for dump in self._dumps}
        wanted = {tensor.name: tensor for tensors in seen.values() for tensor in tensors if tensor.name not in values}
        try:
            results = self._call(call, [*fetches, *wanted.values()], feeds)
            values.update(zip(wanted, results[len(fetches) :]))
            for dump, tensors in seen.items():
                if tensors:
                    dump.write(model, values)
        finally:
            model.runs += 1
        return results[: len(fetches)]

    def _call(
        self, call: Call, fetches: typing.Sequence[typing.Any], feeds: typing.Mapping[typing.Any, typing.Any]
    ) -> typing.Sequence[typing.Any]:
        if self._exceptions is None:
            return call(fetches)
        try:
            return call(fetches)
        except Exception as error:
            self._exceptions.write(error, call, feeds)
            raise
