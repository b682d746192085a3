"""app.run, which exits: the shutdown after it never comes."""

import sys

import tensorflow as tf
from npu_bridge.npu_init import *

tf.disable_eager_execution()
tf.flags.DEFINE_string("message", "nothing", "")
FLAGS = tf.flags.FLAGS
init_sess, npu_shutdown = init_resource()


def main(argv):
    with tf.Session(config=npu_config_proto()) as sess:
        print(FLAGS.message, sess.run(tf.constant(1)), argv[1:])
    sys.exit(3)


if __name__ == "__main__":
    tf.app.run(main)
    shutdown_resource(init_sess, npu_shutdown)
    close_session(init_sess)
