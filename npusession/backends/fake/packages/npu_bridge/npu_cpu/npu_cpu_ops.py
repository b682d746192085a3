"""Placeholder: ops of the host."""
