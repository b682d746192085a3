"""One mistake in a rank table is one problem, at its place."""

import json

import pytest
from ranktables import CONTAINER, GROUP, V10, V10_FULL, V12, V12_FULL, text
from test_ranktable_problems import D0, D1, I0, examine, spoiled

from npusession import Severity

#: By a short name: a table, what is changed in it, and the code of the only problem: what follows from it is none.
ALONE = {
    "a server that is null": (V10_FULL, {"server_list[0]": None}, "NPU606"),
    "a device that is text": (V10_FULL, {"server_list[1].device[0]": "0"}, "NPU606"),
    "a server without devices": (V10_FULL, {"server_list[0].device": ...}, "NPU605"),
    "an instance without devices": (GROUP, {I0 + ".devices": []}, "NPU605"),
    "a server twice": (V10_FULL, {"server_list[1]": V10_FULL["server_list"][0]}, "NPU617"),
    "a server's name twice": (V10_FULL, {"server_list[1].server_id": "node_0"}, "NPU617"),
    "interleaved": (V10_FULL, {D1 + ".rank_id": "2", "server_list[1].device[0].rank_id": "1"}, "NPU614"),
    "an address that is a list": (V10_FULL, {D1 + ".device_ip": ["192.0.2.11"]}, "NPU606"),
    "an address that is a number": (V10_FULL, {D1 + ".device_ip": 3221225995}, "NPU607"),
    "a list of servers that is text": (V12, {"super_pod_list[0].server_list[0]": "node_0"}, "NPU606"),
    "a super pod without servers": (V12, {"super_pod_list[0].server_list": []}, "NPU605"),
    "a super pod with an unknown server": (V12, {"super_pod_list[0].server_list[0].server_id": "node_9"}, "NPU620"),
    "a server in two super pods": (V12_FULL, {"super_pod_list[1].server_list[0].server_id": "node_0"}, "NPU620"),
    "not begun yet": (CONTAINER, {"status": "initializing", "group_list": [], "group_count": "0"}, "NPU609"),
}
#: The same for what is replaced in the text of a table of two servers.
ALONE_IN_TEXT = {
    "an address in braces": ('"192.0.2.2"', "{ip}", "NPU602"),
    "a comment of shells": ('"version"', '# ours\n"version"', "NPU601"),
    "NaN": ('"rank_id": "1"', '"rank_id": NaN', "NPU601"),
    "True": ('"completed"', "True", "NPU601"),
    "two ranks": ('"rank_id": "1"', '"rank_id": "1", "rank_id": "0"', "NPU603"),
    "a page of an error": ("{", "<!DOCTYPE html><html>", "NPU601"),
}


@pytest.mark.parametrize("name", ALONE)
def test_one_cause(name, tmp_path):
    """One mistake is one problem, whatever else follows from it."""
    table, changes, code = ALONE[name]
    report, _ = examine(spoiled(table, changes), tmp_path)
    assert [problem.code for problem in report] == [code]


@pytest.mark.parametrize("name", ALONE_IN_TEXT)
def test_one_cause_in_text(name, tmp_path):
    """One mistake that makes a file no JSON is one problem, too."""
    old, new, code = ALONE_IN_TEXT[name]
    report, _ = examine(text(V10_FULL).replace(old, new, 1), tmp_path)
    assert [problem.code for problem in report] == [code]


def test_misspelt_name(tmp_path):
    """A name that is misspelt is missed, and the fix is to rename it."""
    source = text(V10).replace('"rank_id": "1"', '"rank_Id": "1"')
    report, _ = examine(source, tmp_path)
    assert [(problem.code, problem.fix) for problem in report] == [("NPU605", 'rename "rank_Id" to "rank_id"')]


def test_no_addresses_at_all(tmp_path):
    """A table without any address is told once that it needs them, not once for each device."""
    table = json.loads(text(V10_FULL))
    for server in table["server_list"]:
        for device in server["device"]:
            del device["device_ip"]
    (problem,) = examine(table, tmp_path)[0]
    assert (problem.code, problem.option) == ("NPU619", "$.server_list[0].device[0].device_ip")
    assert "no device has a device_ip" in problem.message


def test_the_odd_family(tmp_path):
    """Of addresses of two families, the one that is alone is shown."""
    report, _ = examine(spoiled(V10_FULL, {D0 + ".device_ip": "2001:db8::1"}), tmp_path)
    assert [(problem.code, problem.option) for problem in report] == [("NPU631", f"$.{D0}.device_ip")]


def test_servers_called_by_no_address(tmp_path):
    """Of several servers, one that is called by an address which is nobody's or everybody's gets a warning."""
    for address in ("0.0.0.0", "127.0.0.1"):
        (problem,) = examine(spoiled(V10_FULL, {"server_list[1].server_id": address}), tmp_path)[0]
        assert (problem.code, problem.severity) == ("NPU618", Severity.WARNING)
    assert not list(examine(spoiled(V10, {"server_list[0].server_id": "127.0.0.1"}), tmp_path)[0])
