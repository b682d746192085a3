"""The stubs of the adapter, as they are installed: complete, true to the emulation, and of use."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

for name, reason in (
    ("mypy", "the type checker is not installed"),
    ("hatchling", "what builds the package of stubs is not installed"),
    ("tensorflow", "the adapter imports TensorFlow"),
):
    if importlib.util.find_spec(name) is None:
        pytest.skip(reason, allow_module_level=True)

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "npusession" / "backends" / "fake" / "packages"
EXAMPLE = ROOT / "examples" / "npu_bridge_digits.py"
MODULES = json.loads((ROOT / "tests" / "data" / "npu_bridge_api.json").read_text("utf-8"))["modules"]


def execute(*command, path=()):
    """Run Python with folders on its path; return the exit code and everything that was written."""
    paths = [*map(str, path), os.environ.get("PYTHONPATH", "")]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "TF_CPP_MIN_LOG_LEVEL": "3"}
    process = subprocess.run(
        [sys.executable, *map(str, command)],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=240,
    )
    return process.returncode, process.stdout.decode("utf-8", "replace")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that the stubs are installed in."""
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    code, output = execute("-m", "pip", "install", *options, "--target", folder, ROOT / "stubs")
    assert code == 0, output
    return folder


@pytest.fixture
def check(installed, tmp_path):
    """A function that checks the text of a script with mypy and the installed stubs; returns code and output."""

    def check(text):
        script = tmp_path / "script.py"
        script.write_text(text, "utf-8")
        options = ["--config-file", ROOT / "pyproject.toml", "--cache-dir", installed / "cache", "--strict"]
        return execute("-m", "mypy", *options, script, path=[installed])

    return check


def test_stubs_are_free_of_this_project(installed):
    """Whoever has the adapter and the stubs needs nothing else."""
    texts = [path.read_text("utf-8") for path in installed.glob("*-stubs/**/*.pyi")]
    assert texts
    assert not any("npusession" in text for text in texts)


def test_stubtest(installed):
    """Each name, argument and default in the stubs is that of the emulation, in all three packages."""
    options = ["--mypy-config-file", ROOT / "pyproject.toml", "--allowlist", ROOT / "stubs" / "stubtest_allowlist.txt"]
    packages = ["npu_bridge", "hccl", "npu_device"]
    code, output = execute("-m", "mypy.stubtest", *options, *packages, path=[installed, ROOT, PACKAGES])
    assert code == 0, output
    assert "Success: no issues found" in output


@pytest.mark.parametrize("package", ["npu_bridge", "npu_device.compat.v1"])
def test_complete(check, package):
    """Type checkers know every public function, class and method of the adapter, under both of its names."""
    lines = []
    for module, names in MODULES.items():
        for name, found in names.items():
            alias = f"_{len(lines)}"
            lines.append(f"from {module.replace('npu_bridge', package)} import {name} as {alias}; reveal_type({alias})")
            if not isinstance(found, str):
                lines += [f"reveal_type({alias}.{method})" for method in found if method != "bases"]
    code, output = check("\n".join(lines))
    assert code == 0, output
    revealed = [line for line in output.splitlines() if "Revealed type is" in line]
    assert len(revealed) == len(lines)
    # What a class lacks is looked for in its base, which is Any where it is TensorFlow's.
    assert [line for line in revealed if line.endswith('"Any"')] == []


def test_example(check):
    """A script for the adapter passes the strictest checks."""
    code, output = check(EXAMPLE.read_text("utf-8"))
    assert code == 0, output


@pytest.mark.parametrize(
    ("right", "wrong", "error"),
    [
        ("incr_every_n_steps=1000", "incr_every_steps=1000", 'Unexpected keyword argument "incr_every_steps"'),
        ("is_distributed=is_distributed", 'is_distributed="yes"', 'has incompatible type "str"; expected "bool"'),
        ("import keep_dtype_scope", "import keep_type_scope", 'has no attribute "keep_type_scope"'),
        ("shutdown_resource(resource, shutdown)", "shutdown_resource(resource)", "Missing positional argument"),
        ("resource, shutdown = init_resource()", "a, b, c = init_resource()", "Need more than 2 values to unpack"),
        ("keep_dtype_scope()", 'keep_dtype_scope("float32")', "Too many arguments"),
    ],
)
def test_mistake(check, right, wrong, error):
    """A wrong call of the adapter is found before the script runs, in its own line."""
    text = EXAMPLE.read_text("utf-8")
    assert right in text
    code, output = check(text.replace(right, wrong))
    assert code == 1, output
    number = 1 + text[: text.index(right)].count("\n")
    lines = [line for line in output.splitlines() if error in line]
    assert lines, output
    assert abs(int(lines[0].split(":")[1]) - number) <= 1, lines[0]
