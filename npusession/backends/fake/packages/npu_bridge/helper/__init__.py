"""Ops that the adapter library brings."""
