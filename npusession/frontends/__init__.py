"""TensorFlow's other ways of running a graph, each from a plan: what the methods of the plan of the same name do."""
