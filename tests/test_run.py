"""`npusession run` runs a script as Python does, and says what it did on the emulation."""

import os
import signal
import subprocess
import sys

import pytest

LIKE_PYTHON = {
    "place": """
        import os, sys
        print(__name__, __file__, __package__, __spec__, __cached__, type(__loader__).__name__, __doc__)
        print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals(), sorted(globals()))
        """,
    "own module beside it": """
        import os, sys
        with open(os.path.join(os.path.dirname(__file__), "beside.py"), "w") as file:
            file.write("print(__name__)")
        import beside
        """,
    "end": "print('end')",
    "exit": "import sys; sys.exit()",
    "exit code": "import sys; sys.exit(7)",
    "exit true": "import sys; sys.exit(True)",
    "exit message": "import sys; sys.exit('that was it')",
    "raise SystemExit": "raise SystemExit(3)",
    "error": """
        def f():
            raise ValueError("wrong")
        f()
        """,
    "error from error": """
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise KeyError("k") from error
        """,
    "error within error": """
        try:
            1 / 0
        finally:
            {}["k"]
        """,
    "syntax error": "def f(:\n",
    "encoding": "# -*- coding: latin-1 -*-\nprint('x')\n",
    "own hook": """
        import sys
        sys.excepthook = lambda kind, error, traceback: print("mine:", error, traceback.tb_lineno)
        raise ValueError("wrong")
        """,
    "at exit": """
        import atexit, threading, time
        atexit.register(print, "first")
        atexit.register(print, "second")
        threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
        """,
    "annotations": "def f(x: undefined): pass\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "click": """
        import click
        @click.command()
        @click.option("--times", default=1)
        def main(times):
            raise RuntimeError(times)
        main()
        """,
    "pickle": """
        import pickle
        class A: pass
        print(type(pickle.loads(pickle.dumps(A()))) is A)
        """,
}


@pytest.mark.parametrize("text", LIKE_PYTHON.values(), ids=LIKE_PYTHON)
def test_like_python(run_script, text):
    """Output, traceback and exit code are those of Python itself, whatever the script does."""
    arguments = ["--times", "2"] if "click" in text else []
    wanted = run_script(text, *arguments, plain=True)
    assert run_script(text, *arguments) == wanted


def test_arguments(run_script):
    """Everything behind the script's name is the script's own, options of this command too."""
    arguments = ["--epochs", "1", "-x", "--report", "json", "--help", "--", "last"]
    code, output, _ = run_script("import sys; print(sys.argv[1:])", *arguments)
    assert (code, output) == (0, f"{arguments}\n")


def test_interrupted(tmp_path):
    """Ctrl-C ends the script as it ends Python, for the shell too, with the report."""
    script = tmp_path / "script.py"
    # A signal that comes just before a sleep is noticed after it.
    script.write_text("import time\nprint('there', flush=True)\nwhile True:\n    time.sleep(0.05)\n")
    codes = []
    for command in ([], ["-m", "npusession", "run"]):
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        process = subprocess.Popen(
            [sys.executable, *command, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])},
        )
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert "KeyboardInterrupt" in errors
        codes.append(process.returncode)
    assert codes[0] == codes[1]
    assert "npusession run" in errors
    assert "click" not in errors


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--devices", "0"], "--devices"),
        (["--product", "x"], "x"),
        (["--report-file", "/does/not/exist/report"], "report-file"),
    ],
)
def test_wrong_options(run_script, options, words):
    """A wrong option is refused before the script begins."""
    code, output, errors = run_script("print('began')", options=options)
    assert code != 0
    assert output == ""
    assert words in errors
    assert "Traceback" not in errors


def test_no_script(run_script):
    """A script that is not there is a clear error."""
    code, _, errors = run_script("", options=["missing.py"])
    assert code == 2
    assert "missing.py" in errors


def test_installed_adapter(run_script, tmp_path):
    """An adapter that is installed is not hidden unasked."""
    (tmp_path / "path" / "npu_bridge").mkdir(parents=True)
    (tmp_path / "path" / "npu_bridge" / "__init__.py").write_text("")
    variables = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "path"), *sys.path])}
    text = "import npu_bridge.helper.helper\nprint(npu_bridge.__version__)"
    code, output, errors = run_script(text, **variables)
    assert (code, output) == (1, "")
    assert "--shadow" in errors
    pytest.importorskip("tensorflow")
    assert run_script(text, options=["--shadow", "--report", "none"], **variables)[:2] == (0, "v1.15.0\n")


def test_within_another(run_script):
    """A script that is on the emulation may run others with the command: no adapter is hidden by that."""
    pytest.importorskip("tensorflow", reason="the adapter imports TensorFlow")
    text = """
        import subprocess, sys
        with open("inner.py", "w") as file:
            file.write("import npu_bridge; print(npu_bridge.__version__)")
        subprocess.run([sys.executable, "-m", "npusession", "run", "--report", "none", "inner.py"], check=True)
        """
    assert run_script(text)[:2] == (0, "v1.15.0\n")
