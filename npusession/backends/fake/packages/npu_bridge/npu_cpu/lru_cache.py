"""A cache of the rows of an embedding."""

from __future__ import annotations

import typing

from npusession._tensorflow import tf1
from npusession.backends.fake import gen_ops as gen_npu_cpu_ops

tf = tf1()


class LruCache:
    """A cache of the rows that were used last; its ops are not emulated.

    Args:
        cache_size: how many rows it holds.
        load_factor: how full its table may be.
        dtype: of the ids of rows: int32, int64, uint32 or uint64.
    """

    def __init__(self, cache_size: int = 100000, load_factor: float = 1, dtype: typing.Any = tf.uint32) -> None:
        self._cache_size = cache_size
        self._load_factor = load_factor
        self._dtype = dtype
        self._cache = gen_npu_cpu_ops.lru_cache(cache_size=cache_size, load_factor=load_factor, dtype=dtype)

    def cache_add(self, ids: typing.Any) -> typing.Any:
        """Return ids and places of the rows that come in, and of those that go out."""
        return gen_npu_cpu_ops.cache_add(cache=self._cache, ids=ids)

    def cache_remote_index_to_local(self, ids: typing.Any) -> typing.Any:
        """Return the places of rows in the cache."""
        return gen_npu_cpu_ops.cache_remote_index_to_local(cache=self._cache, ids=ids)

    def cache_all_index_to_local(self) -> typing.Any:
        """Return the ids of all rows in the cache."""
        return gen_npu_cpu_ops.cache_all_index_to_local(cache=self._cache, dtype=self._dtype)
