"""The options of timeouts."""

import pytest
from grouping import check_examples, codes, read, refusal, report

from npusession import Product, Severity
from npusession.options import TABLE, Scene
from npusession.options.recovery import GROUP, in_effect

CLUSTER = {"RANK_TABLE_FILE": "/data/rank_table.json", "RANK_ID": "0", "RANK_SIZE": "8"}
STEPPED = [Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO]
UNLIMITED = [Product.ATLAS_350, Product.ATLAS_A3, Product.ATLAS_A2]


def test_rules():
    """Every rule of the group can be broken and kept."""
    check_examples(
        {
            "NPU230": (
                report(product=Product.ATLAS_TRAINING, hccl_timeout=17341),
                report(product=Product.ATLAS_TRAINING, hccl_timeout=17340),
            ),
            "NPU231": (
                report(product=Product.ATLAS_TRAINING, hccl_timeout=600),
                report(product=Product.ATLAS_TRAINING, hccl_timeout=612),
            ),
            "NPU232": (
                report(stream_sync_timeout=60000, hccl_timeout=1800),
                report(stream_sync_timeout=1800001, hccl_timeout=1800),
            ),
        },
        GROUP,
    )


@pytest.mark.parametrize("product", UNLIMITED, ids=lambda product: product.value)
@pytest.mark.parametrize("seconds", [0, 1, 600, 17341, 2147483647])
def test_unlimited(product, seconds):
    """The newer products take any number of seconds as it is, and 0 for no limit."""
    assert codes(product=product, hccl_timeout=seconds) == ([], [])


@pytest.mark.parametrize("product", STEPPED, ids=lambda product: product.value)
@pytest.mark.parametrize(
    ("seconds", "found"),
    [
        (0, (["NPU230"], [])),
        (1, ([], ["NPU231"])),
        (68, ([], [])),
        (600, ([], ["NPU231"])),
        (1836, ([], [])),
        (17340, ([], [])),
        (17341, (["NPU230"], [])),
    ],
)
def test_stepped(product, seconds, found):
    """The training series and the Duo card take 1 to 17340 seconds, and tell what a number comes to."""
    assert codes(product=product, hccl_timeout=seconds) == found


@pytest.mark.parametrize("product", [None, Product.ATLAS_INFERENCE, Product.ATLAS_200I_500_A2])
@pytest.mark.parametrize(("seconds", "warnings"), [(0, ["NPU230"]), (1, []), (600, []), (17341, ["NPU230"])])
def test_unknown(product, seconds, warnings):
    """Where the reference does not say which range holds, what only some products take is a warning."""
    assert codes(product=product, hccl_timeout=seconds) == ([], warnings)


def test_rounding():
    """Seconds are rounded down to a multiple of 68, but to 68 at least, as the reference computes it."""
    (problem,) = report(product=Product.ATLAS_TRAINING, hccl_timeout=600)
    assert problem.message == "counts as 544 s"
    assert problem.fix == "hccl_timeout=612"
    assert [in_effect(seconds, Product.ATLAS_TRAINING) for seconds in (1, 67, 68, 135, 136, 17340)] == [
        68, 68, 68, 68, 136, 17340
    ]  # fmt: skip
    assert in_effect(600, None) == in_effect(600, Product.ATLAS_A2) == 600


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("hccl_timeout", (0, 1800, 2147483647)),
        ("op_wait_timeout", (120,)),
        ("op_execute_timeout", (90,)),
        ("stream_sync_timeout", (-1, 60000)),
        ("event_sync_timeout", (-1, 60000)),
    ],
)
def test_values(name, values):
    """The values of the reference are taken."""
    assert [read(name, value) for value in values] == list(values)


@pytest.mark.parametrize(
    ("name", "value"),
    [("hccl_timeout", -1), ("hccl_timeout", 2**31), ("op_wait_timeout", -1), ("op_execute_timeout", -1),
     ("stream_sync_timeout", -7), ("event_sync_timeout", -2), ("event_sync_timeout", 1.5), ("op_wait_timeout", True)],
)  # fmt: skip
def test_bad_values(name, value):
    """Negative times are refused, but for the -1 of the waits that may have no limit."""
    refusal(name, value)


@pytest.mark.parametrize(
    ("wait", "seconds", "short"),
    [(-1, 1800, False), (60000, 1800, True), (1800000, 1800, True), (1800001, 1800, False), (60000, None, False),
     (60000, 0, True), (-1, 0, False)],
)  # fmt: skip
def test_stream_waits_longer(wait, seconds, short):
    """In a cluster, milliseconds of a stream are compared with seconds of the devices; no limit is longer than any."""
    given = {"stream_sync_timeout": wait, "hccl_timeout": seconds, "product": Product.ATLAS_A2}
    assert codes(environ=CLUSTER, **given) == (["NPU232"] if short else [], [])
    assert codes(**given) == ([], ["NPU232"] if short else [])


@pytest.mark.parametrize(
    ("environ", "short"),
    [
        ({"HCCL_EXEC_TIMEOUT": "1800"}, True),
        ({"HCCL_EXEC_TIMEOUT": "60"}, True),
        ({"HCCL_EXEC_TIMEOUT": "59"}, False),
        ({"HCCL_EXEC_TIMEOUT": "soon"}, False),
        ({}, False),
    ],
)
def test_variable_counts(environ, short):
    """HCCL_EXEC_TIMEOUT counts when the option is not given, and only then."""
    given = {"stream_sync_timeout": 60000, "product": Product.ATLAS_A2}
    assert codes(environ=environ, **given) == ([], ["NPU232"] if short else [])
    assert codes(environ=environ, hccl_timeout=59, **given) == ([], [])


@pytest.mark.parametrize(
    ("environ", "severity"),
    [
        (CLUSTER, Severity.ERROR),
        ({"CM_CHIEF_IP": "192.0.2.1", "CM_WORKER_SIZE": "8"}, Severity.ERROR),
        ({"RANK_ID": "0", "RANK_SIZE": "1"}, Severity.WARNING),
        ({}, Severity.WARNING),
    ],
)
def test_cluster(environ, severity):
    """A stream's wait that is too short is an error in a cluster, and a word to a process by itself."""
    (problem,) = report(environ=environ, stream_sync_timeout=60000, hccl_timeout=1800)
    assert problem.severity is severity


def test_rounded_seconds_count():
    """What the devices' wait comes to is what a stream has to outlast."""
    given = {"environ": CLUSTER, "hccl_timeout": 100, "stream_sync_timeout": 69000}
    assert codes(product=Product.ATLAS_TRAINING, **given) == ([], ["NPU231"])
    assert codes(product=Product.ATLAS_A2, **given) == (["NPU232"], [])


@pytest.mark.parametrize(
    ("name", "default"),
    [("hccl_timeout", 1836), ("op_wait_timeout", 120), ("op_execute_timeout", None), ("stream_sync_timeout", -1),
     ("event_sync_timeout", -1)],
)  # fmt: skip
def test_defaults(name, default):
    """How long is waited when nothing is given is known."""
    assert TABLE[name].default(Scene.TRAINING) == default
    assert TABLE["hccl_timeout"].replaces == ("HCCL_EXEC_TIMEOUT",)
