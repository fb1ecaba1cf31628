"""Stacks below frames of no program, and a profile without what no sample needs."""

import numpy as np
import pytest

from gomem.inputs.pprof.calls.rooted import Frame, named, rooted, with_program, without_unused
from gomem.inputs.pprof.columns import ValueType
from gomem.inputs.pprof.read import read_pprof
from gomem.inputs.pprof.table import Profile
from tests.builders import FIXTURES

HEAP = FIXTURES / "captures" / "healthy-go1.27.3" / "2-steady" / "heap.pb.gz"
BYTES = (ValueType("rss", "bytes"),)
WHOLE = (Frame("all"), Frame("index.db", "/data/index.db"))


def stacks_of(profile):
    return [rows["function"].tolist() for _, rows in profile.traces().groupby("sample")]


def test_each_stack_ends_in_the_path():
    heap = read_pprof(HEAP)
    values = heap.values("inuse_space")

    columns = rooted(heap.columns, BYTES, values[:, None], WHOLE)

    kept = [stack for stack, value in zip(stacks_of(heap), values, strict=True) if value]
    assert [[*stack, "index.db", "all"] for stack in kept] == stacks_of(Profile("", columns))
    assert values[values != 0].tolist() == columns.value[:, 0].tolist()
    assert 0 == len(columns.labels.sample)


def test_named_frames_are_a_profile():
    rows = [((Frame("all"), Frame("a")), (3,)), (WHOLE, (4,)), ((Frame("all"),), (5,))]

    profile = Profile("", named(BYTES, rows))

    assert [["a", "all"], ["index.db", "all"], ["all"]] == stacks_of(profile)
    assert [3, 4, 5] == profile.values().tolist()
    assert "/data/index.db" in profile.functions["file"].tolist()


@pytest.mark.parametrize("name", ["vector<int>(deleted)", "a::b (deleted)", "[heap]"])
def test_a_name_is_shown_as_it_is(name):
    """pprof shortens what looks like C++."""
    profile = Profile("", named(BYTES, [((Frame(name),), (1,))]))

    assert [name] == profile.top()["function"].tolist()


def test_what_no_sample_needs_is_left_out_and_all_else_is_as_it_was():
    heap = read_pprof(HEAP)
    values = heap.values("inuse_space")
    whole = Profile("", rooted(heap.columns, BYTES, values[:, None], WHOLE))

    part = Profile("", without_unused(whole.columns))

    assert len(part.columns.locations.id) < len(whole.columns.locations.id)
    assert len(part.columns.strings) < len(whole.columns.strings)
    assert "[vdso]" in whole.mappings["file"].tolist()
    assert [whole.mappings["file"].iloc[0]] == part.mappings["file"].tolist()
    for frame in ("stacks", "samples"):
        assert getattr(whole, frame).to_csv() == getattr(part, frame).to_csv(), frame
    again = read_pprof(part.to_pprof())
    assert ((), stacks_of(part)) == (again.damaged, stacks_of(again))


def test_labels_keep_their_texts():
    columns = read_pprof(HEAP).columns

    assert read_pprof(HEAP).labels.equals(Profile("", without_unused(columns)).labels)


def test_a_profile_without_a_mapped_file_gets_the_program():
    bare = named(BYTES, [(WHOLE, (1,))])

    assert ["/srv/api"] == Profile("", with_program(bare, "/srv/api")).mappings["file"].tolist()
    heap = read_pprof(HEAP).columns
    assert with_program(heap, "/srv/api") is heap
    assert np.array_equal(heap.value, without_unused(heap).value)
