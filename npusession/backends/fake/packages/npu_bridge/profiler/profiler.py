"""Placeholder: the profiler."""
