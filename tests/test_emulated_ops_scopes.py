"""Emulated scopes, images, files and profilers."""

import contextlib
import glob
import json
import os
import types

import pytest

pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy as np
from emulated import importable, numeric_gradient, session, tf1
from hypothesis import given, settings
from hypothesis import strategies as st

from npusession import NotEmulatedError
from npusession.backends.fake.runtime import RUNTIME


@pytest.fixture(scope="module")
def modules():
    with importable() as load:
        yield types.SimpleNamespace(
            config=load("npu_bridge.estimator.npu.npu_config"),
            constant=load("npu_bridge.experimental.file_constant"),
            cpu=load("npu_bridge.npu_cpu.npu_cpu_ops"),
            cube=load("npu_bridge.tbe.npu_cube_ops"),
            decoding=load("npu_bridge.experimental.image"),
            images=load("npu_bridge.image.image_ops"),
            profiler=load("npu_bridge.profiler.profiler"),
            scope=load("npu_bridge.estimator.npu.npu_scope"),
            shape=load("npu_bridge.experimental.get_shape"),
            manager=load("npu_bridge.scoped_graph_manager.scoped_graph_manager"),
        )


MARKS = [
    ("without_npu_compile_scope", (), {"_without_npu_compile": True}),
    ("npu_variable_scope", (), {"_variable_placement": b"all"}),
    ("keep_dtype_scope", (), {"_keep_dtype": 1}),
    ("npu_stage_scope", (2,), {"_stage_level": 2}),
    ("npu_mem_type_scope", (), {"_output_memory_type": 1}),
    ("npu_weight_prefetch_scope", (3, 4096), {"_buffer_pool_id": 3, "_buffer_pool_size": 4096}),
    ("op_specified_engine_scope", ("e", "k"), {"_specified_engine_name": b"e", "_specified_kernel_lib_name": b"k"}),
    ("npu_qos_label_scope", (5,), {"_qos_service_label": 5}),
    ("subgraph_multi_dims_scope", (1,), {"_subgraph_multi_dims_index": 1}),
    ("npu_optimizer_scope", (), {"_optimizer": True}),
    ("disable_autofuse", (), {"_disable_autofuse_scope": True}),
    ("limit_core_num_scope", ("4", "8"), {"_op_vectorcore_num": b"8"}),
]


class TestScopes:
    @pytest.mark.parametrize(("name", "arguments", "attributes"), MARKS, ids=[mark[0] for mark in MARKS])
    def test_marks(self, modules, name, arguments, attributes):
        """Ops within a scope carry its attributes, ops after it do not; results are the same."""
        with session() as s:
            with getattr(modules.scope, name)(*arguments):
                inside = tf1.constant(2) + 3
            outside = tf1.constant(1)
            for attribute, value in attributes.items():
                assert inside.op.get_attr(attribute) == value
                with pytest.raises(ValueError, match=attribute):
                    outside.op.get_attr(attribute)
            assert s.run(inside) == 5

    def test_nested(self, modules):
        """Scopes can be nested, and end with an exception too."""
        with session():
            with contextlib.suppress(KeyError), modules.scope.keep_dtype_scope():
                with modules.scope.npu_stage_scope(0):
                    both = tf1.constant(1)
                raise KeyError
            after = tf1.constant(1)
            assert [both.op.get_attr("_keep_dtype"), both.op.get_attr("_stage_level")] == [1, 0]
            assert "_keep_dtype" not in after.op.node_def.attr

    def test_names(self, modules):
        """Two scopes mark ops by their names."""
        with session():
            with modules.scope.npu_recompute_scope():
                first = tf1.constant(1)
            with modules.scope.npu_graph_slice_scope(4):
                second = tf1.constant(1)
            assert first.op.name.startswith("NpuRecompute/")
            assert second.op.name.startswith("SliceNum-4-NpuGraphSlicing4/")

    @pytest.mark.parametrize("placement", ["CUBE", "HOST"])
    def test_placement(self, modules, placement):
        """A placement is written as the device reads it."""
        member = modules.config.NpuExecutePlacement[placement]
        with session(), modules.scope.npu_variable_scope(member):
            assert tf1.constant(1).op.get_attr("_variable_placement") == member.value.encode()

    @pytest.mark.parametrize(
        ("call", "error"),
        [
            (lambda scope: scope.npu_variable_scope("cube"), ValueError),
            (lambda scope: scope.npu_graph_slice_scope(0), ValueError),
            (lambda scope: scope.npu_graph_slice_scope("2"), TypeError),
            (lambda scope: scope.limit_core_num_scope(), ValueError),
            (lambda scope: scope.limit_core_num_scope("0", 8), ValueError),
            (lambda scope: scope.limit_core_num_scope("0", "many"), ValueError),
        ],
    )
    def test_arguments(self, modules, call, error):
        """What a scope does not take is refused."""
        with session(), pytest.raises(error):
            with call(modules.scope):
                pass


def deformed(x, offsets, weight, stride, pad, dilation, groups):
    """A deformable convolution as loops."""
    n, height, width, channels = x.shape
    kh, kw = weight.shape[:2]
    moves = offsets.reshape(*offsets.shape[:3], 3, groups, kh, kw)
    size = channels // groups
    out = np.zeros((n, *offsets.shape[1:3], weight.shape[3]))
    for b, i, j in np.ndindex(n, *offsets.shape[1:3]):
        for g, k, m in np.ndindex(groups, kh, kw):
            right, down, factor = moves[b, i, j, :, g, k, m]
            row, column = i * stride - pad + k * dilation + down, j * stride - pad + m * dilation + right
            value = np.zeros(size)
            for dy, dx in np.ndindex(2, 2):
                r, c = int(np.floor(row)) + dy, int(np.floor(column)) + dx
                share = (1 - abs(row - r)) * (1 - abs(column - c))
                if 0 <= r < height and 0 <= c < width:
                    value += share * x[b, r, c, g * size : (g + 1) * size]
            out[b, i, j] += factor * value @ weight[k, m, g * size : (g + 1) * size]
    return out


class TestDeformable:
    @settings(max_examples=10)
    @given(st.integers(1, 2), st.integers(0, 1), st.integers(1, 2), st.integers(1, 2), st.integers(0, 9))
    def test_formula(self, modules, stride, pad, dilation, groups, seed):
        """deformable_conv2d samples between pixels, with zeros outside, for any stride, padding, dilation, groups."""
        random = np.random.RandomState(seed)
        x, weight = random.randn(2, 6, 5, 4).astype("f"), random.randn(2, 2, 4, 3).astype("f")
        out = [(length + 2 * pad - dilation - 1) // stride + 1 for length in (6, 5)]
        offsets = random.randn(2, *out, 3 * groups * 4).astype("f")
        with session() as s:
            found = s.run(
                modules.cube.deformable_conv2d(
                    tf1.constant(x), tf1.constant(weight), tf1.constant(offsets), [1, stride, stride, 1], [pad] * 4,
                    dilations=(1, dilation, dilation, 1), deformable_groups=groups,
                )
            )  # fmt: skip
        np.testing.assert_allclose(found, deformed(x, offsets, weight, stride, pad, dilation, groups), atol=1e-3)

    def test_plain_convolution(self, modules):
        """With no offsets and factors of one it is a convolution."""
        random = np.random.RandomState(0)
        x, weight = random.randn(1, 6, 6, 2).astype("f"), random.randn(3, 3, 2, 4).astype("f")
        offsets = np.zeros((1, 6, 6, 27), "f")
        offsets[..., 18:] = 1
        with session() as s:
            tensors = [tf1.constant(value) for value in (x, weight, offsets)]
            mine = modules.cube.deformable_conv2d(*tensors, [1, 1, 1, 1], [1, 1, 1, 1])
            plain = tf1.nn.conv2d(x, weight, strides=[1, 1, 1, 1], padding="SAME")
            np.testing.assert_allclose(*s.run([mine, plain]), atol=1e-4)

    def test_gradients(self, modules):
        """The gradients for image and offsets are right; the adapter's gradient function gives the same."""
        random = np.random.RandomState(1)
        x, offsets = random.randn(1, 4, 4, 2).astype("f"), random.rand(1, 3, 3, 12).astype("f") * 0.8 + 0.1
        ones = np.zeros((2, 2, 2, 1), "f") + 1
        given = {
            "strides": [1, 1, 1, 1], "pads": [0] * 4, "ksize": [2, 2], "dilations": [1] * 4, "data_format": b"NHWC",
            "deformable_groups": 1, "modulated": True,
        }  # fmt: skip
        with session() as s:
            image, moves = tf1.constant(x), tf1.constant(offsets)
            y = modules.cube.deformable_conv2d(image, tf1.constant(ones), moves, [1] * 4, [0] * 4)
            gradients = s.run(tf1.gradients(y, [image, moves]))
            op = types.SimpleNamespace(inputs=[image, moves], get_attr=given.get)
            again = s.run(modules.cube.deformable_offsets_grad(op, tf1.ones((1, 6, 6, 2))))
        for k, value in enumerate((x, offsets)):

            def loss(changed, k=k):
                pair = [x, offsets]
                pair[k] = changed
                return deformed(*pair, ones, 1, 0, 1, 1).sum()

            np.testing.assert_allclose(gradients[k], numeric_gradient(loss, value.astype("d")), rtol=1e-2, atol=1e-2)
            np.testing.assert_allclose(again[k], gradients[k], rtol=1e-4, atol=1e-5)

    def test_arguments(self, modules):
        """Groups and plain offsets, which the device does not support, are refused as by the adapter."""
        arguments = [np.zeros((1, 4, 4, 2), "f")] * 3
        with session():
            for wrong in ({"groups": 2}, {"modulated": False}):
                with pytest.raises(RuntimeError, match="supports"):
                    modules.cube.deformable_conv2d(*arguments, [1] * 4, [0] * 4, **wrong)
            with pytest.raises(TypeError, match="needs strides and pads"):
                modules.cube.deformable_conv2d(*arguments)


class TestImages:
    def encoded(self):
        picture = np.add.outer(np.arange(40) * 2, np.arange(60) * 2)[..., None] + np.array([0, 10, 20])
        with session() as s:
            return picture, s.run(tf1.image.encode_jpeg(picture.astype("u1"), quality=100))

    def test_decode_and_resize(self, modules):
        """A JPEG is decoded, cut and resized to the size that is asked for."""
        picture, jpeg = self.encoded()
        with session() as s:
            whole, part = s.run(
                [
                    modules.images.decode_and_resize_jpeg(jpeg, [20, 30]),
                    modules.images.decode_and_crop_and_resize_jpeg(jpeg, [10, 20, 8, 12], [8, 12]),
                ]
            )
        assert whole.dtype == np.uint8
        np.testing.assert_allclose(whole, picture[::2, ::2], atol=5)
        np.testing.assert_allclose(part, picture[10:18, 20:32], atol=5)

    def test_decode_image(self, modules):
        """decode_image takes any format and dtype."""
        picture = np.random.RandomState(0).randint(0, 256, (4, 5, 3)).astype("u1")
        with session() as s:
            png = s.run(tf1.image.encode_png(picture))
            np.testing.assert_array_equal(s.run(modules.decoding.decode_image(png)), picture)
            as_float = s.run(modules.decoding.decode_image(png, 3, tf1.float32, expand_animations=False))
        np.testing.assert_allclose(as_float, picture / 255, rtol=1e-6)

    def test_warp(self, modules):
        """Whole pixels are moved, and halves are interpolated; outside the border goes on."""
        image = np.random.RandomState(0).randn(2, 4, 5, 3).astype("f")
        with session() as s:
            moved = s.run(modules.cpu.dense_image_warp(image, np.broadcast_to(np.float32([1, -2]), (2, 4, 5, 2))))
            half = s.run(modules.cpu.dense_image_warp(image, np.broadcast_to(np.float32([0.5, 0]), (2, 4, 5, 2))))
        rows, columns = np.clip(np.arange(4) - 1, 0, 3), np.clip(np.arange(5) + 2, 0, 4)
        np.testing.assert_allclose(moved, image[:, rows][:, :, columns], rtol=1e-6)
        np.testing.assert_allclose(half[:, 1:], (image[:, 1:] + image[:, :-1]) / 2, rtol=1e-4, atol=1e-6)

    def test_warp_gradient(self, modules):
        """Warping can be trained through."""
        random = np.random.RandomState(0)
        image, flow = random.randn(1, 4, 4, 1).astype("f"), random.rand(1, 4, 4, 2).astype("f") * 0.8 + 0.1
        with session() as s:
            pixels, moves = tf1.constant(image), tf1.constant(flow)
            y = modules.cpu.dense_image_warp(pixels, moves)
            found = s.run(tf1.gradients(y, [pixels, moves]))
            again = s.run(
                modules.cpu.dense_image_warp_grad(types.SimpleNamespace(inputs=[pixels, moves]), tf1.ones_like(y))
            )
            fed = tf1.placeholder(tf1.float32, (1, 4, 4, 2))
            loss = tf1.reduce_sum(modules.cpu.dense_image_warp(pixels, fed))
            expected = numeric_gradient(lambda flow: s.run(loss, {fed: flow}), flow, step=1e-2)
        np.testing.assert_allclose(found[1], expected, rtol=2e-2, atol=2e-2)
        for first, second in zip(found, again):
            np.testing.assert_allclose(first, second, rtol=1e-5)


class TestFiles:
    @pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint16", "int64", "bool"])
    def test_constant(self, modules, tmp_path, dtype):
        """A constant is the bare numbers of a file."""
        values = (np.arange(6) % 3).astype(dtype).reshape(2, 3)
        path = tmp_path / "weights.bin"
        values.tofile(str(path))
        with session() as s:
            tensor = modules.constant.file_constant([2, 3], tf1.as_dtype(dtype), str(path))
            assert tensor.shape.as_list() == [2, 3]
            np.testing.assert_array_equal(s.run(tensor), values)

    def test_wrong_file(self, modules, tmp_path):
        """A file of another size, or none, fails when it is run, and says what it holds."""
        (tmp_path / "short").write_bytes(b"1234")
        with session() as s:
            with pytest.raises(tf1.errors.OpError, match="holds 1 numbers of float32, not the 6 of shape"):
                s.run(modules.constant.file_constant([2, 3], tf1.float32, str(tmp_path / "short")))
            with pytest.raises(tf1.errors.OpError, match="No such file"):
                s.run(modules.constant.file_constant([2], tf1.float32, str(tmp_path / "none")))
            with pytest.raises(NotEmulatedError, match=r"FileConstant reads the file .* calls 'w1'"):
                s.run(modules.constant.file_constant([2], tf1.float32, file_id="w1"))

    def test_shape(self, modules):
        """getshape gives a shape that is only known when it is run."""
        with session() as s:
            fed = tf1.placeholder(tf1.float32, (None, 3))
            assert list(s.run(modules.shape.getshape(fed), {fed: np.zeros((5, 3))})) == [5, 3]


class TestProfiler:
    def timelines(self, folder):
        return glob.glob(os.path.join(str(folder), "PROF_*", "mindstudio_profiler_output", "*.json"))

    def test_scope(self, modules, tmp_path):
        """The runs within a profiler, and no others, are in the timeline that it writes."""
        with session() as s:
            first, second = tf1.identity(tf1.constant(1), name="before"), tf1.identity(tf1.constant(2), name="within")
            s.run(first)
            with modules.profiler.Profiler(level="L1", aic_metrics="PipeUtilization", output_path=str(tmp_path)):
                s.run(second)
            s.run(first)
        (path,) = self.timelines(tmp_path)
        with open(path) as file:
            names = {event.get("args", {}).get("name") for event in json.load(file)["traceEvents"]}
        assert "within" in names
        assert "before" not in names

    def test_nothing_ran(self, modules, tmp_path):
        """A profiler that saw no run leaves nothing behind."""
        with modules.profiler.Profiler(output_path=str(tmp_path)):
            pass
        assert not os.listdir(str(tmp_path))

    @pytest.mark.parametrize(
        ("arguments", "error", "text"),
        [
            ({"level": "L3"}, RuntimeError, "level='L3'; it is one of L0, L1, L2"),
            ({"aic_metrics": "Memory"}, RuntimeError, "at level L0"),
            ({"level": "L2", "aic_metrics": "Speed"}, RuntimeError, "aic_metrics='Speed'; it is one of Arith"),
            ({"level": 1}, ValueError, "level=1 must be str"),
        ],
    )
    def test_arguments(self, modules, arguments, error, text):
        """What the profiler does not take is refused, and it can be opened afterwards."""
        with pytest.raises(error, match=text):
            with modules.profiler.Profiler(**arguments):
                pass
        with modules.profiler.Profiler():
            with pytest.raises(RuntimeError, match="cannot be nested"):
                modules.profiler.Profiler().start()

    def test_graph_scope(self, modules):
        """A scope of graphs leaves results as they are, and its marks in the events."""
        with session() as s:
            with modules.manager.ScopedGraphManager():
                assert s.run(tf1.constant(3)) == 3
            details = [event.detail for event in RUNTIME.events if event.name == "graph scope"]
        assert details == ["start", "stop"]
