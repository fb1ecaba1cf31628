"""A control group's files, of version 1 as recorded, of version 2 as the kernel documents them."""

import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.cgroup.parse import looks_like_cgroup, parse_cgroup
from gomem.inputs.cgroup.table import read_cgroup
from gomem.inputs.kinds import BY_NAME, kind_of
from gomem.inputs.status.table import read_status
from tests.builders import FIXTURES

CONTAINED = sorted(path.parent for path in FIXTURES.glob("injected/contained-*/gomem.json"))
MIB = 1 << 20

# Made up after the kernel's cgroup-v2.rst: the machine that recorded the fixtures has version 1.
STAT_V2 = (
    b"anon 67108864\nfile 4194304\nkernel 1048576\nshmem 0\ninactive_file 2097152\npgfault 77\n"
)
EVENTS_V2 = b"low 0\nhigh 3\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n"


@pytest.mark.parametrize(
    ("name", "data", "values"),
    [
        ("1/memory.current", b"72351744\n", {"memory.current": 72351744}),
        ("1/memory.max", b"268435456\n", {"memory.max": 268435456}),
        ("1/memory.max", b"max\n", {"memory.max": None}),
        ("1/memory.swap.current", b"0\n", {"memory.swap.current": 0}),
        ("memory.peak-0007", b"5\n", {"memory.peak": 5}),
        (
            "memory.limit_in_bytes",
            b"9223372036854771712\n",  # version 1 writes this for no limit
            {"memory.limit_in_bytes": None},
        ),
        ("memory.events", b"oom_kill 2\n", {"oom_kill": 2}),
        ("memory.events.local", b"oom_kill 1\n", {"events.local.oom_kill": 1}),
        ("memory.swap.events", b"high 0\nmax 4\n", {"swap.events.high": 0, "swap.events.max": 4}),
        (
            "memory.pressure",
            b"some avg10=0.12 avg60=0.00 avg300=0.00 total=3117\n",
            {"pressure.some.total": 3117},
        ),
        (
            "memory.numa_stat",
            b"anon N0=4096 N1=0\n",
            {"numa_stat.anon.N0": 4096, "numa_stat.anon.N1": 0},
        ),
        (
            "memory.numa_stat",
            b"total=5778 N0=5778\n",  # version 1
            {"numa_stat.total": 5778, "numa_stat.total.N0": 5778},
        ),
    ],
)
def test_each_file_is_its_numbers(name, data, values):
    parsed, damage = parse_cgroup(data, source=name)

    assert kind_of(data, name) is BY_NAME["cgroup"]
    assert (values, []) == (parsed.values, damage)


def test_a_table_is_known_by_its_fields_whatever_its_name():
    assert kind_of(STAT_V2, "group.txt") is BY_NAME["cgroup"]
    assert "memory.events" == parse_cgroup(EVENTS_V2, source="group.txt")[0].file
    assert 1 == parse_cgroup(EVENTS_V2, source="memory.events")[0].values["oom_kill"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("answer.txt", b"42\n", id="a-number-of-nothing-known"),
        pytest.param("memory.current", b"42 apples\n", id="a-known-name-and-no-number"),
        pytest.param("memory.md", b"max\n", id="a-name-that-begins-the-same"),
    ],
)
def test_neither_the_name_nor_a_bare_number_is_enough(name, data):
    assert not looks_like_cgroup(data, name)


def test_a_line_that_is_none_and_a_cut_number_are_damage():
    """
    The kernel ends every line, so that a last line without an end may have lost digits.
    """
    parsed, damage = parse_cgroup(b"anon 4096\nfile x\nkernel 12", source="memory.stat")

    assert {"anon": 4096} == parsed.values
    assert ["memory.stat: line 2", "memory.stat: line 3"] == [one.place for one in damage]


def test_a_file_without_a_number_is_an_error():
    with pytest.raises(FormatError, match="wanted a memory file of a cgroup"):
        read_cgroup(b"nothing here\n")


def test_a_capture_has_its_groups_numbers_by_moment():
    """
    The limit is that of the recording script, 256 MiB, at every moment.
    """
    capture = gomem.load(FIXTURES / "injected/contained-go1.27.3")

    limit = capture.cgroup[capture.cgroup["name"] == "memory.limit_in_bytes"]

    assert [256 * MIB] * 4 == list(limit["value"])
    assert list(capture.moments["moment"]) == list(limit["moment"])
    assert [] == list(capture.damaged)


@pytest.mark.parametrize("capture", CONTAINED, ids=lambda path: path.name)
def test_the_groups_anonymous_bytes_are_the_processes(capture):
    """
    Two sources, one number: what the kernel charges the group, whose only process it is, and
    RssAnon of that process. The kernel charges in batches of 64 pages for each CPU.
    """
    for moment in sorted(path.parent for path in capture.glob("*/status")):
        status = read_status(moment / "status").status.iloc[0]
        group = read_cgroup(moment / "memory.stat").cgroup.set_index("name")["value"]

        assert abs(int(group["total_rss"]) - int(status["RssAnon"])) <= 2 * 64 * 4096, moment.name


@pytest.mark.parametrize("capture", CONTAINED, ids=lambda path: path.name)
def test_pages_of_a_file_that_was_only_read_are_the_groups_and_no_processes(capture):
    """
    The program reads 24 MiB: the group is charged for them, RSS does not have them.
    """
    cache, rss = (
        [value(capture / moment) for moment in ("2-filled", "3-read")]
        for value in (
            lambda m: int(
                read_cgroup(m / "memory.stat").cgroup.set_index("name").loc["total_cache", "value"]
            ),
            lambda m: int(read_status(m / "status").status.iloc[0]["VmRSS"]),
        )
    )

    assert abs(cache[1] - cache[0] - 24 * MIB) < MIB
    assert rss[1] - rss[0] < 2 * MIB


LARGEST_V1 = 9223372036854710272  # the largest number of whole pages of 64 KiB


@pytest.mark.parametrize(
    ("number", "value"), [(LARGEST_V1, None), (LARGEST_V1 - 1, LARGEST_V1 - 1), (0, 0)]
)
def test_from_the_largest_number_of_whole_pages_on_there_is_no_limit(number, value):
    parsed, _ = parse_cgroup(b"%d\n" % number, source="memory.limit_in_bytes")

    assert {"memory.limit_in_bytes": value} == parsed.values


@pytest.mark.parametrize(("number", "fits"), [(2**63 - 1, True), (2**63, False)])
def test_a_count_is_below_what_the_kernel_can_hold(number, fits):
    parsed, damage = parse_cgroup(b"anon N0=%d\n" % number, source="memory.numa_stat")

    assert fits == (parsed.values == {"numa_stat.anon.N0": number})
    assert fits == (damage == [])


def test_damage_says_what_is_wrong_with_which_line():
    _, damage = parse_cgroup(b"anon 1\n\n# x\nkernel 12", source="memory.stat")

    assert ["line 3", "line 4"] == [one.where for one in damage]
    assert damage[0].what.startswith("not a line of a control group's file")
    assert damage[1].what.startswith("the last line has no end")
    assert ["# x", "kernel 12"] == [one.text for one in damage]


@pytest.mark.parametrize(
    ("data", "file", "names"),
    [
        (b"oom_kill_disable 0\nx 0\n", "memory.oom_control", {"oom_kill_disable", "x"}),
        (b"low 0\noom 1\n", "memory.events", {"low", "oom"}),
        (b"anon 4096\nlow_pages 7\n", "memory.stat", {"anon", "low_pages"}),
    ],
)  # fmt: skip
def test_a_table_without_a_name_is_known_by_its_fields(data, file, names):
    parsed, _ = parse_cgroup(data, source="group.txt")

    assert (file, file, names) == (parsed.file, parsed.kind, set(parsed.values))


@pytest.mark.parametrize(
    ("data", "name", "is_one"),
    [
        (b"anon 4096\n", "x", True),
        (b"anon a lot\n", "x", False),
        (b"workingset 3\n", "memory.stat", True),
        (b"workingset 3\n", "x", False),
        (b"some avg10=0.12 total=3\n", "memory.pressure", True),
        (b"some avg10=0.12 total=3\n", "x", False),
        (b"7\n", "memory.stat", False),
        (b"anon 7\n", "memory.current", True),
        (b"events 7\n", "memory.current", False),
    ],
)
def test_what_is_a_groups_file(data, name, is_one):
    assert is_one == looks_like_cgroup(data, name)


def test_dots_that_stand_for_lines_are_no_damage():
    parsed, damage = parse_cgroup(STAT_V2 + b"...\nslab 7\n", source="memory.stat")

    assert [] == damage
    assert 7 == parsed.values["slab"]


def test_numbers_of_version_1_among_those_of_memory_stat_are_of_their_files():
    text = b"usage_in_bytes 9785344\ncache 7700480\nrss 1638400\nlimit_in_bytes 104857600\n"

    values = parse_cgroup(text, source="x.txt")[0].values

    assert 9785344 == values["memory.usage_in_bytes"]
    assert 104857600 == values["memory.limit_in_bytes"]
    assert 1638400 == values["rss"]
