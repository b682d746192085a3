"""The emulated packages come and go without a trace, and never hide a real adapter unasked."""

import importlib
import sys

import pytest
from processes import run

from npusession import BackendError
from npusession.backends.fake import importing

NAMES = ("hccl", "npu_bridge", "npu_device")


@pytest.fixture
def real(tmp_path, monkeypatch):
    """A real adapter: a package of that name on the path."""
    package = tmp_path / "npu_bridge"
    package.mkdir()
    (package / "__init__.py").write_text("REAL = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] in NAMES]:
        del sys.modules[name]


def ours():
    return [name for name in sys.modules if name.partition(".")[0] in NAMES]


def test_only_while_on():
    """The packages are there within the statement; neither before nor afterwards, and no other module is touched."""
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("hccl")
    path, finders = list(sys.path), list(sys.meta_path)
    with importing.emulated():
        assert importlib.import_module("hccl").__file__.startswith(importing.PACKAGES)
    assert (sys.path, sys.meta_path) == (path, finders)
    assert not ours()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("hccl")


def test_after_an_error():
    """An error within the statement ends the emulation like its end."""
    with pytest.raises(ZeroDivisionError), importing.emulated():
        importlib.import_module("hccl")
        1 / 0  # noqa: B018
    assert not ours()


def test_nested():
    """Only the outermost of nested users ends the emulation, and one too many is harmless."""
    with importing.emulated():
        with importing.emulated():
            module = importlib.import_module("hccl")
        assert importlib.import_module("hccl") is module
    assert not ours()
    importing.disable()


def test_installed(real):
    """An adapter that is installed is refused, with its place and what to do."""
    with pytest.raises(BackendError, match="would hide a real one") as caught, importing.emulated():
        pass
    assert str(real) in str(caught.value)
    assert "shadow=True" in str(caught.value)
    assert not ours()


def test_imported(real):
    """An adapter that is imported already is refused too, and stays."""
    module = importlib.import_module("npu_bridge")
    with pytest.raises(BackendError, match="imported from"), importing.emulated():
        pass
    assert sys.modules["npu_bridge"] is module


def test_shadow(real):
    """On request a real adapter makes way, and comes back as the very module that it was."""
    module = importlib.import_module("npu_bridge")
    with importing.emulated(shadow=True):
        assert "npu_bridge" not in sys.modules
        assert importlib.util.find_spec("npu_bridge").origin.startswith(importing.PACKAGES)
    assert sys.modules["npu_bridge"] is module


def test_folder_of_that_name(tmp_path, monkeypatch):
    """A folder that happens to be called hccl, as launch scripts leave them, is no adapter."""
    (tmp_path / "hccl").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with importing.emulated():
        assert importlib.import_module("hccl").__file__


def test_quick():
    """Switching it on imports neither TensorFlow nor anything of the adapter."""
    code, output, errors = run(
        """
from npusession.backends.fake import importing
importing.enable()
print([name for name in sys.modules if name.partition(".")[0] in ("tensorflow", "npu_bridge", "hccl")])
""",
        session=False,
    )
    assert (code, output) == (0, "[]\n"), errors


def test_compat_v1():
    """On TensorFlow 2 the same modules come under npu_device.compat.v1, also beside npu_bridge."""
    pytest.importorskip("tensorflow")
    code, output, errors = run(
        """
from npusession.backends.fake import importing
importing.enable()
import npu_device
from npu_device.compat.v1.npu_init import *
npu_device.compat.enable_v1()
import tensorflow
tf1 = tensorflow.compat.v1
builder = npu_device.compat.v1.SessionConfigBuilder()
builder.parameter_map["deterministic"].i = 1
with tf1.Session(config=builder.session_config) as sess:
    print(sess.run(tf1.constant(3) * 2))
print(npu_ops.__name__, hccl_ops.__name__, npu_config_proto.__module__)
import npu_bridge.npu_init
print(npu_bridge.npu_init.npu_ops.__name__)
importing.disable()
print([name for name in sys.modules if name.partition(".")[0] in ("npu_device", "npu_bridge", "hccl")])
try:
    npu_device.open()
except NotImplementedError as error:
    print("enable_v1" in str(error))
""",
        session=False,
    )
    assert code == 0, errors
    assert output.splitlines() == [
        "6",
        "npu_device.compat.v1.estimator.npu_ops npu_device.compat.v1.hccl.hccl_ops npu_device.compat.v1.npu_init",
        "npu_bridge.estimator.npu_ops",
        "[]",
        "True",
    ]
