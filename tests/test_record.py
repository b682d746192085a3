"""The record of runs, and its page."""

import math
import time
import warnings

import hypothesis
import hypothesis.strategies as st
import pytest
from click.testing import CliRunner
from processes import run as run_program

from npusession.cli import main
from npusession.record import Record, RecordError, read
from npusession.record.writer import path_of_rank

ABOUT = {
    "backend": "fake",
    "device": 0,
    "rank": 0,
    "rank_size": 1,
    "scene": "training",
    "total_steps": 100,
    "options": {"precision_mode_v2": "origin", "dump_path": "</pre><script>"},
    "warnings": ["a <warning>"],
}


def training(path, steps=100, switch=60, error=None, **about):
    """Write a record as a session does."""
    record = Record(str(path))
    now = time.perf_counter()
    record.begin(**{**ABOUT, **about})
    record.stage("initialize the system", now, now + 0.4)
    for step in range(steps):
        start = now + 0.5 + step * 0.01
        record.step(step, start, start + 0.009, 10.0 / (step + 1), "low" if step < switch else "original")
    record.warning("the <loss> grows")
    record.stage("close the session", now + 2, now + 2.01)
    record.end(error)
    return path


def test_reading_back(tmp_path):
    """What a session writes can be read: options, life cycle, steps with loss and phase, how it ended."""
    (section,) = read(training(tmp_path / "run.jsonl"))
    assert section.about["options"] == ABOUT["options"]
    assert [stage.name for stage in section.stages] == ["initialize the system", "close the session"]
    assert len(section.steps) == 100
    assert section.steps[0].loss == 10.0
    assert (section.steps[59].phase, section.steps[60].phase) == ("low", "original")
    assert section.ended is not None
    assert section.error is None


def test_sessions_add_up(tmp_path):
    """A second session adds its section, and nothing of the first is lost."""
    training(tmp_path / "run.jsonl", steps=3)
    training(tmp_path / "run.jsonl", steps=2, error=ValueError("of the body"))
    first, second = read(tmp_path / "run.jsonl")
    assert (len(first.steps), len(second.steps)) == (3, 2)
    assert second.error == "ValueError: of the body"


def test_at_the_same_time(tmp_path):
    """Records of sessions that are open at the same time are kept apart in one file."""
    one, other = Record(tmp_path / "run.jsonl"), Record(tmp_path / "run.jsonl")
    one.begin(**ABOUT)
    other.begin(**ABOUT)
    for step in range(3):
        one.step(step, 0.0, 10.0**9, None, None)
        other.step(10 + step, 0.0, 10.0**9 + step, None, None)
    other.end(KeyboardInterrupt())
    one.end()
    first, second = read(tmp_path / "run.jsonl")
    assert [step.step for step in first.steps] == [0, 1, 2]
    assert [step.step for step in second.steps] == [10, 11, 12]
    assert (first.error, second.error) == (None, "KeyboardInterrupt")


@hypothesis.given(
    st.lists(
        st.tuples(
            st.integers(0, 10**9),
            st.none() | st.floats(),
            st.sampled_from([None, "low", "original"]),
        ),
        max_size=20,
    )
)
def test_any_numbers(tmp_path_factory, steps):
    """Any loss, not finite ones included, is read as it was written."""
    path = tmp_path_factory.mktemp("record") / "run.jsonl"
    record = Record(str(path))
    record.begin(**ABOUT)
    for step, loss, phase in steps:
        record.step(step, 1.0, 2.0, loss, phase)
    record.end()
    for (step, loss, phase), back in zip(steps, read(path)[0].steps):
        assert (back.step, back.phase) == (step, phase)
        assert back.loss == loss or (math.isnan(loss) and math.isnan(back.loss))


def test_a_killed_process(tmp_path):
    """A record that breaks off within a line is read up to there."""
    path = training(tmp_path / "run.jsonl")
    text = path.read_text()
    path.write_text(text[: text.index('"step": 50') + 4])
    (section,) = read(path)
    assert len(section.steps) == 50
    assert section.ended is None


def test_after_a_killed_process(tmp_path):
    """A session adds its section to a file whose last line breaks off; a warning names the line that is lost."""
    path = training(tmp_path / "run.jsonl", steps=2)
    path.write_text(path.read_text()[:-5])
    training(path, steps=3)
    with pytest.warns(RuntimeWarning, match="left out what cannot be read, line 7"):
        first, second = read(path)
    assert (first.ended, len(first.steps), len(second.steps)) == (None, 2, 3)
    result = CliRunner().invoke(main, ["report", str(path)])
    assert result.exit_code == 0
    assert "Warning: " in result.output
    assert "line 7\n" in result.output


@pytest.mark.parametrize("text", ["", "{}\n", "[]\n", "5\n", "none\n", '{"event": "step", "step": 1}\n', "\x00\n"])
def test_what_is_no_record(tmp_path, text):
    """Another file is refused with the line that does not belong in a record."""
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(RecordError, match=r"line 1: no line of a record|holds no record"):
        read(path)


@hypothesis.given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory, content):
    """No file makes reading fail in another way."""
    path = tmp_path_factory.mktemp("record") / "any"
    path.write_bytes(content)
    with pytest.raises(RecordError):
        read(path)


def test_ranks():
    """Each rank of a job has a file of its own."""
    assert [path_of_rank("logs/run.jsonl", rank) for rank in (0, 1)] == ["logs/run.jsonl", "logs/run.rank1.jsonl"]


def test_a_full_disk():
    """When the disk is full the training goes on, and one warning says that the record does not."""
    record = Record("/dev/full")
    with pytest.warns(RuntimeWarning, match="not written any further"):
        record.begin(**ABOUT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        record.step(0, 0.0, 9.0, None, None)
        record.end()


def test_the_page(tmp_path):
    """The report is one page that needs no other file, with pictures, options and warnings, and nothing unescaped."""
    path = training(tmp_path / "run.jsonl", error=ValueError("<b>"))
    result = CliRunner().invoke(main, ["report", str(path), "--png"])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "run.html").read_text()
    assert page.count("<svg") == 3
    for text in (
        "precision_mode_v2",
        "a &lt;warning&gt;",
        " s: the &lt;loss&gt; grows",
        "&lt;/pre&gt;&lt;script&gt;",
        "ValueError: &lt;b&gt;",
    ):
        assert text in page
    for text in ("<script", "<link", 'src="http', "@import"):
        assert text not in page
    assert "from step 60" in page
    for name in ("loss", "times", "life"):
        assert (tmp_path / f"run.1.{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "losses",
    [
        [],
        [None],
        [1.0],
        [math.nan],
        [math.nan, 1.0, math.inf],
        [0.0, 0.0],
        [-1.0, 1e30],
        [float(n) for n in range(9000)],
    ],
)
def test_pages_of_odd_trainings(tmp_path, losses):
    """Trainings without steps, without a loss, with one step, with losses that are no numbers have a page, too."""
    record = Record(str(tmp_path / "run.jsonl"))
    record.begin(**ABOUT)
    for step, loss in enumerate(losses):
        record.step(step, record.started + step, record.started + step + 0.5, loss, None)
    record.end()
    result = CliRunner().invoke(main, ["report", str(tmp_path / "run.jsonl")])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "run.html").read_text()
    assert ("No step is on record" in page) == (losses == [])
    # The text of pictures is drawn, and named in a comment.
    assert ("<!-- not a finite number -->" in page) == any(not math.isfinite(loss) for loss in losses if loss)


def test_runs_of_several_steps(tmp_path):
    """With iterations_per_loop the page counts the steps, not the runs, and says what was timed."""
    path = training(tmp_path / "run.jsonl", options={"iterations_per_loop": 10}, total_steps=1000)
    assert CliRunner().invoke(main, ["report", str(path)]).exit_code == 0
    page = (tmp_path / "run.html").read_text()
    for text in ("1000 of 1000, from step 0", "first run of 10 steps"):
        assert text in page


def test_off():
    """Without a record nothing of it is even imported."""
    pytest.importorskip("tensorflow", reason="sessions need TensorFlow")
    code, output, errors = run_program(
        """
        with plan as s:
            for step in s.steps(2, progress=False):
                s.run(two)
        say([name for name in sys.modules if name.startswith("npusession.record")])
        """
    )
    assert (code, output.strip()) == (0, "[]"), errors


def test_forgotten():
    """A session that nobody closed, since an exception ended the program, has that exception on record."""
    pytest.importorskip("tensorflow", reason="sessions need TensorFlow")
    code, output, errors = run_program(
        """
        import atexit, json, tempfile
        folder = tempfile.TemporaryDirectory()
        path = os.path.join(folder.name, "run.jsonl")
        atexit.register(lambda: say(json.loads(open(path).readlines()[-1])["error"]))
        s = plan.replace(record=path).start()
        raise ValueError("of the program")
        """
    )
    assert (code, output.strip()) == (1, "ValueError: of the program"), errors


def test_nothing_is_overwritten(tmp_path):
    """A page that is there stays, unless one says otherwise."""
    path = training(tmp_path / "run.jsonl")
    (tmp_path / "run.html").write_text("mine")
    refused = CliRunner().invoke(main, ["report", str(path)])
    assert refused.exit_code == 1
    assert "run.html' is there already; --force" in refused.output
    assert (tmp_path / "run.html").read_text() == "mine"
    assert CliRunner().invoke(main, ["report", str(path), "--force"]).exit_code == 0


def test_wrong_files(tmp_path):
    """A file that is no record is one clear line on the command line."""
    (tmp_path / "plan.toml").write_text("scene = 'training'\n")
    result = CliRunner().invoke(main, ["report", str(tmp_path / "plan.toml")])
    assert result.exit_code == 1
    assert "line 1: no line of a record" in result.output
