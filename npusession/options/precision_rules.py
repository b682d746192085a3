"""The rules between precision options, and the group that they form."""

from __future__ import annotations

import typing

from .model import Group, Scene, Settings, problem
from .precision import CUSTOMIZE_DTYPES, MODIFY_MIXLIST, PRECISION_MODE, PRECISION_MODE_V2
from .problems import WRONG_SCENE, Problem, Rule, Severity

#: The modes that mix data types.
MIXED = {
    PRECISION_MODE_V2.name: ("mixed_float16", "mixed_bfloat16", "mixed_hif8"),
    PRECISION_MODE.name: ("allow_mix_precision", "allow_mix_precision_fp16", "allow_mix_precision_bf16"),
}
#: The modes that keep the graph's own types.
ORIGIN = {PRECISION_MODE_V2.name: "origin", PRECISION_MODE.name: "must_keep_origin_dtype"}
_HIF8 = ("mixed_hif8", "cube_hif8")
_FORCE_FP16 = "force_fp16"

BOTH_MODES = Rule("NPU201", "conflict", "precision_mode and precision_mode_v2 exclude each other.")
NOT_MIXED = Rule("NPU252", "missing-companion", "modify_mixlist needs a precision mode that mixes data types.")
ORIGIN_KEPT = Rule("NPU253", "no-effect", "customize_dtypes has no effect where the graph's own types are kept.")
NOT_YET = Rule("NPU254", "bad-value", "The current release has no hifloat8.", Severity.WARNING)


def _both_modes(settings: Settings) -> typing.Iterator[Problem]:
    if PRECISION_MODE.name in settings and PRECISION_MODE_V2.name in settings:
        yield problem(
            BOTH_MODES,
            PRECISION_MODE,
            f"given together with {PRECISION_MODE_V2.name}",
            value=settings[PRECISION_MODE.name],
            fix=f"leave out {PRECISION_MODE.name}",
        )


def _force_fp16(settings: Settings) -> typing.Iterator[Problem]:
    if settings.get(PRECISION_MODE.name) == _FORCE_FP16 and settings.scene is Scene.TRAINING:
        yield problem(
            WRONG_SCENE,
            PRECISION_MODE,
            "applies to inference only",
            value=_FORCE_FP16,
            fix=f'{PRECISION_MODE_V2.name}="mixed_float16"',
        )


def _not_yet(settings: Settings) -> typing.Iterator[Problem]:
    mode = settings.get(PRECISION_MODE_V2.name)
    if mode in _HIF8:
        yield problem(NOT_YET, PRECISION_MODE_V2, "not in the current release", value=mode, fix="choose another mode")


def _not_mixed(settings: Settings) -> typing.Iterator[Problem]:
    # A mode that was refused may have been meant as a mixed one.
    refused = not settings.refused.isdisjoint(MIXED)
    mixed = any(settings.get(name) in modes for name, modes in MIXED.items())
    if MODIFY_MIXLIST.name in settings and not mixed and not refused:
        yield problem(
            NOT_MIXED,
            MODIFY_MIXLIST,
            "given without mixed precision",
            value=settings[MODIFY_MIXLIST.name],
            allowed="; ".join("{}: {}".format(name, ", ".join(modes)) for name, modes in MIXED.items()),
            fix=f'{PRECISION_MODE_V2.name}="mixed_float16"',
        )


def _origin_kept(settings: Settings) -> typing.Iterator[Problem]:
    if CUSTOMIZE_DTYPES.name not in settings:
        return
    given = [option for option in (PRECISION_MODE_V2, PRECISION_MODE) if settings.names(option)]
    for option in given or [PRECISION_MODE_V2]:
        mode = settings.get(option.name) if given else option.default(settings.scene, settings.product)
        if mode == ORIGIN[option.name]:
            yield problem(
                ORIGIN_KEPT,
                CUSTOMIZE_DTYPES,
                f"has no effect with {option.name}={mode!r}{'' if given else ', which is the default'}",
                value=settings[CUSTOMIZE_DTYPES.name],
                fix=f"another {option.name}, or leave out {CUSTOMIZE_DTYPES.name}",
                severity=Severity.ERROR if given else Severity.WARNING,
            )


GROUP = Group(
    "precision",
    "Precision tuning",
    "精度调优",
    (PRECISION_MODE_V2, PRECISION_MODE, MODIFY_MIXLIST, CUSTOMIZE_DTYPES),
    (BOTH_MODES, NOT_MIXED, ORIGIN_KEPT, NOT_YET),
    (_both_modes, _force_fp16, _not_yet, _not_mixed, _origin_kept),
)
