"""Placeholder: graphs of a scope."""
