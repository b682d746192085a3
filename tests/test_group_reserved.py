"""The options that the runtime reads and the reference leaves out."""

import json
import pathlib

import pytest
from grouping import check_examples, codes, read, refusal, report

from npusession import Product
from npusession.options import TABLE, Scene
from npusession.options.model import Status
from npusession.options.reserved import GROUP

LISTED = json.loads((pathlib.Path(__file__).parent / "data/options.json").read_text("utf-8"))
NAMES = sorted(option.name for option in GROUP.options)
TEXTS = [name for name in NAMES if TABLE[name].field == "s" and name != "graph_slice"]


def test_rules():
    """Every rule of the group can be broken and kept."""
    tuned = {"scene": Scene.TRAINING, "product": Product.ATLAS_A2}
    check_examples(
        {
            "NPU280": (report(job="ps"), report(job="localhost")),
            "NPU281": (
                report(enable_compress_weight=True, compress_weight_conf="/data/c.cfg"),
                report(compress_weight_conf="/data/c.cfg"),
            ),
            "NPU282": (
                report(distribute_config="/data/d.cfg", **tuned),
                report(distribute_config="/data/d.cfg", aoe_mode="2", **tuned),
            ),
        },
        GROUP,
    )


def test_all_are_there():
    """Every name that the runtime reads and the reference lacks is known, all of them as not described."""
    undescribed = {entry["name"] for entry in LISTED if entry["read_by_runtime"] and not entry["in_reference"]}
    assert set(NAMES) == undescribed - {"auto_tune_mode"}
    assert {TABLE[name].status for name in NAMES} == {Status.RESERVED}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("text", ["__bogus__", "", "/no/such/dir", "a\nb;c=d"])
def test_any_text(name, text):
    """The runtime hands on any text, and so does the check."""
    assert read(name, text) == text


@pytest.mark.parametrize("name", ["graph_exec_timeout", "task_index", "topo_sorting_mode"])
@pytest.mark.parametrize("number", [-1, 0, 3, 999, 2**32 + 1, -(2**63), 2**63 - 1])
def test_any_number(name, number):
    """The runtime hands on any number of 64 bits, and so does the check."""
    assert read(name, number) == number
    assert codes(**{name: number}) == ([], [])


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, True, 1.0, "x"])
def test_no_number(number):
    """What fits into no field is refused."""
    refusal("task_index", number)


@pytest.mark.parametrize("value", ["auto", "manual"])
def test_slices(value):
    """The two ways to cut graphs are known."""
    assert codes(graph_slice=value) == ([], [])


@pytest.mark.parametrize("value", ["", "on", "__bogus__", "a\nb;c=d", True, 1])
def test_bad_slices(value):
    """The only one of these options that the runtime refuses values of is checked."""
    refusal("graph_slice", value)


def test_name_in_capitals():
    """The one name in capitals is found in any spelling."""
    assert codes(HCCL_algorithm="level0:ring") == ([], [])
    (problem,) = report(hccl_algorithm="x")
    assert problem.code == "NPU101"
    assert "did you mean HCCL_algorithm?" in problem.message
