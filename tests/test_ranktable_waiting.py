"""Waiting for a rank table that a platform is still writing."""

import os
import threading
import time

import pytest
from ranktables import CONTAINER, V10, changed, text

from npusession.hccl import RankTable, RankTableError, ranktable

INITIALIZING = text(changed(V10, "status", to="initializing"))


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Look often, so that the tests are quick."""
    monkeypatch.setattr(ranktable, "_PAUSE", 0.01)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hccl.json"


def play(path, *contents):
    """Write one content after the other from another thread."""

    def write():
        for content in contents:
            time.sleep(0.05)
            path.write_text(content, "utf-8")

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def test_ready(path):
    """A table that is ready is returned at once."""
    path.write_text(text(CONTAINER), "utf-8")
    assert RankTable.wait_until_ready(path, 0) == RankTable.read(path)


@pytest.mark.parametrize(
    "contents",
    [
        ("",),
        (INITIALIZING,),
        ('{"status":"initializing"}',),
        ('{"status":"initializing","group_count":"0","group_list":[]}',),
        (text(V10)[:100], text(V10)[:-2]),
        ("{", INITIALIZING, "", text(V10)[:-30]),
    ],
)
def test_not_ready_yet(path, contents):
    """A table that is absent, empty, half written or initializing is waited for."""
    thread = play(path, *contents, text(V10))
    table = RankTable.wait_until_ready(path, 30)
    thread.join()
    assert table.ready
    assert table == RankTable.parse(text(V10))


def test_replaced(path, tmp_path):
    """A file that is replaced by another, as mounted configuration is, is seen."""
    path.write_text(INITIALIZING, "utf-8")
    other = tmp_path / "other"
    other.write_text(text(V10), "utf-8")
    timer = threading.Timer(0.05, os.replace, (other, path))
    timer.start()
    assert RankTable.wait_until_ready(path, 30).size == 2
    timer.join()


def test_never_ready(path):
    """After the time the error says why the table is not ready."""
    path.write_text(INITIALIZING, "utf-8")
    with pytest.raises(RankTableError, match="after waiting") as caught:
        RankTable.wait_until_ready(path, 0.05)
    assert [problem.code for problem in caught.value.problems] == ["NPU609"]
    path.write_text(text(V10)[:50], "utf-8")
    with pytest.raises(RankTableError) as caught:
        RankTable.wait_until_ready(path, 0)
    assert "NPU601" in {problem.code for problem in caught.value.problems}


def test_never_there(path):
    """After the time a file that never came is missing."""
    with pytest.raises(FileNotFoundError):
        RankTable.wait_until_ready(path, 0.05)


def test_completed_and_broken(path):
    """A table that is completed and lacks something will not get better, so nobody waits for it."""
    path.write_text(text(changed(V10, "server_list", 0, "device", 0, "rank_id", to=...)), "utf-8")
    with pytest.raises(RankTableError) as caught:
        RankTable.wait_until_ready(path, 3600)
    assert "NPU605" in {problem.code for problem in caught.value.problems}
