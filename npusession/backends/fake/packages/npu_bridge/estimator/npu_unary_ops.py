"""Placeholder: unary ops."""

npu_unary_ops = None
