"""An InteractiveSession, evaluated without naming it."""

import tensorflow as tf
from npu_bridge.npu_init import *

tf.disable_eager_execution()
sess = tf.InteractiveSession(config=npu_config_proto(config_proto=tf.ConfigProto()))
x = tf.Variable([1.0, 2.0])
a = tf.constant([3.0, 3.0])
x.initializer.run()
print((x - a).eval().tolist())
sess.close()
