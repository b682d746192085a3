"""Recovery options: how long the runtime waits before it takes something for dead."""

from __future__ import annotations

import typing

from ..environment import CLUSTER_VARIABLES
from ..products import Product
from .kinds import INT32_MAX, Integer
from .model import Default, Group, Note, Option, Settings, problem
from .problems import Problem, Rule, Severity

#: What counts when hccl_timeout is not given, in seconds.
HCCL_VARIABLE = "HCCL_EXEC_TIMEOUT"
#: Families that take any number of seconds, 0 for no limit.
UNLIMITED = frozenset({Product.ATLAS_350, Product.ATLAS_A3, Product.ATLAS_A2})
#: Families whose wait is a multiple of this many seconds, up to the most below.
STEPPED = frozenset({Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO})
STEP = 68
MOST = 17340
_NO_LIMIT = -1

HCCL_TIMEOUT = Option(
    "hccl_timeout",
    Integer(0, unit=f"s (1 to {MOST} on some products)", unit_zh=f"s（部分产品为 1 到 {MOST}）"),
    "How long devices wait for each other; more helps when communication fails for being slow.",
    "设备间任务执行的同步等待时间，单位 s；出现通信失败等情况时可延长。",
    defaults=(Default(1836),),
    notes=(
        Note(
            "Atlas 350, A3 and A2: 0 to 2147483647 s, where 0 never times out.",
            "Atlas 350、A3、A2：取值范围 0 到 2147483647，0 表示永不超时。",
        ),
        Note(
            "Training series and Atlas 300I Duo: 1 to 17340 s, rounded down to a multiple of 68 s, but to 68 s at "
            "least: 600 counts as 544.",
            "Atlas 训练系列产品与 Atlas 300I Duo：取值范围 1 到 17340；实际值向下取 68 的倍数，"
            "不足 68 按 68 处理，如 600 按 544 生效。",
        ),
        Note("Goes before HCCL_EXEC_TIMEOUT in the environment.", "优先级高于环境变量 HCCL_EXEC_TIMEOUT。"),
    ),
    replaces=(HCCL_VARIABLE,),
)
OP_WAIT_TIMEOUT = Option(
    "op_wait_timeout",
    Integer(0, unit="s"),
    "How long an operator waits.",
    "算子等待超时时间，单位 s；默认时长不足时可延长。",
    defaults=(Default(120),),
)
OP_EXECUTE_TIMEOUT = Option(
    "op_execute_timeout",
    Integer(0, unit="s"),
    "How long an operator may run.",
    "算子执行超时时间，单位 s。",
)
STREAM_SYNC_TIMEOUT = Option(
    "stream_sync_timeout",
    Integer(_NO_LIMIT, unit="ms (-1: no limit)", unit_zh="ms（-1 表示不限时）"),
    "How long a graph's run waits for a stream before that counts as failed.",
    "图执行时 stream 同步等待超时时间，单位 ms，超时报同步失败。",
    defaults=(Default(_NO_LIMIT),),
    notes=(
        Note("-1 waits for ever, and reports no failure.", "-1 表示无等待时间限制，同步失败不报错。"),
        Note(
            "In a cluster it has to be longer than hccl_timeout, or HCCL_EXEC_TIMEOUT, which are in seconds.",
            "集群场景下须大于集合通信超时时间，即 hccl_timeout 或 HCCL_EXEC_TIMEOUT（单位 s）。",
        ),
    ),
)
EVENT_SYNC_TIMEOUT = Option(
    "event_sync_timeout",
    Integer(_NO_LIMIT, unit="ms (-1: no limit)", unit_zh="ms（-1 表示不限时）"),
    "How long a graph's run waits for an event before that counts as failed.",
    "图执行时 event 同步等待超时时间，单位 ms，超时报同步失败。",
    defaults=(Default(_NO_LIMIT),),
    notes=(Note("-1 waits for ever, and reports no failure.", "-1 表示无等待时间限制，同步失败不报错。"),),
)

TIMEOUT_RANGE = Rule(
    "NPU230", "wrong-product", f"On the training series and Atlas 300I Duo hccl_timeout is 1 to {MOST} seconds."
)
TIMEOUT_ROUNDED = Rule(
    "NPU231",
    "rounded",
    f"On the training series and Atlas 300I Duo hccl_timeout counts in multiples of {STEP} seconds.",
    Severity.WARNING,
)
SYNC_TOO_SHORT = Rule(
    "NPU232", "conflict", "In a cluster a stream has to be waited for longer than the devices wait for each other."
)


def in_effect(seconds: int, product: Product | None) -> int:
    """Return the seconds that an hccl_timeout comes to on a product."""
    return max(seconds // STEP, 1) * STEP if product in STEPPED else seconds


def _hccl_timeout(settings: Settings) -> typing.Iterator[Problem]:
    seconds = settings.get(HCCL_TIMEOUT.name)
    if not isinstance(seconds, int) or settings.product in UNLIMITED:
        return
    if not 1 <= seconds <= MOST:
        stepped = settings.product in STEPPED
        where = settings.product.title if settings.product and stepped else "some products"
        yield problem(
            TIMEOUT_RANGE,
            HCCL_TIMEOUT,
            f"outside the range of {where}",
            value=seconds,
            allowed=f"1 to {MOST} s; 0 to {INT32_MAX} s on "
            + ", ".join(sorted(product.title for product in UNLIMITED)),
            fix=f"{HCCL_TIMEOUT.name}={MOST}" if stepped else "name the product: product=...",
            severity=None if stepped else Severity.WARNING,
        )
    elif in_effect(seconds, settings.product) != seconds:
        yield problem(
            TIMEOUT_ROUNDED,
            HCCL_TIMEOUT,
            f"counts as {in_effect(seconds, settings.product)} s",
            value=seconds,
            allowed=f"multiples of {STEP}",
            fix=f"{HCCL_TIMEOUT.name}={-(-seconds // STEP) * STEP}",
        )


def _sync_too_short(settings: Settings) -> typing.Iterator[Problem]:
    wait = settings.get(STREAM_SYNC_TIMEOUT.name)
    name, seconds = _hccl_wait(settings)
    if not isinstance(wait, int) or wait == _NO_LIMIT or seconds is None:
        return
    seconds = in_effect(seconds, settings.product)
    if seconds != 0 and wait > seconds * 1000:
        return
    yield problem(
        SYNC_TOO_SHORT,
        STREAM_SYNC_TIMEOUT,
        f"{wait} ms, and {name} " + (f"is {seconds} s" if seconds else "has no limit"),
        value=wait,
        allowed=f"more than {seconds * 1000}, or -1" if seconds else "-1",
        fix=f"{STREAM_SYNC_TIMEOUT.name}={_NO_LIMIT}",
        # By itself a process waits for no other.
        severity=None if _in_cluster(settings.environ) else Severity.WARNING,
    )


def _hccl_wait(settings: Settings) -> tuple[str, int | None]:
    """Return the option or variable that gives the devices' wait, and its seconds."""
    seconds = settings.get(HCCL_TIMEOUT.name)
    if isinstance(seconds, int):
        return HCCL_TIMEOUT.name, seconds
    text = settings.environ.get(HCCL_VARIABLE, "").strip()
    return HCCL_VARIABLE, int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else None


def _in_cluster(environ: typing.Mapping[str, str]) -> bool:
    alone = environ.get("RANK_SIZE", "").strip() in ("0", "1")
    return not alone and any(name in environ for name in CLUSTER_VARIABLES)


GROUP = Group(
    "recovery",
    "Recovery from failures",
    "异常补救",
    (HCCL_TIMEOUT, OP_WAIT_TIMEOUT, OP_EXECUTE_TIMEOUT, STREAM_SYNC_TIMEOUT, EVENT_SYNC_TIMEOUT),
    (TIMEOUT_RANGE, TIMEOUT_ROUNDED, SYNC_TOO_SHORT),
    (_hccl_timeout, _sync_too_short),
)
