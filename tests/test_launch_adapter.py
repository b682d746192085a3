"""What an installed adapter is told of a job that the launcher starts: a stand-in for it, without devices."""

import json
import os
import pathlib
import sys

import pytest
from jobs import PLACES, Job

from npusession.hccl import RankTable
from npusession.launch.network import free_port

pytest.importorskip("tensorflow", reason="sessions need TensorFlow")

ADAPTER = pathlib.Path(__file__).parent / "adapter"
#: What is in the environment, and in the configuration of each session, when the adapter looks.
SCRIPT = f"""
import json, warnings
import npu_bridge.npu_init
import tensorflow as tf
warnings.simplefilter("ignore")
tf1 = tf.compat.v1
seen = []
initialize = tf1.Session.__init__

def noting(self, *args, **keywords):
    initialize(self, *args, **keywords)
    (entry,) = self._config.graph_options.rewrite_options.custom_optimizers
    fields = {{name: getattr(value, value.WhichOneof("value")) for name, value in entry.parameter_map.items()}}
    options = {{name: value.decode() if isinstance(value, bytes) else value for name, value in fields.items()}}
    rewriting = self._config.graph_options.rewrite_options
    environ = {{name: value for name, value in os.environ.items() if name.startswith({PLACES!r})}}
    seen.append([entry.name, options, rewriting.remapping, rewriting.memory_optimization, environ])

tf1.Session.__init__ = noting
from npusession import NpuSession, hccl
plan = NpuSession.for_training(precision_mode_v2="origin", hccl_timeout=600)
with hccl.init(plan), tf.Graph().as_default() as graph:
    nothing = tf1.no_op()
    with plan.replace(graph=graph) as s:
        s.run(nothing)
print(json.dumps([hccl.rank(), hccl.size(), seen]))
"""
#: The default of an option is not written: use_off_line is true without.
OPTIONS = {"precision_mode_v2": "origin", "hccl_timeout": 600}


def told(tmp_path, *flags, **variables):
    """Return what each rank of a job on devices 4 and 5 tells the adapter: rank, size and environment."""
    path = os.pathsep.join([str(ADAPTER), *map(os.path.abspath, sys.path)])
    job = Job(tmp_path, SCRIPT, *flags, "--tee", "all", PYTHONPATH=path, TF_CPP_MIN_LOG_LEVEL="3", **variables)
    code, output, errors = job.run()
    assert code == 0, errors
    ranks = []
    for line in sorted(line for line in output.decode("utf-8").splitlines() if "] [" in line):
        rank, size, sessions = json.loads(line.partition("] ")[2])
        # That which initialises, and that which trains: the same options in the same environment.
        assert len(sessions) == 2
        for name, options, remapping, memory, environ in sessions:
            assert (name, options) == ("NpuOptimizer", OPTIONS)
            # RewriterConfig.OFF, as the reference has it.
            assert (remapping, memory) == (2, 2)
            assert environ == sessions[0][4]
        ranks.append((rank, size, sessions[0][4]))
    return ranks


def test_rank_table(tmp_path):
    """With a rank table it is RANK_TABLE_FILE, RANK_ID, RANK_SIZE and the device, and nothing of another job."""
    addresses = {4: "192.0.2.14", 5: "192.0.2.15"}
    path = RankTable.single_server("4-5", device_ips=addresses).write(tmp_path / "table.json")
    ranks = told(tmp_path, "--rank-table", path, LOCAL_RANK="7", JOB_ID="77")
    assert ranks == [
        (
            rank,
            2,
            {
                "RANK_TABLE_FILE": path,
                "RANK_ID": str(rank),
                "RANK_SIZE": "2",
                "ASCEND_DEVICE_ID": str(4 + rank),
                "DEVICE_ID": str(4 + rank),
                "LOCAL_RANK": str(rank),
                "LOCAL_WORLD_SIZE": "2",
                "JOB_ID": "77",
            },
        )
        for rank in range(2)
    ]


def test_chief(tmp_path):
    """With an address it is the five CM_* variables and the device, and neither RANK_ID nor RANK_SIZE."""
    port = str(free_port())
    ranks = told(tmp_path, "--devices", "4-5", "--master-addr", "127.0.0.1", "--master-port", port, JOB_ID="77")
    assert ranks == [
        (
            rank,
            2,
            {
                "CM_CHIEF_IP": "127.0.0.1",
                "CM_CHIEF_PORT": port,
                "CM_CHIEF_DEVICE": "4",
                "CM_WORKER_SIZE": "2",
                "CM_WORKER_IP": "127.0.0.1",
                "ASCEND_DEVICE_ID": str(4 + rank),
                "DEVICE_ID": str(4 + rank),
                "LOCAL_RANK": str(rank),
                "LOCAL_WORLD_SIZE": "2",
                "JOB_ID": "77",
            },
        )
        for rank in range(2)
    ]
