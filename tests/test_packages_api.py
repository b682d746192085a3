"""The emulated adapter has every public name of the real one."""

import ast
import importlib
import inspect
import json
import pathlib
import sys

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="the adapter imports TensorFlow")

from npusession.backends.fake import importing  # noqa: E402

API = json.loads((pathlib.Path(__file__).parent / "data" / "npu_bridge_api.json").read_text("utf-8"))
FUNCTIONS, CLASSES = [], []
for module, names in API["modules"].items():
    for name, found in names.items():
        (FUNCTIONS if isinstance(found, str) else CLASSES).append(pytest.param(module, name, id=f"{module}.{name}"))


@pytest.fixture(scope="module", autouse=True)
def emulated():
    """The packages, and Keras left as it was although one of them changes it."""
    dropout = tensorflow.keras.layers.Dropout
    call = dropout.call
    with importing.emulated():
        yield
    dropout.call = call


def assert_signature(function, text):
    """Compare a function with a signature in text: names, kinds, and defaults as far as they are literals."""
    wanted = ast.parse(f"def f{text}: pass").body[0].args
    parameters = list(inspect.signature(function).parameters.values())
    kinds = [*((argument, parameters[0].POSITIONAL_OR_KEYWORD) for argument in wanted.args)]
    kinds += [(wanted.vararg, parameters[0].VAR_POSITIONAL)] if wanted.vararg else []
    kinds += [(argument, parameters[0].KEYWORD_ONLY) for argument in wanted.kwonlyargs]
    kinds += [(wanted.kwarg, parameters[0].VAR_KEYWORD)] if wanted.kwarg else []
    assert [(item.name, item.kind) for item in parameters] == [(argument.arg, kind) for argument, kind in kinds]
    names = [argument.arg for argument in (*wanted.args, *wanted.kwonlyargs)]
    defaults = [None] * (len(wanted.args) - len(wanted.defaults)) + [*wanted.defaults, *wanted.kw_defaults]
    for name, default in zip(names, defaults):
        given = inspect.signature(function).parameters[name].default
        assert (given is inspect.Parameter.empty) == (default is None), name
        try:
            literal = ast.literal_eval(default) if default is not None else inspect.Parameter.empty
        except ValueError:
            continue
        assert (given, type(given)) == (literal, type(literal)), name


@pytest.mark.parametrize(("module", "name"), FUNCTIONS)
def test_function(module, name):
    """Every function can be called as the real one is."""
    function = getattr(importlib.import_module(module), name)
    text = API["modules"][module][name]
    assert callable(function)
    if text != "()":
        assert_signature(function, text)
    else:
        assert not inspect.signature(function).parameters


@pytest.mark.parametrize(("module", "name"), CLASSES)
def test_class(module, name):
    """Every class has the bases and the methods of the real one."""
    cls = getattr(importlib.import_module(module), name)
    wanted = dict(API["modules"][module][name])
    bases = {base.__name__ for base in cls.__mro__}
    assert {base.rpartition(".")[2] for base in wanted.pop("bases")} <= bases
    for method, text in wanted.items():
        found = inspect.getattr_static(cls, method)
        assert_signature(found.fget if isinstance(found, property) else found, text)


def test_star_import():
    """`from npu_bridge.npu_init import *` brings the very names that the real one brings."""
    namespace = {}
    exec("from npu_bridge.npu_init import *", namespace)
    del namespace["__builtins__"]
    assert sorted(namespace) == sorted(API["npu_init_star_import"])


@pytest.mark.parametrize("name", sorted(API["npu_init_star_import"]))
def test_star_import_is_the_object(name):
    """What the star import brings is the object of the place that it comes from."""
    found = getattr(importlib.import_module("npu_bridge.npu_init"), name)
    if name in ("tf", "backend") and tensorflow.__version__ >= "2":
        assert inspect.ismodule(found)
        return
    module, _, attribute = API["npu_init_star_import"][name].rpartition(".")
    place = importlib.import_module(module) if module else sys.modules
    assert found is (getattr(place, attribute) if module else place[attribute])


def test_native():
    """The module of the native library can be imported, as scripts do; what is used of it says that it is missing."""
    adapter = importlib.import_module("npu_bridge.tf_adapter")
    assert not hasattr(adapter, "PluginInit")
    with pytest.raises(AttributeError, match=r"tf_adapter\.PluginInit: .* not emulated"):
        print(adapter.PluginInit)
