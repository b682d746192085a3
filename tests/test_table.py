"""The option table: consistent in itself, and with the names that the runtime reads."""

import collections
import json
import pathlib
import re

import pytest

from npusession import proto
from npusession.cli.words import Words
from npusession.options import GROUPS, RULES, TABLE, Scene, Scope
from npusession.options.kinds import Choice, IntChoice
from npusession.options.model import Status
from npusession.options.problems import BASE_RULES, Page
from npusession.options.profiling_keys import BY_NAME, EXCLUDED_BY_INSTR_PROFILING_FREQ, KEYS
from npusession.products import Product

LISTED = {
    entry["name"]: entry
    for entry in json.loads((pathlib.Path(__file__).parent / "data/options.json").read_text("utf-8"))
}
#: What holds of a name that no release has any more.
NOT_LISTED = {"scene": None, "group": None, "logged_as_deprecated": False}
SCENES = {"训练": Scene.TRAINING, "在线推理": Scene.INFERENCE}
OPTIONS = [(group, option) for group in GROUPS for option in group.options]
EVERY_RULE = [*BASE_RULES, *(rule for group in GROUPS for rule in group.rules), *proto.RULES]
#: The options that the reference wants on the session that initialises the system.
AT_INITIALISATION = (
    "profiling_mode", "profiling_options", "enable_dump", "dump_path", "dump_step", "dump_mode", "enable_dump_debug",
    "dump_debug_mode", "precision_mode", "graph_run_mode", "op_debug_level", "enable_exception_dump",
    "op_select_implmode", "optypelist_for_implmode",
)  # fmt: skip

each_group = pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
each_option = pytest.mark.parametrize(("group", "option"), OPTIONS, ids=[option.name for _, option in OPTIONS])
each_described = pytest.mark.parametrize(
    "option", [*TABLE.values(), *KEYS], ids=[*TABLE, *(f"profiling_options-{key.name}" for key in KEYS)]
)
each_rule = pytest.mark.parametrize("rule", EVERY_RULE, ids=[rule.code for rule in EVERY_RULE])


@each_option
def test_known_to_the_runtime(group, option):
    """An option that can be given is one that the runtime reads, through the field that it reads; others are marked."""
    listed = LISTED.get(option.name)
    if option.removed:
        assert listed is None or not listed["read_by_runtime"]
    else:
        assert listed["read_by_runtime"]
        assert option.field == listed["field"]


@each_option
def test_scene(group, option):
    """An option applies to training and to inference as the reference says."""
    scenes = LISTED.get(option.name, NOT_LISTED)["scene"]
    if scenes is not None:
        assert option.scenes == {SCENES[word] for word in scenes.split("/")}


@each_option
def test_group(group, option):
    """An option stands in the group of the reference that it belongs to."""
    assert LISTED.get(option.name, NOT_LISTED)["group"] in (None, group.title_zh)


@each_option
def test_deprecated(group, option):
    """What the runtime logs as deprecated comes with a word on what to do instead."""
    if LISTED.get(option.name, NOT_LISTED)["logged_as_deprecated"]:
        assert option.status is Status.DEPRECATED
        assert option.instead


@pytest.mark.parametrize("name", AT_INITIALISATION)
def test_scope(name):
    """What the reference wants at initialisation is fixed when the system opens."""
    assert TABLE[name].scope is Scope.INIT


def test_names():
    """No option is listed twice, and looking a name up gives the option of that name."""
    names = [option.name for _, option in OPTIONS]
    assert [name for name, count in collections.Counter(names).items() if count > 1] == []
    assert {name: option.name for name, option in TABLE.items()} == {name: name for name in names}
    assert len({group.name for group in GROUPS}) == len(GROUPS)


@each_described
def test_summaries(option):
    """Every option and profiling key is described in English and in Chinese."""
    assert re.search("[a-z]{2}", option.summary)
    assert not re.search("[\u4e00-\u9fff]", option.summary)
    assert re.search("[\u4e00-\u9fff]", option.summary_zh)


@each_described
def test_values_in_both_languages(option):
    """What an option may be, and what to do instead of it, is told in Chinese wherever the English has words."""
    words = Words("zh")
    for english, chinese in ((option.kind.allowed, words.allowed(option)), (option.instead, words(option.instead))):
        assert re.search("[\u4e00-\u9fff]", chinese) or not re.search("[A-Za-z]{2,} [a-z]{2,}", english)


@each_group
def test_titles(group):
    """Every group has a title in English and the one of the reference."""
    assert re.search("[a-z]{2}", group.title)
    assert group.title_zh


@each_described
def test_defaults(option):
    """A default is a value that the option takes, on a product that has the option."""
    for default in option.defaults:
        assert option.kind.parse(default.value) == default.value
        assert default.products & option.products


@each_described
def test_choices(option):
    """The words of a choice differ, say what they do, and name products that the option is for."""
    if not isinstance(option.kind, (Choice, IntChoice)):
        return
    values = [choice.value for choice in option.kind.values]
    assert len(set(values)) == len(values)
    for choice in option.kind.values:
        assert choice.summary
        assert choice.products & option.products
        assert option.kind.parse(choice.value) == choice.value


@pytest.mark.parametrize(
    ("name", "scene", "product", "default"),
    [
        ("graph_run_mode", Scene.TRAINING, None, 1),
        ("precision_mode", Scene.TRAINING, Product.ATLAS_TRAINING, "allow_fp32_to_fp16"),
        ("precision_mode", Scene.TRAINING, Product.ATLAS_A2, "must_keep_origin_dtype"),
        ("precision_mode", Scene.TRAINING, None, None),
        ("precision_mode", Scene.INFERENCE, None, "force_fp16"),
        ("precision_mode_v2", Scene.TRAINING, Product.ATLAS_A3, "origin"),
        ("dump_mode", Scene.TRAINING, None, "output"),
        ("use_off_line", Scene.INFERENCE, Product.ATLAS_INFERENCE, True),
        ("session_device_id", Scene.TRAINING, None, None),
    ],
)
def test_default(name, scene, product, default):
    """What holds when an option is left out depends on scene and product as in the reference."""
    assert TABLE[name].default(scene, product) == default


def test_codes():
    """No two rules share a code, and the look-up by code has every rule of the options."""
    codes = [rule.code for rule in EVERY_RULE]
    assert [code for code, count in collections.Counter(codes).items() if count > 1] == []
    assert set(codes) - {rule.code for rule in proto.RULES} == set(RULES)


@each_rule
def test_rule(rule):
    """A rule has a code that does not change its form, a kind of mistake, and one sentence."""
    assert re.fullmatch(r"NPU[1-4]\d\d", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.slug)
    assert re.fullmatch(r"[^.]+(\.[^.]+)*\.", rule.title)


@each_group
def test_source(group):
    """Each option and each rule of the session reference tells the section where the vendor describes it."""
    section = f"section {group.title_zh}"
    for item in (*group.options, *group.keys):
        assert item.source.startswith(item.page.value)
        assert item.source.endswith(section) == (item.page is Page.SESSION)
    for rule in group.rules:
        assert rule.source.endswith(section) or rule.source in (Page.RUNTIME.value, Page.VARIABLES.value)


def test_profiling_keys():
    """The 24 keys of profiling_options are there, among them all that one of them excludes."""
    assert len(BY_NAME) == len(KEYS) == 24
    assert set(EXCLUDED_BY_INSTR_PROFILING_FREQ) < set(BY_NAME) - {"instr_profiling_freq"}
