"""Ops of the adapter."""
