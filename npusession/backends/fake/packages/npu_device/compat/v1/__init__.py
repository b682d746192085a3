"""``npu_bridge`` under the name that it has on TensorFlow 2.

The real package is a copy of npu_bridge in which the name is replaced. Here both names share one source tree: modules
are found in npu_bridge's folder, and import each other relatively, so that each of them is at home in either package.
What they know of the process is kept elsewhere, and the same for both.
"""

from __future__ import annotations

import os
import typing

from npusession._tensorflow import tf1
from npusession.backends.fake.importing import PACKAGES

__path__ = [os.path.join(PACKAGES, "npu_bridge")]


class SessionConfigBuilder:
    """Puts an NpuOptimizer entry into a ConfigProto.

    Args:
        config: the ConfigProto, changed in place; everything that is none is replaced by a new one.
    """

    def __init__(self, config: typing.Any = None) -> None:
        if not isinstance(config, tf1().ConfigProto):
            config = tf1().ConfigProto(allow_soft_placement=True)
        rewrite = config.graph_options.rewrite_options
        rewrite.remapping = type(rewrite).OFF
        self._config = config
        self._entry = rewrite.custom_optimizers.add()
        self._entry.name = "NpuOptimizer"

    @property
    def parameter_map(self) -> typing.Any:
        """The options."""
        return self._entry.parameter_map

    @property
    def session_config(self) -> typing.Any:
        """The ConfigProto."""
        return self._config


# As the real one, it brings what importing npu_bridge brings. Last, since those modules are found through __path__.
from .estimator.npu import npu_estimator  # noqa: E402
from .estimator.npu.npu_plugin import npu_close  # noqa: E402
from .hccl import hccl_ops  # noqa: E402
from .helper import helper  # noqa: E402

__all__ = ["SessionConfigBuilder", "hccl_ops", "helper", "npu_close", "npu_estimator"]
