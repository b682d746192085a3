"""Ops on indices and shapes, clustering, and constants in files."""

from __future__ import annotations

import typing

from ...._tensorflow import tf1
from .. import not_emulated
from ._node import NUMBERS, Node

_INDICES = ("int32", "int64")


def non_zero(
    x: typing.Any, transpose: bool = False, output_type: typing.Any = None, name: str | None = None
) -> typing.Any:
    """Return the indices of what is not zero, in the order of memory.

    Args:
        x: tensor of any rank.
        transpose: give ``[rank, count]`` in place of ``[count, rank]``.
        output_type: int64, the default, or int32.
        name: name of the op.
    """
    with Node("NonZero", name, differentiable=False) as node:
        x = node.tensor(x, "x", NUMBERS)
        indices = tf1().where(tf1().not_equal(x, tf1().zeros([], x.dtype)))
        if transpose:
            indices = tf1().transpose(indices)
        return node.output(tf1().cast(indices, tf1().int64 if output_type is None else output_type))


def scatter_elements(
    data: typing.Any, indices: typing.Any, updates: typing.Any, axis: int = 0, name: str | None = None
) -> typing.Any:
    """Return a copy of ``data`` with single elements replaced, as ONNX's ScatterElements does.

    Args:
        data: tensor of rank 1 or higher.
        indices: positions along ``axis``, int32 or int64, of the rank of ``data``; negative ones count from the end.
        updates: new elements, of the shape of ``indices``; along the other axes each stands where it goes.
        axis: the axis that the indices run along.
        name: name of the op.

    Raises:
        ValueError: the rank is unknown, or does not have the axis.
    """
    with Node("ScatterElements", name, differentiable=False) as node:
        data = node.tensor(data, "data", NUMBERS)
        indices = node.tensor(indices, "indices", _INDICES)
        updates = node.like(updates, data, "updates")
        rank = data.shape.ndims
        if rank is None or not -rank <= axis < rank:
            raise ValueError(f"ScatterElements: axis={axis}, but data has {rank} axes")
        length = tf1().shape(data, out_type=indices.dtype)[axis]
        positions = tf1().where(indices < 0, indices + length, indices)
        shape = tf1().shape(indices, out_type=indices.dtype)
        grid = tf1().meshgrid(*(tf1().range(shape[k]) for k in range(rank)), indexing="ij")
        grid[axis] = positions
        result = tf1().tensor_scatter_update(data, tf1().stack(grid, -1), updates)
        return node.output(result)


def k_means_centroids(
    x: typing.Any,
    y: typing.Any,
    sum_square_y: typing.Any,
    sum_square_x: typing.Any,
    use_actual_distance: bool = False,
    name: str | None = None,
) -> list[typing.Any]:
    """One step of k-means: give each sample to its nearest centroid.

    Args:
        x: samples, float32 ``[samples, features]``.
        y: centroids, ``[centroids, features]``.
        sum_square_y: sum of squares of each centroid, ``[1, centroids]``.
        sum_square_x: sum of squares of each sample, ``[samples, 1]``.
        use_actual_distance: add ``sum_square_x`` to the distances, which does not change what is nearest.
        name: name of the op.

    Returns:
        The sum of the samples of each centroid, ``[centroids, features]``, their number, ``[centroids, 1]``, and the
        sum of the distances of all samples to their centroids, ``[1]``.
    """
    return _k_means("KMeansCentroids", x, y, sum_square_y, sum_square_x if use_actual_distance else None, name)


def k_means_centroids_v2(
    x: typing.Any, y: typing.Any, sum_square_y: typing.Any, use_actual_distance: bool = False, name: str | None = None
) -> list[typing.Any]:
    """As :func:`k_means_centroids`, with distances that lack the part that is the same for all centroids."""
    return _k_means("KMeansCentroidsV2", x, y, sum_square_y, None, name)


def random_choice_with_mask(
    x: typing.Any, count: int = 0, seed: int = 0, seed2: int = 0, name: str | None = None
) -> list[typing.Any]:
    """Choose some of the elements that are true, at random.

    Args:
        x: bool tensor of rank 1 to 5.
        count: how many; 0 for all of them, in random order.
        seed: seed of the generator; another choice each time where both seeds are 0.
        seed2: second seed.
        name: name of the op.

    Returns:
        The indices, int32 ``[count, rank]``, and whether each is a choice, bool ``[count]``: where fewer elements are
        true, zeros fill up.

    Raises:
        ValueError: ``count`` is negative.
    """
    if count < 0:
        raise ValueError(f"RandomChoiceWithMask: count={count}; it is 0 or more")
    with Node("RandomChoiceWithMask", name, differentiable=False) as node:
        indices = tf1().cast(tf1().where(node.tensor(x, "x", ("bool",))), tf1().int32)
        order = tf1().raw_ops.RandomShuffle(value=tf1().range(tf1().shape(indices)[0]), seed=seed, seed2=seed2)
        if count:
            order = order[:count]
        chosen = tf1().gather(indices, order)
        mask = tf1().ones_like(order, dtype=tf1().bool)
        if count:
            missing = count - tf1().shape(order)[0]
            chosen = tf1().pad(chosen, [[0, missing], [0, 0]])
            mask = tf1().pad(mask, [[0, missing]])
            chosen.set_shape([count, indices.shape.as_list()[1]])
            mask.set_shape([count])
        return node.outputs([chosen, mask])


def get_shape(x: typing.Any, name: str | None = None) -> typing.Any:
    """Return the shape of a tensor, or the shapes of several one after the other; int32."""
    with Node("GetShape", name, differentiable=False) as node:
        tensors = x if isinstance(x, (list, tuple)) else [x]
        shapes = [tf1().shape(node.tensor(tensor, "x", ("float16", "float32", "uint8"))) for tensor in tensors]
        return node.output(tf1().concat(shapes, 0))


def file_constant(
    shape: typing.Sequence[int],
    dtype: typing.Any,
    file_path: str | None = "",
    file_id: str | None = "",
    name: str | None = None,
) -> typing.Any:
    """Return what a file holds: the bare numbers, in the order of memory and of bytes of this machine.

    Args:
        shape: shape of the result.
        dtype: dtype of the result.
        file_path: path of the file, read at each run.
        file_id: name of a file that the configuration of a device knows; not emulated.
        name: name of the op.

    Returns:
        The tensor. Running it raises UnknownError when the file does not hold as many numbers.
    """
    import numpy

    dtype = tf1().as_dtype(dtype)
    if not file_path:
        why = f"reads the file that the configuration of the device calls {file_id!r}"
        return not_emulated.node("FileConstant", why, [], [(dtype, shape)], name)[0]
    count = int(numpy.prod(shape))
    path = file_path

    def load() -> typing.Any:
        values = numpy.fromfile(path, dtype.as_numpy_dtype)
        if values.size != count:
            raise ValueError(f"{path} holds {values.size} numbers of {dtype.name}, not the {count} of shape {shape}")
        return values.reshape(shape)

    with Node("FileConstant", name, differentiable=False) as node:
        (result,) = tf1().numpy_function(load, [], [dtype])
        result.set_shape(shape)
        return node.output(result)


def _k_means(
    op_type: str, x: typing.Any, y: typing.Any, sum_square_y: typing.Any, sum_square_x: typing.Any, name: str | None
) -> list[typing.Any]:
    with Node(op_type, name, differentiable=False) as node:
        x = node.tensor(x, "x", ("float32",))
        y = node.like(y, x, "y")
        distances = node.like(sum_square_y, x, "sum_square_y") - 2 * tf1().matmul(x, y, transpose_b=True)
        if sum_square_x is not None:
            distances += node.like(sum_square_x, x, "sum_square_x")
        nearest = tf1().argmin(distances, 1)
        centroids = tf1().shape(y)[0]
        sums = tf1().unsorted_segment_sum(x, nearest, centroids)
        counts = tf1().unsorted_segment_sum(tf1().ones_like(x[:, :1]), nearest, centroids)
        sums.set_shape(y.shape)
        counts.set_shape([y.shape.as_list()[0], 1])
        total = tf1().reshape(tf1().reduce_sum(tf1().reduce_min(distances, 1)), [1])
        return node.outputs([sums, counts, total])
