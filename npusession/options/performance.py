"""Performance options."""

from __future__ import annotations

from .kinds import Integer
from .model import TRAINING, Default, Group, Option

ITERATIONS_PER_LOOP = Option(
    "iterations_per_loop",
    Integer(1, unit="training steps per run"),
    "Training steps that the device makes in one run; must equal what set_iteration_per_loop was given.",
    "每次 sess.run 在 Device 侧执行的训练迭代次数，须与 set_iteration_per_loop 的设置一致。",
    scenes=TRAINING,
    defaults=(Default(1),),
)

GROUP = Group("performance", "Performance tuning", "性能调优", (ITERATIONS_PER_LOOP,))
