"""Two captures held against each other, layer by layer."""

from itertools import pairwise

import pandas as pd
import pytest

import gomem
from gomem.comparison.comparison import _joined, compare_diagnoses, counterparts
from gomem.comparison.moments import GROUPS, LEDGER, MOMENTS
from gomem.comparison.sites import SITE_CHANGES, SITE_RATES, compare_profiles
from gomem.errors import CaptureError
from gomem.inputs.gobench.table import read_bench
from gomem.inputs.pprof.read import read_pprof
from gomem.units import MIB
from gomem.views.comparison.document import comparison_document
from gomem.views.writers.text import write_text
from tests.builders import CAPTURES, FIXTURES, diagnosed
from tests.pprof_messages import field, function, location, message, packed, strings

FOLDERS = FIXTURES / "captures"
SPIKY = FOLDERS / "spiky-go1.27.3"
LAZY, EAGER = FOLDERS / "cache-shrink-go1.12.17", FOLDERS / "cache-shrink-go1.16.15"
DROWNING, POOLED = (FOLDERS / f"alloc-pressure-{side}-go1.27.3" for side in ("before", "after"))
NEIGHBOURS = [
    pytest.param(*pair, id=f"{pair[0].name}-{pair[1].name}") for pair in pairwise(CAPTURES)
]
GC_LINE = (
    "gc {n} @{n}.000s 1%: 0.010+0.50+0.010 ms clock, 0.020+0.10/0.20/0+0.020 ms cpu, "
    "4->5->2 MB, 5 MB goal, 2 P\n"
)


@pytest.fixture(scope="module")
def shrunk():
    """The cache emptied under Go 1.12, which leaves the pages, and under 1.16, which does not."""
    return compare_diagnoses(diagnosed(LAZY), diagnosed(EAGER))


@pytest.fixture(scope="module")
def pooled():
    """The allocations of a service before and after pooling, with benchmarks in turns."""
    return compare_diagnoses(diagnosed(DROWNING), diagnosed(POOLED))


@pytest.fixture
def processes(tmp_path):
    """Captures of one file: status, with VmRSS of so many KiB each."""

    def captures(side, *sizes):
        folders = [tmp_path / f"{side}-{number}" for number, _ in enumerate(sizes)]
        for folder, size in zip(folders, sizes, strict=True):
            folder.mkdir()
            (folder / "status").write_text(f"Name:\tapp\nPid:\t7\nVmRSS:\t{size:>8} kB\n")
        return folders

    return captures


def metric(comparison, name):
    rows = comparison.metrics[comparison.metrics["name"] == name]
    assert 1 == len(rows)
    return rows.iloc[0]


def heap_profile(*samples, rate=524288, name="main.fill"):
    """A heap profile of `(stack, (objects, bytes))` in use; place 1 is the name, 2 is main.main."""
    types = [message(1, field(1, kind), field(2, unit)) for kind, unit in ((1, 3), (2, 4))]
    bodies = [message(2, packed(1, *stack), packed(2, *values)) for stack, values in samples]
    period = message(11, field(1, 8), field(2, 4)) + field(12, rate)
    names = (
        "",
        "inuse_objects",
        "inuse_space",
        "count",
        "bytes",
        name,
        "main.main",
        "/a.go",
        "space",
    )
    functions = function(1, 5, file=7) + function(2, 6, file=7)
    parts = [*types, *bodies, location(1, 1), location(2, 2), functions, period, strings(*names)]
    return read_pprof(b"".join(parts))


@pytest.mark.at_most(5)
@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_a_capture_has_not_changed_against_itself(capture):
    """
    No difference in any metric or part, no verdict, and no site in a state.
    """
    same = compare_diagnoses(diagnosed(capture), diagnosed(capture))

    states = set(same.sites["state"]) | set(same.site_rates["state"])
    assert {"~", "?"} >= set(same.metrics["verdict"]) | states
    assert {"same"} >= set(same.findings["state"])
    assert same.judgement.verdict in {"same", "?"}
    assert {0} >= set(same.metrics["difference"]) | set(same.ledger["change"].dropna())


@pytest.mark.at_most(5)
@pytest.mark.parametrize(("before", "after"), NEIGHBOURS)
def test_the_changes_of_the_parts_add_up_to_the_change_of_rss(before, after):
    comparison = compare_diagnoses(diagnosed(before), diagnosed(after))
    pairs = comparison.ledger.groupby(["before_moment", "after_moment"])["change"].sum()
    of_rss = comparison.moments.set_index(["before", "after"])["change_bytes"].dropna()

    assert len(of_rss)
    assert of_rss.to_dict() == pairs.to_dict()


@pytest.mark.parametrize(("before", "after"), NEIGHBOURS)
def test_so_do_those_of_the_groups_which_are_never_below_zero(before, after):
    comparison = compare_diagnoses(diagnosed(before), diagnosed(after))
    groups = comparison.groups
    bounds = groups.groupby(["before_moment", "after_moment"])[["change_low", "change_high"]].sum()
    of_rss = comparison.moments.set_index(["before", "after"])["change_bytes"].dropna()

    assert of_rss.index.tolist() == bounds.index.tolist()
    assert (bounds["change_low"] <= of_rss).all()
    assert (of_rss <= bounds["change_high"]).all()
    for side in ("before", "after"):
        assert (groups[f"{side}_low"] >= 0).all()
        assert (groups[side].dropna() == groups.loc[groups[side].notna(), f"{side}_high"]).all()
    assert not groups.duplicated(["before_moment", "after_moment", "group"]).any()


def test_groups_are_as_fine_as_every_capture_tells_them_apart(shrunk, processes):
    """
    At 3-collected neither divides its heap wholly; status alone divides nothing, and bounds
    each of them by the whole.
    """
    freed = shrunk.groups[shrunk.groups["after_moment"] == "4-freed"].set_index("name")
    bare = gomem.compare(processes("before", 1000)[0], EAGER).groups.set_index("group")

    assert -161 == round(freed.loc["free Go heap", "change"] / MIB)
    assert "live heap" in freed.index
    assert pd.isna(bare.loc["native", "before"])
    assert pd.isna(bare.loc["native", "change"])
    assert (0, 1000 * 1024) == tuple(bare.loc["native", ["before_low", "before_high"]])


def test_what_one_side_does_not_divide_is_unknown_within_bounds():
    """
    MemStats and VmRSS before, smaps after: C may have held what Go leaves of RSS, not more.
    """
    compared = gomem.compare(SPIKY / "scrape-17", SPIKY).groups
    rows = compared[compared["after_moment"] == "settled"].set_index("group")

    native = rows.loc["native"]
    assert pd.isna(native["before"])
    assert pd.isna(native["change"])
    assert 0 == native["before_low"] < native["before_high"] < 60 * MIB
    assert native["change_low"] < 0 < native["change_high"]
    assert rows.loc["go_heap", "change_low"] > 250 * MIB


def test_rss_of_one_capture_a_side_is_a_difference_without_a_verdict(shrunk):
    """
    184 MiB and 22.5 MiB are facts; that the program did it is not said, and what would say it is.
    """
    rss = metric(shrunk, "RSS")

    assert (187932 * 1024, 23084 * 1024) == (rss["before_median"], rss["after_median"])
    assert (1, 1, "?") == (rss["before_n"], rss["after_n"], rss["verdict"])
    assert pd.isna(rss["p_value"])
    assert (
        "one value per side cannot tell small changes from noise; use at least 4 per side"
        == rss["note"]
    )


def test_the_part_that_went_is_named(shrunk):
    """
    Go 1.12 gives back with MADV_FREE, and the pages stay resident: 1.16 has none of these.
    """
    freed = shrunk.ledger[shrunk.ledger["after_moment"] == "4-freed"].set_index("part")

    assert "heap_released_resident" == freed["change"].idxmin()
    assert 0 == freed.loc["heap_released_resident", "after"]


def test_what_differs_besides_the_change_is_a_setting(shrunk):
    row = shrunk.settings.set_index("name").loc["Go release"]

    assert ("go1.12.17", "go1.16.15") == (row["before"], row["after"])


def test_moments_of_one_name_are_with_baseline_each_other_and_metrics_are_of_the_last(shrunk):
    names = ["1-filled", "2-shrunk", "3-collected", "4-freed"]

    assert names == list(shrunk.moments["before"]) == list(shrunk.moments["after"])
    assert [False, False, False, True] == list(shrunk.moments["of_metrics"])
    assert [False, False, False, True] == list(shrunk.moments["of_sites"])


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        pytest.param("ab", "ab", ["aa", "bb"], id="the-same"),
        pytest.param("ba", "ab", ["aa", "bb"], id="in-the-order-of-after"),
        pytest.param("abc", "ab", ["aa", "bb"], id="one-more-before"),
        pytest.param("ab", "abc", ["aa", "bb", "bc"], id="one-more-after"),
        pytest.param("ab", "xyz", ["bz"], id="none-in-common"),
        pytest.param("", "ab", [], id="nothing-before"),
        pytest.param("ab", "", [], id="nothing-after"),
    ],
)
def test_the_last_moment_is_with_baseline_the_one_of_its_name_or_the_last(before, after, pairs):
    assert [tuple(pair) for pair in pairs] == counterparts(list(before), list(after))


def test_a_part_without_a_mapping_is_0_and_a_part_that_no_file_tells_is_unknown(shrunk, processes):
    """
    A pure Go program maps no library, and smaps says so; status says nothing of it.
    """
    of_smaps = shrunk.ledger[shrunk.ledger["part"] == "libraries"]
    bare = gomem.compare(processes("before", 1000)[0], EAGER).ledger.set_index("part")

    assert {0} == set(of_smaps["before"]) | set(of_smaps["after"])
    assert (True, 0) == (pd.isna(bare.loc["libraries", "before"]), bare.loc["libraries", "after"])


def test_a_level_is_of_the_moment_that_is_compared_and_not_of_the_last(tmp_path):
    for place, size in (("old/1-a", 1000), ("old/2-b", 2000), ("new/1-a", 3000)):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "status").write_text(f"Name:\tapp\nPid:\t7\nVmRSS:\t{size:>8} kB\n")

    rss = metric(gomem.compare(tmp_path / "old", tmp_path / "new"), "RSS")

    assert (1000 * 1024, 3000 * 1024) == (rss["before_median"], rss["after_median"])


def test_moments_of_different_names_are_noted():
    healthy = diagnosed(FOLDERS / "healthy-go1.27.3")

    notes = compare_diagnoses(diagnosed(LAZY), healthy).notes

    assert "the before side has no “3-later”: its last, “4-freed”, is compared with it" in notes


def test_benchmarks_in_captures_are_compared_by_ranks(pooled):
    """
    What allocates less is better; what is the same code in both variants is noise.
    """
    times = pooled.metrics[pooled.metrics["unit"] == "sec/op"]

    assert {
        "Handle-2": "better",
        "Parse-2": "better",
        "Render-2": "better",
        "Checksum-2": "~",
        "Lookup-2": "~",
        "HandOff-2": "~",
    } == dict(zip(times["name"], times["verdict"], strict=True))
    assert {10} == set(times["before_n"]) | set(times["after_n"])
    assert "sec/op" in set(pooled.geomeans["unit"])


def test_a_log_is_one_measurement_however_many_collections_it_has(pooled):
    """
    Collections of one run follow from one another: their ranks would call two runs of one program
    different.
    """
    collector = pooled.metrics[pooled.metrics["layer"] == "collector"]

    assert diagnosed(DROWNING).collector.cost.cycles > 100
    assert {0, 1} >= set(collector["before_n"])
    assert {0, 1} >= set(collector["after_n"])
    assert {"?"} == set(collector["verdict"])


def test_all_sites_are_compared_and_not_only_the_top_ones(pooled):
    """
    The pooled service renders without allocating; a site of its own few allocations may be noise.
    """
    sites = pooled.sites[pooled.sites["sample_type"] == "alloc_space"].set_index("function")

    assert "gone" == sites.loc["main.render", "state"]
    assert "~" == sites.loc["compress/flate.NewWriter", "state"]
    total = diagnosed(POOLED).capture.profiles["2-loaded"]["heap"].total("alloc_space")
    assert total == sites["after"].sum()


def test_sites_have_the_unit_of_their_sample_type(pooled):
    units = pooled.sites.groupby("sample_type")["unit"].unique().explode().to_dict()

    assert {
        "alloc_objects": "count",
        "alloc_space": "bytes",
        "inuse_objects": "count",
        "inuse_space": "bytes",
    } == units


def test_a_site_that_sampling_may_have_missed_is_not_new():
    """
    One sampled object of 48 bytes stands for 10 923 of them; of a site that is not shown, there
    can be 3.69 times as many.
    """
    without, one = heap_profile(([2], (11, 5767168))), heap_profile(([1], (10923, 524312)))

    states = {
        kind: compare_profiles(without, one, kind).set_index("function").loc["main.fill", "state"]
        for kind in ("inuse_space", "inuse_objects")
    }

    assert {"inuse_space": "~", "inuse_objects": "~"} == states


def test_a_site_with_many_samples_is_new():
    without, many = heap_profile(([2], (11, 5767168))), heap_profile(([1], (109230, 5243120)))

    changes = compare_profiles(without, many, "inuse_objects").set_index("function")

    assert "new" == changes.loc["main.fill", "state"]


def test_a_site_that_had_only_called_others_is_new_when_it_allocates():
    """
    In a stack without anything of its own, it is as unseen as a site that is not there.
    """
    called = heap_profile(([1, 2], (109230, 5243120)))
    both = heap_profile(([1, 2], (109230, 5243120)), ([2], (109230, 5243120)))

    changes = compare_profiles(called, both, "inuse_space").set_index("function")

    assert {"main.main": "new", "main.fill": "~"} == changes["state"].to_dict()


def test_objects_whose_bytes_nobody_counted_make_no_claim():
    """
    Without bytes, neither the sampling error of a site nor what went unseen is known.
    """
    names = strings("", "inuse_objects", "count", "main.fill", "/a.go")
    body = message(2, packed(1, 1), packed(2, 9)), location(1, 1), function(1, 3, file=4)
    profile = read_pprof(b"".join([message(1, field(1, 1), field(2, 2)), *body, names]))

    assert ["~"] == list(compare_profiles(profile, profile, "inuse_objects")["state"])


def test_where_every_allocation_is_recorded_one_object_is_new():
    """
    With MemProfileRate 1 there is no sampling, and a change is what it is.
    """
    without, one = heap_profile(([2], (11, 528)), rate=1), heap_profile(([1], (1, 48)), rate=1)

    changes = compare_profiles(without, one, "inuse_space").set_index("function")

    assert ["new", "gone"] == [changes.loc[name, "state"] for name in ("main.fill", "main.main")]
    assert (48, 48) == (changes.loc["main.fill", "low"], changes.loc["main.fill", "high"])


def test_several_captures_a_side_tell_a_change_from_noise(processes):
    """
    Six a side, wholly apart: p is 2/924. One a side says nothing of the same numbers.
    """
    old = processes("before", 1000, 1010, 1020, 1030, 1040, 1050)
    new = processes("after", 2000, 2010, 2020, 2030, 2040, 2050)

    many, one = metric(gomem.compare(old, new), "RSS"), metric(gomem.compare(old[0], new[0]), "RSS")

    assert ("worse", "?") == (many["verdict"], one["verdict"])
    assert pytest.approx(2 / 924) == many["p_adjusted"]
    assert 1025 * 1024 == many["before_median"]


def test_of_several_captures_a_side_the_ledger_is_of_the_run_in_the_middle(processes):
    compared = gomem.compare(processes("before", 1000, 1010, 5000), processes("after", 20, 30, 40))

    assert (1010 * 1024, 30 * 1024) == tuple(
        compared.moments.loc[0, ["before_rss_bytes", "after_rss_bytes"]]
    )
    assert {"anonymous_other": -980 * 1024} == dict(
        zip(compared.ledger["part"], compared.ledger["change"], strict=True)
    )


def test_what_only_one_side_has_is_shown_and_said(tmp_path, processes):
    log = tmp_path / "gctrace.log"
    log.write_text("".join(GC_LINE.format(n=n) for n in range(1, 4)))

    compared = gomem.compare(processes("before", 1000)[0], log)

    assert "only on the before side" == metric(compared, "RSS")["note"]
    assert "only on the after side" == metric(compared, "cycles")["note"]
    assert "No metric was measured on both sides." == compared.judgement.sentence
    assert (
        "the before side has no heap profile, so allocation sites are not compared"
        in compared.notes
    )


def test_frames_have_their_columns_whatever_there_is_to_compare(processes, pooled):
    bare = gomem.compare(processes("before", 1000)[0], processes("after", 1000)[0])

    for comparison in (bare, pooled):
        for frame, schema in (
            (comparison.moments, MOMENTS),
            (comparison.ledger, LEDGER),
            (comparison.groups, GROUPS),
            (comparison.sites, SITE_CHANGES),
            (comparison.site_rates, SITE_RATES),
        ):
            assert {one.name: one.dtype for one in schema} == frame.dtypes.astype(str).to_dict()


def test_paths_captures_and_answers_are_compared_alike(shrunk):
    for before, after in ((LAZY, str(EAGER)), (gomem.load(LAZY), diagnosed(EAGER))):
        pd.testing.assert_frame_equal(shrunk.metrics, gomem.compare(before, after).metrics)


def test_benchmark_files_are_compared_wherever_they_come_from():
    """
    By path, read already, or as the only file of a folder: the same metrics as in the captures.
    """
    old, new = DROWNING / "bench.txt", POOLED / "bench.txt"
    by_path = gomem.compare(old, new)

    pd.testing.assert_frame_equal(by_path.metrics, gomem.compare(read_bench(old), [new]).metrics)
    assert {"benchmark"} == set(by_path.metrics["layer"])


def test_several_benchmark_files_are_one_sample():
    bench = b"BenchmarkA-2 1 %d ns/op\n"
    old, new = ([read_bench(bench % value) for value in side] for side in ([1, 2], [3, 4]))

    row = metric(gomem.compare(old, new), "A-2")

    assert (2, 1.5e-9, 2, 3.5e-9) == pytest.approx(
        tuple(row[["before_n", "before_median", "after_n", "after_median"]])
    )


def test_joined_benchmark_files_keep_their_configurations_apart():
    files = [read_bench(b"cpu: %s\nBenchmarkA-2 1 5 ns/op\n" % cpu) for cpu in (b"EPYC", b"Xeon")]

    joined = _joined(files)

    cpus = joined.config[joined.config["key"] == "cpu"].set_index("config")["value"]
    assert ["EPYC", "Xeon"] == [cpus[config] for config in joined.results["config"]]


def test_a_capture_and_a_benchmark_file_are_not_alike():
    with pytest.raises(CaptureError, match=r"cache-shrink-go1\.12\.17: .* compare like with like"):
        gomem.compare(DROWNING / "bench.txt", LAZY)


def test_a_side_without_anything_is_the_callers_mistake():
    with pytest.raises(ValueError, match="one side is empty"):
        gomem.compare([], LAZY)


def test_damage_says_in_which_capture_it_is(tmp_path, processes):
    before, after = processes("before", 1000)[0], processes("after", 1000)[0]
    (after / "smaps").write_bytes(b"00400000-00401000 r-xp 00000000 08:01 7 /app\nRss: x kB\n")

    damaged = gomem.compare(before, after).damaged

    assert [f"{tmp_path}/after-0/smaps"] == [one.source for one in damaged]


# Goroutine dumps alone, and excerpts of them

STACKS = "goroutine profile: total {}\n{} @ 0x1\n#\t0x1\tmain.wait+0x1\t/a/main.go:1\n"


def test_goroutine_dumps_alone_are_compared(tmp_path):
    for side, count in (("before", 12), ("after", 4000)):
        (tmp_path / f"{side}.txt").write_text(STACKS.format(count, count))

    row = gomem.compare(tmp_path / "before.txt", tmp_path / "after.txt").metrics.iloc[0]

    assert ("goroutines", 12, 4000) == (row["name"], row["before_median"], row["after_median"])


def test_lines_that_a_person_left_out_are_not_unreadable(tmp_path):
    shown = "  PID USER  RSS COMMAND\n 2914 root 81552 bin/chat\n"
    pasted = (
        f"still many of them, is it ok?\n```\n{shown}```\n```\n{STACKS.format(5940, 2968)}```\n"
    )
    for name in ("before.md", "after.md"):
        (tmp_path / name).write_text(pasted)

    compared = gomem.compare(tmp_path / "before.md", tmp_path / "after.md")
    told = write_text(comparison_document(compared, before="a", after="b"), width=80)

    assert ["before.md:7", "after.md:7"] == [place.source for place in compared.damaged]
    assert "2 places with lines left out" in told
    assert "could not be read" not in told
    assert "Missing from the numbers above" not in told
