"""What the emulation reads of the environment when it is initialised, as the runtime does."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npusession.backends.fake.startup import Startup, read_environment
from npusession.backends.fake.verdicts import Aborted

TABLE = {"RANK_TABLE_FILE": "/t.json"}
CHIEF = {"CM_CHIEF_IP": "192.0.2.1", "CM_CHIEF_PORT": "6000", "CM_CHIEF_DEVICE": "0"}


def task(kind):
    return {"TF_CONFIG": json.dumps({"task": {"type": kind, "index": 0}})}


def test_empty():
    """Nothing in the environment: device 0, a process on its own."""
    assert read_environment({}) == Startup(0, False, "", "", True, True, ())


@pytest.mark.parametrize(
    ("environ", "device"),
    [
        ({"ASCEND_DEVICE_ID": "3", "DEVICE_ID": "1"}, 3),
        ({"ASCEND_DEVICE_ID": "", "DEVICE_ID": "1"}, 1),
        ({"ASCEND_DEVICE_ID": " 2 "}, 2),
        ({"ASCEND_DEVICE_ID": "", "DEVICE_ID": ""}, 0),
        ({"DEVICE_ID": "4294967297"}, 1),
    ],
)
def test_device(environ, device):
    """ASCEND_DEVICE_ID goes before DEVICE_ID, an empty one counts as none, and 32 bits are read."""
    assert read_environment(environ).device == device


@pytest.mark.parametrize("value", ["-1", "1.0", "one", "+1", " ", "9" * 19, "9" * 5000, "\u0663"])
def test_no_device(value):
    """What is no number of 64 bits, or negative, ends the process."""
    with pytest.raises(Aborted, match="ASCEND_DEVICE_ID"):
        read_environment({"ASCEND_DEVICE_ID": value})


@pytest.mark.parametrize(
    ("environ", "cluster"),
    [
        (TABLE, "rank table"),
        ({**TABLE, "RANK_ID": "0", "RANK_SIZE": "8"}, "rank table"),
        ({**TABLE, "RANK_SIZE": "many"}, "rank table"),
        (CHIEF, "chief"),
        ({**CHIEF, "CM_WORKER_SIZE": "8", "CM_WORKER_IP": "192.0.2.2"}, "chief"),
        ({"RANK_ID": "0", "RANK_SIZE": "1"}, ""),
        ({"CM_WORKER_SIZE": "8"}, ""),
    ],
)
def test_cluster(environ, cluster):
    """A cluster is described by a rank table or by its chief; both have defaults."""
    assert read_environment(environ) == Startup(cluster=cluster)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({**TABLE, **CHIEF}, "both set"),
        ({**TABLE, "CM_WORKER_SIZE": "8"}, "beside CM_WORKER_SIZE"),
        ({**TABLE, "RANK_SIZE": "0"}, "RANK_SIZE=0"),
        ({**CHIEF, "RANK_SIZE": "8"}, "beside RANK_SIZE"),
        ({**CHIEF, "CM_CHIEF_PORT": ""}, "without CM_CHIEF_PORT"),
        ({"CM_CHIEF_IP": "192.0.2.1"}, "without CM_CHIEF_PORT and CM_CHIEF_DEVICE"),
        ({**CHIEF, "CM_WORKER_SIZE": "-1"}, "CM_WORKER_SIZE=-1"),
        ({"RANK_SIZE": "8", "RANK_ID": "3"}, "without RANK_TABLE_FILE"),
    ],
)
def test_mixed(environ, words):
    """Descriptions that contradict each other, or lack a part, are passed over, and the reason is told."""
    found = read_environment(environ)
    assert found.cluster == ""
    (reason,) = found.ignored
    assert words in reason


def test_tf_config():
    """A parameter server initialises nothing, not even a device that is none; an evaluator has no HCCL."""
    assert not read_environment({**task("ps"), "ASCEND_DEVICE_ID": "x"}).needed
    assert not read_environment(task("evaluator")).hccl
    assert read_environment(task("worker")) == Startup()
    assert read_environment({"TF_CONFIG": '{"cluster": {}}'}) == Startup()
    assert read_environment({"TF_CONFIG": '{"task": null}'}) == Startup()


@pytest.mark.parametrize("found", ["worker", [], 1, True], ids=repr)
def test_task_that_is_no_object(found):
    """A task that is no object ends the process."""
    with pytest.raises(Aborted, match="TF_CONFIG"):
        read_environment({"TF_CONFIG": json.dumps({"task": found})})


@pytest.mark.parametrize("text", ["not json", "[1]", "{"])
def test_tf_config_that_cannot_be_read(text):
    """A TF_CONFIG that is no JSON object is passed over, and said to be."""
    found = read_environment({"TF_CONFIG": text})
    assert found.needed
    assert "TF_CONFIG" in found.ignored[0]


NAMES = [
    "TF_CONFIG",
    "ASCEND_DEVICE_ID",
    "DEVICE_ID",
    "JOB_ID",
    "RANK_TABLE_FILE",
    "RANK_SIZE",
    *CHIEF,
    "CM_WORKER_SIZE",
]


@given(st.dictionaries(st.sampled_from(NAMES), st.text() | st.integers().map(str)))
def test_any_environment(environ):
    """Whatever is in the environment, it is read or ends the process, and nothing else."""
    try:
        found = read_environment(environ)
    except Aborted:
        return
    assert found.device in range(2**32)
    assert found.cluster in ("", "rank table", "chief")
