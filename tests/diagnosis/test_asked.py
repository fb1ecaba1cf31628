"""What a diagnosis answers of captures that lack this or that, made up in a line."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.capture.manifest import Manifest
from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.diagnosis import Diagnosis, diagnose
from gomem.errors import CaptureError
from gomem.facts.capture import CaptureFacts
from gomem.facts.moment import GOGC, GOMEMLIMIT, NO_GOMEMLIMIT, MomentFacts
from gomem.facts.profiles import has_samples
from gomem.releases import GoVersion, known_version
from gomem.units import MIB
from tests.gc_logs import log_of
from tests.heap_profiles import bucket, heap, seen
from tests.views.ledgers import ledger

EMPTY = heap()
SOME = heap(seen(9, 4096))


STATES = pd.DataFrame({"State": []})


def asked_of(*moments, baseline=None, findings=None, version="", **capture):
    """The diagnosis of a capture with these moments and files."""
    known = known_version(version, "the test") or GoVersion()
    nothing = {"gc": None, "heap_profiles": {}, "escapes": {}, "file_name": "c", "name": "x/c",
               "go_version": known, "environs": {}, "files": (), "passed_over": (),
               "unused_settings": (),
               "manifest": Manifest(), "of_kind": lambda _: (),
               "damaged": (), "pauses": None, "times": {one.name: None for one in moments},
               "memstats": pd.DataFrame({"NumGC": [], "LastGC": []}),
               "by_moment": {one.name: SimpleNamespace(name=one.name, paths={}, status=STATES)
                             for one in moments},
               "smaps": pd.DataFrame({"moment": [], "Rss": []}),
               "status": pd.DataFrame({"moment": [], "VmHWM": []})}  # fmt: skip
    made = Diagnosis(CaptureFacts(SimpleNamespace(**nothing | capture)), baseline)
    vars(made.facts)["moments"] = moments
    if findings is not None:
        made.__dict__["findings"] = findings
    return made


def moment(name, mib=None, **about):
    """A moment whose ledger is objects of so many MiB; without them it has none."""
    made = None if mib is None else ledger(mib * MIB, heap_objects=mib * MIB)
    return MomentFacts(name, ledger=made, **about)


# Moments


def test_moments_without_a_ledger_are_in_no_table_of_ledgers():
    found = asked_of(moment("1", 3), moment("2"), moment("3", 5))

    assert ["1", "3"] == list(found.ledgers) == found.ledger["moment"].tolist()
    assert [3 * MIB, 5 * MIB] == found.ledger["bytes"].tolist()
    assert [3 * MIB, 5 * MIB] == found.facts.groups_side_by_side[["0", "1"]].iloc[0].tolist()
    assert asked_of(moment("2")).ledger.empty
    assert "part" in asked_of().ledger


MAPPED = pd.DataFrame({"kind": ["go-heap"], "Rss": [5], "Size": [9]})


def test_mappings_of_the_moments_that_have_some_stand_together():
    mapped = {name: MAPPED.assign(moment=name) for name in "13"}
    found = asked_of(
        moment("1", mappings=mapped["1"]), moment("2"), moment("3", mappings=mapped["3"])
    )

    assert ["1", "3"] == found.smaps["moment"].tolist()
    assert ["moment", "time", "Rss", "kind", "rule"] == list(asked_of(moment("1")).smaps)
    assert asked_of(moment("1")).smaps.empty
    assert ["1", "3"] == asked_of(
        *(one if one.mappings is None else replace(one, mappings=_with_sizes(one.mappings))
          for one in found.moments)
    ).kinds["moment"].tolist()  # fmt: skip


def _with_sizes(mappings):
    told = {name: [1] for name in ("Pss", "Shared_Clean", "Shared_Dirty", "Swap")}
    return mappings.assign(**told)


def test_a_moment_without_mappings_has_no_regions():
    with pytest.raises(KeyError, match="1"):
        asked_of(moment("1")).facts.regions("1")


def test_levels_stand_beside_what_the_capture_counts():
    wide = pd.DataFrame({"time": [1, 2], "moment": ["1", "2"], "HeapAlloc": [7, 8]})
    wide = wide.set_index("time")
    wide.attrs["columns"] = {}

    told = asked_of(moment("1", 3), moment("2"), levels=wide).levels
    silent = asked_of(moment("1"), moment("2"), levels=wide).levels

    assert [7, 8] == silent["HeapAlloc"].tolist()
    assert ["moment", "rss_bytes", "heap_objects", "HeapAlloc"] == list(told)
    assert [3 * MIB, 3 * MIB, 7] == told.loc[1, ["rss_bytes", "heap_objects", "HeapAlloc"]].tolist()
    assert told.loc[2, ["rss_bytes", "heap_objects"]].isna().all()


@pytest.mark.parametrize(("count", "rows"), [(19, 0), (20, 1)])
def test_quantiles_are_of_twenty_moments_or_more(count, rows):
    moments = [moment(str(number), number + 1) for number in range(count)]

    assert rows == len(asked_of(*moments).facts.level_quantiles)


def test_quantiles_are_of_rss_and_of_the_heap():
    stats = pd.Series({"HeapAlloc": 5, "HeapInuse": 6, "Sys": 9})
    moments = [moment(str(number), 1, memstats=stats) for number in range(19)]

    levels = asked_of(*moments, moment("x", 1)).facts.level_quantiles

    assert ["rss_bytes"] == levels["level"].tolist()
    levels = asked_of(*moments, moment("x", 1, memstats=stats)).facts.level_quantiles
    assert ["rss_bytes", "HeapAlloc", "HeapInuse"] == levels["level"].tolist()


def test_the_heap_is_that_of_the_moments_that_say_it():
    said = pd.Series({"moment": "2", "HeapIdle": 5})

    assert [5] == asked_of(moment("1"), moment("2", heap=said)).heap["HeapIdle"].tolist()


# Whose sites


def finding(code, at):
    return SimpleNamespace(code=code, moment=at)


@pytest.mark.parametrize(
    ("findings", "profiled", "first"),
    [
        pytest.param([finding("heap-growth", "1")], "123", "1", id="of a finding about sites"),
        pytest.param([finding("native-memory", "1")], "123", "2", id="of no other finding"),
        pytest.param([finding("heap-growth", "x")], "123", "2", id="without a profile"),
        pytest.param([], "13", "3", id="the last, if the one shown first has none"),
        pytest.param([], "", None, id="none"),
    ],
)
def test_which_moments_sites_are_looked_at_first(findings, profiled, first):
    """
    The second moment is the last that says how much is resident.
    """
    profiles = dict.fromkeys(profiled, EMPTY)

    found = asked_of(moment("1", 3), moment("2", 3), moment("3"), findings=findings,
                     heap_profiles=profiles)  # fmt: skip

    assert "2" == found.shown_first
    assert first == found.sites_first


def test_nothing_is_shown_first_of_nothing():
    assert asked_of(moment("1")).shown_first is None


def test_sites_are_of_the_sample_types_that_there_are():
    assert ["inuse_space", "alloc_space", "inuse_objects", "alloc_objects"] == list(
        asked_of(heap_profiles={"1": SOME}).sites["1"]
    )


def without_objects(word):
    """A profile that does not count objects allocated, or in use."""
    names = SOME.sample_type_names
    kept = [one for one in names if one != f"{word}_objects"]
    return SimpleNamespace(sample_type_names=kept, printed=None)


def test_what_a_profile_does_not_count_has_no_answer():
    found = asked_of(
        heap_profiles={"1": SOME, "2": without_objects("inuse"), "3": without_objects("alloc")}
    )

    assert [1, 0, 0, 0] == [len(found.facts.profiles.turnover(name)) for name in "123x"]
    assert [1, 0, 0] == [len(found.facts.profiles.object_sizes(name)) for name in "12x"]


def test_a_tree_is_of_values_that_there_are():
    nothing = heap(bucket(0, 0))

    found = asked_of(
        heap_profiles={"1": SOME, "2": nothing},
        baseline=asked_of(heap_profiles={"1": SOME, "2": SOME}),
    )
    emptied = asked_of(heap_profiles={"1": SOME}, baseline=asked_of(heap_profiles={"1": nothing}))

    assert [True, False, False] == [
        found.facts.profiles.call_tree(name, "inuse_space") is not None for name in "12x"
    ]
    assert found.facts.profiles.call_tree("1", "cpu") is None
    assert [True, False, False] == [
        found.change_tree(name, "inuse_space") is not None for name in "12x"
    ]
    assert emptied.change_tree("1", "inuse_space") is None
    alone = asked_of(heap_profiles={"1": SOME}, baseline=asked_of())
    assert alone.change_tree("1", "inuse_space") is None
    assert not has_samples(nothing, "inuse_space")
    assert not has_samples(SOME, "cpu")


def test_without_the_compilers_words_no_line_has_a_reason():
    found = asked_of(findings=(), heap_profiles={"1": SOME})

    assert {} == found.facts.profiles.reasons
    with pytest.raises(CaptureError, match="c: nothing says why lines allocate"):
        found.line_reasons()


def test_the_reasons_are_those_of_the_moment_to_look_at_or_the_last():
    found = asked_of(moment("2", 3), findings=(), heap_profiles={"2": SOME})

    for reasons, told in (({"1": "a", "2": "b", "3": "c"}, "b"), ({"1": "a", "3": "c"}, "c")):
        vars(found.facts.profiles)["reasons"] = reasons
        assert told == found.line_reasons()


def test_of_one_profile_nothing_stands_out():
    with pytest.raises(CaptureError, match="c: needs two heap profiles with a time"):
        asked_of(heap_profiles={"1": SOME}).spike_sites()


def timed(count):
    return {
        str(at): replace(SOME, columns=replace(SOME.columns, time_nanos=at * 10**9))
        for at in range(1, count + 1)
    }


@pytest.mark.parametrize(("count", "known"), [(3, False), (4, True)])
def test_a_series_is_of_four_profiles_or_more(count, known):
    found = asked_of(heap_profiles=timed(count))

    assert known == (found.facts.profiles.heap_series is not None)
    if not known:
        assert found.growth.empty


# Against a baseline


def test_what_stands_against_what():
    old = asked_of(moment("1", 3), moment("2", 4), moment("3"), heap_profiles={"1": SOME})
    new = asked_of(moment("1", 5), moment("2", 6), baseline=old, heap_profiles={"1": EMPTY})

    assert ("2", "2") == (new.change_against_baseline.before, new.change_against_baseline.after)
    assert 2 * MIB == new.change_against_baseline.ledger.rss_change_bytes
    assert ("1", 3 * MIB) == (new.baseline_moment("1"), new.baseline_ledger("1").rss_bytes)
    assert new.baseline_moment("x") is new.baseline_ledger("x") is new.baseline_profile("x") is None
    assert SOME is new.baseline_profile("1")
    assert {"1": old.moments[0], "2": old.moments[1]} == new.case.counterparts


def test_without_a_baseline_nothing_stands_against_anything():
    alone = asked_of(moment("1", 5))
    other = asked_of(moment("1", 5), baseline=asked_of())

    assert alone.change_against_baseline is other.change_against_baseline is None
    assert alone.baseline_moment("1") is alone.baseline_ledger("1") is None
    assert alone.baseline_profile("1") is None
    assert {} == alone.case.counterparts


# The collector


def limits_of(*metrics, version="go1.27.3"):
    """GOGC and GOMEMLIMIT as the log's answers have them."""
    moments = [moment(str(place), metrics=one) for place, one in enumerate(metrics)]
    found = asked_of(*moments, gc=log_of({}), version=version).collector
    return found.gogc_fraction, found.memory_limit_bytes


@pytest.mark.parametrize(
    ("metrics", "version", "told"),
    [
        ([{}], "go1.27.3", (None, None)),
        ([{GOGC: 50.0, GOMEMLIMIT: 7.0}, {}], "go1.27.3", (0.5, 7.0)),
        ([{GOGC: 50.0}, {GOGC: 75.0, GOMEMLIMIT: 7.0}], "go1.27.3", (None, 7.0)),
        ([{GOMEMLIMIT: 7.0}, {GOMEMLIMIT: 8.0}], "go1.27.3", (None, None)),
        ([{GOMEMLIMIT: float(NO_GOMEMLIMIT)}], "go1.27.3", (None, float("inf"))),
        ([{}], "go1.18.10", (None, float("inf"))),
        ([{}], "go1.19", (None, None)),
    ],
)
def test_settings_are_those_that_every_moment_agrees_on(metrics, version, told):
    """
    Before Go 1.19 there is no limit.
    """
    assert told == limits_of(*metrics, version=version)


def test_without_a_log_there_is_nothing_of_it():
    silent, empty = asked_of(), asked_of(gc=log_of())

    assert silent.collector is silent.what_if is None
    assert {None} == set(silent.collection_cost.values())
    assert 1 == asked_of(gc=log_of({})).collection_cost["cycles"]
    for ask in ("cycles", "timeline"):
        with pytest.raises(CaptureError, match="c has no gctrace log"):
            getattr(silent, ask)()
        with pytest.raises(CaptureError, match="c: the log has no collection"):
            getattr(empty, ask)()
    assert 1 == len(asked_of(gc=log_of({})).cycles())


# How large the process is


CGROUP = {"memory.current": 5 * MIB, "memory.max": 90 * MIB}


def claimed(mib):
    made = ledger(None, heap_objects=mib * MIB)
    made.parts["claimed_bytes"] = made.parts["bytes"].astype("Int64")
    return MomentFacts("x", ledger=made)


@pytest.mark.parametrize(
    ("moments", "about", "whole"),
    [
        pytest.param([moment("1", 3), moment("2", 4), claimed(9)], {}, 4, id="the last RSS"),
        pytest.param([moment("1", cgroup=CGROUP)], {}, 90, id="the limit"),
        pytest.param([claimed(9)], {}, 9, id="what Go claims"),
        pytest.param([moment("1", cgroup=CGROUP), claimed(9)], {}, 9, id="of the later moment"),
        pytest.param([moment("1", cgroup={"memory.current": 5})], {}, None, id="no limit"),
        pytest.param([claimed(0)], {}, None, id="claims of nothing"),
        pytest.param([], {"gc": log_of(*[{}] * 30)}, 10, id="the live heap"),
    ],
)
def test_the_whole_that_a_share_is_of(moments, about, whole):
    found = asked_of(*moments, **about).scale.whole_bytes

    assert (None if whole is None else whole * MIB) == found


def test_profiles_tell_how_large_a_process_is_where_nothing_else_does():
    assert SOME.total("inuse_space") == asked_of(heap_profiles=timed(4)).scale.whole_bytes
    assert asked_of(heap_profiles=timed(3)).scale.whole_bytes is None


def test_the_usual_thresholds_are_taken_where_none_are_given(monkeypatch):
    monkeypatch.setattr(
        "gomem.diagnosis.diagnosis._facts", lambda path: SimpleNamespace(capture=path)
    )
    monkeypatch.setattr("gomem.diagnosis.diagnosis.halves", lambda _: None)

    alone, held = diagnose("a"), diagnose("a", "b", thresholds=(own := Thresholds()))

    assert Thresholds() == alone.thresholds
    assert (None, "b") == (alone.baseline, held.baseline.capture)
    assert own is held.thresholds is held.baseline.thresholds


def test_a_diagnosis_is_a_line_and_a_page():
    found = asked_of(findings=())

    assert "<Diagnosis of x/c: 0 findings>" == repr(found)
