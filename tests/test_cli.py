"""The command line, as a user sees it."""

import json

import pytest
from click.testing import CliRunner

from npusession.cli import main
from npusession.cli.words import Words
from npusession.options import GROUPS, TABLE


@pytest.fixture
def call():
    """Run the command; returns its exit code and output."""

    def run(*arguments):
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        return result.exit_code, result.output

    return run


def test_all_options(call):
    """`options` lists every option by its whole name."""
    code, output = call("options")
    assert code == 0
    assert all(name in output for name in TABLE)


def test_one_option(call):
    """`options NAME` explains an option: its field, values, default, products and notes."""
    code, output = call("options", "dump_mode")
    assert code == 0
    for part in ("parameter_map[...].s", "input:", "output:", "all:", "init"):
        assert part in output


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", sorted(TABLE))
def test_each_option(call, name, lang):
    """Every option is explained in both languages."""
    code, output = call("options", name, "--lang", lang)
    assert code == 0
    assert name in output


def test_group_in_chinese(call):
    """A group is found by its name or by the heading of the reference, and told in Chinese."""
    assert call("options", "精度调优", "--lang", "zh")[1] == call("options", "precision", "--lang", "zh")[1]
    assert "精度" in call("options", "precision", "--lang", "zh")[1]


def test_profiling_key(call):
    """A key of the profiling options is explained like an option."""
    code, output = call("options", "aic_metrics")
    assert code == 0
    assert "PipeUtilization" in output


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_profiling_options(call, monkeypatch, lang):
    """The option that holds keys is explained with each key: its values, defaults, products and notes."""
    monkeypatch.setenv("COLUMNS", "400")
    _, output = call("options", "profiling_options", "--lang", lang)
    keys = TABLE["profiling_options"].keys
    assert len(keys) == 24
    words = Words(lang)
    for key in keys:
        row = next(line for line in output.splitlines() if line.startswith(f"  {key.name} "))
        assert all(str(default.value) in row for default in key.defaults)
        assert all(note in output for note in words.notes(key))
    assert "[atlas-350, atlas-a3, atlas-a2, atlas-200i-500-a2]" in output or lang == "zh"


def test_misspelt_name(call):
    """A misspelt name is answered with the one that was meant."""
    code, output = call("options", "sump_mode")
    assert code == 2
    assert "dump_mode" in output


def test_narrowed(call):
    """The list can be narrowed to a scene, a product, or what changed."""
    names = {
        key: {option["name"] for option in json.loads(call("options", "--json", *arguments)[1])}
        for key, arguments in {
            "all": (),
            "inference": ("--scene", "inference"),
            "a2": ("--product", "Ascend910B1"),
            "changed": ("--changed",),
        }.items()
    }
    assert names["all"] == set(TABLE)
    assert "dump_step" in names["all"] - names["inference"]
    assert "input_batch_cpy" in names["a2"]
    assert "op_debug_level" in names["changed"]
    assert "deterministic" not in names["changed"]
    assert call("options", "--product", "gpu")[0] == 2


def test_json(call):
    """JSON holds all that the table knows."""
    (option,) = json.loads(call("options", "precision_mode_v2", "--json")[1])
    assert option["field"] == "s"
    assert {"value": "fp16", "scenes": ["inference"]}.items() <= {
        key: value for key, value in option["defaults"][-1].items() if key != "products"
    }.items()
    assert {value["value"] for value in option["values"]} >= {"origin", "mixed_float16"}


def test_key_and_option_of_one_name(call):
    """A name that was an option once and is a key of profiling_options today is explained as both."""
    code, output = call("options", "fp_point")
    assert code == 0
    assert "fp_point  (parameter_map[...].s)" in output
    assert "fp_point  (a key of profiling_options)" in output


def test_nothing_is_cut(call, monkeypatch):
    """On a narrow terminal long words are folded, and none of their characters are lost."""
    monkeypatch.setenv("COLUMNS", "60")
    _, output = call("options", "aic_metrics", "--lang", "zh")
    assert "…" not in output
    assert "Profiling" in output


@pytest.fixture
def plan_file(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('scene = "training"\ndeterministic = 1\nop_debug_level = 3\n', "utf-8")
    return path


def test_explain(call, plan_file):
    """`explain` shows the value of each option and where it comes from, and the plan's warnings."""
    code, output = call("explain", plan_file)
    assert code == 0
    for part in ("deterministic", "given", "graph_run_mode", "default", "NPU108"):
        assert part in output


def test_explain_the_environment(call, plan_file, monkeypatch):
    """A variable of the environment that counts is named."""
    monkeypatch.setenv("HCCL_EXEC_TIMEOUT", "600")
    rows = {row["name"]: row for row in json.loads(call("explain", plan_file, "--json")[1])["options"]}
    assert (rows["hccl_timeout"]["origin"], rows["hccl_timeout"]["detail"]) == ("environment", "HCCL_EXEC_TIMEOUT")
    assert rows["hccl_timeout"]["value"] == "600"


def test_explain_a_broken_plan(call, tmp_path):
    """A plan with errors lists them all and exits with 1."""
    path = tmp_path / "plan.json"
    path.write_text('{"dump": 5, "dump_mode": "both", "precisoin_mode": "x"}', "utf-8")
    code, output = call("explain", path)
    assert code == 1
    assert "NPU105 dump_mode" in output
    assert "precision_mode" in output
    code, output = call("explain", path, "--json")
    assert code == 1
    assert {problem["code"] for problem in json.loads(output)["problems"]} == {"NPU101", "NPU105", "NPU106"}


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_explain_what_is_no_plan(call, tmp_path, text):
    """A file that holds no plan is refused with its name."""
    path = tmp_path / "plan.json"
    path.write_text(text, "utf-8")
    code, output = call("explain", path)
    assert code == 1
    assert output.startswith("Error: ")


@pytest.mark.parametrize("ending", [".pb", ".pbtxt", ".dat"])
def test_explain_a_config(call, tmp_path, tf1, ending):
    """A ConfigProto is explained too, serialised or in text format."""
    from google.protobuf import text_format

    from npusession import NpuSession

    config = NpuSession.for_training(deterministic=1).config_proto()
    path = tmp_path / f"config{ending}"
    if ending == ".pb":
        path.write_bytes(config.SerializeToString())
    else:
        path.write_text(text_format.MessageToString(config), "utf-8")
    rows = {row["name"]: row for row in json.loads(call("explain", path, "--json")[1])["options"]}
    assert (rows["deterministic"]["value"], rows["deterministic"]["origin"]) == (1, "given")


def test_groups_are_named():
    """Each group has a name of its own, in both languages."""
    assert len({group.name for group in GROUPS}) == len({group.title_zh for group in GROUPS}) == len(GROUPS)
