"""Rank tables of every version, as text, for tests; addresses are those of documentation."""

import json

V10 = {
    "status": "completed",
    "version": "1.0",
    "server_count": "1",
    "server_list": [
        {
            "server_id": "node_0",
            "device": [
                {"device_id": "0", "device_ip": "192.0.2.10", "rank_id": "0"},
                {"device_id": "1", "device_ip": "192.0.2.11", "rank_id": "1"},
            ],
        }
    ],
}
#: Two servers, with all that a device may have.
V10_FULL = {
    "status": "completed",
    "version": "1.0",
    "server_count": "2",
    "server_list": [
        {
            "server_id": f"node_{server}",
            "host_ip": f"198.51.100.{server + 1}",
            "device": [
                {
                    "device_id": str(device),
                    "device_ip": f"192.0.2.{10 * server + device + 1}",
                    "device_port": "16667",
                    "host_port": str(16666 + device),
                    "rank_id": str(2 * server + device),
                }
                for device in range(2)
            ],
        }
        for server in range(2)
    ],
}
GROUP = {
    "status": "completed",
    "board_id": "0x0000",
    "chip_info": "910",
    "deploy_mode": "lab",
    "group_count": "1",
    "para_plane_nic_location": "device",
    "para_plane_nic_name": ["eth0"],
    "para_plane_nic_num": "1",
    "group_list": [
        {
            "group_name": "g",
            "device_num": "1",
            "server_num": "1",
            "instance_count": "1",
            "instance_list": [
                {
                    "rank_id": "0",
                    "server_id": "node_0",
                    "devices": [{"device_id": "0", "device_ip": "192.0.2.10"}],
                }
            ],
        }
    ],
}
CONTAINER = {
    "status": "completed",
    "group_count": "1",
    "group_list": [
        {
            "group_name": "worker",
            "device_count": "2",
            "instance_count": "1",
            "instance_list": [
                {
                    "pod_name": "npu2p",
                    "server_id": "node_0",
                    "devices": [
                        {"device_id": "0", "device_ip": "192.0.2.10"},
                        {"device_id": "1", "device_ip": "192.0.2.11"},
                    ],
                }
            ],
        }
    ],
}
V12 = {
    "status": "completed",
    "version": "1.2",
    "server_count": "1",
    "server_list": [
        {
            "server_id": "node_0",
            "host_ip": "198.51.100.1",
            "device": [
                {"device_id": "0", "super_device_id": "0", "device_ip": "192.0.2.10", "rank_id": "0"},
                {"device_id": "1", "super_device_id": "1", "device_ip": "192.0.2.11", "rank_id": "1"},
            ],
        }
    ],
    "super_pod_list": [{"super_pod_id": "0", "server_list": [{"server_id": "node_0"}]}],
}
#: Two super pods of two servers with two devices each, which are each other's backup.
V12_FULL = {
    "status": "completed",
    "version": "1.2",
    "server_count": "4",
    "server_list": [
        {
            "server_id": f"node_{server}",
            "host_ip": f"198.51.100.{server + 1}",
            "device": [
                {
                    "device_id": str(device),
                    "super_device_id": str(2 * (server % 2) + device),
                    "device_ip": f"192.0.2.{10 * server + device + 1}",
                    "device_port": "16666",
                    "backup_device_ip": f"192.0.2.{10 * server + 2 - device}",
                    "backup_device_port": "16667",
                    "host_port": str(16665 + device),
                    "rank_id": str(2 * server + device),
                }
                for device in range(2)
            ],
        }
        for server in range(4)
    ],
    "super_pod_list": [
        {"super_pod_id": f"pod_{pod}", "server_list": [{"server_id": f"node_{2 * pod + n}"} for n in range(2)]}
        for pod in range(2)
    ],
}
V20 = {
    "status": "completed",
    "version": "2.0",
    "rank_count": 2,
    "rank_list": [
        {
            "rank_id": rank,
            "local_id": rank,
            "device_id": rank,
            "device_port": 16666 + rank,
            "host_port": 60001 + rank,
            "level_list": [
                {
                    "net_layer": 0,
                    "net_instance_id": "rack0-server0",
                    "net_type": "TOPO_FILE_DESC",
                    "net_attr": "",
                    "rank_addr_list": [
                        {
                            "addr_type": "EID",
                            "addr": f"{rank:032x}",
                            "ports": ["0/4", "0/5"],
                            "plane_id": "plane0",
                        }
                    ],
                },
                {
                    "net_layer": 3,
                    "net_instance_id": "cluster",
                    "net_type": "CLOS",
                    "net_attr": "",
                    "rank_addr_list": [{"addr_type": "IPV4", "addr": f"192.0.2.{rank + 1}", "ports": ["d2h"]}],
                },
            ],
        }
        for rank in range(2)
    ],
}
ALL = {
    "1.0": V10, "1.0-full": V10_FULL, "1.2": V12, "1.2-full": V12_FULL, "2.0": V20, "group": GROUP,
    "container": CONTAINER,
}  # fmt: skip


def text(table):
    """Return a table as JSON with a line for every value."""
    return json.dumps(table, indent=2)


def changed(table, *path, to):
    """Return a copy with the value at a path replaced, or left out for ``...``."""
    copy = json.loads(json.dumps(table))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    if to is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return copy
