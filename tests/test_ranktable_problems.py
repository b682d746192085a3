"""What is wrong with rank tables: each kind of mistake with its code, its JSON path, and its line."""

import json
import re

import pytest
from ranktables import ALL, CONTAINER, GROUP, V10, V10_FULL, V12, V12_FULL, V20, changed, text

from npusession import Product, Severity
from npusession.hccl import RULES, RankTable

DEVICE = ("server_list", 0, "device", 1)


def examine(source, tmp_path, product=None):
    """Check a table or a text as a file; returns the report and the lines."""
    source = source if isinstance(source, str) else text(source)
    path = tmp_path / "rank_table.json"
    path.write_bytes(source.encode("utf-8", "surrogatepass"))
    return RankTable.check_file(path, product), source.split("\n")


def devices(*ids, servers=1):
    """Return a table of servers that have devices of these ids each."""
    hosts = {
        f"n{server}": {device: f"192.0.2.{16 * server + device + 1}" for device in ids} for server in range(servers)
    }
    return json.loads(RankTable.from_hosts(hosts).text())


def spoiled(table, changes):
    """Return a copy of a table with the values at some paths replaced, or left out for ``...``."""
    for path, value in changes.items():
        steps = [int(number) if number else name for name, number in re.findall(r"([a-z_]+)|\[(\d+)\]", path)]
        table = changed(table, *steps, to=value)
    return table


D0, D1 = "server_list[0].device[0]", "server_list[0].device[1]"
I0 = "group_list[0].instance_list[0]"
L0, L1 = "rank_list[0].level_list[0]", "rank_list[0].level_list[1]"
A0, A1 = L0 + ".rank_addr_list[0]", L1 + ".rank_addr_list[0]"
TWO_DEVICES = CONTAINER["group_list"][0]["instance_list"][0]["devices"]
SAME_PORTS = [V20["rank_list"][rank]["level_list"][0]["rank_addr_list"][0] for rank in (0, 1)]
#: By a short name: the table, what is changed in it, the code, and how the text begins at the place where the problem
#: is: the first value that is changed, or the place named last. A field that is missing is missed where its object is.
BROKEN = {
    # Missing and mistyped fields.
    "no version": (V10, {"version": ...}, "NPU605", "{"),
    "no status": (V10, {"status": ...}, "NPU605", "{"),
    "no server_count": (V10, {"server_count": ...}, "NPU605", "{"),
    "no server_list": (V10, {"server_list": ...}, "NPU605", "{"),
    "empty server_list": (V10, {"server_list": []}, "NPU605", "[]"),
    "no device": (V10, {"server_list[0].device": ...}, "NPU605", "{"),
    "no device_id": (V10, {D1 + ".device_id": ...}, "NPU605", "{"),
    "no rank_id": (V10, {D1 + ".rank_id": ...}, "NPU605", "{"),
    "no server_id": (V10, {"server_list[0].server_id": ...}, "NPU605", "{"),
    "no pod_name": (CONTAINER, {I0 + ".pod_name": ...}, "NPU605", "{"),
    "no deploy_mode": (GROUP, {"deploy_mode": ...}, "NPU605", "{"),
    "no level_list": (V20, {"rank_list[1].level_list": ...}, "NPU605", "{"),
    "server_list an object": (V10, {"server_list": {}}, "NPU606", "{}"),
    "device a number": (V10, {D1: 5}, "NPU606", "5"),
    "rank_id null": (V10, {D1 + ".rank_id": None}, "NPU606", "null"),
    "device_ip true": (V10, {D1 + ".device_ip": True}, "NPU606", "true"),
    "ports text": (V20, {A0 + ".ports": "0/4"}, "NPU606", '"0/4"'),
    # Numbers.
    "rank_id unquoted": (V10, {D1 + ".rank_id": 1}, "NPU607", "1"),
    "server_count unquoted": (V10, {"server_count": 1}, "NPU607", "1"),
    "version unquoted": (V10, {"version": 1.0}, "NPU607", "1.0"),
    "device_num unquoted": (GROUP, {"group_list[0].device_num": 1}, "NPU607", "1"),
    "nic_num unquoted": (GROUP, {"para_plane_nic_num": 1}, "NPU607", "1"),
    "rank_id quoted in 2.0": (V20, {"rank_list[1].rank_id": "1"}, "NPU607", '"1"'),
    "rank_id a word": (V10, {D1 + ".rank_id": "one"}, "NPU608", '"one"'),
    "rank_id negative": (V10, {D1 + ".rank_id": "-1"}, "NPU608", '"-1"'),
    "rank_id huge": (V10, {D1 + ".rank_id": "9" * 5000}, "NPU608", '"99'),
    "rank_id a fraction": (V20, {"rank_list[1].rank_id": 1.5}, "NPU608", "1.5"),
    "port too high": (V10, {D1 + ".device_port": "65536"}, "NPU608", '"65536"'),
    "local_id too high": (V20, {"rank_list[0].local_id": 65}, "NPU608", "65"),
    "empty super_device_id": (V12, {D1 + ".super_device_id": ""}, "NPU608", '""'),
    # Versions and status.
    "version 1.1": (V10, {"version": "1.1"}, "NPU604", '"1.1"'),
    "initializing": (V10, {"status": "initializing"}, "NPU609", '"initializing"'),
    "container initializing": (CONTAINER, {"status": "initializing"}, "NPU609", '"initializing"'),
    "status misspelt": (V10, {"status": "complete"}, "NPU610", '"complete"'),
    # Counts.
    "server_count": (V10, {"server_count": "2"}, "NPU611", '"2"'),
    "group_count": (GROUP, {"group_count": "2"}, "NPU611", '"2"'),
    "device_num": (GROUP, {"group_list[0].device_num": "8"}, "NPU611", '"8"'),
    "server_num": (GROUP, {"group_list[0].server_num": "2"}, "NPU611", '"2"'),
    "instance_count": (CONTAINER, {"group_list[0].instance_count": "3"}, "NPU611", '"3"'),
    "device_count": (CONTAINER, {"group_list[0].device_count": "3"}, "NPU611", '"3"'),
    "rank_count": (V20, {"rank_count": 3}, "NPU611", "3"),
    "two devices, one rank": (GROUP, {I0 + ".devices": TWO_DEVICES}, "NPU611", "["),
    # Ranks.
    "rank ids from 1": (V10, {D1 + ".rank_id": "2", D0 + ".rank_id": "1"}, "NPU612", '"2"'),
    "rank id left out": (V10, {D1 + ".rank_id": "2"}, "NPU612", '"2"'),
    "rank beyond in 2.0": (V20, {"rank_list[1].rank_id": 2}, "NPU612", "2"),
    "rank twice": (V10, {D1 + ".rank_id": "0"}, "NPU613", '"0"'),
    "interleaved": (
        V10_FULL, {D1 + ".rank_id": "2", "server_list[1].device[0].rank_id": "1"}, "NPU614", '"2"'
    ),
    # Devices and names.
    "device twice": (V10, {D1 + ".device_id": "0"}, "NPU615", '"0"'),
    "device twice in a pod": (CONTAINER, {I0 + ".devices[1].device_id": "0"}, "NPU615", '"0"'),
    "local_id twice": (V20, {"rank_list[1].local_id": 0}, "NPU615", "0"),
    "server twice": (V10_FULL, {"server_list[1].server_id": "node_0"}, "NPU617", '"node_0"'),
    "super pod twice": (V12_FULL, {"super_pod_list[1].super_pod_id": "pod_0"}, "NPU617", '"pod_0"'),
    "empty name": (V10, {"server_list[0].server_id": ""}, "NPU634", '""'),
    "long name": (V10, {"server_list[0].server_id": "n" * 65}, "NPU634", '"nnn'),
    # Addresses.
    "address twice": (V10, {D1 + ".device_ip": "192.0.2.10"}, "NPU616", '"192.0.2.10"'),
    "no such address": (V10, {D1 + ".device_ip": "192.0.2.300"}, "NPU618", '"192.0.2.300"'),
    "address with a blank": (V10, {D1 + ".device_ip": " 192.0.2.1"}, "NPU618", '" 192.0.2.1"'),
    "address of nobody": (V10, {D1 + ".device_ip": "0.0.0.0"}, "NPU618", '"0.0.0.0"'),
    "loopback": (V10, {D1 + ".device_ip": "127.0.0.1"}, "NPU618", '"127.0.0.1"'),
    "broadcast": (V10, {D1 + ".device_ip": "255.255.255.255"}, "NPU618", '"255'),
    "multicast": (V10, {D1 + ".device_ip": "ff02::1"}, "NPU618", '"ff02::1"'),
    "host_ip": (V12, {"server_list[0].host_ip": "node"}, "NPU618", '"node"'),
    "short EID": (V20, {A0 + ".addr": "00ff"}, "NPU618", '"00ff"'),
    "IPv6 as IPV4": (V20, {A1 + ".addr": "2001:db8::1"}, "NPU618", '"2001'),
    "no device_ip": (V10_FULL, {D1 + ".device_ip": ...}, "NPU619", "{"),
    "no device_ip between super pods": (V12_FULL, {D1 + ".device_ip": ...}, "NPU619", "{"),
    "two families": (V10_FULL, {"server_list[1].device[1].device_ip": "2001:db8::1"}, "NPU631", '"2001'),
    # Placeholders in quotes.
    "{ip}": (V10, {D1 + ".device_ip": "{device_ip}"}, "NPU602", '"{device_ip}"'),
    "xx": (V10, {D1 + ".device_ip": "192.xx.xx.2"}, "NPU602", '"192.xx'),
    "stars": (V10, {D1 + ".device_ip": "10.*.*.*"}, "NPU602", '"10.*'),
    "${RANK}": (V10, {D1 + ".rank_id": "${RANK}"}, "NPU602", '"${RANK}"'),
    "<server>": (V10, {"server_list[0].server_id": "<server ip>"}, "NPU602", '"<'),
    "status {}": (V10, {"status": "{status}"}, "NPU602", '"{status}"'),
    # Super pods.
    "unknown server": (V12, {"super_pod_list[0].server_list[0].server_id": "node_9"}, "NPU620", '"node_9"'),
    "server in two super pods": (
        V12_FULL, {"super_pod_list[1].server_list[0].server_id": "node_0"}, "NPU620", '"node_0"'
    ),
    "server in no super pod": (
        V12_FULL, {"super_pod_list[1].server_list[1]": ...}, "NPU620", '"node_3"', "server_list[3].server_id"
    ),
    "no super_device_id": (V12, {D1 + ".super_device_id": ...}, "NPU621", "{"),
    "super_device_id twice": (V12, {D1 + ".super_device_id": "0"}, "NPU621", '"0"'),
    "super pods interleaved": (
        V12_FULL,
        {
            "super_pod_list[0].server_list[1].server_id": "node_2",
            "super_pod_list[1].server_list[0].server_id": "node_1",
        },
        "NPU622", '"node_2"', "server_list[2].server_id",
    ),
    "super pods in 1.0": (V12, {"version": "1.0"}, "NPU624", "[", "super_pod_list"),
    # Ports and layers.
    "host_port twice": (V10_FULL, {D1 + ".host_port": "16666"}, "NPU629", '"16666"'),
    "backup port in use": (V12_FULL, {D1 + ".backup_device_port": "16666"}, "NPU629", '"16666"'),
    "layers do not rise": (V20, {L1 + ".net_layer": 0}, "NPU632", "0"),
    "no layer 0": (V20, {L0 + ".net_layer": 1}, "NPU632", "1"),
    "port with two addresses": (
        V20, {L0 + ".rank_addr_list": SAME_PORTS}, "NPU632", '"0/4"', L0 + ".rank_addr_list[1].ports[0]"
    ),
    "no port": (V20, {A0 + ".ports": ["eth0"]}, "NPU632", '"eth0"', A0 + ".ports[0]"),
    "net_type": (V20, {L1 + ".net_type": "MESH"}, "NPU610", '"MESH"'),
    "addr_type": (V20, {A1 + ".addr_type": "MAC"}, "NPU610", '"MAC"'),
    "network ports of the host": (GROUP, {"para_plane_nic_location": "host"}, "NPU610", '"host"'),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name, tmp_path):
    """Each mistake is an error with its own code, JSON path, line and column, a cause and what would be right."""
    table, changes, code, begins, *place = BROKEN[name]
    report, lines = examine(spoiled(table, changes), tmp_path)
    path = "$." + (place[0] if place else next(iter(changes)))
    found = [problem for problem in report.errors if (problem.code, problem.option) == (code, path)]
    assert len(found) == 1, list(report)
    assert lines[found[0].line - 1][found[0].column - 1 :].startswith(begins)
    assert found[0].message
    assert found[0].allowed or found[0].fix or found[0].why
    assert f"rank_table.json:{found[0].line}:{found[0].column}" in str(found[0])


def test_no_object(tmp_path):
    """JSON that is no object is no rank table."""
    for source, begins in (("[]", "["), ("5", "5"), ('"x"', '"'), ("null", "n")):
        report, lines = examine(source, tmp_path)
        assert [(problem.code, problem.option) for problem in report] == [("NPU606", "$")]
        assert lines[0][report[0].column - 1 :].startswith(begins)


#: By a short name: what is replaced in a table of version 1.0 and by what, the code, and where the fault is said to be.
SLIPS = {
    "trailing comma in an object": ('"rank_id": "1"', '"rank_id": "1",', "NPU601", '"rank_id": "1"', 14),
    "trailing comma in a list": ("}\n      ]", "},\n      ]", "NPU601", "},\n      ]", 1),
    "missing comma": ('"version": "1.0",', '"version": "1.0"', "NPU601", '"server_count"', 0),
    "two commas": ('"version": "1.0",', '"version": "1.0",,', "NPU601", ",,", 1),
    "missing colon": ('"version": "1.0"', '"version" "1.0"', "NPU601", '"1.0"', 0),
    "comment": ('"version": "1.0",', '"version": "1.0", // ours', "NPU601", "// ours", 0),
    "single quotes": ('"version": "1.0"', "\"version\": '1.0'", "NPU601", "'1.0'", 0),
    "no quotes": ('"node_0"', "node_0", "NPU601", "node_0", 0),
    "no closing quote": ('"node_0",', '"node_0,', "NPU601", '"node_0', 0),
    "full-width comma": ('"version": "1.0",', '"version": "1.0"，', "NPU601", "，", 0),
    "full-width quotes": ('"node_0"', "“node_0”", "NPU601", "“", 0),
    "control character": ("node_0", "node\t0", "NPU601", '"node', 0),
    "placeholder {n}": ('"server_count": "1"', '"server_count": {n}', "NPU602", "{n}", 0),
    "placeholder ${N}": ('"server_count": "1"', '"server_count": ${N}', "NPU602", "${N}", 0),
    "placeholder {{ n }}": ('"server_count": "1"', '"server_count": {{ n }}', "NPU602", "{{", 0),
    "placeholder <n>": ('"server_count": "1"', '"server_count": <n>', "NPU602", "<n>", 0),
    "placeholder %s": ('"server_count": "1"', '"server_count": %s', "NPU602", "%s", 0),
    "placeholder for a list": ('"server_list": [', '"server_list": {servers}, "x": [', "NPU602", "{servers}", 0),
    "placeholder for an object": ("}\n      ]", "}, {more}\n      ]", "NPU602", "{more}", 0),
    "key twice": ('"version": "1.0"', '"version": "1.0", "version": "1.0"', "NPU603", '"version": "1.0",\n', 0),
    "stray brace at the end": ("\n}", "\n}}", "NPU601", "\n}}", 2),
    "stray brace inside": ('"node_0",', '"node_0"},', "NPU601", '"node_0"},', 8),
    "stray brace after a device": ("}\n      ]", "}}\n      ]", "NPU601", "}}", 1),
    "stray brace before a key": ('"version": "1.0",', '"version": "1.0"},', "NPU601", '"1.0"},', 5),
    "stray bracket": ("}\n      ]", "}\n      ]]", "NPU601", "]]", 1),
    "missing bracket": ("}\n      ]", "}\n", "NPU601", "    }\n  ]", 4),
    "missing bracket before a key": ("\n  ]\n}", '\n  ,"x": 1\n}', "NPU601", '"x"', 0),
    "missing brace": (
        '"rank_id": "0"\n        },', '"rank_id": "0"\n        ,', "NPU601", '{\n          "device_id": "1"', 0
    ),
    "nothing more": ("\n  ]\n}", "", "NPU601", "[\n    {", 0),
    "something more": ("\n}", "\n} rank 1", "NPU601", " rank 1", 1),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "code", "where", "offset"), SLIPS.values(), ids=SLIPS)
def test_not_json(old, new, code, where, offset, tmp_path):
    """What is no JSON is found at its place, and does not hide what else is wrong."""
    source = text(changed(V10, "status", to="initializing"))
    last = source.rindex(old)
    source = source[:last] + new + source[last + len(old) :]
    report, _ = examine(source, tmp_path)
    start = source.rindex(where) + offset
    line, column = source.count("\n", 0, start) + 1, start - source.rfind("\n", 0, start)
    assert [(problem.line, problem.column) for problem in report if problem.code == code] == [(line, column)]
    others = {problem.code for problem in report} - {code}
    assert "NPU609" in others
    assert others <= {"NPU609", "NPU605"}


def test_cut_off(tmp_path):
    """A file that ends in the middle is told so; what is not there yet is not missed."""
    whole = text(V10_FULL)
    for length in range(2, len(whole) - 2):
        report, _ = examine(whole[:length], tmp_path)
        codes = {problem.code for problem in report}
        assert "NPU601" in codes
        assert not codes & {"NPU605", "NPU606", "NPU611", "NPU612"}


def test_something_else(tmp_path):
    """A text that is far from JSON is given up, without a word on the fields of a table."""
    report, _ = examine("import os\n" * 500, tmp_path)
    assert {problem.code for problem in report} == {"NPU601"}
    assert len(report) <= 100
    report, _ = examine('{"status": ' + "a b c; " * 500 + "}", tmp_path)
    assert {problem.code for problem in report} == {"NPU601", "NPU603"}


@pytest.mark.parametrize("source", ["", "\n \t", "\ufeff"])
def test_empty(source, tmp_path):
    """An empty file is one problem, and not a missing field of everything."""
    report, _ = examine(source, tmp_path)
    assert [problem.code for problem in report] == ["NPU601"]
    assert "empty" in report[0].message


def test_not_text(tmp_path):
    """Bytes that are no text are problems like all others."""
    path = tmp_path / "rank_table.json"
    path.write_bytes(text(V10).encode("utf-8").replace(b"node_0", "节点".encode("gbk")))
    (problem,) = RankTable.check_file(path)
    assert (problem.code, problem.line, problem.column) == ("NPU601", 7, 21)
    assert "UTF-8" in problem.message
    path.write_bytes(bytes(range(256)) * 20)
    assert RankTable.check_file(path)


def test_deep(tmp_path):
    """Brackets without end are refused and end the reading."""
    for source in ("[" * 200000, '{"a":' * 200000, text(V10).replace('"node_0"', "[" * 5000 + "]" * 5000)):
        report, _ = examine(source, tmp_path)
        assert "levels of brackets" in str(list(report))


def test_all_at_once(tmp_path):
    """A file with many mistakes is told all of them in one go, in the order of the file."""
    table = changed(V10_FULL, "server_count", to="3")
    table = changed(table, *DEVICE, "rank_id", to=1)
    table = changed(table, "server_list", 1, "device", 0, "device_ip", to="10.xx.xx.1")
    table = changed(table, "server_list", 1, "device", 1, "device_id", to="0")
    source = text(table).replace('"completed",', '"complete",,') + "}"
    report, _ = examine(source, tmp_path)
    assert [problem.code for problem in report.errors] == [
        "NPU610",
        "NPU601",
        "NPU611",
        "NPU607",
        "NPU602",
        "NPU615",
        "NPU601",
    ]


@pytest.mark.parametrize(
    ("ids", "fits"),
    [
        ((0,), True), ((0, 1), True), ((2, 3), True), ((4, 7), True), ((0, 1, 2, 3), True), ((4, 5, 6, 7), True),
        (range(8), True), ((3, 4), False), ((0, 7), False), ((2, 3, 4, 5), False), ((0, 1, 2), False),
        (range(5), False), (range(6), False),
    ],
)  # fmt: skip
def test_device_sets(ids, fits, tmp_path):
    """The Atlas training series takes 1, 2, 4 or 8 devices, and 2 or 4 from one half; others take any."""
    report, lines = examine(devices(*ids), tmp_path, Product.ATLAS_TRAINING)
    assert [problem.code for problem in report] == ([] if fits else ["NPU625"])
    if not fits:
        assert report[0].option == "$.server_list[0].device"
        assert '"device"' in lines[report[0].line - 1]
    unknown, _ = examine(devices(*ids), tmp_path)
    assert [problem.severity for problem in unknown] == ([] if fits else [Severity.WARNING])
    assert list(examine(devices(*ids), tmp_path, "A2")[0]) == []


def test_uneven_servers(tmp_path):
    """On the Atlas training series all servers have the same number of devices."""
    table = RankTable.from_hosts({"a": {0: "192.0.2.1", 1: "192.0.2.2"}, "b": {0: "192.0.2.3"}}).text()
    assert [problem.code for problem in examine(table, tmp_path, "910")[0].errors] == ["NPU626"]
    assert list(examine(table, tmp_path, "A2")[0]) == []


@pytest.mark.parametrize(
    ("table", "product", "codes"),
    [
        (V10, "A2", []),
        (V10, "A3", []),
        (V10, "atlas-350", ["NPU628"]),
        (V12, "A3", []),
        (V12, "A2", ["NPU628"]),
        (V12, "atlas-training", ["NPU628"]),
        (V20, "Ascend950PR", []),
        (V20, "A3", ["NPU628"]),
        (GROUP, "atlas-training", []),
        (CONTAINER, "atlas-training", []),
        (devices(8), "atlas-training", ["NPU627"]),
        (devices(8), "A2", []),
        (devices(16), "A2", ["NPU627"]),
    ],
)
def test_products(table, product, codes, tmp_path):
    """Versions and devices that a product does not have are errors on it."""
    assert [problem.code for problem in examine(table, tmp_path, product)[0].errors] == codes
    assert not examine(table, tmp_path)[0]


def test_warnings(tmp_path):
    """What one may live with is a warning: ports of the system, names that look misspelt, uneven super pods."""
    table = changed(V10, *DEVICE, "device_port", to="80")
    table = changed(table, "server_list", 0, "host-ip", to="198.51.100.1")
    report, lines = examine(table, tmp_path)
    assert {problem.code: problem.option for problem in report} == {
        "NPU630": "$.server_list[0].device[1].device_port",
        "NPU633": "$.server_list[0]['host-ip']",
    }
    assert not report.errors
    misspelt = next(problem for problem in report if problem.code == "NPU633")
    assert lines[misspelt.line - 1][misspelt.column - 1 :].startswith('"host-ip"')
    assert "host_ip" in misspelt.message
    assert list(examine(V10, tmp_path, "A2")[0]) == []
    without = changed(changed(V10, *DEVICE, "device_ip", to=...), "server_list", 0, "device", 0, "device_ip", to=...)
    assert {problem.code for problem in examine(without, tmp_path, "910")[0].warnings} == {"NPU619"}
    assert list(examine(without, tmp_path, "A2")[0]) == []


def test_misspelt_field(tmp_path):
    """A field that is missing because it is misspelt is told by the name it has."""
    table = changed(changed(V10, *DEVICE, "rank_id", to=...), *DEVICE, "rankid", to="1")
    (problem,) = examine(table, tmp_path)[0].errors
    assert problem.fix == 'rename "rankid" to "rank_id"'


def test_optional_fields(tmp_path):
    """What the reference leaves out may be left out."""
    bare = changed(changed(V12, "server_count", to=...), "super_pod_list", to=...)
    for number in range(2):
        for field in ("super_device_id", "device_ip"):
            bare = changed(bare, "server_list", 0, "device", number, field, to=...)
    assert list(examine(bare, tmp_path)[0]) == []
    assert list(examine(changed(V20, "status", to=...), tmp_path)[0]) == []
    apart = changed(V12_FULL, "super_pod_list", to=...)
    assert list(examine(apart, tmp_path)[0]) == []
    apart = changed(apart, *DEVICE, "device_ip", to=...)
    assert [problem.severity for problem in examine(apart, tmp_path)[0]] == [Severity.WARNING]
    pod = changed(changed(V12_FULL, "super_pod_list", 1, to=...), "server_list", slice(2, 4), to=...)
    pod = changed(pod, "server_count", to="2")
    for server in range(2):
        for number in range(2):
            pod = changed(pod, "server_list", server, "device", number, "device_ip", to=...)
            pod = changed(pod, "server_list", server, "device", number, "backup_device_ip", to=...)
    assert list(examine(pod, tmp_path)[0]) == []
    for server in range(2):
        for number in range(2):
            pod = changed(pod, "server_list", server, "device", number, "super_device_id", to=...)
    report, _ = examine(pod, tmp_path)
    assert [(problem.code, problem.severity) for problem in report] == [("NPU621", Severity.WARNING)]


@pytest.mark.parametrize("table", ALL.values(), ids=ALL)
def test_repaired(table, tmp_path):
    """A table whose numbers are quoted the wrong way can be read, and is written the right way."""

    def turned(value):
        if isinstance(value, dict):
            return {key: turned(member) if key != "version" else member for key, member in value.items()}
        if isinstance(value, list):
            return [turned(item) for item in value]
        if isinstance(value, int):
            return str(value)
        return int(value) if isinstance(value, str) and value.isdigit() and len(value) < 10 else value

    broken = text(turned(table))
    assert {problem.code for problem in examine(broken, tmp_path)[0]} == {"NPU607"}
    assert RankTable.parse(broken).text() == RankTable.parse(text(table)).text()


def test_every_rule_has_a_test():
    """No rule of rank tables goes unproven."""
    tested = {broken[2] for broken in BROKEN.values()} | {code for _, _, code, _, _ in SLIPS.values()}
    elsewhere = {"NPU623", "NPU625", "NPU626", "NPU627", "NPU628", "NPU630", "NPU633", "NPU635"}
    assert tested | elsewhere == {code for code in RULES if code.startswith("NPU6")}
