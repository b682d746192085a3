"""For every problem code what breaks its rule: the examples of docs/problems.md.

``file(text)`` in an expression stands for the path of a file with that text, ``table(this, that)`` for that of a rank
table in which one text is replaced by another.
"""

from __future__ import annotations

from typing import NamedTuple

#: One expression per code, as somebody would write it. tools/reference.py evaluates each and fails unless the code is
#: among the problems found.
EXAMPLES: dict[str, str] = {
    "NPU101": 'NpuSession.for_training(precision_mod="origin")',
    "NPU102": "NpuSession.for_training(learning_rate=0.1)",
    "NPU103": "NpuSession.for_training(enable_auto_mix_precision=True)",
    "NPU104": 'check_parameters([("deterministic", "b", True)])',
    "NPU105": 'NpuSession.for_training(dump_mode="both")',
    "NPU106": "NpuSession.for_training(iterations_per_loop=8.0)",
    "NPU107": "NpuSession.for_training(device=0, session_device_id=1)",
    "NPU108": "NpuSession.for_training(op_debug_level=3)",
    "NPU109": "NpuSession.for_inference(iterations_per_loop=8)",
    "NPU110": 'NpuSession.for_training(product="atlas-training", precision_mode_v2="mixed_bfloat16")',
    "NPU111": 'NpuSession.for_training(training_trace="on")',
    "NPU112": 'NpuSession.for_training(extra_options={"newer_than_this": 1})',
    "NPU113": 'NpuSession.for_training(dump=Dump("/no/such/directory")).check()',
    "NPU114": 'NpuSession.for_training(fusion_switch_file=file("SoftmaxFusionPass:off")).check()',
    "NPU201": 'NpuSession.for_training(precision_mode="force_fp32", precision_mode_v2="origin")',
    "NPU202": 'NpuSession.for_training(optypelist_for_implmode="Pooling")',
    "NPU203": "NpuSession.for_training(enable_dump=True)",
    "NPU204": 'NpuSession.for_training(enable_dump=True, enable_dump_debug=True, dump_path="/data/dump")',
    "NPU205": 'NpuSession.for_training(profiling_options={"task_time": "l1"})',
    "NPU206": "NpuSession.for_training(profiling_mode=True)",
    "NPU207": 'NpuSession.for_training(product="A2", profiling=Profiling(instr_profiling_freq=300, aicpu=True))',
    "NPU208": 'NpuSession.for_training(profiling=Profiling(task_trace="on"))',
    "NPU209": (
        'NpuSession.for_training(accelerate=AcceleratedTraining("fast|step|0.9"), precision_mode_v2="mixed_float16")'
    ),
    "NPU210": "NpuSession.for_training(static_memory_policy=1)",
    "NPU211": 'NpuSession.for_inference(input_shape="data:-1,4", dynamic_dims="1;8")',
    "NPU212": 'NpuSession.for_inference(input_shape="data:-1,4", dynamic_dims="1,4;8,4", dynamic_node_type=1)',
    "NPU213": (
        'NpuSession.for_inference(product="A2", input_shape="data:-1", dynamic_node_type=1,'
        ' dynamic_dims=";".join(map(str, range(1, 102))))'
    ),
    "NPU214": ('NpuSession.for_inference(input_shape="mask:-1;data:-1", dynamic_dims="1,1;8,8", dynamic_node_type=1)'),
    "NPU215": (
        'NpuSession.for_inference(compile_hybrid_mode=1, input_shape="data:-1", dynamic_dims="1;8",'
        " dynamic_node_type=0)"
    ),
    "NPU216": (
        'NpuSession.for_inference(compile_hybrid_mode=1, input_shape="data:-1", dynamic_dims="1;8",'
        " dynamic_node_type=1, external_weight=False)"
    ),
    "NPU217": (
        'NpuSession.for_inference(compile_dynamic_mode=True, input_shape="data:-1", dynamic_dims="1;8",'
        " dynamic_node_type=1)"
    ),
    "NPU218": 'NpuSession.for_inference(in_out_pair=[["conv1"], ["logits"]])',
    "NPU219": "NpuSession.for_inference(in_out_pair_flag=False, mix_compile_mode=True)",
    "NPU220": ("NpuSession.for_training(mix_compile_mode=True, iterations_per_loop=10, enable_data_pre_proc=True)"),
    "NPU221": "NpuSession.for_training(iterations_per_loop=10, enable_data_pre_proc=False)",
    "NPU222": 'NpuSession.for_training(variable_placement="Host")',
    "NPU223": "NpuSession.for_inference(enable_small_channel=0)",
    "NPU224": 'NpuSession.for_training(stream_max_parallel_num="DNN_VM_TF:10,DNN_V100:1")',
    "NPU225": 'NpuSession.for_training(op_precision_mode="/data/op.ini", op_select_implmode="high_precision")',
    "NPU226": 'NpuSession.for_training(op_compiler_cache_mode="enable", op_debug_level=1)',
    "NPU227": 'NpuSession.for_training(product="A2", aicore_num="2|4", jit_compile="false")',
    "NPU228": 'NpuSession.for_training(local_device_list="0,1")',
    "NPU229": "NpuSession.for_training(local_rank_id=0)",
    "NPU230": 'NpuSession.for_training(product="atlas-training", hccl_timeout=17341)',
    "NPU231": 'NpuSession.for_training(product="atlas-training", hccl_timeout=600)',
    "NPU232": (
        'check_parameters([("stream_sync_timeout", "i", 60000), ("hccl_timeout", "i", 1800)], product="A2",'
        ' environ={"RANK_TABLE_FILE": "/data/rank_table.json", "RANK_ID": "0", "RANK_SIZE": "8"})'
    ),
    "NPU233": 'NpuSession.for_training(shape_generalization_mode="FULL", jit_compile="auto")',
    "NPU234": (
        'NpuSession.for_training(compile_dynamic_mode=True, shape_generalization_mode="FULL", jit_compile="true")'
    ),
    "NPU235": "NpuSession.for_training(iterations_per_loop=10).run_config(save_checkpoints_steps=25)",
    "NPU250": 'NpuSession.for_training(op_debug_level=2, op_debug_config=OpDebugConfig(["oom"]))',
    "NPU252": 'NpuSession.for_training(modify_mixlist=MixList(black_add=["Cast"]))',
    "NPU253": 'NpuSession.for_training(customize_dtypes="/data/dtypes.cfg", precision_mode_v2="origin")',
    "NPU254": 'NpuSession.for_training(product="atlas-350", precision_mode_v2="cube_hif8")',
    "NPU255": 'NpuSession.for_training(enable_exception_dump=1, dump=Dump("/data/dump"))',
    "NPU256": 'NpuSession.for_inference(quant_dumpable="1")',
    "NPU257": 'NpuSession.for_training(profiling=Profiling(fp_point="conv1"))',
    "NPU258": 'NpuSession.for_training(profiling=Profiling(training_trace="on"), compile_dynamic_mode=True)',
    "NPU260": 'NpuSession.for_training(product="A2", work_path="/data/aoe")',
    "NPU261": (
        'NpuSession.for_training(product="atlas-training", aoe_mode="1",'
        ' aoe_config_file=AoeTuning(tune_ops_type=["Add"], feature=["deeper_opat"]))'
    ),
    "NPU270": ('NpuSession.for_training(optypelist_for_implmode="Conv2D", op_select_implmode="high_precision")'),
    "NPU272": 'NpuSession.for_training(dynamic_inputs_shape_range="data:[1~8, 4]")',
    "NPU273": (
        'NpuSession.for_inference(dynamic_input=True, dynamic_inputs_shape_range="data:[1~8]",'
        ' input_shape="data:-1", dynamic_dims="1;8", dynamic_node_type=0)'
    ),
    "NPU274": ("NpuSession.for_training(graph_memory_max_size=27 * 1024**3, variable_memory_max_size=5 * 1024**3)"),
    "NPU280": 'NpuSession.for_training(job="ps")',
    "NPU281": 'NpuSession.for_training(enable_compress_weight=True, compress_weight_conf="/data/compress.cfg")',
    "NPU282": 'NpuSession.for_training(product="A2", distribute_config="/data/distribute.cfg")',
    "NPU290": 'NpuSession.for_training(accelerate=AcceleratedTraining.from_string("fast|loss", total_steps=5))',
    "NPU307": "NpuSession.for_training(graph_exec_timeout=600000).npu_run_config()",
    "NPU308": (
        'NpuSession.for_inference(input_shape="data:-1", dynamic_dims="1;8", dynamic_node_type=1).npu_run_config()'
    ),
    "NPU401": 'check_parameters([], environ={"ASCEND_DEVICE_ID": "-1"})',
    "NPU402": 'check_parameters([("session_device_id", "i", 3)], environ={"DEVICE_ID": "0"})',
    "NPU403": 'NpuSession.for_training(accelerate=AcceleratedTraining("fast|step|0.9")).check()',
    "NPU404": (
        'check_parameters([("auto_multistream_parallel_mode", "s", "cv")],'
        ' environ={"ENABLE_DYNAMIC_SHAPE_MULTI_STREAM": "1"})'
    ),
    "NPU405": 'check_parameters([], environ={"ASCEND_MAX_OP_CACHE_SIZE": "500MB"})',
    "NPU408": 'check_parameters([], environ={"ENABLE_HF32_EXECUTION": "true"})',
    "NPU409": 'check_parameters([], environ={"DUMP_GRAPH_PATH": "/data/graphs"})',
    "NPU425": (
        'check_parameters([("enable_exception_dump", "i", 0)], environ={"NPU_COLLECT_PATH": "/data/collected"})'
    ),
    "NPU426": (
        'check_parameters([("op_debug_config", "s", file("op_debug_config=oom"))],'
        ' environ={"NPU_COLLECT_PATH": "/data/collected"})'
    ),
    "NPU427": 'check_parameters([], environ={"AOE_MODE": "3"})',
    "NPU441": (
        'Cluster.check_environ({"RANK_TABLE_FILE": table(), "RANK_ID": "0", "RANK_SIZE": "4",'
        ' "CM_CHIEF_IP": "192.0.2.1"})'
    ),
    "NPU442": 'Cluster.check_environ({"RANK_TABLE_FILE": "/no/such/file", "RANK_ID": "0", "RANK_SIZE": "4"})',
    "NPU443": 'Cluster.check_environ({"RANK_TABLE_FILE": table(), "RANK_ID": "4", "RANK_SIZE": "4"})',
    "NPU444": 'Cluster.check_environ({"RANK_TABLE_FILE": table(), "RANK_ID": "0", "RANK_SIZE": "8"})',
    "NPU445": 'Cluster.check_environ({"RANK_ID": "0", "RANK_SIZE": "8"})',
    "NPU446": 'Cluster.check_environ({"CM_CHIEF_IP": "192.0.2.1"})',
    "NPU447": (
        'Cluster.check_environ({"CM_CHIEF_IP": "192.0.2.1", "CM_CHIEF_PORT": "65530", "CM_CHIEF_DEVICE": "0",'
        ' "CM_WORKER_SIZE": "8", "CM_WORKER_IP": "192.0.2.2"})'
    ),
    "NPU448": (
        'Cluster.check_environ({"CM_CHIEF_IP": "192.0.2.1", "CM_CHIEF_PORT": "6000", "CM_CHIEF_DEVICE": "0",'
        ' "CM_WORKER_SIZE": "8", "CM_WORKER_IP": "192.0.2.2"}, product="A3")'
    ),
    "NPU449": (
        'Cluster.check_environ({"RANK_TABLE_FILE": table(), "RANK_ID": "1", "RANK_SIZE": "4",'
        ' "ASCEND_RT_VISIBLE_DEVICES": "0,2,3"})'
    ),
    "NPU450": (
        'Cluster.check_environ({"RANK_TABLE_FILE": table(), "RANK_ID": "1", "RANK_SIZE": "4", "ASCEND_DEVICE_ID": "3"})'
    ),
    "NPU451": 'Cluster.check_environ({"HCCL_CONNECT_TIMEOUT": "60"})',
    "NPU452": """Cluster.check_environ({"TF_CONFIG": '{"task": "worker"}'})""",
    "NPU453": (
        'Cluster.check_environ({"RANK_TABLE_FILE": table(), "RANK_ID": "1", "RANK_SIZE": "4", "ASCEND_DEVICE_ID": "1",'
        ' "OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"})'
    ),
    "NPU454": 'Cluster.check_environ({"SLURM_PROCID": "2", "SLURM_NTASKS": "8"})',
    "NPU455": "Cluster(Source.RANK_TABLE, rank=3, size=4, local_rank=1, local_size=2).verify(answers(0, 1, 0, 1))",
    "NPU501": 'OpDebugConfig(["oom", "dump_ccee"]).check()',
    "NPU502": 'MixList(black_add=["MatMul "]).check()',
    "NPU503": "OpCache(max_op_cache_size=500, remain_cache_size_ratio=0).check()",
    "NPU504": 'FusionSwitch([("SoftmaxFusionPass", "on"), ("SoftmaxFusionPass", "off")]).check()',
    "NPU505": 'OpDebugConfig(["oom", "oom"]).check()',
    "NPU506": "MixList().check()",
    "NPU507": """MixList.parse('{"black-list": {"to-add": ["Cast"]}} // keeps its precision').check()""",
    "NPU510": 'OpDebugConfig(["oom", "ccec_O0"]).check()',
    "NPU511": 'OpDebugConfig(operators=["MatMul"]).check()',
    "NPU515": 'MixList(black_add=["MatMul"], white_add=["MatMul"]).check()',
    "NPU516": 'MixList(black_remove=["MatMul"], white_add=["MatMul"]).check()',
    "NPU520": 'CustomizeDtypes([OperatorDtypes("block1/Relu")]).check()',
    "NPU521": 'CustomizeDtypes([OperatorDtypes("block1/Relu", ["bfloat16"])]).check("atlas-training")',
    "NPU522": 'CustomizeDtypes([OperatorDtypes("block1/Concat", ["float16"] * 200)]).check()',
    "NPU523": 'CustomizeDtypes([OperatorDtypes("block1/Relu", ["flaot16"])]).check()',
    "NPU525": 'FusionSwitch(ub_fusion={"ALL": "on"}).check("atlas-350")',
    "NPU530": 'OpPrecision({"MatMul": "enable_float_32_execution"}).check("atlas-training")',
    "NPU531": 'OpPrecision({"MatMul": "enable_hi_float_32_execution"}).check()',
    "NPU535": 'AoeTuning(tune_ops_type=["Add"], feature=["deeper_opat", "nonhomo_split"]).check()',
    "NPU540": "OpCache(max_op_cache_size=500, remain_cache_size_ratio=None).check()",
    "NPU601": """RankTable.check_file(table('"rank_id": "3"}', '"rank_id": "3"},'))""",
    "NPU602": """RankTable.check_file(table('"192.0.2.12"', '"{device_ip}"'))""",
    "NPU603": """RankTable.check_file(table('"status"', '"version": "1.0", "status"'))""",
    "NPU604": """RankTable.check_file(table('"version": "1.2"', '"version": "1.1"'))""",
    "NPU605": """RankTable.check_file(table(', "rank_id": "3"', ''))""",
    "NPU606": """RankTable.check_file(table('"rank_id": "3"', '"rank_id": null'))""",
    "NPU607": """RankTable.check_file(table('"rank_id": "3"', '"rank_id": 3'))""",
    "NPU608": """RankTable.check_file(table('"rank_id": "3"', '"rank_id": "three"'))""",
    "NPU609": """RankTable.check_file(table('"completed"', '"initializing"'))""",
    "NPU610": """RankTable.check_file(table('"completed"', '"complete"'))""",
    "NPU611": """RankTable.check_file(table('"server_count": "2"', '"server_count": "3"'))""",
    "NPU612": """RankTable.check_file(table('"rank_id": "3"', '"rank_id": "4"'))""",
    "NPU613": """RankTable.check_file(table('"rank_id": "3"', '"rank_id": "2"'))""",
    "NPU614": (
        'RankTable((Server("a", (Rank(0, 0, "192.0.2.1"), Rank(2, 1, "192.0.2.2"))),'
        ' Server("b", (Rank(1, 0, "192.0.2.3"),)))).check()'
    ),
    "NPU615": 'RankTable((Server("node_0", (Rank(0, 0), Rank(1, 0))),)).check()',
    "NPU616": 'RankTable.from_hosts({"node_0": {0: "192.0.2.1", 1: "192.0.2.1"}}).check()',
    "NPU617": """RankTable.check_file(table('"server_id": "node_1",', '"server_id": "node_0",'))""",
    "NPU618": 'RankTable.from_hosts({"node_0": {0: "192.0.2.300"}}).check()',
    "NPU619": 'RankTable.from_hosts({"node_0": "0", "node_1": "0"}).check()',
    "NPU620": """RankTable.check_file(table('{"server_id": "node_1"}', '{"server_id": "node_9"}'))""",
    "NPU621": """RankTable.check_file(table('"super_device_id": "1"', '"super_device_id": "0"'))""",
    "NPU622": (
        'RankTable([Server(f"node_{n}", (Rank(n, 0, f"192.0.2.{n + 1}", super_device_id=n),), super_pod="ABA"[n])'
        ' for n in range(3)], "1.2").check()'
    ),
    "NPU623": (
        'RankTable([Server(f"node_{n}", (Rank(n, 0, f"192.0.2.{n + 1}", super_device_id=n),), super_pod="AAB"[n])'
        ' for n in range(3)], "1.2").check()'
    ),
    "NPU624": """RankTable.check_file(table('"version": "1.2"', '"version": "1.0"'))""",
    "NPU625": 'RankTable.single_server("3,4", device_ips={}).check("atlas-training")',
    "NPU626": (
        'RankTable.from_hosts({"node_0": {0: "192.0.2.1"}, "node_1": {0: "192.0.2.3", 1: "192.0.2.4"},'
        ' "node_2": {0: "192.0.2.5"}}).check("atlas-training")'
    ),
    "NPU627": 'RankTable.from_hosts({"node_0": {8: "192.0.2.1"}}).check("atlas-training")',
    "NPU628": 'RankTable.single_server(1, device_ips={}, version="1.2").check("A2")',
    "NPU629": 'RankTable((Server("node_0", (Rank(0, 0, host_port=16666), Rank(1, 1, host_port=16666))),)).check()',
    "NPU630": 'RankTable((Server("node_0", (Rank(0, 0, device_port=80),)),)).check()',
    "NPU631": 'RankTable.from_hosts({"node_0": {0: "192.0.2.1"}, "node_1": {0: "2001:db8::1"}}).check()',
    "NPU632": (
        'RankTable((Server("node_0", (Rank(0, 0, local_id=0, levels=(Level(1, "rack", "CLOS",'
        ' (Address("EID", 32 * "0", ("0/4",)),)),)),)),), "2.0").check()'
    ),
    "NPU633": """RankTable.check_file(table('"device_ip": "192.0.2.12"', '"devcie_ip": "192.0.2.12"'))""",
    "NPU634": 'RankTable.single_server(1, "", {}).check()',
    "NPU635": 'RankTable.single_server(1, device_ips={}).text("2.0")',
}
#: What to do, for codes whose problems say neither what is allowed nor how to mend it.
FIXES: dict[str, str] = {
    "NPU112": "Nothing, if the runtime at hand knows the option; else leave it out.",
    "NPU114": "Correct the file at the line and column that the message names, or give the option a typed value.",
    "NPU502": "Write the name as the graph or the operator library has it, without blanks and signs around it.",
}


class Described(NamedTuple):
    """An example that is not evaluated, since it takes a TensorFlow."""

    example: str
    fix: str


_REWRITE = "rewrite = config.graph_options.rewrite_options"
#: By code: what is wrong in ``config``, a ``tf.compat.v1.ConfigProto``, which is then handed to a session or a check.
DESCRIBED: dict[str, Described] = {
    "NPU301": Described(
        f"{_REWRITE}\n"
        'rewrite.custom_optimizers.add().name = "NpuOptimizer"\n'
        'rewrite.custom_optimizers.add().name = "NpuOptimizer"\n'
        "NpuSession.for_training(config=config)",
        "Keep one of the entries, with all options in its parameter_map.",
    ),
    "NPU302": Described(
        f"{_REWRITE}\n"
        "custom_op = rewrite.custom_optimizers.add()\n"
        'custom_op.name = "NPUOptimizer"\n'
        'custom_op.parameter_map["use_off_line"].b = True\n'
        "NpuSession.for_training(config=config)",
        'custom_op.name = "NpuOptimizer"',
    ),
    "NPU303": Described(
        f"{_REWRITE}\nrewrite.remapping = RewriterConfig.ON\nNpuSession.for_training(config=config)",
        "Leave the field alone, or set it to RewriterConfig.OFF; npusession switches it off.",
    ),
    "NPU304": Described(
        f"{_REWRITE}\nrewrite.memory_optimization = RewriterConfig.HEURISTICS\nNpuSession.for_training(config=config)",
        "Leave the field alone, or set it to RewriterConfig.OFF; npusession switches it off.",
    ),
    "NPU305": Described(
        f"{_REWRITE}\nrewrite.constant_folding = RewriterConfig.OFF\nNpuSession.for_training(config=config)",
        "Leave TensorFlow's other passes, and the pruning of the model, at their defaults.",
    ),
    "NPU306": Described(
        'NpuSession.for_training(config={"allow_soft_placement": True})',
        "Give a tf.compat.v1.ConfigProto; options in a mapping go to NpuSession.from_config.",
    ),
}
