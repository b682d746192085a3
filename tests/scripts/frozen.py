"""Training, freezing, and inference from the frozen graph."""

import os
import tempfile

import tensorflow as tf
from npu_bridge.npu_init import *
from tensorflow.python.framework import graph_util

tf.disable_eager_execution()
path = os.path.join(tempfile.mkdtemp(), "frozen.pb")
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, 2], name="input")
    y = tf.matmul(x, tf.get_variable("w", initializer=[[1.0], [2.0]]))
    tf.identity(y, name="output")
    with tf.Session(config=npu_config_proto()) as sess:
        sess.run(tf.global_variables_initializer())
        frozen = graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["output"])
    with tf.gfile.GFile(path, "wb") as file:
        file.write(frozen.SerializeToString())

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["use_off_line"].b = True
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("force_fp16")
custom_op.parameter_map["graph_run_mode"].i = 0
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
with tf.Graph().as_default() as graph:
    definition = tf.GraphDef()
    with tf.gfile.GFile(path, "rb") as file:
        definition.ParseFromString(file.read())
    tf.import_graph_def(definition, name="")
    with tf.Session(graph=graph, config=config) as sess:
        print(sess.run("output:0", {"input:0": [[3.0, 4.0]]}).tolist())
