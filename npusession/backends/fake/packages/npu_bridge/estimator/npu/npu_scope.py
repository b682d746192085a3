"""Placeholder: scopes."""

import typing

npu_mem_type_scope: typing.Any = None
