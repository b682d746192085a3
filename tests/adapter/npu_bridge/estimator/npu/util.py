"""The part of the adapter's utilities that sessions use."""


def set_iteration_per_loop(sess, train_op, iterations_per_loop=1):
    return train_op


class IterationPerLoop:
    def create_iteration_per_loop_var(self, train_op):
        return train_op

    def load_iteration_per_loop_var(self, sess, iterations_per_loop=1):
        pass
