"""Plans in files, and side files that are given as values."""

import os
import tempfile

import pytest
from strategies import HOSTILE

from npusession import AcceleratedTraining, Dump, NpuSession, OptionsError, PlanFileError, Product, System
from npusession.configfiles import FusionSwitch, MixList

PLANS = [
    NpuSession.for_training(),
    NpuSession.for_inference(device=2),
    NpuSession.for_training(
        device=1,
        dump=Dump("/data/dump", steps="0|5-10"),
        accelerate=AcceleratedTraining.by_loss(0.5, 7.0),
        product=Product.ATLAS_A2,
        backend="fake",
        extra_options={"newer": 3},
    ),
]


@pytest.mark.filterwarnings("ignore::npusession.OptionsWarning")
@pytest.mark.parametrize("ending", ["toml", "json"])
@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
def test_round_trip(plan, ending, tmp_path):
    """A plan that was saved comes back equal."""
    path = tmp_path / f"plan.{ending}"
    plan.save(path)
    assert NpuSession.from_config(path) == plan
    assert os.listdir(str(tmp_path)) == [path.name]


def test_groups_in_a_file(tmp_path):
    """A file may have groups as tables of their own."""
    path = tmp_path / "plan.toml"
    path.write_text('device = 0\n[dump]\npath = "/data/dump"\nsteps = [0, 5]\n', "utf-8")
    assert NpuSession.from_config(path) == NpuSession.for_training(device=0, dump=Dump("/data/dump", steps=[0, 5]))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("plan.toml", "device = \n", "line 1"),
        ("plan.json", '{"device": }', "line 1"),
        ("plan.json", "[]", "not a list"),
        ("plan.toml", "\udcff", "plan.toml"),
    ],
)
def test_broken_files(tmp_path, name, text, message):
    """A broken file is refused with its name and the place."""
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PlanFileError, match=message) as caught:
        NpuSession.from_config(path)
    assert str(path) in str(caught.value)


def test_missing_file(tmp_path):
    """A file that is not there is an OSError with its path."""
    with pytest.raises(OSError, match="nowhere"):
        NpuSession.from_config(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    "path", ["plan\0.toml", "plan\ud800.toml", HOSTILE["__fspath__"]()], ids=["null", "surrogate", "path"]
)
def test_no_path(path):
    """What cannot name a file is a broken plan file, and no surprise."""
    with pytest.raises(PlanFileError, match="no path of a file"):
        NpuSession.from_config(path)


def test_other_endings(tmp_path):
    """A plan is written to TOML or JSON only, and nothing is left of a failed attempt."""
    with pytest.raises(ValueError, match=r"\.toml or a \.json"):
        NpuSession.for_training().save(tmp_path / "plan.yaml")
    assert os.listdir(str(tmp_path)) == []


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """An empty directory for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def plan():
    tensorflow = pytest.importorskip("tensorflow", reason="sessions need TensorFlow")
    lists = MixList(black_add=["MatMul"])
    return NpuSession.for_training(
        graph=tensorflow.Graph(), backend="fake", precision_mode_v2="mixed_float16", modify_mixlist=lists
    )


def test_side_file_for_a_session(plan, temporary):
    """A side file that is given as a value is there while the session is open, and gone afterwards."""
    with plan as s:
        (folder,) = temporary.iterdir()
        (file,) = folder.iterdir()
        entry = s._config.graph_options.rewrite_options.custom_optimizers[0]
        assert entry.parameter_map["modify_mixlist"].s.decode() == str(file)
        assert MixList.read(file) == MixList(black_add=["MatMul"])
    assert list(temporary.iterdir()) == []


def test_side_file_for_a_system(plan, temporary):
    """System writes side files and removes them too."""
    with System(plan):
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


def test_side_file_of_a_failed_opening(plan, temporary):
    """Nothing is left of the side files of a session that could not be opened."""
    from npusession.backends import load
    from npusession.backends.fake.runtime import RUNTIME

    load("fake")
    for user in (plan, System(plan)):
        RUNTIME.fail(at="initialize", error=RuntimeError("no"))
        with pytest.raises(RuntimeError, match="no"), user:
            pytest.fail("the body must not run")
        assert list(temporary.iterdir()) == []


def test_side_file_without_a_session(plan):
    """A ConfigProto cannot point at a side file that was not written, and says what to do."""
    with pytest.raises(ValueError, match="write"):
        plan.config_proto()


def test_side_file_of_another_format():
    """A side file of another format is refused."""
    with pytest.raises(OptionsError, match="modify_mixlist"):
        NpuSession.for_training(precision_mode_v2="mixed_float16", modify_mixlist=FusionSwitch())


def test_side_file_with_a_problem():
    """What is wrong with a side file is reported with the options."""
    lists = MixList(black_add=["MatMul"], white_add=["MatMul"])
    with pytest.raises(OptionsError, match="NPU515"):
        NpuSession.for_training(precision_mode_v2="mixed_float16", modify_mixlist=lists)


def test_broken_side_file(tmp_path):
    """A side file that is there and broken is refused when the session opens, with line and column."""
    path = tmp_path / "lists.json"
    path.write_text('{"black-list": [}', "utf-8")
    plan = NpuSession.for_training(precision_mode_v2="mixed_float16", modify_mixlist=path, backend="fake")
    (problem,) = plan.check().errors
    assert problem.code == "NPU114"
    assert f"{path}:1:" in problem.message
