"""``npusession ranktable``, as a user sees it."""

import json

import pytest
from click.testing import CliRunner
from ranktables import ALL, CONTAINER, V10, V12, V20, changed, text

from npusession.cli import main
from npusession.hccl import RankTable, addresses
from npusession.products import detect


@pytest.fixture(autouse=True)
def bare_host(monkeypatch, tmp_path):
    """A host without devices: no product is detected, no address known."""
    monkeypatch.setattr(addresses, "HCCN_CONF", str(tmp_path / "hccn.conf"))
    monkeypatch.setattr(addresses, "_TOOLS", ())
    monkeypatch.setenv("PATH", "/nowhere")
    detect.cache_clear()
    yield
    detect.cache_clear()


@pytest.fixture
def call():
    """Run the command; returns its exit code and output."""

    def run(*arguments):
        result = CliRunner().invoke(main, ["ranktable", *map(str, arguments)])
        return result.exit_code, result.output

    return run


@pytest.fixture
def written(tmp_path):
    """Write a table or a text to a file."""

    def write(table, name="rank_table.json"):
        path = tmp_path / name
        path.write_text(table if isinstance(table, str) else text(table), "utf-8")
        return path

    return write


@pytest.mark.parametrize("name", ALL)
def test_right(call, written, name):
    """A table that is right is told in one line what it is."""
    code, output = call("check", written(ALL[name]))
    assert code == 0
    (line,) = output.splitlines()
    assert line.endswith("no errors, no warnings")
    assert f"{RankTable.parse(text(ALL[name])).size} rank" in line


def test_wrong(call, written):
    """What is wrong is told with code, place, cause and fix; the exit code is 1."""
    path = written(changed(V10, "server_list", 0, "device", 1, "rank_id", to=1))
    code, output = call("check", path)
    assert code == 1
    for part in ("error", f"NPU607 {path}:", "$.server_list[0].device[1].rank_id = 1", "fix:", "1 error, no warnings"):
        assert part in output


def test_product(call, written):
    """What a product forbids is an error for that product."""
    path = written(json.loads(RankTable.single_server("3,4", device_ips={}).text()))
    assert call("check", path, "--product", "A2")[0] == 0
    code, output = call("check", path, "--product", "Ascend910A")
    assert code == 1
    assert "NPU625" in output
    assert call("check", path, "--product", "gpu")[0] == 2


def test_json(call, written):
    """JSON has each problem with its file, line and column."""
    path = written(text(V10).replace('"1.0",', '"1.0",,'))
    code, output = call("check", path, "--json")
    assert code == 1
    (problem,) = json.loads(output)["problems"]
    assert (problem["code"], problem["source"], problem["line"], problem["column"]) == ("NPU601", str(path), 3, 20)


def test_many(call, written):
    """Of very many problems the first are printed, and the number of all."""
    table = RankTable.from_hosts({f"n{n}": dict.fromkeys(range(8), "x") for n in range(20)}).text()
    code, output = call("check", written(table))
    assert code == 1
    assert output.count("NPU618") == 50
    assert "... and 110 more; --json prints all" in output
    assert len(json.loads(call("check", written(table), "--json")[1])["problems"]) == 160


def test_no_file(call, tmp_path):
    """A file that is not there is a mistake of the command line."""
    assert call("check", tmp_path / "absent")[0] == 2


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        (V10, ["version 1.0", "node_0", "192.0.2.11"]),
        (V12, ["version 1.2", "super pod", "super device"]),
        (CONTAINER, ["container form", "npu2p"]),
        (V20, ["version 2.0", "rack0-server0", "192.0.2.2"]),
    ],
)
def test_show(call, written, table, shown):
    """The ranks are shown with what the version says of them."""
    code, output = call("show", written(table))
    assert code == 0
    for part in shown:
        assert part in output


def test_show_what_is_none(call, written):
    """A file that is no rank table is refused with what is wrong."""
    code, output = call("show", written("{}"))
    assert code == 1
    assert "NPU605" in output


def test_make_from_conf(call, tmp_path):
    """The table of this host is made with the addresses that its driver knows."""
    (tmp_path / "hccn.conf").write_text("address_0=192.0.2.10\naddress_1=192.0.2.11\n", "utf-8")
    code, output = call("make", "--devices", "0,1", "--server", "node_0")
    assert code == 0
    assert json.loads(output) == V10
    assert call("make", "--devices", "0-3")[0] == 1


def test_make_without_addresses(call):
    """Where the host knows no addresses, that is told; a single server can do without."""
    code, output = call("make", "--devices", "0-7")
    assert code == 1
    assert "no hccn_tool" in output
    assert "--without-addresses" in output
    code, output = call("make", "--devices", "0-7", "--without-addresses")
    assert code == 0
    assert RankTable.parse(output).size == 8


def test_make_of_several(call, tmp_path):
    """Servers are given with their addresses, or with copies of their hccn.conf."""
    (tmp_path / "b.conf").write_text("address_0=192.0.2.20\naddress_1=2001:db8::1\n", "utf-8")
    path = tmp_path / "rank_table.json"
    arguments = ["--host", "a=4:192.0.2.10,5:192.0.2.11", "--host", f"b=@{tmp_path / 'b.conf'}", "-o", path]
    code, output = call("make", *arguments)
    assert code == 1
    assert "NPU631" in output
    assert not path.exists()
    (tmp_path / "b.conf").write_text("address_0=192.0.2.20\naddress_1=192.0.2.21\n", "utf-8")
    assert call("make", *arguments) == (0, f"{path}\n")
    table = RankTable.read(path)
    assert [(rank.rank_id, rank.device_id, rank.device_ip) for rank in table.ranks] == [
        (0, 4, "192.0.2.10"),
        (1, 5, "192.0.2.11"),
        (2, 0, "192.0.2.20"),
        (3, 1, "192.0.2.21"),
    ]
    code, output = call("make", *arguments)
    assert code == 1
    assert "--force" in output
    assert call("make", *arguments, "--force", "--version", "container")[0] == 0
    assert RankTable.read(path).version == "container"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--devices", "0", "--host", "a=0"),
        ("--devices", "zero"),
        ("--host", "a"),
        ("--host", "=0"),
        ("--host", "a="),
        ("--host", "a=x:192.0.2.1"),
        ("--host", "a=@/no/such/file"),
        ("--host", "a=0", "--host", "b=0"),
        ("--devices", "0", "--without-addresses", "--version", "2.0"),
        ("--devices", "3,4", "--without-addresses", "--product", "910"),
    ],
)
def test_make_nothing(call, arguments):
    """What makes no table that would be right is refused in words."""
    code, output = call("make", *arguments)
    assert code in (1, 2)
    assert "Error: " in output
    assert "Traceback" not in output


def test_convert(call, written, tmp_path):
    """A table is written in another version, or it is told what that has no place for."""
    code, output = call("convert", written(CONTAINER), "--version", "1.0")
    assert code == 0
    assert json.loads(output) == V10
    path = tmp_path / "out.json"
    assert call("convert", written(V12), "--version", "1.2", "-o", path) == (0, f"{path}\n")
    code, output = call("convert", written(V12), "--version", "1.0")
    assert code == 1
    assert "NPU635" in output
    assert "super pods" in output
    assert call("convert", written(V10), "--version", "3.0")[0] == 2
