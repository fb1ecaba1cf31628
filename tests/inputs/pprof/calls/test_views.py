"""The other views of a profile: callers and callees, stacks, labels; and written back."""

import gzip
import re
import shutil
import subprocess

import numpy as np
import pytest

from gomem.inputs.pprof.frames import EDGES, TAGS, TRACES, TREE
from gomem.inputs.pprof.parse import parse_pprof
from gomem.inputs.pprof.read import read_folded, read_pprof
from gomem.inputs.pprof.table import Profile
from tests.builders import FIXTURES
from tests.pprof_messages import (
    TWO_LOCATIONS,
    field,
    function,
    location,
    message,
    packed,
    profile,
    sample,
    strings,
)

PROFILES = FIXTURES / "profiles"
HEAP = PROFILES / "go1.27.3" / "heap-b.pb.gz"
ALL = sorted(PROFILES.glob("*/*.pb.gz"))
RECORDED = [path for path in ALL if path.parent.name.startswith("go")]
WITH_GO = pytest.mark.skipif(shutil.which("go") is None, reason="there is no go on the PATH")
EXACT = ("-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-symbolize=local")


def made(*samples, **parts):
    columns, damage = parse_pprof(profile(*samples, **parts), source="made.pb")
    return Profile("made.pb", columns, tuple(damage))


def rows(frame, *columns):
    return list(frame[list(columns)].itertuples(index=False, name=None))


def pprof(*arguments):
    command = ["go", "tool", "pprof", *EXACT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def top(read, sample_type=None, granularity="functions"):
    found = read.top(sample_type, granularity=granularity)
    return sorted(rows(found, found.columns[0], "flat", "cum"))


def test_a_tree_has_each_function_between_its_callers_and_its_callees():
    tree = made(sample(1, 2, value=5), sample(2, value=1)).tree()

    assert [
        ("main.leaf", "caller", "main.root", 5),
        ("main.leaf", "self", "main.leaf", 5),
        ("main.root", "self", "main.root", 6),
        ("main.root", "callee", "main.leaf", 5),
    ] == rows(tree, "function", "relation", "other", "cum")


def test_a_call_counts_once_for_each_stack_and_a_call_of_itself_not_at_all():
    """
    leaf < root < leaf < leaf < root: of root to leaf 7, not 14, and nothing of leaf to leaf.
    """
    edges = made(sample(1, 2, 1, 1, 2, value=7)).edges()

    assert {("main.leaf", "main.root", 7), ("main.root", "main.leaf", 7)} == set(
        rows(edges, "caller", "callee", "weight")
    )


def test_a_call_is_inlined_if_it_is_so_wherever_it_is_counted():
    inlined = made(sample(1, value=5), locations=location(1, 1, 2)).edges()
    both = made(
        sample(1, value=5),
        sample(2, 3, value=5),
        locations=location(1, 1, 2) + location(2, 1) + location(3, 2),
    ).edges()

    assert ([True], [False]) == (inlined["inlined"].tolist(), both["inlined"].tolist())


def test_traces_have_every_stack_with_its_value():
    traces = made(sample(1, 2, value=5), sample(2, value=0)).traces()

    assert [(0, 5, 0, "main.leaf"), (0, 5, 1, "main.root"), (1, 0, 0, "main.root")] == rows(
        traces, "sample", "value", "depth", "function"
    )


def test_tags_add_up_the_samples_of_each_label():
    """
    Strings 3 and 6 serve as key and text: `main.leaf: space`.
    """
    texts = message(3, field(1, 3), field(2, 6))
    labelled = message(2, packed(1, 1), packed(2, 4), texts)
    numbers = message(2, packed(1, 1), packed(2, 6), message(3, field(1, 2), field(3, 512)))

    tags = made(labelled, numbers, sample(1, value=10)).tags()

    assert [("bytes", 512, "bytes", 6, 0.3)] == rows(
        tags[tags["key"] == "bytes"], "key", "number", "unit", "value", "fraction"
    )
    assert [("space", 4)] == rows(tags[tags["key"] == "main.leaf"], "text", "value")


def test_of_equal_tags_texts_come_before_numbers_in_the_order_of_their_names():
    """
    Strings 1, 2 and 3 of one key, a number of it, and one that has more than each.
    """

    def label(*fields):
        return message(2, packed(1, 1), packed(2, 4), message(3, field(1, 6), *fields))

    tags = made(
        label(field(3, 7)), label(field(2, 3)), label(field(2, 1)), label(field(2, 2)),
        label(field(3, 9)), label(field(3, 9)),
    ).tags()  # fmt: skip

    texts = [text if isinstance(text, str) else None for text in tags["text"]]
    assert [None, "bytes", "inuse_space", "main.leaf", None] == texts
    assert [8, 4, 4, 4, 4] == list(tags["value"])


@pytest.mark.parametrize(
    ("view", "schema"), [("tree", TREE), ("edges", EDGES), ("traces", TRACES), ("tags", TAGS)]
)
@pytest.mark.parametrize("read", [made(), read_pprof(HEAP)], ids=["empty", "full"])
def test_views_have_the_columns_and_types_of_their_schema(read, view, schema):
    frame = getattr(read, view)()

    assert [(column.name, column.dtype) for column in schema] == [
        (column, str(dtype)) for column, dtype in frame.dtypes.items()
    ]


@pytest.mark.parametrize("path", RECORDED[::5], ids=lambda path: "/".join(path.parts[-2:]))
def test_what_passes_through_a_function_comes_from_its_callers_and_roots(path):
    """
    A function that does not recur has as much in all its calls, and in stacks that begin with it.
    """
    read = read_pprof(path)
    traces = read.traces()
    outermost = traces.groupby("sample").tail(1)
    recurring = set(traces.loc[traces.duplicated(["sample", "function"], keep=False), "function"])
    at_root = outermost.groupby("function")["value"].sum()
    called = read.edges().groupby("callee")["weight"].sum()

    for name, _, cum in top(read):
        if name not in recurring:
            assert cum == at_root.get(name, 0) + called.get(name, 0)


@pytest.mark.at_most(10)
@pytest.mark.parametrize("path", ALL, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_profile_that_is_written_reads_as_it_was(path):
    read = read_pprof(path)

    again = read_pprof(read.to_pprof())

    for sample_type in read.sample_type_names:
        assert top(read, sample_type, "addresses") == top(again, sample_type, "addresses")
    assert rows(read.tags(), "key", "value") == rows(again.tags(), "key", "value")
    assert (read.time, read.period, read.sample_types) == (
        again.time,
        again.period,
        again.sample_types,
    )


def test_a_profile_is_written_the_same_each_time():
    assert read_pprof(HEAP).to_pprof() == read_pprof(HEAP).to_pprof()


@pytest.mark.go
@WITH_GO
@pytest.mark.parametrize("name", ["go1.27.3/heap-b", "go1.24.2/cpu-b", "made/heap3-b"])
def test_pprof_reads_what_is_written(name, tmp_path):
    path = PROFILES / f"{name}.pb.gz"
    written = tmp_path / "written.pb.gz"
    written.write_bytes(read_pprof(path).to_pprof())

    assert pprof("-traces", path) == pprof("-traces", written)
    assert pprof("-top", "-lines", path) == pprof("-top", "-lines", written)


EDGE = re.compile(r" {9,}(\S+) +\S+% \|   (.*?)( \(inline\))?")
NODE = re.compile(r" *(\S+) +\S+% +\S+% +(\S+) +\S+% {16}\| (.*)")


def printed_tree(text):
    """(about, relation, other, cum, inlined) of `-tree -unit=B`."""
    found = []
    for block in re.split(r"-{20,}\+-+\n", text)[2:]:
        relation, rest = "caller", []
        for line in block.splitlines():
            node, edge = NODE.fullmatch(line), EDGE.fullmatch(line)
            if edge:
                rest.append((relation, edge[2], whole(edge[1]), bool(edge[3])))
            elif node:
                about, relation = node[3], "callee"
                rest.append(("self", about, whole(node[2]), False))
        found += [(about, *one) for one in rest]
    return sorted(found)


def whole(text):
    return int(re.match(r"-?\d+", text)[0])


@pytest.mark.go
@WITH_GO
@pytest.mark.parametrize("name", ["go1.27.3/heap-b", "go1.16.15/allocs-b", "made/heap0-b"])
def test_a_tree_is_what_pprof_prints(name):
    path = PROFILES / f"{name}.pb.gz"
    read = read_pprof(path)
    kind = read.sample_type_names[-1]

    said = printed_tree(pprof("-tree", "-unit=B", f"-sample_index={kind}", path))

    columns = ("function", "relation", "other", "cum", "inlined")
    assert said == sorted(rows(read.tree(kind), *columns))


@pytest.mark.go
@WITH_GO
@pytest.mark.parametrize(
    ("name", "unit"), [("go1.27.3/heap-b", "B"), ("go1.27.3/cpu-b", "ns"), ("made/heap2-b", "B")]
)
def test_tags_are_what_pprof_prints(name, unit):
    path = PROFILES / f"{name}.pb.gz"
    if not path.exists():
        path = PROFILES / "made" / "heap0-b.pb.gz"
    read = read_pprof(path)
    kind = read.sample_type_names[-1]
    text = pprof("-tags", f"-unit={unit}", f"-sample_index={kind}", path)

    said = sorted(
        int(value) for value in re.findall(r"^ +(-?\d+)\w* \(.*?%\):", text, re.MULTILINE)
    )

    assert said == sorted(read.tags(kind)["value"])


@pytest.mark.go
@WITH_GO
def test_traces_are_what_pprof_prints():
    text = pprof("-traces", "-unit=B", HEAP)
    blocks = re.split(r"-{10,}\+-+\n", text)[1:-1]
    frame = re.compile(r"^ *(?:\d+B?)?   (\S.*?)(?: \(inline\))?$", re.MULTILINE)
    stacks = [[name for name in frame.findall(one) if ":  " not in name] for one in blocks]

    ours = read_pprof(HEAP).traces().groupby("sample")["function"].agg(list)

    assert sorted(stacks) == sorted(ours)


def test_folded_stacks_come_back():
    read = read_pprof(HEAP)

    again = read_folded(read.to_folded().encode(), "inuse_space", "bytes")

    assert top(read) == top(again)
    assert read.total() == again.total()


def test_folded_stacks_are_written_outermost_first_and_added_up():
    assert (
        "main.root 1\nmain.root;main.leaf 9\n"
        == made(sample(1, 2, value=5), sample(2, value=1), sample(1, 2, value=4)).to_folded()
    )


def test_a_line_that_is_no_folded_stack_is_damage():
    read = read_folded(b"a;b c 3\nwhat is this\n")

    assert [("line 2", "what is this")] == [(one.where, one.text) for one in read.damaged]
    assert [("a", 0, 3), ("b c", 3, 3)] == top(read)


def test_a_merged_profile_adds_samples_of_one_stack():
    merged = made(sample(1, 2, value=5)).merge(made(sample(1, 2, value=4), sample(2, value=1)))

    assert 2 == len(merged.columns.value)
    assert [("main.leaf", 9, 9), ("main.root", 1, 10)] == top(merged)


def test_merging_knows_a_place_though_the_binary_was_loaded_elsewhere():
    """
    Position-independent executables begin at another address in each process.
    """

    def loaded_at(start, size=4096):
        binary = message(3, field(1, 1), field(2, start), field(3, start + size), field(5, 5))
        lines = message(4, field(1, 1), field(2, 10))
        place = message(4, field(1, 1), field(2, 1), field(3, start + 64), lines)
        return made(sample(1, value=5), locations=place + binary)

    def places(size):
        return len(loaded_at(0x400000).merge(loaded_at(0x900000, size)).columns.value)

    assert [1, 1, 2] == [places(4096), places(4095), places(4097)]


def test_a_difference_with_itself_is_nothing():
    read = read_pprof(HEAP)

    assert [] == top(read.diff(read))


def test_a_difference_is_of_the_bases_total_or_of_its_own():
    after, before = made(sample(1, value=7)), made(sample(1, value=4))

    assert (4, 3) == (after.diff(before).total(), after.diff(before, as_diff_base=False).total())
    assert [("main.leaf", 3, 3)] == top(after.diff(before))


def test_normalizing_gives_both_sides_the_same_sum():
    after = made(sample(1, value=30), sample(2, value=10))
    before = made(sample(1, value=4), sample(2, value=4))

    assert [("main.leaf", 2, 2), ("main.root", -2, -2)] == top(after.diff(before, normalize=True))


def test_profiles_that_do_not_count_the_same_are_not_merged():
    cpu = message(1, field(1, 3), field(2, 2))

    with pytest.raises(ValueError, match="do not count the same: sample types"):
        made().merge(made(sample_types=cpu))


def test_fractions_of_a_part_are_of_the_whole():
    part = made(sample(1, 2, value=1), sample(2, value=3)).focus("leaf")

    assert [("main.leaf", 0.25), ("main.root", 0.0)] == rows(
        part.top(), "function", "flat_fraction"
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"focus": "leaf"}, [("main.leaf", 5, 5), ("main.root", 0, 5)]),
        ({"ignore": "leaf"}, [("main.root", 3, 3)]),
        ({"hide": "leaf"}, [("main.root", 8, 8)]),
        ({"show": "leaf"}, [("main.leaf", 5, 5)]),
        ({"show_from": "leaf"}, [("main.leaf", 5, 5)]),
        ({"prune_from": "root"}, [("main.root", 8, 8)]),
        ({"focus": r"/app/main\.go$"}, [("main.leaf", 5, 5), ("main.root", 3, 8)]),
    ],
)
def test_filters_keep_and_leave_out(options, expected):
    read = made(sample(1, 2, value=5), sample(2, value=3))

    assert expected == top(read.filtered(**options))


def test_a_hostile_pattern_takes_no_time():
    """
    Nested repetition: with a pattern engine that goes back, this would not end.
    """
    read = made(sample(1, value=5))
    read.columns.strings[3] = "a" * 5000 + "!"

    assert [] == top(read.filtered(focus="(a+)+$"))


def test_frames_that_a_profile_asks_to_drop_are_left_out():
    """
    The outermost of them and all inside; a stack of nothing else is kept.
    """
    texts = ("", "space", "bytes", "malloc", "main.f", "malloc|free")
    types = message(1, field(1, 1), field(2, 2))
    samples = [message(2, packed(1, *stack), packed(2, 5)) for stack in ((1, 1, 2), (1,))]
    raw = types + b"".join(samples) + TWO_LOCATIONS + function(1, 3, file=0)
    raw += function(2, 4, file=0) + strings(*texts) + field(7, 5)

    assert [("main.f", 5, 5), ("malloc", 5, 5)] == top(read_pprof(raw))


def test_a_pattern_of_a_profile_that_is_none_is_damage():
    texts = ("", "space", "bytes", "(")
    raw = message(1, field(1, 1), field(2, 2)) + strings(*texts) + field(7, 3)

    read = read_pprof(raw)

    assert ["drop_frames"] == [one.where for one in read.damaged]


def test_a_written_profile_has_negative_values_and_high_addresses():
    high = message(4, field(1, 1), field(3, 2**64 - 1), message(4, field(1, 1)))
    read = made(sample(1, value=-7), locations=high)

    again = read_pprof(gzip.decompress(read.to_pprof()))

    assert [[-7]] == again.columns.value.tolist()
    assert [2**64 - 1] == again.columns.locations.address.tolist()
    assert np.uint64 == again.columns.locations.address.dtype
