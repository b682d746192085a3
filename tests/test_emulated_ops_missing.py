"""Names and signatures of the emulated op modules, and ops that only a device can run."""

import importlib
import inspect
import json
import pathlib
import types

import pytest

pytest.importorskip("tensorflow", reason="the emulation runs on TensorFlow's CPU")

import numpy as np
from emulated import importable, session, tf1

from npusession import NotEmulatedError, NpuSessionError
from npusession.backends.fake import gen_ops
from npusession.backends.fake.gen_ops import missing

API = json.loads((pathlib.Path(__file__).parent / "data" / "npu_bridge_api.json").read_text("utf-8"))["modules"]
NPU = "npu_bridge.estimator.npu."
MODULES = [
    "npu_bridge.estimator.npu_ops",
    "npu_bridge.estimator.npu_aicore_ops",
    "npu_bridge.tbe.npu_cube_ops",
    "npu_bridge.tbe.npu_vector_ops",
    *(NPU + name for name in ("npu_dynamic_rnn", "npu_rnn", "npu_loss_scale_manager", "npu_loss_scale_optimizer")),
    *(NPU + name for name in ("npu_optimizer", "npu_scope")),
    "npu_bridge.image.image_ops",
    *(name for name in API if name.startswith("npu_bridge.experimental.")),
    "npu_bridge.profiler.profiler",
    "npu_bridge.scoped_graph_manager.scoped_graph_manager",
    "npu_bridge.npu_cpu.lru_cache",
    "npu_bridge.npu_cpu.npu_cpu_ops",
    "npu_bridge.hccl.hccl_ops",
]


@pytest.fixture(scope="module")
def load():
    with importable() as imported:
        yield imported


def parameters(signature):
    """Names, kinds and defaults, without annotations."""
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


def expected(text, module):
    """The signature of a text of the API file, with defaults that the module's own names stand for."""
    names = {**vars(module), "tf": tf1, "dtypes": tf1}
    scope = {}
    exec(f"def function{text}: pass", names, scope)
    return inspect.signature(scope["function"])


def entries():
    for name in MODULES:
        for attribute, entry in API[name].items():
            if isinstance(entry, str):
                yield name, attribute, None, entry
                continue
            methods = {key: text for key, text in entry.items() if key != "bases"}
            yield from ((name, attribute, method, text) for method, text in methods.items())
            if not methods:
                yield name, attribute, None, None


@pytest.mark.parametrize(("module", "name", "method", "text"), entries(), ids=lambda value: str(value)[-40:])
def test_signature(load, module, name, method, text):
    """Every public name of the adapter is there, with its arguments and their defaults."""
    loaded = load(module)
    found = getattr(loaded, name)
    if method is not None:
        found = inspect.getattr_static(found, method)
        found = found.fget if isinstance(found, property) else found
    if text is None:
        assert inspect.isclass(found)
        return
    given, wanted = parameters(inspect.signature(found)), parameters(expected(text, loaded))
    assert [entry[:2] for entry in given] == [entry[:2] for entry in wanted]
    for (argument, _, own), (_, _, default) in zip(given, wanted):
        if own != default:
            assert tf1.as_dtype(own) == tf1.as_dtype(default), argument


def test_all_modules_are_imported_without_a_graph(load):
    """Importing the modules adds nothing to the graph, and builds nothing that would fail."""
    with session():
        for name in MODULES:
            importlib.reload(load(name))
        assert not tf1.get_default_graph().get_operations()


def test_library():
    """The library has every op that the adapter's modules call, each under the name that TensorFlow gives it."""
    ops = missing.ops()
    assert len(ops) == sum(text.count("->") for text in missing._OPS.values())
    assert not set(ops) & set(gen_ops.__all__)
    for name in ("ocr_recognition_pre_handle", "prod_env_mat_a", "tabulate_fusion_se_a_grad", "lru_cache_v2"):
        assert ops[name].__name__ == name
        assert name in dir(gen_ops)


VALUES = {
    "int32": np.zeros(2, "i4"), "int64": np.zeros(2, "i8"), "uint8": np.zeros((2, 3, 3), "u1"), "uint32": np.uint32(0),
    "uint64": np.zeros((2, 3), "u8"), "float32": np.zeros(2, "f"), "bool": np.zeros(2, bool), "string": "text",
    "T": np.zeros((2, 4), "f"), "*": [np.zeros(2, "i8")],
}  # fmt: skip
ATTRIBUTES = {
    "dtype": tf1.float32, "output_type": tf1.int64, "output_shape": [2, 3], "output_types": [tf1.int32] * 2,
    "output_shapes": [(2,), ()], "Tout": [tf1.float32] * 2, "num": 2, "size": [4, 4], "group": "g",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(missing.ops()))
def test_fails_when_run(name):
    """Each op that only a device can run is built, with results of its dtypes, and fails by its name when it is run."""
    op = missing.ops()[name]
    kind = op.__doc__.split()[0]
    (text,) = (found for table in missing._OPS.values() for found in missing._OP.findall(table) if found[0] == kind)
    inputs = dict(entry.split(":") for entry in text[1].split())
    arguments = {argument: VALUES[dtype] for argument, dtype in inputs.items()}
    for parameter in inspect.signature(op).parameters.values():
        if parameter.name not in arguments and parameter.default is parameter.empty:
            arguments[parameter.name] = ATTRIBUTES.get(parameter.name, 3)
    with session() as s:
        results = op(**arguments)
        tensors = results if isinstance(results, list) else [results]
        assert all(isinstance(tensor, (tf1.Tensor, tf1.Operation)) for tensor in tensors)
        with pytest.raises(NotEmulatedError, match=f"^{kind} .*so the emulation cannot run it") as caught:
            s.run(tensors[0])
        assert "Run it on an NPU host" in str(caught.value)
        assert isinstance(caught.value, (NpuSessionError, NotImplementedError))


class TestErrors:
    """How the error of such an op comes out of TensorFlow."""

    def build(self, load):
        return load("npu_bridge.npu_cpu.npu_cpu_ops").ocr_find_contours(tf1.zeros((2, 2, 3), tf1.uint8))

    def test_ways_of_running(self, load):
        """It is the same error from run, eval, make_callable and a monitored session."""
        with session() as s:
            first = self.build(load)[0]
            ways = (
                lambda: s.run(first),
                first.eval,
                s.make_callable(first),
                lambda: s.partial_run(s.partial_run_setup([first]), first),
            )
            for way in ways:
                with pytest.raises(NotEmulatedError, match="OCRFindContours"):
                    way()
            with tf1.train.MonitoredSession() as monitored:
                with pytest.raises(NotEmulatedError, match="OCRFindContours"):
                    monitored.run(first)

    def test_within_control_flow(self, load):
        """It is the same error from a loop, and none from a branch that is not taken."""
        with session() as s:
            taken = tf1.placeholder(tf1.bool, ())
            branch = tf1.cond(taken, lambda: tf1.size(self.build(load)[0]), lambda: tf1.constant(7))
            loop = tf1.while_loop(lambda i: i < 3, lambda i: i + 1 + tf1.size(self.build(load)[0]), [tf1.constant(0)])
            assert s.run(branch, {taken: False}) == 7
            for fetch in (branch, loop):
                with pytest.raises(NotEmulatedError, match="OCRFindContours"):
                    s.run(fetch, {taken: True})

    def test_session_goes_on(self, load):
        """The session is as good as before, and other errors of TensorFlow stay what they are."""
        with session() as s:
            fetch = self.build(load)[0]
            with pytest.raises(NotEmulatedError):
                s.run(fetch)
            assert s.run(tf1.constant(1) + 1) == 2
            with pytest.raises(tf1.errors.InvalidArgumentError):
                s.run(tf1.placeholder(tf1.float32, ()))

            def fail():
                raise OSError("disk")

            with pytest.raises(tf1.errors.UnknownError, match="disk"):
                s.run(tf1.numpy_function(fail, [], tf1.float32))

    def test_wrong_dtype(self, load):
        """An input of another dtype is refused when the graph is built."""
        with session(), pytest.raises((TypeError, ValueError)):
            load("npu_bridge.npu_cpu.npu_cpu_ops").ocr_find_contours(tf1.zeros((2, 2), tf1.float32))

    def test_cache(self, load):
        """A cache can be made; its ops fail when they are run."""
        with session() as s:
            cache = load("npu_bridge.npu_cpu.lru_cache").LruCache(10, dtype=tf1.int64)
            results = cache.cache_add(np.arange(3))
            assert [tensor.dtype for tensor in results] == [tf1.int64] * 4
            with pytest.raises(NotEmulatedError, match=r"(LruCache|CacheAdd) is a kernel"):
                s.run(results)
            with pytest.raises(NotEmulatedError, match="Cache"):
                s.run([cache.cache_remote_index_to_local(np.arange(3)), cache.cache_all_index_to_local()])

    def test_eager(self):
        """Executed eagerly, building is running: the error comes at once."""
        if not tf1.executing_eagerly():
            pytest.skip("TensorFlow 1 does not execute eagerly by itself")
        with pytest.raises(NotEmulatedError, match="OCRFindContours"):
            gen_ops.ocr_find_contours(np.zeros((2, 2, 3), "u1"))

    def test_eager_refused(self, load):
        """Functions that the adapter keeps to graphs say so when TensorFlow executes eagerly."""
        if not tf1.executing_eagerly():
            pytest.skip("TensorFlow 1 does not execute eagerly by itself")
        with pytest.raises(RuntimeError, match=r"LARSV2\(\) needs a graph"):
            load("npu_bridge.estimator.npu_ops").LARSV2(1.0, 1.0, 1.0, 1.0)


def test_every_function_of_a_module_builds(load):
    """The adapter's functions hand their arguments to the right op."""
    cpu, aicore, ops = (
        load(name)
        for name in (
            "npu_bridge.npu_cpu.npu_cpu_ops",
            "npu_bridge.estimator.npu_aicore_ops",
            "npu_bridge.estimator.npu_ops",
        )
    )
    f, i = np.zeros((2, 3), "f"), np.zeros(2, "i4")
    image, long, wide = np.zeros((4, 4, 3), "u1"), np.zeros(2, "i8"), np.zeros((2, 3), "u8")
    calls = {
        "EmbeddingHashTableLookupOrInsert": lambda: cpu.embedding_hashtable_lookup_or_insert(
            np.int64(1), long, 8, 4, "no_filter", 0, False, 0, 0.0, False, -1
        ),
        "EmbeddingRankId": lambda: cpu.embeddingrankid(wide, i),
        "EmbeddingLocalIndex": lambda: cpu.embedding_local_index(wide, i),
        "StatelessDropout": lambda: cpu.stateless_dropout(f, long, np.float32(0.5), np.int64(1), np.int64(2)),
        "BatchEnqueue": lambda: cpu.batch_enqueue(image),
        "OCRRecognitionPreHandle": lambda: cpu.ocr_recognition_pre_handle(image, i, i, i, f),
        "OCRDetectionPreHandle": lambda: cpu.ocr_detection_pre_handle(image),
        "OCRIdentifyPreHandle": lambda: cpu.ocr_identify_pre_handle(image, i, i, [4, 4]),
        "BatchDilatePolys": lambda: cpu.batch_dilate_polys(i, i, i, f, 1, 1, 0.5, 1.5),
        "Dequeue": lambda: cpu.dequeue(0, tf1.float32, [2, 3]),
        "OCRDetectionPostHandle": lambda: cpu.ocr_detection_post_handle(image, i, i, i),
        "WarpAffineV2": lambda: cpu.warp_affine_v2(image, f, i),
        "ResizeV2": lambda: cpu.resize_v2(image, i),
        "ResizeAndClipPolys": lambda: cpu.resize_and_clip_polys(i, i, i, 1.0, 1.0, 1, 1),
        "NonZeroWithValueShape": lambda: cpu.non_zero_with_value_shape(f, i, i),
        "NonZeroWithValueShapeV2": lambda: cpu.non_zero_with_value_shape_v2(f, i, i),
        "HostFeatureMapping": lambda: cpu.host_feature_mapping(long),
        "EmbeddingFeatureMapping": lambda: cpu.device_feature_mapping(long),
        "InitEmbeddingHashmapV2": lambda: cpu.init_embedding_hashmap_v2(1, 8, 1, 4, tf1.float32),
        "DeinitEmbeddingHashmapV2": lambda: cpu.deinit_embedding_hashmap_v2(1),
        "TableToResourceV2": lambda: cpu.table_to_resource_v2(1, 8, 1, 4, tf1.float32),
        "EmbeddingHashmapSize": lambda: cpu.embedding_hashmap_table_size_v2(i, True, "all"),
        "EmbeddingHashmapExport": lambda: cpu.embedding_hashmap_export_v2(
            "f", i, "n", 1, [long], [long], [i], [f], [2]
        ),
        "EmbeddingHashmapFileSize": lambda: cpu.embedding_hashmap_file_size_v2("f", i, "n", 1, [4]),
        "EmbeddingHashmapImport": lambda: cpu.embedding_hashmap_import_v2("f", i, long, "n", 1, [4], 2),
        "InitEmbeddingHashTable": lambda: cpu.init_embedding_hashtable(np.int64(1), f, 8, 4, "random", 0),
        "EmbeddingHashTableImport": lambda: cpu.embedding_hash_table_import(
            long, long, long, [long], [wide], [image], [f]
        ),
        "StatelessRandomChoiceWithMask": lambda: cpu.stateless_random_choice_with_mask(
            [True], 1, np.int64(1), np.int64(1)
        ),
        "EmbeddingHashTableExport": lambda: cpu.embedding_hash_table_export(long, long, long, long),
        "EmbeddingHashTableApplyAdamW": lambda: cpu.embedding_hashtable_apply_adam_w(
            np.int64(1), long, *[f] * 11, 4, 8, False, False
        ),
        "LRUCacheV2": lambda: aicore.lru_cache_v2(i, f, f, i, 1, 1),
        "NonZeroWithValue": lambda: aicore.nonzerowithvalue(f),
        "ProdEnvMatA": lambda: aicore.prod_env_mat_a(f, i, i, f, i, f, f),
        "ProdVirialSeA": lambda: aicore.prodvirialsea(f, f, f, i, i),
        "ProdForceSeA": lambda: aicore.prodforcesea(f, f, i, i),
        "TabulateFusionSeA": lambda: aicore.tabulatefusionsea(f, f, f, f),
        "TabulateFusionSeAGrad": lambda: aicore.tabulatefusionseagrad(f, f, f, f, f, f),
        "TabulateFusion": lambda: aicore.tabulatefusion(f, f, f, f),
        "TabulateFusionGrad": lambda: aicore.tabulatefusiongrad(f, f, f, f, f, f),
        "OutfeedDequeueOp": lambda: ops.outfeed_dequeue_op("channel", [tf1.float32], [(2,)]),
        "OutfeedEnqueueOp": lambda: ops.outfeed_enqueue_op("channel", [f]),
        "StopOutfeedDequeueOp": lambda: ops.stop_outfeed_dequeue_op("channel"),
        "GetNext": lambda: ops.channel_get_next("channel", [tf1.float32], [(2,)]),
        "NpuOnnxGraphOp": lambda: ops.npu_onnx_graph_op([f], [tf1.float32], "model.onnx"),
    }
    with session() as s:
        for op_type, call in calls.items():
            results = call()
            first = results[0] if isinstance(results, (list, tuple)) else results
            with pytest.raises(NotEmulatedError, match=f"^{op_type} "):
                s.run(first)
    assert isinstance(cpu, types.ModuleType)
