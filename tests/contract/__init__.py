"""The contract of a backend."""
