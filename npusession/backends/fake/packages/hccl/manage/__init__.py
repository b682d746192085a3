"""Groups and ranks."""
