"""What the documents show, runs."""

import pathlib
import re

import pytest
from processes import run

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_example(code, tmp_path):
    """Every piece of Python in the documents runs as it stands, on the fake backend."""
    pytest.importorskip("tensorflow", reason="the examples run sessions")
    code, _, errors = run(code, session=False, NPUSESSION_BACKEND="fake")
    assert code == 0, errors


def test_result_of_the_readme():
    """The README's example finds the minimum, on rank 0 of 1."""
    pytest.importorskip("tensorflow", reason="the examples run sessions")
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGES[0].read_text("utf-8"), re.M | re.S)
    assert run(example, session=False, NPUSESSION_BACKEND="fake")[1].strip() == "fake 0 1 0.0000"


def test_commands():
    """Every make target that the README names exists."""
    named = set(re.findall(r"make ([a-z]+)", PAGES[0].read_text("utf-8")))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert {"demo", "test", "check"} <= named <= targets


def test_links():
    """Every relative link in the documents leads to a file."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), (page.name, target)
