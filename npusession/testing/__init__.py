"""For tests of code that runs on an NPU: the emulation under a test's control, and guards against what is left behind.

With pytest, the plugin that comes with npusession has all of it as fixtures (``fake_npu``, ``unchanged_environment``,
``unchanged_threads``, ``unchanged_files``, ``unchanged_sessions``) and markers (``fake_npu``, ``npu``)::

    @pytest.mark.fake_npu(devices=2, product="A2")
    def test_training(fake_npu):
        train.main()
        fake_npu.assert_clean_exit()

With other test frameworks the same things are context managers::

    with FakeNpu(devices=2) as npu:
        train.main()
        npu.assert_clean_exit()

Importing this imports neither TensorFlow nor an adapter.
"""

from ..backends.fake.runtime import Event
from .fake import FakeNpu, Phase, SessionRecord
from .guards import unchanged_environment, unchanged_files, unchanged_sessions, unchanged_threads

__all__ = [
    "Event",
    "FakeNpu",
    "Phase",
    "SessionRecord",
    "unchanged_environment",
    "unchanged_files",
    "unchanged_sessions",
    "unchanged_threads",
]
