"""Checks, tests, demonstration and benchmarks, each in an environment of its own.

Run them through ``make``, or directly: ``nox -s test_current -- -k dump`` hands what follows ``--`` on.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "venv"  # current releases of virtualenv no longer make 3.7 environments
nox.options.envdir = ".venv/nox-{}.{}".format(*sys.version_info)  # nox would reuse those of another Python
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["check", "test_legacy", "test_current"]

# Without nox's note of success the last line of a test run is pytest's own summary.
logging.getLogger("nox").addFilter(lambda record: record.levelname != "SUCCESS")

# Isolated (-I), so that it finds the package that was installed and never the checkout.
VERSIONS = """
import platform, tensorflow as tf, npusession
print("Python", platform.python_version(), "| TensorFlow", tf.__version__, "|", npusession.__path__[0])
"""


def run_as_37(python: str) -> str | None:
    """Return the real path of ``python``, or None if running it does not give a Python 3.7."""
    command = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"]
    try:
        answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    version, _, executable = answer.stdout.strip().partition("\n")
    return executable if answer.returncode == 0 and version == "3.7" else None


def numbers(folder: Path) -> list[int]:
    """Return the numbers in a folder's name, so that 3.7.9 sorts before 3.7.16."""
    return [int(digits) for digits in re.findall(r"\d+", folder.name)]


def find_legacy_python() -> str | None:
    """Find a Python 3.7: the one on PATH if it works (a pyenv shim may not), else pyenv's newest."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"))
    installed = sorted(pyenv.glob("versions/3.7.*"), key=numbers, reverse=True)
    candidates = ["python3.7", *(str(version / "bin" / "python") for version in installed)]
    return next(filter(None, map(run_as_37, candidates)), None)


def has_code(folder: str) -> bool:
    """Return whether there is anything in ``folder`` for mypy, which refuses a folder without modules."""
    return any(path.suffix in {".py", ".pyi"} for path in Path(folder).rglob("*"))


def install(session: nox.Session, *extras: str) -> None:
    """Install the project, not editable, with ``extras``; a second time this needs no network."""
    session.install("hatchling")
    session.install("--no-build-isolation", f".[{','.join(extras)}]")


def run_tests(session: nox.Session, leg: str) -> None:
    """Install the newest TensorFlow that this Python takes, say which leg this is, and run the tests."""
    install(session, "test", "tensorflow")
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3"}
    output = session.run("python", "-I", "-W", "ignore", "-c", VERSIONS, env=quiet, silent=True, log=False)
    print(f"==== {leg} leg | {str(output).strip().splitlines()[-1]}", flush=True)
    # As many processes as processors; whoever is done takes tests of the others over.
    session.run("pytest", "-n", "auto", "--dist", "worksteal", *session.posargs)


LEGACY_PYTHON = find_legacy_python()


@nox.session
def check(session: nox.Session) -> None:
    """Lint, format, types and the size of modules."""
    install(session, "dev")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    folders = filter(has_code, ("npusession", "stubs", "examples", "benchmarks", "tools"))
    session.run("mypy", "pytest_npusession.py", *folders)
    session.run("python", "tools/module_size.py")
    session.run("python", "tools/reference.py", "--check")
    session.run("python", "tools/stubs.py", "--check")


@nox.session(python=LEGACY_PYTHON or False)
def test_legacy(session: nox.Session) -> None:
    """Run the tests on Python 3.7 with TensorFlow 1.15, where there is a Python 3.7."""
    if LEGACY_PYTHON is None:
        print("==== legacy leg | no Python 3.7 was found, so this leg is left out", flush=True)
    else:
        run_tests(session, "legacy")


@nox.session
def test_current(session: nox.Session) -> None:
    """Run the tests on this Python with the newest TensorFlow that it takes."""
    run_tests(session, "current")


@nox.session
def contract(session: nox.Session) -> None:
    """Run the contract suite on the emulation, and on the adapter that an interpreter in ADAPTER_PYTHON has."""
    install(session, "test", "tensorflow")
    session.run("pytest", "tests/contract", *session.posargs, env={"NPUSESSION_BACKEND": "fake"})
    adapter = os.environ.get("ADAPTER_PYTHON")
    if adapter:
        # That interpreter is not ours to install into: it takes npusession from the checkout.
        path = os.pathsep.join(filter(None, (".", os.environ.get("ADAPTER_PYTHONPATH"))))
        environ = {"NPUSESSION_BACKEND": "npu", "PYTHONPATH": path}
        session.run(adapter, "-m", "pytest", "tests/contract", *session.posargs, env=environ, external=True)
    else:
        print("==== no ADAPTER_PYTHON was given, so the contract was not tested on a real adapter", flush=True)


@nox.session
def demo(session: nox.Session) -> None:
    """Train the digits example on this machine."""
    install(session, "examples", "tensorflow")
    # Said aloud in the demonstration's own output, so that no warning need come first.
    session.run("python", "examples/digits.py", *session.posargs, env={"NPUSESSION_BACKEND": "fake"})


@nox.session
def bench(session: nox.Session) -> None:
    """Measure what the wrapper costs."""
    install(session, "examples", "tensorflow")
    for script in sorted(Path("benchmarks").glob("*.py")):
        session.run("python", str(script), *session.posargs)
