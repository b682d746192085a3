"""What `npusession run` reports of a script."""

import json
import os

import pytest

pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

SESSION = """
    from npu_bridge.npu_init import *
    tf.disable_eager_execution()
    config = tf.ConfigProto()
    op = config.graph_options.rewrite_options.custom_optimizers.add()
    op.name = "NpuOptimizer"
    {}
    config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
    config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
    with tf.Session(config=config) as sess:
        print(sess.run(tf.constant(2)))
"""


def read(errors):
    """Return the report in JSON that ends the error output."""
    return json.loads(errors[errors.index("{\n") :])


class TestRank:
    """Of what launch scripts export."""

    TEXT = "import os; print(int(os.getenv('RANK_SIZE')), os.environ['RANK_ID'])"

    def test_alone(self, run_script):
        """A script that is started by itself reads that it is rank 0 of 1, and the report says who told it."""
        code, output, errors = run_script(self.TEXT, options=["--report", "json"])
        assert (code, output) == (0, "1 0\n"), errors
        assert read(errors)["given"] == {"RANK_SIZE": "1", "RANK_ID": "0"}

    def test_described(self, run_script):
        """An environment that describes ranks is left alone, right or wrong."""
        code, output, errors = run_script(self.TEXT, options=["--report", "json"], RANK_SIZE="2", RANK_ID="")
        assert (code, output) == (0, "2 \n"), errors
        assert read(errors)["given"] == {}

    def test_strict(self, run_script):
        """With --strict nothing is set, and the report names the variables that the failing line reads."""
        code, _, errors = run_script(self.TEXT, options=["--strict"])
        assert code == 1
        assert "reads what launch scripts export, not set: RANK_ID RANK_SIZE" in errors


class TestReport:
    def test_json(self, run_script, tmp_path):
        """The report tells sessions, options, life cycle and exit code, as JSON in a file."""
        file = tmp_path / "report.json"
        text = SESSION.format('op.parameter_map["precision_mode"].s = b"allow_mix_precision"')
        code, output, errors = run_script(
            text, "a", options=["--report", "json", "--report-file", str(file), "--devices", "2"]
        )
        assert (code, output) == (0, "2\n"), errors
        report = json.loads(file.read_text("utf-8"))
        assert report["script"] == [os.path.join("sub", "script.py"), "a"]
        assert (report["exit_code"], report["error"]) == (0, "")
        assert report["host"]["devices"] == 2
        (session,) = report["sessions"]
        assert session["options"] == {"precision_mode": "allow_mix_precision"}
        assert (session["runs"], session["closed"]) == (1, True)
        assert session["site"].endswith("script.py:10")
        assert report["initialized"] == [{"session": 1, "device": "0"}]
        assert report["shut_down"] is True
        assert not any(report[name] for name in ("ignored", "leaks", "dumps", "profiles", "precision", "notes"))

    def test_text(self, run_script):
        """The text says the same to a reader, and what is left behind."""
        text = SESSION.format('op.parameter_map["mix_compile_mod"].b = True').replace(
            "with tf.S", "if True:\n        sess = tf.S"
        )
        text = text.replace(" as sess:", "")
        code, output, errors = run_script(text, options=[])
        assert (code, output) == (0, "2\n"), errors
        for words in (
            "exit code 0",
            "initialised: device 0, by session 1",
            "not shut down",
            "never closed: session 1",
            "ignored in silence by the real runtime: NPU101 mix_compile_mod",
            "script.py:11; session 1)",
        ):
            assert words in errors

    def test_ignored(self, run_script):
        """What is ignored names the sessions, and the line that made them."""
        text = SESSION.format('op.parameter_map["mix_compile_mod"].b = True')
        ignored = read(run_script(text, options=["--report", "json"])[2])["ignored"]
        assert [(entry["sessions"], len(entry["sites"])) for entry in ignored] == [([1], 1)]
        assert ignored[0]["text"].startswith("NPU101 mix_compile_mod")
        assert ignored[0]["sites"][0].endswith("script.py:10")

    def test_nothing(self, run_script):
        """A script that never touches the device is told so."""
        assert "no session was configured for the device" in run_script("print(1)", options=[])[2]

    def test_shutdown_op(self, run_script):
        """A shutdown op that is never reached is told of, even where the last session's end closed the device."""
        text = """
            import sys
            import tensorflow as tf
            from npu_bridge.estimator import npu_ops
            config = tf.compat.v1.ConfigProto()
            config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
            graph = tf.Graph()
            with graph.as_default():
                initialize, shutdown = npu_ops.initialize_system(), npu_ops.shutdown_system()
            with tf.compat.v1.Session(graph=graph, config=config) as sess:
                sess.run(initialize)
                if len(sys.argv) > 1:
                    sess.run(shutdown)
            """
        found = [read(run_script(text, *more, options=["--report", "json"])[2]) for more in ([], ["x"])]
        assert [report["shutdown_op"] for report in found] == [False, True]
        assert [report["finalized"] for report in found] == [["last initialize session closed"], ["shutdown op"]]
        assert "the shutdown op was never run" in run_script(text, options=[])[2]

    def test_many_sessions(self, run_script):
        """Sessions that are alike share a line, whatever their number."""
        text = """
            import tensorflow as tf
            import npu_bridge
            graph = tf.Graph()
            with graph.as_default():
                two = tf.constant(2)
            config = tf.compat.v1.ConfigProto()
            config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
            for number in range(3):
                sess = tf.compat.v1.Session(graph=graph, config=config)
                sess.run(two)
                if number < 2:
                    sess.close()
            """
        code, _, errors = run_script(text, options=[])
        assert code == 0, errors
        for words in (
            "initialised: device 0, by sessions 1-3\n",
            "never closed: session 3\n",
            "  sessions 1-3 (",
            "script.py:10): runs: 1, 1, 1; all options at their defaults\n",
            "rewrite_options.remapping is left at its default; the reference asks for OFF (",
            "rewrite_options.memory_optimization is left at its default; the reference asks for OFF (",
            "script.py:10; sessions 1-3)\n",
        ):
            assert words in errors

    def test_on_the_host(self, run_script):
        """Sessions that never reach the device are named, and the misspelt entry that is the reason."""
        text = """
            import tensorflow as tf
            import npu_bridge
            graph = tf.Graph()
            with graph.as_default():
                two = tf.constant(2)
            config = tf.compat.v1.ConfigProto()
            entry = config.graph_options.rewrite_options.custom_optimizers.add()
            entry.name = "NPUOptimizer"
            entry.parameter_map["use_off_line"].b = True
            for sess in tf.compat.v1.Session(graph=graph), tf.compat.v1.Session(graph=graph, config=config):
                print(sess.run(two), sess.run(two))
            """
        code, output, errors = run_script(text, options=["--report", "json"])
        assert (code, output) == (0, "2 2\n2 2\n"), errors
        report = read(errors)
        assert list(report["on_host"].values()) == [1, 1]
        unnamed, misnamed = report["on_host"]
        assert unnamed.endswith("script.py:11")
        assert misnamed == f"{unnamed} (its custom optimizer is named 'NPUOptimizer')"
        assert (report["sessions"], report["adapter"]) == ([], True)

    def test_no_adapter(self, run_script):
        """A script that asks for the device, and forgot to import the adapter, is told why it ran on the host."""
        text = """
            import tensorflow as tf
            config = tf.compat.v1.ConfigProto()
            config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
            graph = tf.Graph()
            with graph.as_default():
                two = tf.constant(2)
            with tf.compat.v1.Session(graph=graph, config=config) as sess:
                print(sess.run(two))
            """
        code, output, errors = run_script(text, options=[])
        assert (code, output) == (0, "2\n"), errors
        assert "npu_bridge was never imported" in errors

    def test_many_runs(self, run_script):
        """However many runs a script makes, its life cycle is not forgotten."""
        text = """
            import tensorflow as tf
            from npusession.backends.fake import runtime
            from npu_bridge.npu_init import *
            graph = tf.Graph()
            with graph.as_default():
                two = tf.constant(2)
            with tf.compat.v1.Session(graph=graph) as sess:
                sess.run(two)
                for _ in range(runtime.MAX_EVENTS):
                    runtime.RUNTIME.record("run", 1)
            """
        code, _, errors = run_script(text, options=["--report", "json"])
        assert code == 0, errors
        report = read(errors)
        assert report["initialized"] == [{"session": 1, "device": "0"}]
        assert report["shut_down"] is True

    def test_strict(self, run_script):
        """With --strict an option that the runtime would ignore ends the script, with its fix."""
        text = SESSION.format('op.parameter_map["mix_compile_mod"].b = True')
        code, output, errors = run_script(text, options=["--strict", "--report", "json"])
        assert (code, output) == (1, "")
        assert "mix_compile_mode" in errors
        assert "OptionsError" in read(errors)["error"]

    def test_devices(self, run_script):
        """A device that the host does not have is an error."""
        text = SESSION.format('op.parameter_map["session_device_id"].i = 1')
        assert run_script(text)[0] == 0
        code, _, errors = run_script(text, options=["--devices", "1"])
        assert code == 1
        assert "there is no device 1" in errors

    def test_product(self, run_script):
        """What a product does not have is reported with --product."""
        text = SESSION.format('op.parameter_map["HCCL_algorithm"].s = b"level0:ring"')
        _, _, errors = run_script(text, options=["--product", "Atlas A2", "--report", "json"])
        assert read(errors)["host"]["product"] is not None

    def test_abort(self, run_script):
        """Where the real process would die, the script ends with an error that says why."""
        text = SESSION.format('op.parameter_map["buffer_optimize"].s = b"l3"')
        code, _, errors = run_script(text)
        assert code == 1
        assert "NpuAbortError: the real process would abort here" in errors
        # Nothing of npusession is in the way of the script's own line.
        assert "sessions.py" not in errors

    @pytest.mark.parametrize(
        ("option", "words"),
        [
            ('["precision_mode"].b = True', ["precision_mode is ''", "set through .b", '"precision_mode"].s =']),
            ('["precision_mode"].s = b"mixed"', ["precision_mode is 'mixed'", "allowed: ", "allow_mix_precision"]),
            ('["buffer_optimize"].s = b"l3"', ["abort", "allowed: ", "l2_optimize"]),
        ],
        ids=["field", "value", "abort"],
    )
    def test_refused(self, run_script, option, words):
        """What the runtime refuses comes with what the reference allows, and with the fix."""
        code, _, errors = run_script(SESSION.format("op.parameter_map" + option))
        assert code == 1
        assert [word for word in words if word not in errors] == []

    def test_runs_dumped(self, run_script, tmp_path):
        """Dumps of many runs of a graph are one line of the text."""
        text = SESSION.format(
            f"""
    for name, field, value in (
        ("enable_dump", "b", True), ("dump_path", "s", {str(tmp_path)!r}.encode()), ("dump_mode", "s", b"all"),
    ):
        setattr(op.parameter_map[name], field, value)
    """
        ).replace("sess.run(tf.constant(2))", "[sess.run(two) for two in [tf.constant(2) + 0] for _ in range(5)][0]")
        code, output, errors = run_script(text, options=[])
        assert (code, output) == (0, "2\n"), errors
        (line,) = [line for line in errors.splitlines() if line.startswith("  dumps: ")]
        assert int(line.split()[-2]) >= 5

    def test_artefacts(self, run_script, tmp_path):
        """Dumps, profiles and precision phases are listed."""
        text = SESSION.format(
            f"""
    import os
    os.environ.update(TOTAL_STEP="10", STEP_NOW="0")
    for name, field, value in (
        ("enable_dump", "b", True), ("dump_path", "s", {str(tmp_path)!r}.encode()), ("dump_mode", "s", b"all"),
        ("profiling_mode", "b", True), ("profiling_options", "s", b'{{"output": "{tmp_path}/profile"}}'),
        ("experimental_accelerate_train_mode", "s", b"fast|step|0.9"),
    ):
        setattr(op.parameter_map[name], field, value)
    """
        )
        code, _, errors = run_script(text, options=["--report", "json"])
        assert code == 0, errors
        report = read(errors)
        assert sum(report["dumps"].values()) >= 1
        assert [path.startswith(f"{tmp_path}/profile") for path in report["profiles"]] == [True]
        assert [phase["mode"] for phase in report["precision"]] == ["allow_mix_precision_fp16"]

    def test_fork(self, run_script):
        """A child process that the script forks leaves the report to its parent."""
        text = """
            import os, sys
            child = os.fork()
            if not child:
                sys.exit(5)
            print(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
            """
        code, output, errors = run_script(text, options=[])
        assert (code, output) == (0, "5\n")
        assert errors.count("npusession run") == 1

    def test_autograph(self, run_script):
        """AutoGraph, which rewrites what layers run_script, has nothing to say of the adapter's layers."""
        text = """
            import tensorflow as tf
            from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN
            tf.compat.v1.disable_eager_execution()
            y = DynamicRNN(4, tf.float32)(tf.zeros([5, 2, 3]))[0]
            config = tf.compat.v1.ConfigProto()
            config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
            with tf.compat.v1.Session(config=config) as sess:
                sess.run(tf.compat.v1.global_variables_initializer())
                print(sess.run(y).shape)
            """
        code, output, errors = run_script(text)
        assert (code, output) == (0, "(5, 2, 4)\n"), errors
        assert "AutoGraph" not in errors

    def test_children(self, run_script):
        """Processes that the script starts are on the emulation too, with the same settings."""
        text = """
            import multiprocessing, subprocess, sys
            import npu_bridge

            def settings(_=None):
                from npusession.backends.fake.runtime import RUNTIME
                return npu_bridge.__name__, RUNTIME.settings.devices, RUNTIME.settings.strict

            if __name__ == "__main__":
                for method in ("fork", "spawn"):
                    with multiprocessing.get_context(method).Pool(1) as pool:
                        print(pool.map(settings, [0]))
                print(subprocess.check_output([sys.executable, "-c", '''
            import npu_bridge
            from npusession.backends.fake.runtime import RUNTIME
            print(RUNTIME.settings.devices)
            '''.replace("    ", "")]))
            """
        code, output, errors = run_script(text, options=["--devices", "2", "--strict"])
        assert (code, output) == (0, "[('npu_bridge', 2, True)]\n" * 2 + "b'2\\n'\n"), errors
        assert errors.count("npusession run") == 1

    def test_on_the_fake(self, run_script):
        """A script that uses npusession itself is on the fake backend."""
        text = """
            import tensorflow as tf
            from npusession import NpuSession
            graph = tf.Graph()
            with graph.as_default():
                two = tf.constant(2)
            with NpuSession.for_training(graph=graph) as s:
                print(s.backend.name, s.run(two))
            """
        assert run_script(text)[:2] == (0, "fake 2\n")
