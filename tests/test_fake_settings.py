"""What the emulation is told about the host that it stands for."""

import pytest

from npusession import Product
from npusession.backends.fake.runtime import FakeRuntime
from npusession.backends.fake.settings import Settings


def test_defaults():
    """By default a host has 8 devices of no particular kind, and nothing is stricter than the runtime."""
    assert Settings() == Settings(devices=8, product=None, strict=False, strict_abort=False, simulate_precision=False)


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
    ],
)
def test_refused(wrong, error, message):
    """A setting that is none is refused with its name or value, and those in force stay."""
    runtime = FakeRuntime()
    with pytest.raises(error, match=message):
        runtime.configure(**wrong)
    assert runtime.settings == Settings()
