"""The pytest plugin of npusession: fixtures and markers over :mod:`npusession.testing`.

It lies outside the package so that pytest, which loads it at every start, imports nothing but this file.
"""

from __future__ import annotations

import functools
import importlib.util
import typing

import pytest

if typing.TYPE_CHECKING:
    from npusession.testing import FakeNpu

_MARKERS = (
    "fake_npu(devices=8, product=None, strict=False, strict_abort=False, simulate_precision=False): "
    "run the test on a fresh emulated NPU with these settings",
    "npu: needs NPU hardware and npu_bridge; skipped without",
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test with the marker ``fake_npu`` the fixture."""
    for item in items:
        names = getattr(item, "fixturenames", None)
        if names is not None and "fake_npu" not in names and item.get_closest_marker("fake_npu"):
            names.insert(0, "fake_npu")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests with the marker ``npu`` where there is none."""
    if item.get_closest_marker("npu"):
        reason = _no_npu()
        if reason:
            pytest.skip(reason)


@pytest.fixture
def fake_npu(request: pytest.FixtureRequest) -> typing.Iterator[FakeNpu]:
    """A fresh emulated NPU for this test, see :class:`npusession.testing.FakeNpu`; the marker has the settings."""
    from npusession.testing import FakeNpu

    marker = request.node.get_closest_marker("fake_npu")
    if marker is not None and marker.args:
        raise TypeError(f"settings of the marker fake_npu are keywords, such as devices=2, not {marker.args!r}")
    with FakeNpu(**(marker.kwargs if marker else {})) as npu:
        yield npu


def _guard(name: str) -> typing.Callable[[], typing.Iterator[None]]:
    """Make a fixture of a guard in :mod:`npusession.testing`."""

    def fixture() -> typing.Iterator[None]:
        import npusession.testing

        with getattr(npusession.testing, name)():
            yield

    fixture.__doc__ = f"The guard npusession.testing.{name} around the test."
    return typing.cast("typing.Callable[[], typing.Iterator[None]]", pytest.fixture(name=name)(fixture))


unchanged_environment = _guard("unchanged_environment")
unchanged_threads = _guard("unchanged_threads")
unchanged_files = _guard("unchanged_files")
unchanged_sessions = _guard("unchanged_sessions")


@functools.lru_cache(maxsize=1)
def _no_npu() -> str:
    """Return why tests that need an NPU cannot run, empty when they can."""
    from npusession.products import detect

    if detect() is None:
        return "no NPU: npu-smi is not there, or lists no device"
    if importlib.util.find_spec("npu_bridge") is None and importlib.util.find_spec("npu_device") is None:
        return "no adapter: neither npu_bridge nor npu_device is installed"
    return ""
