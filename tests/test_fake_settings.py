"""What the emulation is told about the host that it stands for."""

import pytest

from npusession import Product
from npusession.backends.fake.runtime import FakeRuntime
from npusession.backends.fake.settings import VARIABLE, Settings, inherited


def test_defaults():
    """By default a host has 8 devices of no particular kind, and nothing is stricter than the runtime."""
    assert Settings() == Settings(
        devices=8, product=None, strict=False, strict_abort=False, simulate_precision=False, job=""
    )


def test_configure():
    """Settings are changed one by one, and a reset takes them all back."""
    runtime = FakeRuntime()
    runtime.configure(devices=2)
    runtime.configure(product="A2", strict=True)
    assert runtime.settings == Settings(devices=2, product=Product.ATLAS_A2, strict=True)
    runtime.reset()
    assert runtime.settings == Settings()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"devices": 0}, ValueError, "at least 1"),
        ({"devices": "2"}, TypeError, "'2'"),
        ({"devices": True}, TypeError, "True"),
        ({"product": "H100"}, ValueError, "H100"),
        ({"strict": 1}, TypeError, "strict"),
        ({"device": 2}, TypeError, "device"),
        ({"job": 5}, TypeError, "job"),
    ],
)
def test_refused(wrong, error, message):
    """A setting that is none is refused with its name or value, and those in force stay."""
    runtime = FakeRuntime()
    with pytest.raises(error, match=message):
        runtime.configure(**wrong)
    assert runtime.settings == Settings()


def test_handed_on(monkeypatch):
    """Processes begin with the settings of the one that started them, if it handed them on."""
    monkeypatch.delenv(VARIABLE, raising=False)
    assert Settings(**inherited()) == Settings()
    settings = Settings(devices=2, product="A2", strict=True, job="7")
    monkeypatch.setenv(VARIABLE, "")
    settings.hand_on()
    assert Settings(**inherited()) == settings


@pytest.mark.parametrize("text", ["", "8", "{", "[1]"])
def test_handed_on_wrong(monkeypatch, text):
    """A variable that holds something else is refused by its name."""
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(ValueError, match=VARIABLE):
        inherited()
