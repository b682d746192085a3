"""Placeholder: recurrent layers."""
