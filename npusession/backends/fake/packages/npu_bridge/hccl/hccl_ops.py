"""Placeholder: collectives."""

import typing

broadcast: typing.Any = None
