"""The options of data augmentation."""

import pytest
from grouping import check_examples, codes, read, refusal, report

from npusession.options.data_augmentation import GROUP


def test_rules():
    """Every rule of the group can be broken and kept."""
    both = {"local_rank_id": 0, "local_device_list": "0,1"}
    check_examples(
        {
            "NPU228": (report(local_device_list="0,1"), report(**both)),
            "NPU229": (report(local_rank_id=0), report(**both)),
        },
        GROUP,
    )


@pytest.mark.parametrize("value", [0, 3, 7, "7"])
def test_ranks(value):
    """The eight ranks of a host are taken."""
    assert read("local_rank_id", value) == int(value)


@pytest.mark.parametrize("value", [-1, 8, 999, 2**32 + 1, -(2**63), 1.0, True, ""])
def test_bad_ranks(value):
    """Ranks that end the process are refused."""
    refusal("local_rank_id", value)


@pytest.mark.parametrize(
    ("value", "text"), [("0,1", "0,1"), ("0", "0"), ([0, 1], "0,1"), (("2", 3), "2,3"), (5, "5"), (b"0,1", "0,1")]
)
def test_devices(value, text):
    """Devices may be given as a list of numbers; what is written is the reference's text."""
    assert read("local_device_list", value) == text


@pytest.mark.parametrize(
    "value",
    ["", "a", "0;1", "0,", ",0", "0,,1", "-1", "0-3", "+1", "1.0", "/no/such/dir", "a\nb;c=d", [], [-1], [0.0], [True],
     True, {}, 2**31],
)  # fmt: skip
def test_bad_devices(value):
    """A list that ends the process is refused."""
    refusal("local_device_list", value)


def test_blanks():
    """Blanks are answered with the list without them."""
    assert refusal("local_device_list", "0, 1").fix == "local_device_list='0,1'"


def test_other_ranks_send_nothing():
    """Only the main process needs a list; the others receive their data."""
    assert codes(local_rank_id=3) == ([], [])
    assert codes(local_rank_id=3, local_device_list="0") == ([], [])
    assert codes(local_rank_id=0) == ([], ["NPU229"])
