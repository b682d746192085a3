"""What property tests draw from: values of any kind, objects that misbehave, and sets of options that are right."""

from hypothesis import strategies as st

from npusession import OptionsError
from npusession.options import TABLE, check
from npusession.options.basic import RUN_MODES
from npusession.options.kinds import Choice, Flag, IntChoice, Integer

#: Text with surrogates, which UTF-8 cannot encode, and null characters among it.
any_text = st.text(st.characters(blacklist_categories=()), max_size=20)
_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**31, -(2**31) - 1, 2**63, 2**64, -(2**70), 10**400, -(10**400)]),
    st.floats(),
    st.complex_numbers(),
    any_text,
    st.sampled_from(["", " ", "on", "True", "0", "8", "all", "0|5", "fast|step|0.9", "/tmp", "\0", "\ud800", "数据"]),
    st.binary(max_size=20),
    st.sampled_from([object, len, NotImplemented, ..., range(3), range(3, 0, -1), memoryview(b"1")]),
)
#: Values of any type, containers in containers among them.
anything = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(any_text, inner, max_size=3),
    ),
    max_leaves=6,
)


def _raise(*_):
    raise RuntimeError("this method always raises")


def _nested():
    """Return a list that is nested deeper than Python can print it."""
    nested = []
    for _ in range(30000):
        nested = [nested]
    return nested


_SPECIAL = ("__bool__", "__eq__", "__fspath__", "__index__", "__int__", "__iter__", "__len__", "__repr__", "__str__")
#: Makers of objects of which one special method raises, or all of them, and of others that break what is careless.
HOSTILE = {name: type("Hostile", (), {name: _raise, "__hash__": object.__hash__}) for name in _SPECIAL}
HOSTILE["all"] = type("Hostile", (), dict(dict.fromkeys(_SPECIAL, _raise), __hash__=object.__hash__))
HOSTILE["text"] = type("HostileText", (str,), dict.fromkeys(("__repr__", "__str__"), _raise))
#: Python writes no number of more than 4300 digits.
HOSTILE["huge"] = lambda: 10**5000
HOSTILE["nested"] = _nested


def contained(hostile):
    """Yield an object by itself and inside of containers."""
    yield from (hostile, [hostile], (1, hostile), {"output": hostile})


def attempt(make, *arguments, **keywords):
    """Return the plan that a call makes, or the OptionsError that lists what is wrong; nothing else may come of it."""
    try:
        return make(*arguments, **keywords)
    except OptionsError as error:
        return error


def _values(option):
    kind = option.kind
    if isinstance(kind, Flag):
        return st.booleans()
    if isinstance(kind, Integer):
        return st.integers(kind.minimum, kind.maximum)
    if isinstance(kind, (Choice, IntChoice)):
        return st.sampled_from([choice.value for choice in kind.values])
    return None


#: Options whose text has a grammar of its own, with texts of that grammar.
_TEXTS = {
    "dump_path": ["/data/dump", "dump", "/数据/dump"],
    "dump_step": ["0", "0|5|10", "0|5-10"],
    "dump_layer": ["conv1", "conv1 scope/conv2", "层"],
    "profiling_options": ["{}", '{"output": "/tmp", "aicpu": "on"}'],
    "experimental_accelerate_train_mode": ["fast|step", "fast1|step|0.2", "fast|loss|1.05"],
    "optypelist_for_implmode": ["Pooling", "Pooling,LRN"],
}


@st.composite
def valid_options(draw, scene):
    """Draw options that are right for a scene, each by itself and all together."""
    drawable = {name: _values(option) for name, option in TABLE.items() if scene in option.scenes}
    drawable.update((name, st.sampled_from(texts)) for name, texts in _TEXTS.items() if name in drawable)
    drawable["graph_run_mode"] = st.just(RUN_MODES[scene])
    names = sorted(name for name, values in drawable.items() if values is not None)
    options = {name: draw(drawable[name]) for name in draw(st.lists(st.sampled_from(names), unique=True, max_size=8))}
    while True:
        # What does not go together is left out, one option at a time.
        _, report = check(options, scene=scene)
        if not report:
            return options
        del options[report[0].option.split("[")[0]]
