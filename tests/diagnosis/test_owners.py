"""The bars of a capture: which snapshots they are of, and the parts that all of them have."""

import pytest

from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.owners import owners_of
from gomem.facts.moment import MomentFacts
from gomem.text import MomentName, Text
from gomem.units import MIB
from tests.diagnosis.made import divided, made_of, mapped, moment, of_rss

COARSE = moment("1", heap_objects=30, native_heap=10)  # status alone: how much, and nothing else
FINE = divided("2", heap_objects=40, heap_idle=20, native_heap=30, binary=10)
PARTS_OF_FINE = {
    "go_objects": (40, 40),
    "go_free": (20, 20),
    "native": (30, 30),
    "program": (10, 10),
}


def owners(*moments, **more):
    return owners_of(made_of(*moments, findings=(), **more))


def sizes_of(parts, place=-1):
    """Each part's bounds at a snapshot, in MiB."""
    return {part.key: (part.sizes[place].low / MIB, part.sizes[place].high / MIB) for part in parts}


def labels_of(made):
    """The names of the snapshots that have a bar."""
    return [part.value for label in made.labels for part in Text(label).of(MomentName)]


def test_two_snapshots_with_all_files_have_the_finest_parts():
    first = divided("1", heap_objects=20, heap_idle=20, native_heap=30)

    made = owners(first, FINE)

    assert {"go_objects": (20, 20), "go_free": (20, 20), "native": (30, 30), "program": (0, 0)} == (
        sizes_of(made.parts, 0)
    )
    assert {
        "go_objects": (40, 40),
        "go_free": (20, 20),
        "native": (30, 30),
        "program": (10, 10),
    } == (sizes_of(made.parts))
    assert [20 * MIB, 0, 0, 10 * MIB] == [part.change_bytes for part in made.parts]


def test_without_smaps_the_parts_are_those_of_the_ledgers_and_those_of_go_are_bounds():
    """
    Of 64 MiB of claims, the bars have what RSS leaves; the legend has all, as the words do.
    """
    sizes = {"heap_objects": 60, "runtime_metadata": 4, "mapped_files": 6}
    claims = {"heap_objects": 60, "runtime_metadata": 4}

    made = owners(moment("1", claims, **sizes), moment("2", claims, **sizes, heap_untouched=-2))

    highs = {key: high for key, (_, high) in sizes_of(made.parts).items()}
    assert {"go_objects": 60, "go_runtime": 4, "files": 6} == highs
    assert [60, 2, 6] == [part.lengths[-1] / MIB for part in made.parts]
    assert ["go_objects", "go_runtime"] == [part.key for part in made.parts if part.is_bounded]
    assert made.parts[0].sizes[-1].low < 60


def test_what_one_snapshot_cannot_divide_no_bar_divides():
    """
    And the last, which can, says it apart.
    """
    made = owners(COARSE, FINE)

    assert {"undivided": (40, 40)} == sizes_of(made.parts, 0)
    assert {"undivided": (100, 100)} == sizes_of(made.parts)
    assert {"undivided"} == {*made.finer}
    assert {
        "go_objects": (40, 40),
        "go_free": (20, 20),
        "native": (30, 30),
        "program": (10, 10),
    } == (sizes_of(made.finer["undivided"]))


def test_what_the_first_divides_further_is_nowhere():
    last = moment("3", heap_objects=70, native_heap=30)

    made = owners(FINE, last)

    assert {"undivided": (100, 100)} == sizes_of(made.parts, 0) == sizes_of(made.parts)
    assert {} == made.finer


def test_mappings_without_memstats_tell_the_heap_and_what_is_in_it_is_finer():
    made = owners(mapped("1", heap_objects=30, native_heap=10), FINE)

    assert {"go_heap": (30, 30), "native": (10, 10)}.items() <= sizes_of(made.parts, 0).items()
    assert {"go_heap"} == {*made.finer}
    assert {"go_objects": (40, 40), "go_free": (20, 20)} == sizes_of(made.finer["go_heap"])


def test_parts_that_are_known_within_bounds_keep_them():
    """
    Without smaps nobody knows how much of what Go reserves is resident, so bounds are what there
    is; the whole lies between their sums.
    """
    first = moment("1", {"heap_objects": 4}, heap_objects=4, native_heap=96)

    made = owners(first, divided("2", heap_objects=4, native_heap=96))

    sizes = sizes_of(made.parts, 0)
    assert any(low < high for low, high in sizes.values())
    assert sum(low for low, _ in sizes.values()) <= 100 <= sum(high for _, high in sizes.values())
    assert all(low == high for low, high in sizes_of(made.parts).values())


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        pytest.param((100, 125, 100), ["1", "2", "3"], id="a quarter above both"),
        pytest.param((100, 124.9, 100), ["1", "3"], id="less"),
        pytest.param((80, 125, 100), ["1", "2", "3"], id="above the last"),
        pytest.param((100, 130, 110), ["1", "3"], id="above the first alone"),
        pytest.param((100, 50, 120), ["1", "3"], id="a dip"),
        pytest.param((100,), ["1"], id="alone"),
    ],
)
def test_the_first_and_the_last_have_a_bar_and_what_lies_a_quarter_above_both(sizes, shown):
    made = owners(*of_rss(*sizes))

    assert 1.25 == Thresholds().peak_ratio
    assert shown == labels_of(made)
    assert [round(sizes[int(name) - 1] * MIB) for name in shown] == pytest.approx(
        made.totals, abs=1
    )
    assert {len(shown)} == {len(part.sizes) for part in made.parts}


def test_a_baseline_stands_above_its_counterpart_and_nothing_else_is_shown():
    made = owners(*of_rss(10, 500, 120), baseline=moment("old", heap_objects=100))

    assert ["old", "3"] == labels_of(made)
    assert made.labels[0].endswith(" of the baseline")
    assert (100 * MIB, 120 * MIB) == made.totals
    assert [20 * MIB] == [part.change_bytes for part in made.parts]


def test_a_baseline_that_does_not_say_how_large_it_is_has_no_bar():
    made = owners(*of_rss(10, 20), baseline=MomentFacts("old"))

    assert ["1", "2"] == labels_of(made)


def test_what_go_reserves_beyond_rss_is_beside_each():
    first = divided("1", claims={"heap_objects": 100}, heap_objects=40)

    made = owners(first, divided("2", heap_objects=40))

    assert (60 * MIB, 0) == made.beyond
    assert (40 * MIB, 40 * MIB) == made.totals


def test_where_no_file_says_how_large_the_process_is_there_is_no_bar():
    assert owners(MomentFacts("1")) is None
