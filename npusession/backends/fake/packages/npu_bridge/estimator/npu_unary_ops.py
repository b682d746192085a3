"""``npu_unary_ops``: the adapter's library of ops, for its ``gelu``."""

from __future__ import annotations

from npusession.backends.fake import gen_ops as npu_unary_ops

__all__ = ["npu_unary_ops"]
