"""The emulated HCCL of the adapter."""
