"""Addresses of this host's devices: from hccn.conf, from hccn_tool, or a clear word that there are none."""

import stat

import pytest

from npusession import NpuSessionError
from npusession.hccl import DeviceAddressError, RankTable, addresses, device_addresses, read_hccn_conf

CONF = """\
# written by the driver
address_0=192.0.2.10
netmask_0=255.255.255.0
netdetect_0=192.0.2.1
address_1 = 192.0.2.11
address_10=2001:db8::10  # the eleventh
"""
TOOL = """\
#!/bin/sh
# hccn_tool -i N -ip -g
[ "$1 $3 $4" = "-i -ip -g" ] || exit 9
case $2 in
  2|3) echo "ipaddr:192.0.2.1$2"; echo "netmask:255.255.255.0" ;;
  4) echo "device 4 has no IP"; exit 1 ;;
  *) exit 1 ;;
esac
"""


@pytest.fixture
def conf(tmp_path):
    path = tmp_path / "hccn.conf"
    path.write_text(CONF, "utf-8")
    return path


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """An hccn_tool on PATH that knows devices 2 and 3."""
    path = tmp_path / "bin" / "hccn_tool"
    path.parent.mkdir()
    path.write_text(TOOL, "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    return path


@pytest.fixture
def no_tool(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(addresses, "_TOOLS", ())


def test_conf(conf, no_tool):
    """hccn.conf tells the address of each device by its physical id."""
    assert read_hccn_conf(conf) == {0: "192.0.2.10", 1: "192.0.2.11", 10: "2001:db8::10"}
    assert device_addresses([1, 0], conf) == {1: "192.0.2.11", 0: "192.0.2.10"}


def test_tool(conf, tool, tmp_path):
    """What hccn.conf does not say, hccn_tool is asked for."""
    assert device_addresses([3, 2], tmp_path / "absent") == {3: "192.0.2.13", 2: "192.0.2.12"}
    assert device_addresses([0, 2], conf) == {0: "192.0.2.10", 2: "192.0.2.12"}


def test_tool_without_answer(conf, tool):
    """What the tool says instead of an address is told."""
    with pytest.raises(DeviceAddressError, match=r"no address of device 4, 5: .*has no IP.*exit code 1"):
        device_addresses([0, 2, 4, 5], conf)


def test_tool_that_cannot_run(conf, tool):
    """A tool that cannot be started is told, with the reason."""
    tool.write_text("#!/no/such/interpreter\n", "utf-8")
    with pytest.raises(DeviceAddressError, match="hccn_tool -i 2 -ip -g: No such file"):
        device_addresses([2], conf)


def test_tool_that_hangs(conf, tool, monkeypatch):
    """A tool that does not answer is given up."""
    monkeypatch.setattr(addresses, "_TIMEOUT", 0.2)
    tool.write_text("#!/bin/sh\nexec sleep 60\n", "utf-8")
    with pytest.raises(DeviceAddressError, match=r"no answer within 0.2 s"):
        device_addresses([2], conf)


def test_neither(tmp_path, no_tool):
    """Where there is neither, the error says where it was looked, and what to do."""
    with pytest.raises(DeviceAddressError) as caught:
        device_addresses([0, 1], tmp_path / "absent")
    assert isinstance(caught.value, NpuSessionError)
    for part in ("device 0, 1", "absent: No such file", "no hccn_tool", "device_ips={0: "):
        assert part in str(caught.value)


def test_single_server(conf, no_tool, monkeypatch):
    """The table of this host has the addresses that the driver knows; none is left out silently."""
    monkeypatch.setattr(addresses, "HCCN_CONF", str(conf))
    assert [rank.device_ip for rank in RankTable.single_server("0,1").ranks] == ["192.0.2.10", "192.0.2.11"]
    with pytest.raises(DeviceAddressError, match="no address of device 2"):
        RankTable.single_server("0-2")
