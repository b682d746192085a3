"""The options of earlier releases."""

import pytest
from grouping import codes, inferring, report

from npusession import Severity
from npusession.options import TABLE
from npusession.options.legacy import GROUP
from npusession.options.model import Status

REMOVED = {
    "fp_point": "conv1",
    "bp_point": "gradients/conv1",
    "enable_reduce_precision": True,
    "enable_auto_mix_precision": True,
    "min_group_size": True,
}


def test_options():
    """All of them are marked as of earlier releases, with a word on what to do instead."""
    assert {option.name for option in GROUP.options} == {*REMOVED, "auto_tune_mode"}
    for option in GROUP.options:
        assert option.status is Status.LEGACY
        assert option.instead
        assert option.removed == (option.name in REMOVED)


@pytest.mark.parametrize("name", sorted(REMOVED))
def test_no_longer_read(name):
    """What no release reads any more is an error that says what to do instead."""
    (problem,) = report(**{name: REMOVED[name]}).errors
    assert (problem.code, problem.option, problem.severity) == ("NPU103", name, Severity.ERROR)
    assert problem.fix == TABLE[name].instead


@pytest.mark.parametrize("name", ["fp_point", "bp_point"])
def test_now_a_key(name):
    """What has become a key of profiling is shown as one."""
    (problem,) = report(**{name: "conv1"}).errors
    assert f"Profiling({name}=...)" in problem.fix
    assert inferring(**{name: "conv1"})[0][0] == "NPU103"


@pytest.mark.parametrize("value", ["RL,GA", "RL", ["RL", "GA"], b"GA", ""])
def test_earlier_tuning(value):
    """The forerunner of AOE is still read, and passes with a warning."""
    assert codes(auto_tune_mode=value) == ([], ["NPU108"])
    (problem,) = report(auto_tune_mode=value)
    assert "aoe_mode" in problem.fix
