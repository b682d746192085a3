"""The rules of profiling; its keys one by one are in test_profiling."""

import json

import pytest
from grouping import check_examples, codes, inferring, read, refusal, report

from npusession import Product
from npusession.options import Scene
from npusession.options.profiling_rules import GROUP


def profiled(scene=Scene.TRAINING, product=None, keys=None, **options):
    return report(scene, product, profiling_mode=True, profiling_options=keys or {}, **options)


def profiled_codes(*arguments, **options):
    found = profiled(*arguments, **options)
    return [problem.code for problem in found.errors], [problem.code for problem in found.warnings]


TRACE = {"training_trace": "on", "task_trace": "off"}


def test_rules():
    """Every rule of the group can be broken and kept."""
    check_examples(
        {
            "NPU205": (report(profiling_options={"l2": "on"}), profiled(keys={"l2": "on"})),
            "NPU206": (
                report(profiling_mode=True),
                report(profiling_mode=True, environ={"PROFILING_OPTIONS": "{}"}),
            ),
            "NPU207": (
                profiled(product=Product.ATLAS_A2, keys={"instr_profiling_freq": 300, "aicpu": "on"}),
                profiled(product=Product.ATLAS_A2, keys={"instr_profiling_freq": 300, "aicpu": "off"}),
            ),
            "NPU208": (
                profiled(keys={"task_trace": "on"}),
                profiled(keys={"task_trace": "on", "training_trace": "on"}),
            ),
            "NPU257": (profiled(keys={"fp_point": "conv1"}), profiled(keys={"fp_point": "conv1", **TRACE})),
            "NPU258": (
                profiled(keys=TRACE, dynamic_input=True),
                profiled(keys={"fp_point": "conv1", "bp_point": "grad/conv1", **TRACE}, dynamic_input=True),
            ),
        },
        GROUP,
    )


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("task_trace", {"task_trace": "on"}),
        ("training_trace", {"training_trace": "on"}),
        ("training_trace:task_trace", {"training_trace": "on", "task_trace": "on"}),
        ("task_trace: training_trace", {"task_trace": "on", "training_trace": "on"}),
        ("op_trace", {"task_time": "on"}),
    ],
)
def test_words_of_earlier_releases(text, fix):
    """Words joined by colons are refused with the JSON that does the same today."""
    found = refusal("profiling_options", text)
    assert "earlier releases" in found.message
    name, _, literal = found.fix.partition("=")
    assert name == "profiling_options"
    assert json.loads(literal.strip("'")) == fix
    assert not profiled(keys=json.loads(literal.strip("'")))


@pytest.mark.parametrize(
    "text", ["", ":", "task_trace:", "training", "task_trace,training_trace", "output:/tmp", "'{}'"]
)
def test_other_text(text):
    """Any other text is refused as what it is, no JSON."""
    assert refusal("profiling_options", text).message.startswith("not JSON")


@pytest.mark.parametrize("metric", ["L2Cache", "MemoryAccess"])
@pytest.mark.parametrize("product", list(Product))
def test_metrics_by_product(metric, product):
    """Some products count less than others."""
    lacking = {Product.ATLAS_TRAINING, Product.ATLAS_INFERENCE, Product.ATLAS_300I_DUO}
    if metric == "MemoryAccess":
        lacking.add(Product.ATLAS_350)
    errors, _ = profiled_codes(product=product, keys={"aic_metrics": metric})
    assert errors == (["NPU110"] if product in lacking else [])
    assert profiled_codes(product=product, keys={"aic_metrics": "Memory"}) == ([], [])


def test_metrics_of_an_unknown_product():
    """Without a product, what only some can count is a warning."""
    assert profiled_codes(keys={"aic_metrics": "L2Cache"}) == ([], ["NPU110"])


@pytest.mark.parametrize(
    ("hertz", "product", "found"),
    [
        (100, Product.ATLAS_A2, ([], [])),
        (101, Product.ATLAS_A2, (["NPU110"], [])),
        (10000, Product.ATLAS_350, ([], [])),
        (101, None, ([], ["NPU110"])),
        (10001, Product.ATLAS_350, (["NPU105"], [])),
    ],
)
def test_memory_frequency(hertz, product, found):
    """Only Atlas 350 samples memory faster than 100 times a second."""
    assert profiled_codes(product=product, keys={"sys_hardware_mem_freq": hertz}) == found


@pytest.mark.parametrize("dynamic", ["dynamic_input", "compile_dynamic_mode"])
def test_points_of_dynamic_shapes(dynamic):
    """On dynamic shapes both ends of an iteration have to be named."""
    found = profiled(keys={"fp_point": "conv1", "bp_point": "", **TRACE}, **{dynamic: True})
    assert [problem.option for problem in found if problem.code == "NPU258"] == ["profiling_options['bp_point']"]
    assert "NPU258" not in profiled_codes(keys=TRACE, **{dynamic: False})[1]
    assert "NPU258" not in profiled_codes(keys={"task_trace": "off"}, **{dynamic: True})[1]


def test_points_in_inference():
    """Online inference traces no iterations, so the ends of one are to be left out."""
    (problem,) = profiled(Scene.INFERENCE, keys={"fp_point": "conv1"})
    assert problem.code == "NPU257"
    assert problem.fix == "leave out fp_point"
    assert not list(profiled(Scene.INFERENCE, keys={"fp_point": "", "bp_point": ""}))


def test_output_that_is_a_file(tmp_path):
    """Results cannot go to a file; a directory that is not there yet is made."""
    (tmp_path / "file").write_text("")
    for name, errors in (("file", ["NPU113"]), ("new", [])):
        keys = {"output": str(tmp_path / name)}
        assert profiled_codes(keys=keys, host=True) == (errors, [])
        assert profiled_codes(keys=keys) == ([], [])


def test_text_stays():
    """Text that the runtime reads as it was meant is passed on untouched."""
    text = '{ "output":"./log",    "task_trace":"on", "fp_point":"FlowNet2/Pad" }'
    assert read("profiling_options", text) == text
    assert read("profiling_options", '{"task_trace": true}') == '{"task_trace": "on"}'


def test_environment_switches_profiling_on():
    """Options without the switch are void even where the environment has it, which brings options of its own."""
    assert codes(profiling_options={"l2": "on"}, environ={"PROFILING_MODE": "true"}) == (["NPU205"], [])
    assert inferring(profiling_mode=False) == ([], [])
