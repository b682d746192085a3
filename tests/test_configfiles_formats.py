"""Each format: the reference's examples, other texts that say the same, and what is wrong with values."""

import pytest

from npusession import Product, Severity
from npusession.configfiles import (
    AoeTuning,
    ConfigFileError,
    CustomizeDtypes,
    FusionSwitch,
    MixList,
    OpCache,
    OpDebugConfig,
    OperatorDtypes,
    OpPrecision,
)

AIDS = ("ccec_g", "oom")
RELU = OperatorDtypes("resnet_v1_50/block1/unit_3/bottleneck_v1/Relu", ["float16", "int8"], ["float16", "int8"])
RELUS = OperatorDtypes("OpType::Relu", ["float16", "int8"], ["float16", "int8"])
MODES = ("high_precision", "high_performance", "enable_hi_float_32_execution", "support_out_of_bound_index")

#: The examples of the reference, with the lines that a table cell has lost.
EXAMPLES = {
    "op_debug": ("op_debug_config=ccec_g,oom\n", OpDebugConfig(AIDS)),
    "op_debug_list": (
        "op_debug_config= ccec_g,oom\nop_debug_list=GatherV2,opType::ReduceSum\n",
        OpDebugConfig(AIDS, ["GatherV2", "OpType::ReduceSum"]),
    ),
    "mixlist": (
        """{
  "black-list": {                 // keeps its precision
     "to-remove": [               // to the gray list
     "Xlog1py"
     ],
     "to-add": [                  // to the black list
     "MatMul",
     "Cast"
     ]
  },
  "white-list": {                 // is lowered
     "to-remove": [               // to the gray list
     "Conv2D"
     ],
     "to-add": [                  // to the white list
     "Bias"
     ]
  }
}
""",
        MixList(["MatMul", "Cast"], ["Xlog1py"], ["Bias"], ["Conv2D"]),
    ),
    "custom_dtypes": (
        "# by name\n"
        "resnet_v1_50/block1/unit_3/bottleneck_v1/Relu::InputDtype:float16,int8,OutputDtype:float16,int8\n"
        "# by type\n"
        "OpType::Relu:InputDtype:float16,int8,OutputDtype:float16,int8\n",
        CustomizeDtypes([RELU, RELUS]),
    ),
    "custom_dtypes_format": (
        "# by name\n"
        "Opname1::InputDtype:dtype1,dtype2,OutputDtype:dtype1\n"
        "Opname2::InputDtype:dtype1,dtype2OutputDtype:dtype1,\n"
        "# by type\n"
        "OpType::TypeName1:InputDtype:dtype1,dtype2,OutputDtype:dtype1,\n",
        CustomizeDtypes(
            [OperatorDtypes(name, "dtype1,dtype2", "dtype1") for name in ("Opname1", "Opname2", "OpType::TypeName1")]
        ),
    ),
    "fusion_switch": (
        """{
    "Switch":{
        "GraphFusion":{
            "RequantFusionPass":"on",
            "ConvToFullyConnectionFusionPass":"off",
            "SoftmaxFusionPass":"on",
            "NotRequantFusionPass":"on",
            "SplitConvConcatFusionPass":"on",
            "ConvConcatFusionPass":"on",
            "MatMulBiasAddFusionPass":"on",
            "PoolingFusionPass":"on",
            "ZConcatv2dFusionPass":"on",
            "ZConcatExt2FusionPass":"on",
            "TfMergeSubFusionPass":"on"
        },
        "UBFusion":{
            "TbePool2dQuantFusionPass":"on"
        }
    }
}
""",
        FusionSwitch(
            {
                "RequantFusionPass": True, "ConvToFullyConnectionFusionPass": False, "SoftmaxFusionPass": True,
                "NotRequantFusionPass": True, "SplitConvConcatFusionPass": True, "ConvConcatFusionPass": True,
                "MatMulBiasAddFusionPass": True, "PoolingFusionPass": True, "ZConcatv2dFusionPass": True,
                "ZConcatExt2FusionPass": True, "TfMergeSubFusionPass": True,
            },
            {"TbePool2dQuantFusionPass": True},
        ),
    ),
    "fusion_switch_all": (
        '{"Switch":{"GraphFusion":{"ALL":"off"},"UBFusion":{"ALL":"off"}}}',
        FusionSwitch({"ALL": "off"}, {"ALL": "off"}),
    ),
    "fusion_switch_some": (
        """{ "Switch":{ "GraphFusion":{ "ALL":"off", "SoftmaxFusionPass":"on" },
        "UBFusion":{ "ALL":"off", "TbePool2dQuantFusionPass":"on" } } }""",
        FusionSwitch({"ALL": "off", "SoftmaxFusionPass": "on"}, {"ALL": "off", "TbePool2dQuantFusionPass": "on"}),
    ),
    "op_precision": (
        "[ByOpType]\n"
        + "".join(f"optype{number}={mode}\n" for number, mode in enumerate(MODES, 1))
        + "[ByNodeName]\n"
        + "".join(f"nodename{number}={mode}\n" for number, mode in enumerate(MODES, 1)),
        OpPrecision(
            [(f"optype{number}", mode) for number, mode in enumerate(MODES, 1)],
            [(f"nodename{number}", mode) for number, mode in enumerate(MODES, 1)],
        ),
    ),
    "aoe_tuning": (
        """{
       "tune_ops_name":["bert/embeddings/addbert/embeddings/add_1","loss/MatMul"],
       "tune_ops_type":["Add", "Mul"],
       "tune_optimization_level":"O1",
       "feature":["deeper_opat"]
}
""",
        AoeTuning(["bert/embeddings/addbert/embeddings/add_1", "loss/MatMul"], ["Add", "Mul"], "O1", ["deeper_opat"]),
    ),
    "op_cache": (
        "# must be there\n[op_compiler_cache]\n# MB\nmax_op_cache_size=500\n# percent\nremain_cache_size_ratio=80\n",
        OpCache(500, 80),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), EXAMPLES.values(), ids=EXAMPLES)
def test_examples(text, value):
    """Every example of the reference reads as what it says, with any line ends and a byte order mark."""
    kind = type(value)
    assert kind.parse(text) == value
    assert kind.parse("\ufeff" + text.replace("\n", "\r\n")) == value
    assert kind.parse(value.text()) == value
    assert not [problem for problem in kind.parse(text).check("atlas-a2") if problem.severity is Severity.ERROR]


def codes(value, product="atlas-a2"):
    """Return the codes of what is wrong with a value, in order."""
    return [problem.code for problem in value.check(product)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (OpDebugConfig(["oom", "dump_cce", "dump_loc", "ccec_g", "check_flag"]), []),
        (OpDebugConfig(["oom", "ccec_O0"]), ["NPU510"]),
        (OpDebugConfig(["oom", "OOM", "dump_bin"]), ["NPU501", "NPU501"]),
        (OpDebugConfig(["oom", "oom"]), ["NPU505"]),
        (OpDebugConfig((), ["MatMul"]), ["NPU511"]),
        (OpDebugConfig(["oom"], ["a", "a"]), ["NPU505"]),
        (OpDebugConfig(["oom"], ["optype::A", "OpType::A"]), ["NPU505"]),
        (OpDebugConfig(["oom"], ["", " a", "b,c", "d\ne"]), ["NPU502"] * 4),
        (OpDebugConfig(["oom"], ["Type::A"]), ["NPU502"]),
        (OpDebugConfig(["oom"], ["OpType::"]), ["NPU502"]),
        (OpDebugConfig(["oom"], ["OpType:: A"]), ["NPU502"]),
        (OpDebugConfig(), ["NPU506"]),
        (MixList(["A"], ["B"], ["C"], ["D"]), []),
        (MixList(["A"], ["A"]), ["NPU515"]),
        (MixList(black_add=["A"], white_add=["A"]), ["NPU515"]),
        (MixList(black_remove=["A"], white_remove=["A"]), ["NPU515"]),
        (MixList(["A"], ["A"], ["A"], ["A"]), ["NPU515"]),
        (MixList(black_remove=["A"], white_add=["A"]), ["NPU516"]),
        (MixList(black_add=["A"], white_remove=["A"]), ["NPU516"]),
        (MixList(["A", "A"]), ["NPU505"]),
        (MixList(["", "\ud800", "a "]), ["NPU502"] * 3),
        (MixList(), ["NPU506"]),
        (CustomizeDtypes([OperatorDtypes("a", ["float16"]), OperatorDtypes("OpType::a", (), ["FLOAT"])]), []),
        (CustomizeDtypes([OperatorDtypes("a", ["", "float16"])]), []),
        (CustomizeDtypes([OperatorDtypes("a", ["int8"]), OperatorDtypes("a", ["int8"])]), ["NPU504"]),
        (CustomizeDtypes([OperatorDtypes("a", ["flaot16"])]), ["NPU523"]),
        (CustomizeDtypes([OperatorDtypes("a", ["float 16"])]), ["NPU501"]),
        (CustomizeDtypes([OperatorDtypes("a", ["bfloat16"])]), []),
        (CustomizeDtypes([OperatorDtypes("a")]), ["NPU520"]),
        (CustomizeDtypes([OperatorDtypes("a", ["int8"] * 202)]), []),
        (CustomizeDtypes([OperatorDtypes("a", ["int8"] * 203)]), ["NPU522"]),
        *(
            (CustomizeDtypes([OperatorDtypes(name, ["int8"])]), ["NPU502"])
            for name in ("", " a", "#a", "a:b", "OpType", "OpType::", "OpType::a:b", "InputDtype", "a\nb", "\ufeffa")
        ),
        (CustomizeDtypes(), ["NPU506"]),
        (FusionSwitch({"A": "on"}, {"B": "off"}), []),
        (FusionSwitch({"A": "yes"}, {"B": "OFF"}), ["NPU501", "NPU501"]),
        (FusionSwitch([("A", "on"), ("A", "off")]), ["NPU504"]),
        (FusionSwitch({"": "on"}), ["NPU502"]),
        (FusionSwitch(), ["NPU506"]),
        (OpPrecision(dict.fromkeys("ab", "keep_fp16"), {"a": "super_performance"}), []),
        (OpPrecision({"a": "high"}, {"b": ""}), ["NPU501", "NPU501"]),
        (OpPrecision([("a", "keep_fp16"), ("a", "keep_fp16")]), ["NPU504"]),
        (OpPrecision(dict.fromkeys(("", "a=b", "#a", "[a", "a\n"), "keep_fp16")), ["NPU502"] * 5),
        (OpPrecision({"a": "enable_float_32_execution"}), []),
        (OpPrecision({"a": "enable_hi_float_32_execution"}), ["NPU531"]),
        (OpPrecision(), ["NPU506"]),
        (AoeTuning(["a"], tune_optimization_level="O2", feature=["nonhomo_split"]), []),
        (AoeTuning(feature=["deeper_opat"]), []),
        (AoeTuning(["a"], tune_optimization_level="O3"), ["NPU501"]),
        (AoeTuning(["a"], feature=["deeper"]), ["NPU501"]),
        (AoeTuning(["a"], feature=["deeper_opat", "nonhomo_split"]), ["NPU535"]),
        (AoeTuning(["a", "a"], [""]), ["NPU505", "NPU502"]),
        (AoeTuning(), ["NPU506"]),
        (OpCache(), []),
        (OpCache(-1, 1), []),
        (OpCache(2**31 - 1, 100), []),
        (OpCache(0, 0), ["NPU503", "NPU503"]),
        (OpCache(-2, 101), ["NPU503", "NPU503"]),
        (OpCache(2**31, 50), ["NPU503"]),
        (OpCache(500, None), ["NPU540"]),
        (OpCache(None, 50), ["NPU540"]),
        (OpCache(None, None, {"ops_version": "1"}), []),
        (OpCache(others={"max_op_cache_size": "1"}), ["NPU504"]),
        (OpCache(others=[("a", "1"), ("a", "1")]), ["NPU505", "NPU504"]),
        (OpCache(others={"a": "", "b=c": "1"}), ["NPU502", "NPU502"]),
    ],
)
def test_check(value, expected):
    """Whatever is wrong with a value is reported, each thing by the code of its rule."""
    assert sorted(codes(value)) == sorted(expected)
    for problem in value.check():
        assert problem.option
        assert problem.message
        assert problem.why
        assert str(problem)


@pytest.mark.parametrize(
    ("value", "code", "without"),
    [
        (
            OpPrecision({"a": "enable_float_32_execution"}),
            "NPU530",
            set(Product) - {Product.ATLAS_350, Product.ATLAS_A3, Product.ATLAS_A2},
        ),
        (
            CustomizeDtypes([OperatorDtypes("a", ["BFLOAT16", "bfloat16"][:1])]),
            "NPU521",
            {Product.ATLAS_TRAINING, Product.ATLAS_INFERENCE, Product.ATLAS_300I_DUO},
        ),
        (FusionSwitch({}, {"ALL": "on", "A": "on"}), "NPU525", {Product.ATLAS_350}),
    ],
)
def test_products(value, code, without):
    """What a product does not support is an error there, and a warning where the product is not known."""
    for product in Product:
        assert codes(value, product) == ([code] if product in without else [])
    (problem,) = value.check()
    assert (problem.code, problem.severity) == (code, Severity.WARNING)
    assert not set(problem.allowed.split(", ")) & {product.title for product in without}
    assert all(problem.severity is Severity.ERROR for product in without for problem in value.check(product))


def test_ub_fusion_off():
    """Turning passes off that the product does not have is no mistake."""
    assert codes(FusionSwitch({"ALL": "off"}, {"ALL": "off"}), Product.ATLAS_350) == []
    assert codes(FusionSwitch({"ALL": "off"}, {"ALL": "off"}), None) == []


def test_closest_word():
    """A slip in a word is answered with the word that was meant."""
    for value, fix in (
        (OpDebugConfig(["ccec_o0"]), "ccec_O0"),
        (CustomizeDtypes([OperatorDtypes("a", ["flaot16"])]), "float16"),
        (OpPrecision({"a": "high_precison"}), "high_precision"),
        (AoeTuning(feature=["deeper_opt"]), "deeper_opat"),
    ):
        assert [problem.fix for problem in value.check("A2")] == [fix]


def test_comments_in_json():
    """Comments in JSON are read and reported once, with the place of the first, and a copy written again has none."""
    text, value = EXAMPLES["mixlist"]
    read = MixList.parse(text, "/data/ops_info.json")
    (problem,) = read.check()
    assert (problem.code, problem.severity, problem.option) == ("NPU507", Severity.WARNING, "/data/ops_info.json:2:35")
    assert MixList.parse(read.text()).check() == value.check() == []


def test_lines_between_dtypes():
    """Comments, blank lines and indented entries are reported, since the runtime reads each line as an entry."""
    entry = "a::InputDtype:int8\n"
    assert codes(CustomizeDtypes.parse(entry)) == codes(CustomizeDtypes.parse(entry.strip())) == []
    for text in (
        "# a\n" + entry,
        "\n" + entry,
        entry + "\n",
        entry + "# a",
        entry + " ",
        " " + entry,
        "\ufeff" + entry,
    ):
        read = CustomizeDtypes.parse(text)
        assert codes(read) == ["NPU507"]
        assert codes(CustomizeDtypes.parse(read.text())) == []
    assert codes(CustomizeDtypes.parse("")) == ["NPU506"]


def test_byte_order_mark():
    """A byte order mark is reported where the runtime takes it for part of the first line."""
    for text, value in EXAMPLES.values():
        found = [problem.message for problem in type(value).parse("\ufeff" + text).check("A2")]
        by_line = not isinstance(value, (MixList, FusionSwitch, AoeTuning))
        assert any("byte order mark" in message for message in found) is by_line


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("a::InputDtype:b", OperatorDtypes("a", "b")),
        ("a:InputDtype:b", OperatorDtypes("a", "b")),
        ("a::OutputDtype:b", OperatorDtypes("a", "", "b")),
        ("a::InputDtype: b , c , OutputDtype: d", OperatorDtypes("a", "b,c", "d")),
        ("a::InputDtype:,b,,OutputDtype:d", OperatorDtypes("a", ["", "b"], ["d"])),
        ("OpType::a::InputDtype:b", OperatorDtypes("OpType::a", "b")),
        ("OpType:: a :InputDtype:b", OperatorDtypes("OpType::a", "b")),
        ("a b/c-d::InputDtype:b", OperatorDtypes("a b/c-d", "b")),
    ],
)
def test_dtype_lines(text, entry):
    """A line may have inputs, outputs or both, blanks, one colon or two, and inputs left as they are."""
    assert CustomizeDtypes.parse(text) == CustomizeDtypes([entry])


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a::",
        "a::b",
        "::InputDtype:b",
        "a::InputDtype:",
        "a::InputDtype:,OutputDtype:,",
        "a::InputDtype",
        "a:::InputDtype:b",
        "a::OutputDtype:b,InputDtype:c",
        "optype::a:InputDtype:b",
        "a=InputDtype:b",
        "x::InputDtype:b\nx::InputDtype:b",
    ],
)
def test_broken_dtype_lines(text):
    """A line that is no entry, and an operator that comes again, is refused."""
    with pytest.raises(ConfigFileError) as caught:
        CustomizeDtypes.parse("# note\n  " + text.replace("\n", "\n  "))
    assert (caught.value.line, caught.value.column) == (2 + text.count("\n"), 3)


@pytest.mark.parametrize(
    ("kind", "text", "line", "column", "expected"),
    [
        (OpDebugConfig, "oom", 1, 1, "key=value"),
        (OpDebugConfig, "op_debug_config=oom\ndebug=1", 2, 1, "op_debug_config or op_debug_list"),
        (OpDebugConfig, "op_debug_config=oom\n\n op_debug_config=oom", 3, 2, "each key once"),
        (MixList, '{"black-list": []}', 1, 16, "an object with to-remove"),
        (MixList, '{"black-list": {"to-add": "A"}}', 1, 27, "a list of text"),
        (MixList, '{"black-list": {"to-add": ["A", 1]}}', 1, 33, "text in double quotes"),
        (MixList, '{"black-list": {"to-add": []},\n"black-list": {}}', 2, 1, "each key once"),
        (FusionSwitch, "{}", 1, 1, "an object with Switch"),
        (FusionSwitch, '{"Switch": {"UBFusion": {"ALL": false}}}', 1, 33, "text in double quotes"),
        (FusionSwitch, '{"Switch": {"UBFusion": {"A": "on", "A": "on"}}}', 1, 37, "each key once"),
        (FusionSwitch, "SoftmaxFusionPass:off", 1, 1, "an object in braces"),
        (AoeTuning, '{"tune_ops_name": "a"}', 1, 19, "a list of text"),
        (AoeTuning, '{"tune_optimization_level": ["O1"]}', 1, 29, "text in double quotes"),
        (OpCache, "# note\n", 2, 1, "[op_compiler_cache]"),
        (OpCache, "[op_compiler_cache]\nmax_op_cache_size = 500 MB", 2, 21, "MB, or -1"),
        (OpCache, "[op_compiler_cache]\nremain_cache_size_ratio=80%", 2, 25, "a whole number"),
    ],
)
def test_broken(kind, text, line, column, expected):
    """What is not of the format is refused at its place."""
    with pytest.raises(ConfigFileError) as caught:
        kind.parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.expected.startswith(expected)


def test_cache_made_by_the_runtime():
    """A cache's own file is read with all that the runtime keeps there, and changing a number loses none of it."""
    import dataclasses

    read = OpCache.parse("[op_compiler_cache]\nadk_version=7.3\nops_version=7.3\n")
    assert read == OpCache(None, None, {"adk_version": "7.3", "ops_version": "7.3"})
    changed = dataclasses.replace(read, max_op_cache_size=2000, remain_cache_size_ratio=80)
    assert changed.others == read.others
    assert codes(changed) == []


def test_numbers_of_other_types():
    """Whole numbers of other types count, such as those out of NumPy."""

    class Number:
        def __index__(self):
            return 80

    assert OpCache(500, Number()) == OpCache(500, 80)
