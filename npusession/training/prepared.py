"""Runs that are prepared once and then called like a function."""

from __future__ import annotations

import operator
import typing
import weakref

from .._tensorflow import tf1
from .graphs import operation_of

if typing.TYPE_CHECKING:
    from ..opening import Opening
    from .follower import Follower

#: Runs with the values of the feeds.
Step = typing.Callable[..., typing.Any]


def prepare(opening: Opening, run: typing.Callable[..., typing.Any], fetches: typing.Any, feeds: typing.Any) -> Step:
    """Build TensorFlow's callable; see :meth:`npusession.RunningSession.prepare`.

    Args:
        opening: the open session.
        run: the session's ``run``, for everything out of the ordinary: what it returns or raises is right.
        fetches: what to fetch.
        feeds: keys of the feeds.
    """
    if isinstance(feeds, typing.Mapping):
        raise TypeError("feeds= takes the keys of the feeds, in the order of the function's arguments; not a mapping")
    keys = list(feeds) if isinstance(feeds, (list, tuple)) else [feeds]

    def plainly(*values: typing.Any) -> typing.Any:
        _check_number(values, keys)
        return run(fetches, dict(zip(keys, values)))

    from tensorflow.python.client.session import _FetchHandler

    session = opening.session
    handler = _FetchHandler(session.graph, fetches, {})
    fed = _Feeds.of(session.graph, keys)
    # The values of what is fetched and fed at once come from the feed, and without fetches nothing is run at all.
    ordinary = fed is not None and not {tensor.name for tensor in handler.fetches()} & fed.names
    if not ordinary or not (handler.fetches() or handler.targets()):
        return plainly
    assert fed is not None
    follower = opening.follower
    operations = [*handler.targets(), *map(operation_of, handler.fetches())]
    if follower is not None and not follower.follows(operations):
        follower = None
    call = _Callable(opening, handler, fed, () if follower is None else follower.tensors)
    return _assembled(opening, call, handler, _builder(session, handler, fetches), fed, follower, plainly)


def _builder(session: typing.Any, handler: typing.Any, fetches: typing.Any) -> Step:
    """Return what gives the values the nesting of the fetches."""
    if isinstance(fetches, tf1().Operation):
        return lambda values: None
    if isinstance(fetches, tf1().Tensor) and not fetches.op.type.startswith("GetSessionHandle"):
        return operator.itemgetter(0)
    count, build_results = len(handler.fetches()), handler.build_results
    return lambda values: build_results(session, values[:count])


def _assembled(
    opening: Opening,
    call: _Callable,
    handler: typing.Any,
    build: Step,
    fed: _Feeds,
    follower: Follower | None,
    plainly: Step,
) -> Step:
    """Return the function, with just the parts that it needs: each of them costs time."""
    # Raises TensorFlow's errors with the operation and where it was made, as run does.
    do_call, count, training = opening.session._do_call, len(handler.fetches()), opening.training
    if opening.recorder is not None:
        do_call = opening.recorder.calling(do_call, handler.targets(), handler.fetches())
    accept = fed.accept

    def step(*values: typing.Any) -> typing.Any:
        arrays = accept(values)
        return plainly(*values) if arrays is None else build(do_call(call.call, *arrays))

    def followed(*values: typing.Any) -> typing.Any:
        arrays = accept(values)
        if arrays is None:
            return plainly(*values)
        assert follower is not None
        before = training.step
        results = do_call(call.call, *arrays)
        follower.take(results[count:], before)
        return build(results)

    return step if follower is None else followed


def _check_number(values: typing.Sequence[object], feeds: typing.Sequence[object]) -> None:
    if len(values) != len(feeds):
        raise TypeError(f"the step takes {len(feeds)} values, one for each feed; {len(values)} were given")


class _Callable:
    """TensorFlow's callable, until the session closes.

    Attributes:
        call: takes arrays for the feeds, returns those of the fetches and of ``more``.
    """

    def __init__(self, opening: Opening, handler: typing.Any, fed: _Feeds, more: typing.Iterable[typing.Any]) -> None:
        from tensorflow.core.protobuf.config_pb2 import CallableOptions

        options = CallableOptions(
            feed=fed.ordered,
            fetch=[tensor.name for tensor in (*handler.fetches(), *more)],
            target=[operation.name for operation in handler.targets()],
        )
        self._opening = opening
        self.call: Step = opening.session._make_callable_from_options(options)
        opening.at_close(weakref.WeakMethod(self._close))

    def _close(self) -> None:
        # Lets go of the native callable as well, while its session is still there.
        self.call = self._refuse

    def _refuse(self, *values: object) -> None:
        self._opening.check()


class _Feeds:
    """The feeds of a step: what turns their values into arrays, and refuses what ``run`` would."""

    def __init__(self, parts: list[_Part]) -> None:
        self._parts = parts
        #: Names of the tensors in the order of the callable's arguments.
        self.ordered = [tensor.name for part in parts for tensor in part.tensors]
        self.names = frozenset(self.ordered)

    @classmethod
    def of(cls, graph: typing.Any, keys: typing.Sequence[typing.Any]) -> _Feeds | None:
        """Return the feeds of these keys; ``None`` where ``run`` has to say what is wrong or to be done with them."""
        try:
            feeds = cls([_Part(graph, key) for key in keys])
        except Exception:
            return None
        return feeds if len(feeds.names) == len(feeds.ordered) else None

    def accept(self, values: typing.Sequence[typing.Any]) -> list[typing.Any] | None:
        """Return the arrays to feed, ``None`` when ``run`` has to look at the values.

        Raises:
            TypeError: it is another number of values.
        """
        _check_number(values, self._parts)
        arrays: list[typing.Any] = []
        try:
            for part, value in zip(self._parts, values):
                part.accept(value, arrays)
        except Exception:
            return None
        return arrays


class _Part:
    """One key of the feeds, which may stand for several tensors, as a sparse one does."""

    def __init__(self, graph: typing.Any, key: typing.Any) -> None:
        from tensorflow.python.client.session import _REGISTERED_EXPANSIONS

        entry = next(entry for entry in _REGISTERED_EXPANSIONS if isinstance(key, entry[0]))
        self._key = key
        self._expand = None if entry[0] is object else entry[2]
        subkeys = [key] if self._expand is None else entry[3](key)
        self.tensors = [graph.as_graph_element(subkey, allow_operation=False) for subkey in subkeys]
        if not all(graph.is_feedable(tensor) and not tensor.dtype._is_ref_dtype for tensor in self.tensors):
            raise ValueError("left to run")
        self._converters = [_Converter(tensor) for tensor in self.tensors]

    def accept(self, value: typing.Any, arrays: list[typing.Any]) -> None:
        """Add the arrays for a value; any exception leaves it to ``run``."""
        if self._expand is None:
            arrays.append(self._converters[0].convert(value))
            return
        pairs = list(self._expand(self._key, value))
        if len(pairs) != len(self._converters):
            raise ValueError("left to run")
        arrays += [converter.convert(part) for converter, (_, part) in zip(self._converters, pairs)]


class _Converter:
    """Turns the values of one tensor into arrays."""

    def __init__(self, tensor: typing.Any) -> None:
        import numpy
        from tensorflow.python.ops.session_ops import TensorHandle

        self._as_array = numpy.asarray
        self._array = numpy.ndarray
        self._not_values = (tf1().Tensor, TensorHandle)
        self._dtype = tensor.dtype.as_numpy_dtype
        # As arrays have it: comparing two of these is quicker than comparing it with a type.
        self._array_dtype = numpy.dtype(self._dtype)
        self._shape = tensor.get_shape()
        self._seen: object = None

    def convert(self, value: typing.Any) -> typing.Any:
        """Return the array; any exception leaves it to ``run``."""
        if type(value) is not self._array or value.dtype != self._array_dtype:
            if isinstance(value, self._not_values):
                raise ValueError("left to run")
            array = self._as_array(value, dtype=self._dtype)
            if isinstance(value, int) and (self._dtype is object or array.item() != value):
                raise ValueError("left to run")
            value = array
        if value.shape != self._seen:
            if not self._shape.is_compatible_with(value.shape):
                raise ValueError("left to run")
            self._seen = value.shape
        return value
