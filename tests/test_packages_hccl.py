"""Groups of HCCL in a single process, with the limits of the vendor's reference."""

import importlib

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="initialisation is an op of TensorFlow")

from npusession.backends.fake import importing  # noqa: E402
from npusession.backends.fake.runtime import RUNTIME  # noqa: E402

tf1 = tensorflow.compat.v1


@pytest.fixture
def api():
    """`hccl.manage.api`, before initialisation."""
    RUNTIME.reset()
    with importing.emulated():
        yield importlib.import_module("hccl.manage.api")
    RUNTIME.finalize("end of test")


@pytest.fixture
def initialized(api):
    """`hccl.manage.api`, initialised."""
    npu_init = importlib.import_module("npu_bridge.npu_init")
    with tf1.Graph().as_default():
        session, _ = npu_init.init_resource()
    yield api
    session.close()


CALLS = [
    ("get_rank_id", ()),
    ("get_rank_size", ("g",)),
    ("get_local_rank_id", ()),
    ("get_local_rank_size", ()),
    ("create_group", ("g", 1, [0])),
    ("destroy_group", ("g",)),
    ("get_world_rank_from_group_rank", ("g", 0)),
    ("get_group_rank_from_world_rank", (0, "g")),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_before_initialisation(api, name, arguments):
    """Everything is a ValueError with HCCL's own number before the runtime is initialised."""
    with pytest.raises(ValueError, match=r"error. ret\[\d+\]"):
        getattr(api, name)(*arguments)


def test_group(initialized):
    """A group has its own ranks until it is destroyed."""
    initialized.create_group("g", 1, [0])
    assert (initialized.get_rank_id("g"), initialized.get_rank_size("g")) == (0, 1)
    assert (initialized.get_local_rank_id("g"), initialized.get_local_rank_size("g")) == (0, 1)
    assert initialized.get_world_rank_from_group_rank("g", 0) == 0
    assert initialized.get_group_rank_from_world_rank(0, "g") == 0
    with pytest.raises(ValueError, match="exists"):
        initialized.create_group("g", 1, [0])
    initialized.destroy_group("g")
    with pytest.raises(ValueError, match="there is no group 'g'"):
        initialized.get_rank_size("g")
    initialized.create_group("g", 1, [0])


def test_world(initialized):
    """The group of all ranks is there, and can neither be made nor destroyed."""
    assert initialized.get_rank_size("hccl_world_group") == 1
    assert initialized.get_world_rank_from_group_rank("hccl_world_group", 0) == 0
    with pytest.raises(ValueError, match="group of all ranks"):
        initialized.create_group("hccl_world_group", 1, [0])
    with pytest.raises(ValueError, match="ends with the runtime"):
        initialized.destroy_group("hccl_world_group")


def test_groups_end_with_the_runtime(initialized):
    """After the runtime was finalised and initialised again, earlier groups are gone."""
    initialized.create_group("g", 1, [0])
    RUNTIME.finalize("test")
    with tf1.Graph().as_default():
        session, _ = importlib.import_module("npu_bridge.npu_init").init_resource()
    with session, pytest.raises(ValueError, match="there is no group"):
        initialized.get_rank_size("g")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("", 1, [0]), ValueError, "1 to 127"),
        (("g" * 128, 1, [0]), ValueError, "1 to 127"),
        ((b"g", 1, [0]), TypeError, "str"),
        (("g", "1", [0]), TypeError, "rank_num is an int"),
        (("g", True, [0]), TypeError, "rank_num is an int"),
        (("g", 1, (0,)), TypeError, "list"),
        (("g", 1, ["0"]), TypeError, "rank of rank_ids"),
        (("g", 0, []), ValueError, "1 to 32768"),
        (("g", 2, [0]), ValueError, "2 different ranks"),
        (("g", 2, [0, 0]), ValueError, "2 different ranks"),
        (("g", 1, [1]), ValueError, "ranks 0 to 0"),
        (("g", 1, [-1]), ValueError, "ranks 0 to 0"),
    ],
)
def test_wrong_groups(initialized, arguments, error, words):
    """A group that cannot be is refused, with what is wrong."""
    with pytest.raises(error, match=words):
        initialized.create_group(*arguments)


def test_longest_name(initialized):
    """127 characters are a name."""
    initialized.create_group("g" * 127, 1, [0])


def test_ranks_that_are_not(initialized):
    """A rank that a group does not have is a ValueError."""
    with pytest.raises(ValueError, match="so not 1"):
        initialized.get_world_rank_from_group_rank("hccl_world_group", 1)
    with pytest.raises(ValueError, match="rank 7 is not in"):
        initialized.get_group_rank_from_world_rank(7, "hccl_world_group")


class TestSplit:
    @pytest.fixture
    def split(self, api):
        return importlib.import_module("hccl.split.api")

    def test_right(self, split):
        """Indices and percentages within the limits are kept."""
        from npusession.backends.fake import groups

        split.set_split_strategy_by_idx([0, 20, 2**32 - 1])
        assert groups.splits()["hccl_world_group"] == ("index", (0, 20, 2**32 - 1))
        split.set_split_strategy_by_size([60, 39.5, 0.5], "g")
        assert groups.splits()["g"] == ("size", (60, 39.5, 0.5))

    @pytest.mark.parametrize(
        ("indices", "error"),
        [
            ([], ValueError),
            ([3, 3], ValueError),
            ([4, 3], ValueError),
            ([-1], ValueError),
            ([2**32], ValueError),
            ((1, 2), TypeError),
            (["1"], TypeError),
            ([1.0], TypeError),
        ],
    )
    def test_wrong_indices(self, split, indices, error):
        """Indices must be a list that rises, within 32 bits."""
        with pytest.raises(error):
            split.set_split_strategy_by_idx(indices)

    @pytest.mark.parametrize(
        ("shares", "error"),
        [([], ValueError), ([50, 49], ValueError), ([-1, 101], ValueError), (100, TypeError), (["100"], TypeError)],
    )
    def test_wrong_shares(self, split, shares, error):
        """Shares must be a list of percentages that sum to 100."""
        with pytest.raises(error):
            split.set_split_strategy_by_size(shares)
