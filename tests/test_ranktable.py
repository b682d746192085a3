"""Rank tables as values: read, written, made, converted."""

import dataclasses
import json
import pickle

import pytest
from ranktables import ALL, CONTAINER, GROUP, V10, V10_FULL, V12, V12_FULL, V20, changed, text

import npusession
from npusession import NpuSessionError
from npusession.hccl import Rank, RankTable, RankTableError, Server

every_table = pytest.mark.parametrize("table", ALL.values(), ids=ALL)


@every_table
def test_read_and_written(table):
    """A table of any version is read without a problem, and written so that it reads back as the same."""
    read = RankTable.parse(text(table))
    assert list(read.check()) == []
    assert RankTable.parse(read.text()) == read
    assert json.loads(read.text()) == table


@every_table
def test_layout_does_not_matter(table):
    """Blanks, line ends, a byte order mark and escapes change nothing."""
    read = RankTable.parse(text(table))
    assert RankTable.parse("\ufeff" + json.dumps(table, separators=(",", ":"))) == read
    assert RankTable.parse(text(table).replace("\n", "\r\n").replace("node", "\\u006eode")) == read


def test_one_model():
    """What a table says is found in the same place, whatever version says it."""
    tables = [RankTable.parse(text(table)) for table in (V10, V12, CONTAINER)]
    for table in tables:
        assert [(rank.rank_id, rank.device_id, rank.device_ip) for rank in table.ranks] == [
            (0, 0, "192.0.2.10"),
            (1, 1, "192.0.2.11"),
        ]
        assert [server.server_id for server in table.servers] == ["node_0"]
    assert [table.version for table in tables] == ["1.0", "1.2", "container"]
    assert tables[1].servers[0].super_pod == "0"
    assert tables[2].ranks[0].pod == "npu2p"
    layers = RankTable.parse(text(V20)).ranks[1].levels
    assert [(level.net_layer, level.addresses[0].ports) for level in layers] == [(0, ("0/4", "0/5")), (3, ("d2h",))]


def test_container_ranks():
    """The devices of a container table are counted as HCCL does: by server_id as text, then by device_id."""
    instances = [
        {
            "pod_name": f"pod{server}",
            "server_id": f"node_{server}",
            "devices": [{"device_id": str(device), "device_ip": f"192.0.2.{server + device}"} for device in (1, 0)],
        }
        for server in (9, 20)
    ]
    table = changed(CONTAINER, "group_list", 0, "instance_list", to=instances)
    table = RankTable.parse(
        text(table).replace('"instance_count": "1"', '"instance_count": "2"').replace('"2",\n', '"4",\n', 1)
    )
    ranks = {(server.server_id, rank.device_id): rank.rank_id for server in table.servers for rank in server.ranks}
    assert ranks == {("node_20", 0): 0, ("node_20", 1): 1, ("node_9", 0): 2, ("node_9", 1): 3}


@pytest.mark.parametrize("version", ["1.0", "1.2", "group", "container"])
@pytest.mark.parametrize("table", [V10, GROUP, CONTAINER], ids=["1.0", "group", "container"])
def test_converted(table, version):
    """A table goes into any version that has a place for it, with the same devices and ranks."""
    read = RankTable.parse(text(table))
    converted = read.convert(version)
    assert converted.version == version
    assert list(converted.check()) == []
    assert [rank[:3] for rank in converted.ranks] == [rank[:3] for rank in read.ranks]


@pytest.mark.parametrize(
    ("table", "version", "obstacle"),
    [
        (V10, "2.0", "network layers"),
        (V12, "1.0", "super pods"),
        (V12, "container", "super_device_id"),
        (V10_FULL, "group", "device_port"),
        (V20, "1.0", "levels"),
        (V20, "group", "local_id"),
    ],
)
def test_not_expressible(table, version, obstacle):
    """A version that has no place for something is refused, with what there is no place for."""
    with pytest.raises(RankTableError, match=obstacle) as caught:
        RankTable.parse(text(table)).convert(version)
    assert {problem.code for problem in caught.value.problems} == {"NPU635"}


def test_container_order():
    """A container table cannot say ranks that HCCL would count otherwise."""
    table = RankTable.from_hosts({"b": {0: "192.0.2.1"}, "a": {0: "192.0.2.2"}})
    with pytest.raises(RankTableError, match="makes it rank"):
        table.convert("container")


def test_unknown_members():
    """Members that other programs add are kept, and written again."""
    table = changed(V10, "server_list", 0, "container_ip", to="203.0.113.5")
    table = changed(table, "server_list", 0, "device", 0, "device_logical_id", to={"a": [1, None]})
    table = changed(table, "note", to="ours")
    read = RankTable.parse(text(table))
    assert list(read.check()) == []
    assert json.loads(read.text()) == table
    assert json.loads(read.text("1.2"))["server_list"][0]["container_ip"] == "203.0.113.5"
    assert "container_ip" not in read.text("group")


def test_single_server():
    """The table of one server is made from its devices, with or without their addresses."""
    table = RankTable.single_server("4-6,2", "node", {4: "192.0.2.4", 5: "192.0.2.5", 6: "192.0.2.6", 2: "192.0.2.2"})
    assert [(rank.rank_id, rank.device_id, rank.device_ip) for rank in table.ranks] == [
        (0, 4, "192.0.2.4"),
        (1, 5, "192.0.2.5"),
        (2, 6, "192.0.2.6"),
        (3, 2, "192.0.2.2"),
    ]
    assert RankTable.single_server(8, device_ips={}) == RankTable.single_server(range(8), device_ips={})
    assert "device_ip" not in RankTable.single_server(2, device_ips={}).text()
    assert not RankTable.single_server(8, device_ips={}).check("atlas-a2")


def test_from_hosts():
    """The table of several servers counts ranks server by server, in the order given."""
    table = RankTable.from_hosts({"b": {0: "192.0.2.1", 1: "192.0.2.2"}, "a": {4: "192.0.2.3", 5: "192.0.2.4"}})
    assert [(server.server_id, [rank.rank_id for rank in server.ranks]) for server in table.servers] == [
        ("b", [0, 1]),
        ("a", [2, 3]),
    ]
    assert list(table.check("atlas-training")) == []


@pytest.mark.parametrize("devices", ["", "a", "3-1", "0,0", "0-", "-1", 0, [], [-1], [1, 1]])
def test_no_devices(devices):
    """What names no devices, or one twice, is refused."""
    with pytest.raises(ValueError, match="names no devices"):
        RankTable.single_server(devices, device_ips={})


def test_nothing_to_make():
    """A table needs a server, a server devices, and a version that there is."""
    with pytest.raises(ValueError, match="at least one server"):
        RankTable.from_hosts({})
    with pytest.raises(ValueError, match="'a' has no devices"):
        RankTable.from_hosts({"a": {}})
    with pytest.raises(ValueError, match="is no version"):
        RankTable.single_server(1, device_ips={}, version="3.0")
    with pytest.raises(ValueError, match="is no version"):
        RankTable.single_server(1, device_ips={}).text("3.0")


def test_a_made_table_is_checked():
    """A table that was made by hand is checked like one that was read, in the text that it would be written as."""
    table = RankTable((Server("a", (Rank(0, 0, "192.0.2.1"), Rank(0, 1, "192.0.2.1"))),))
    found = {problem.code: problem for problem in table.check()}
    assert set(found) == {"NPU613", "NPU616"}
    line = table.text().splitlines()[found["NPU613"].line - 1]
    assert line[found["NPU613"].column - 1 :].startswith('"0"')


def test_a_value():
    """A table is hashable, picklable and says briefly what it is."""
    table = RankTable.parse(text(V12_FULL))
    assert pickle.loads(pickle.dumps(table)) == table
    assert hash(table) == hash(RankTable.parse(text(V12_FULL)))
    assert repr(table) == "<RankTable 1.2, 4 servers, 8 ranks, completed>"
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.status = "initializing"


def test_write(tmp_path):
    """A file is written whole, and one that is there only when that is meant."""
    table = RankTable.parse(text(V10))
    path = tmp_path / "rank_table.json"
    assert table.write(path) == str(path)
    assert RankTable.read(path) == table
    with pytest.raises(FileExistsError):
        table.write(path)
    RankTable.parse(text(V12)).write(path, overwrite=True)
    assert RankTable.read(path).version == "1.2"
    assert [entry.name for entry in tmp_path.iterdir()] == ["rank_table.json"]


def test_unreadable(tmp_path):
    """A table that cannot be a value is an error of this package that lists everything, and names the file."""
    path = tmp_path / "rank_table.json"
    path.write_text(
        text(changed(V10, "server_list", 0, "device", 0, "rank_id", to=...)).replace("}\n", "},\n"), "utf-8"
    )
    with pytest.raises(RankTableError) as caught:
        RankTable.read(path)
    assert isinstance(caught.value, (NpuSessionError, ValueError))
    assert {problem.code for problem in caught.value.problems} == {"NPU601", "NPU605"}
    assert str(path) in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(FileNotFoundError):
        RankTable.read(tmp_path / "other")


def test_many_problems():
    """A message stays readable whatever the number of problems."""
    table = RankTable.from_hosts({f"n{n}": dict.fromkeys(range(8), "x") for n in range(100)})
    with pytest.raises(RankTableError) as caught:
        raise RankTableError(table.check(), "table")
    assert len(caught.value.problems) == 800
    assert "... and 700 more" in str(caught.value)


def test_large():
    """32768 ranks are made, written, read and checked."""
    table = RankTable.from_hosts(
        {f"node_{n}": {d: f"10.{n >> 8}.{n & 255}.{d + 1}" for d in range(8)} for n in range(4096)}
    )
    read = RankTable.parse(table.text())
    assert read == table
    assert read.size == 32768
    assert list(read.check("atlas-training")) == []


def test_lazy():
    """The module is there as an attribute, without an import of its own."""
    assert npusession.hccl.RankTable is RankTable
