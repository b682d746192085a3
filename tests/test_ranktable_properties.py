"""What holds for every rank table and for every text: nothing is lost, and nothing crashes."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ranktables import ALL, text

from npusession.hccl import Address, Level, Rank, RankTable, RankTableError, Server
from npusession.hccl._reader import Reader, locate, plain

names = st.text(st.characters(blacklist_categories=()), min_size=1, max_size=8)
numbers = st.integers(0, 2**32 - 1)
ports = st.one_of(st.none(), st.integers(1, 65535))
addresses = st.one_of(st.just(""), st.from_regex(r"192\.0\.2\.[1-9]", fullmatch=True), names)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), names),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=5,
)
#: Members that no version knows.
UNKNOWN = [("note", '"x"'), ("层", '[1, {"a": null}]'), ("\ud800", "true"), ("", "0.5")]
extras = st.lists(st.sampled_from(UNKNOWN), max_size=2, unique=True).map(tuple)
#: What every table of 2019 has besides ranks.
MARKS = RankTable.parse(text(ALL["group"])).extra
server_ids = st.lists(names, min_size=1, max_size=3, unique=True)


@st.composite
def tables(draw):
    """Draw a table of any version, with all that it can say."""
    version = draw(st.sampled_from(["1.0", "1.2", "2.0", "group", "container"]))
    ranked = version in ("1.0", "1.2")
    servers = []
    group = draw(st.sampled_from(["", "g"])) if version in ("group", "container") else ""
    for server_id in draw(server_ids):
        ranks = []
        for _ in range(draw(st.integers(1, 3))):
            rank = Rank(draw(numbers), draw(numbers), extra=draw(extras))
            if ranked:
                rank = rank._replace(
                    device_ip=draw(addresses), device_port=draw(ports), host_port=draw(ports),
                    backup_device_ip=draw(addresses), backup_device_port=draw(ports),
                    super_device_id=draw(st.one_of(st.none(), numbers)),
                )  # fmt: skip
            elif version == "2.0":
                rank = draw(layered(rank, server_id))
            else:
                rank = rank._replace(device_ip=draw(addresses), group=group)
            ranks.append(rank)
        servers.append(
            Server(
                server_id, tuple(ranks), draw(addresses) if ranked else "",
                draw(st.sampled_from(["", "p", "q"])) if version == "1.2" else "", draw(extras) if ranked else (),
            )
        )  # fmt: skip
    if version == "container":
        servers = numbered(servers, draw)
    extra = (*(MARKS if version == "group" else ()), *draw(extras))
    status = draw(st.sampled_from(["completed", "initializing"]))
    return RankTable(tuple(servers), version, status, extra)


@st.composite
def layered(draw, rank, server_id):
    """Draw the network layers of a rank; the first is its server's."""
    levels = []
    for number in range(draw(st.integers(1, 3))):
        found = st.builds(Address, names, names, st.lists(names, min_size=1, max_size=2).map(tuple), names, extras)
        listed = tuple(draw(st.lists(found, min_size=1, max_size=2)))
        name = server_id if number == 0 else draw(names)
        levels.append(Level(number, name, draw(names), listed, draw(st.sampled_from(["", "a"])), draw(extras)))
    return rank._replace(
        device_id=rank.device_id % 65, device_port=draw(ports), host_port=draw(ports),
        local_id=draw(st.integers(0, 64)), levels=tuple(levels),
    )  # fmt: skip


def numbered(servers, draw):
    """Number the ranks of a container table as HCCL does, and give each server a pod or two."""
    order = sorted(
        ((server.server_id, rank.device_id, index) for server in servers for index, rank in enumerate(server.ranks))
    )
    found = []
    for server in servers:
        split = draw(st.integers(1, len(server.ranks)))
        ranks = [
            rank._replace(
                rank_id=order.index((server.server_id, rank.device_id, index)),
                pod=server.server_id + ("a" if index < split else "b"),
            )
            for index, rank in enumerate(server.ranks)
        ]
        found.append(server._replace(ranks=tuple(ranks)))
    return found


@given(tables())
def test_value_to_text_to_value(table):
    """A table that is written reads back as itself, and is written again in the same way."""
    written = table.text()
    json.loads(written)
    read = RankTable.parse(written)
    assert read == table
    assert read.text() == written
    assert written.encode("utf-8")


@given(tables(), st.data())
def test_several_groups(table, data):
    """Ranks in several groups are all kept; HCCL merges the groups, so their order is that of the groups."""
    if table.version != "group":
        table = table.convert("group") if table.version == "container" else RankTable.parse(text(ALL["group"]))
    servers = [
        server._replace(
            ranks=tuple(rank._replace(group=data.draw(st.sampled_from(["a", "b"]))) for rank in server.ranks)
        )
        for server in table.servers
    ]
    grouped = RankTable(tuple(servers), "group")
    read = RankTable.parse(grouped.text())
    assert sorted(devices(read)) == sorted(devices(grouped))
    assert RankTable.parse(read.text()) == read


def devices(table):
    """Return the device of each rank, with its server and address."""
    return [(server.server_id, *rank[:3]) for server in table.servers for rank in server.ranks]


@given(tables(), st.sampled_from(["1.0", "1.2", "2.0", "group", "container"]))
def test_conversions(table, version):
    """A conversion keeps every rank with its device and address, or says why there is none."""
    try:
        converted = table.convert(version)
    except RankTableError as error:
        refused = error.problems
    else:
        refused = ()
        assert sorted(devices(converted)) == sorted(devices(table))
    assert {problem.code for problem in refused} <= {"NPU635"}


pieces = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"', "'", "\\", "/", "//", "/*", "{n}", "${N}", "<x>", "%s", "，", "：", "“", "”",
     " ", "\n", "\t", "0", "1", '"0"', "1e999", "null", "NaN", "word", "\ufeff", "\ud800", "\x00", '"status"',
     '"completed"', '"version":', '"1.0"', '"1.2"', '"2.0"', '"server_list":', '"device":', '"rank_list":',
     '"group_list":', '"super_pod_list":', '"instance_list":', '"rank_id":', '"device_id":', '"device_ip":',
     '"level_list":']
)  # fmt: skip
any_text = st.text(st.characters(blacklist_categories=()), max_size=40)
texts = st.one_of(st.lists(pieces, max_size=30).map("".join), any_text)


def checked(source):
    """Check any text; returns the report, after the table was read or refused."""
    try:
        report = RankTable.parse(source).check("atlas-training")
    except RankTableError as error:
        report = error.problems
    for problem in report:
        assert problem.line >= 1
        assert problem.column >= 1
        assert str(problem).encode("utf-8")
    return report


@given(texts)
@example("{}")
@example('{"version":"2.0","rank_list":[{"level_list":[{"rank_addr_list":[{"ports":[{}]}]}]}]}')
@example('{"group_list":[{"instance_list":[{"rank_id":[]}]}]}')
@example('{"group_list":{"instance_list":1},"x":1e999}')
def test_any_text(source):
    """No text does anything but be read, or be refused with the error that says what is wrong."""
    checked(source)


@given(st.sampled_from(sorted(ALL)), st.data())
def test_any_damage(name, data):
    """A table with pieces cut out, doubled or put in is read or refused, and what is refused says where."""
    source = text(ALL[name])
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(source)))
        end = min(len(source), start + data.draw(st.integers(0, 12)))
        source = source[:start] + data.draw(st.one_of(pieces, st.just(source[start:end] * 2))) + source[end:]
    checked(source)


@given(st.sampled_from(sorted(ALL)), st.data())
def test_any_value(name, data):
    """A table with any other value in place of one of its own is read or refused."""
    table = json.loads(text(ALL[name]))
    inner, path = table, []
    while isinstance(inner, (dict, list)) and inner and (not path or data.draw(st.booleans())):
        keys = sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))
        path.append(data.draw(st.sampled_from(keys)))
        outer, inner = inner, inner[path[-1]]
    outer[path[-1]] = data.draw(values)
    checked(json.dumps(table))


@given(values)
def test_reader_reads_json(value):
    """The reader that goes on after mistakes finds none in JSON, and reads it as it is."""
    for source in (json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)):
        reader = Reader(source)
        assert plain(reader.read()) == value
        assert reader.slips == []


@pytest.mark.parametrize("name", ALL)
def test_places_agree(name):
    """Positions that are looked up in a well-formed text are those that reading it all would give."""
    from npusession.hccl._document import Document

    source = text(ALL[name])
    tree = Reader(source).read()
    document = Document(source, "text")

    def walk(value, path):
        for at_key in (False, bool(path) and isinstance(path[-1], str)):
            assert document._offset(path, at_key) == locate(tree, path, at_key)
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, member in inner:
            walk(member, (*path, step))

    walk(ALL[name], ())
    assert document._offset(("no", "such"), False) == 0
