"""Ops, and what wraps training loops."""
