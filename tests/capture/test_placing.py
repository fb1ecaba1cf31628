"""Where a file belongs, and when a moment was: each rule alone, on files that are only named."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pandas as pd
import pytest

import gomem
from gomem.capture.clock import BY_FILE, BY_NAME, MANIFEST_TIME, OWN_CLOCK, time_in_name, time_of
from gomem.capture.load import _in_time
from gomem.capture.manifest import Manifest
from gomem.capture.moment import Artefact, Moment
from gomem.capture.place import ONE_SCRIPT, place, stem_of
from gomem.errors import CaptureError
from gomem.inputs.kinds import BY_NAME as KINDS
from gomem.sources.artefact import Source

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def at(seconds):
    return NOON + timedelta(seconds=seconds)


def artefact(name, kind="smaps", *, seconds=None, clock=None, moment="", **parsed):
    """A file of a kind; when it was taken its name says, if nothing else is given."""
    source = Source(name, b"", b"")
    time = None if seconds is None else at(seconds)
    if clock is None:
        named = time_in_name(name.rpartition("/")[2])
        time, clock = (named, BY_NAME) if named else (time, OWN_CLOCK if time else "")
    return Artefact(source, KINDS[kind], moment, time, clock, SimpleNamespace(**parsed))


def placed(*artefacts, manifest=None):
    """The moment of each file."""
    files = [] if manifest is None else [("gomem.json", {"moments": manifest})]
    names = {one.source.name for one in artefacts}
    found, damage = place(artefacts, Manifest(tuple(files)), names)
    assert [one.source.name for one in artefacts] == [one.source.name for one in found]
    return {one.source.name: one.moment for one in found}, damage


# ---- which moment


def test_one_file_of_each_kind_is_one_moment():
    found, damage = placed(artefact("smaps"), artefact("status", "status"))

    assert ({"capture"}, []) == (set(found.values()), damage)


def test_files_beside_folders_are_the_top():
    found, _ = placed(artefact("smaps"), artefact("1/smaps"), artefact("1/status", "status"))

    assert {"smaps": "(top)", "1/smaps": "1", "1/status": "1"} == found


def test_folders_of_kinds_say_what_files_are_and_names_when_they_were():
    """
    Also one with a single file beside those with several; not a folder that is a moment's.
    """
    found, _ = placed(
        artefact("api/smaps/t01.txt"),
        artefact("api/smaps/t02.txt"),
        artefact("api/smaps_rollup/t02.txt", "smaps_rollup"),
        artefact("api/last/smaps"),
        artefact("db/smaps/a", "status"),
    )

    assert ["api/t01", "api/t02", "api/t02", "api/last", "db/smaps"] == list(found.values())


def test_a_folder_with_a_kind_several_times_says_what_the_others_beside_it_are():
    """
    Also where no name is in two of them.
    """
    found, _ = placed(
        artefact("api/smaps/t01.txt"),
        artefact("api/smaps/t02.txt"),
        artefact("api/status/t03.txt", "status"),
    )

    assert ["api/t01", "api/t02", "api/t03"] == list(found.values())


def test_two_folders_of_kinds_with_one_name_are_one_moment():
    """
    Of two moments one is left; without a name in common, each folder is a moment.
    """
    both, _ = placed(artefact("smaps/2.txt"), artefact("status/2.txt", "status"))
    apart, _ = placed(artefact("smaps/2.txt"), artefact("status/1.txt", "status"))
    nameless, _ = placed(artefact("smaps/smaps.txt"), artefact("status/status.txt", "status"))

    assert 1 == len(set(both.values()))
    assert ["smaps", "status"] == list(apart.values()) == list(nameless.values())


def test_folders_of_kinds_at_the_top_leave_nothing_but_the_names():
    names = ("smaps/t01", "smaps/t02", "status/t01", "status/t02")

    found, _ = placed(*(artefact(name, name.partition("/")[0]) for name in names))

    assert ["t01", "t02", "t01", "t02"] == list(found.values())


def test_a_folder_of_one_kind_completes_the_snapshot_above_it():
    beside, _ = placed(
        artefact("proc-1-status", "status"),
        artefact("cgroup/memory.max", "cgroup"),
        artefact("cgroup/memory.stat", "cgroup"),
    )
    later, _ = placed(artefact("smaps"), artefact("smaps-2/smaps"))

    assert 1 == len(set(beside.values()))
    assert 2 == len(set(later.values()))


def test_a_folder_that_is_called_like_a_kind_is_a_moment_if_no_kind_repeats():
    found, _ = placed(
        artefact("1/heap/smaps"), artefact("1/heap/status", "status"), artefact("2/proc/smaps")
    )

    assert ["1/heap", "1/heap", "2/proc"] == list(found.values())


def test_how_all_names_of_moments_end_is_left_out():
    same, _ = placed(*(artefact(f"{name}/debug/heap/smaps") for name in ("t1", "t2")))
    unlike, _ = placed(*(artefact(f"{name}/smaps") for name in ("t1/debug", "t2/debug", "t3")))
    single, _ = placed(artefact("t1/debug/smaps"), artefact("t1/debug/status", "status"))

    assert ["t1", "t2"] == list(same.values())
    assert ["t1/debug", "t2/debug", "t3"] == list(unlike.values())
    assert ["t1/debug", "t1/debug"] == list(single.values())


def test_what_is_of_the_whole_has_no_moment_and_makes_none():
    found, _ = placed(artefact("a/app.log", "gctrace"), artefact("smaps"))

    assert {"a/app.log": "", "smaps": "capture"} == found


def test_files_that_repeat_are_told_apart_by_what_else_their_names_say():
    found, _ = placed(
        artefact("smaps-a"), artefact("status-a", "status"), artefact("smaps-b"), artefact("maps")
    )

    assert {"smaps-a": "a", "status-a": "a", "smaps-b": "b"} == {
        name: moment for name, moment in found.items() if name != "maps"
    }


def test_files_that_say_more_behind_a_word_of_order_are_of_that_moment():
    """
    Not where a kind of file would be there twice, and not of a word that says no order.
    """
    reloaded, damage = placed(
        artefact("mem-before-reload.json", "memstats"),
        artefact("status-before.txt", "status"),
        artefact("mem-after-reload.json", "memstats"),
        artefact("smaps-after.txt"),
        artefact("smaps-after-again.txt"),
    )
    lettered, _ = placed(
        artefact("smaps-a.txt"), artefact("mem-a-b.json", "memstats"), artefact("smaps-b.txt")
    )

    assert ["before", "before", "after", "after", "after-again"] == [*reloaded.values()]
    assert ["a", "a-b", "b"] == [*lettered.values()]
    assert not damage


def test_a_word_that_leads_all_names_of_a_kind_names_the_kind_and_no_snapshot():
    """
    `ms-02-45.json` and `status-02-45` are of one moment, which is not the first.
    """
    dumps = [artefact(f"ms-{at}.json", "memstats") for at in ("02-10", "02-20", "02-45")]
    found, _ = placed(*dumps, artefact("status-02-45", "status"))

    assert ["02-10", "02-20", "02-45", "02-45"] == [*found.values()]


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([("status-03-00", "status")], id="no other name is the rest"),
        pytest.param([("status-ms-02-10", "status"), ("status-02-45", "status")], id="two kinds"),
        pytest.param([("memstats-02-45.json", "memstats")], id="a kind twice"),
    ],
)
def test_a_word_that_tells_snapshots_apart_stays(others):
    dumps = [artefact(f"ms-{at}.json", "memstats") for at in ("02-10", "02-45")]
    found, _ = placed(*dumps, *(artefact(*each) for each in others))

    assert {"ms-02-10", "ms-02-45"} <= {*found.values()}


def test_names_that_say_nothing_are_numbered_in_the_order_of_their_clocks():
    """
    A new moment begins whenever a kind comes again; what has no time comes first.
    """
    found, _ = placed(
        artefact("smaps.2", seconds=20),
        artefact("smaps.1", seconds=10),
        artefact("status.txt", "status", seconds=15),
    )
    by_folder, _ = placed(
        artefact("d/smaps.txt", seconds=20), artefact("d/smaps.text", seconds=10),
        artefact("d/smaps"), artefact("d/status", "status", seconds=15),
    )  # fmt: skip

    assert {"1", "2", "capture"} == set(found.values())
    assert {"d/smaps": "d-1", "d/smaps.text": "d-2", "d/status": "d-2", "d/smaps.txt": "d-3"} == (
        by_folder
    )


@pytest.mark.parametrize(("apart", "moments"), [(2, 1), (3, 2)])
def test_stamps_within_two_seconds_are_of_one_script(apart, moments):
    assert timedelta(seconds=2) == ONE_SCRIPT
    names = ("heap-1600000000", f"smaps-{1_600_000_000 + apart}")

    found, _ = placed(artefact(names[0], "status"), artefact(names[1]))

    assert moments == len(set(found.values()))


def test_the_first_stamp_of_a_script_counts_and_not_the_one_before():
    """
    Files at 0, 2 and 4 seconds: the third is four after the first.
    """
    found, _ = placed(
        artefact("status-1600000000", "status"),
        artefact("smaps-1600000002"),
        artefact("statm-1600000004", "statm"),
    )

    assert ["1600000000", "1600000000", "1600000004"] == list(found.values())


def test_a_kind_that_comes_again_within_two_seconds_is_another_moment():
    found, _ = placed(artefact("smaps-1600000000"), artefact("smaps-1600000001"))

    assert ["1600000000", "1600000001"] == list(found.values())


def test_a_file_beside_those_that_the_manifest_lists_is_of_their_moment():
    manifest = [{"name": "m", "artefacts": [{"path": "d/smaps"}]}]

    found, _ = placed(
        artefact("d/smaps"), artefact("d/status", "status"), artefact("e/smaps"), manifest=manifest
    )

    assert {"d/smaps": "m", "d/status": "m", "e/smaps": "e"} == found


def test_a_file_beside_those_of_two_moments_is_of_neither():
    manifest = [
        {"name": "a", "artefacts": [{"path": "d/smaps"}]},
        {"name": "b", "artefacts": [{"path": "d/status"}]},
    ]

    found, _ = placed(
        artefact("d/smaps"),
        artefact("d/status", "status"),
        artefact("d/statm", "statm"),
        manifest=manifest,
    )

    assert {"d/smaps": "a", "d/status": "b", "d/statm": "d"} == found


def test_a_copy_beside_a_listed_file_is_a_moment_of_its_own():
    """
    Even where the manifest calls its moment as the folder is called.
    """
    manifest = [{"name": "d", "artefacts": [{"path": "d/smaps"}]}]

    found, _ = placed(artefact("d/smaps"), artefact("d/smaps.txt"), manifest=manifest)

    assert {"d/smaps": "d", "d/smaps.txt": "d/beside"} == found


def test_a_manifest_that_names_what_is_not_there_says_so_once():
    manifest = [{"name": "m", "artefacts": [{"path": "smaps"}, {"path": "gone"}]}]

    found, damage = placed(artefact("smaps"), manifest=manifest)

    assert {"smaps": "m"} == found
    assert [("gomem.json", "the manifest names gone, which is not there")] == [
        (one.source, one.what) for one in damage
    ]


# ---- when


def test_a_time_in_the_name_stands_before_the_own_clock_and_that_before_the_file():
    def read(name, own=None, modified=None):
        source = Source(name, b"", b"", modified=modified)
        return time_of(source, SimpleNamespace(time=own))

    stamped = datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)
    assert (stamped, BY_NAME) == read("smaps-1600000000", own=NOON, modified=at(1))
    assert (stamped, BY_NAME) == read("1600000000/smaps", own=NOON)
    assert (NOON, OWN_CLOCK) == read("smaps", own=NOON, modified=at(1))
    assert (at(1), BY_FILE) == read("smaps", modified=at(1))
    assert (None, "") == read("smaps")
    assert (at(1), BY_FILE) == read("smaps", own="yesterday", modified=at(1))


def moment(*artefacts, name="1"):
    return Moment(name, tuple(artefacts))


def test_a_moments_times_are_those_of_its_best_clock():
    own, named = artefact("a", seconds=5), artefact("b", seconds=7, clock=BY_NAME)
    listed = [artefact(name, seconds=s, clock=MANIFEST_TIME) for name, s in (("c", 9), ("d", 8))]
    dated = artefact("e", seconds=1, clock=BY_FILE)

    assert [at(9), at(8)] == moment(own, dated, named, *listed).times
    assert at(8) == moment(own, dated, named, *listed).time
    assert at(7) == moment(own, dated, named).time
    assert at(5) == moment(own, dated).time
    assert (None, []) == (moment(dated).time, moment(dated).times)


def test_skew_is_between_clocks_that_may_be_subtracted():
    """
    The manifest's and an artefact's own; two of them.
    """
    own = artefact("a", seconds=5)
    listed = artefact("b", seconds=9, clock=MANIFEST_TIME)
    others = artefact("c", seconds=60, clock=BY_NAME), artefact("d", seconds=90, clock=BY_FILE)

    assert 4.0 == moment(own, listed, *others).skew_seconds
    assert moment(own, *others).skew_seconds is None
    assert moment().skew_seconds is None


def test_the_time_of_a_kind_is_that_of_the_first_kind_that_has_one():
    status, smaps = artefact("status", "status", seconds=5), artefact("smaps", seconds=9)
    named = artefact("statm", "statm", seconds=1, clock=BY_NAME)
    found = moment(status, smaps, named)

    assert pd.Timestamp(at(9)) == found.time_of("smaps", "status")
    assert pd.Timestamp(at(5)) == found.time_of("limits", "status", "smaps")
    assert found.time_of("statm") is None
    assert found.time_of("limits") is None


def test_of_two_files_of_a_kind_the_one_that_reports_name_gives_the_time():
    first, second = artefact("smaps.a", seconds=9), artefact("smaps.b", seconds=5)
    undated = artefact("smaps.c")

    assert pd.Timestamp(at(9)) == moment(first, second).time_of("smaps")
    assert "smaps.a" == moment(first, second).paths["smaps"]
    assert pd.Timestamp(at(5)) == moment(undated, second).time_of("smaps")


def stats(*ends, allocated=pd.NA):
    rows = {"LastGC": [one and pd.Timestamp(one) for one in ends], "TotalAlloc": allocated}
    return SimpleNamespace(stats=pd.DataFrame(rows))


def collected(name, *ends, seconds=None, allocated=pd.NA):
    """A moment whose MemStats name the ends of these last collections."""
    one = Artefact(Source(f"{name}/m.json", b"", b""), KINDS["memstats"], name, None, "",
                   stats(*ends, allocated=allocated))  # fmt: skip
    timed = [artefact(f"{name}/smaps", seconds=seconds)] if seconds is not None else []
    return Moment(name, (one, *timed))


def test_a_moment_is_not_before_the_last_collection_it_knows():
    assert at(7) == collected("1", at(3), at(7)).not_before
    assert collected("1", None).not_before is None
    assert moment(artefact("smaps")).not_before is None


def order(*moments):
    return [one.name for one in _in_time(moments)]


def test_moments_are_in_the_order_of_their_clocks():
    assert ["b", "a"] == order(
        moment(artefact("smaps", seconds=9), name="a"),
        moment(artefact("smaps", seconds=5), name="b"),
    )


def test_a_moment_without_a_clock_keeps_its_place():
    dated = [moment(artefact("smaps", seconds=s), name=n) for n, s in (("a", 9), ("c", 5))]

    assert ["c", "b", "a"] == order(dated[0], moment(artefact("smaps"), name="b"), dated[1])


def test_last_collections_order_moments_where_not_all_have_a_time():
    """
    A time of a script's zone is not held against them: where all name a collection, these count.
    """
    late = collected("a", at(50), seconds=60)
    early = collected("b", at(40))
    wrong = collected("c", at(45), seconds=-7200)

    assert ["b", "c", "a"] == order(late, early, wrong)
    assert ["c", "a"] == order(late, wrong)


def test_behind_one_collection_what_was_allocated_orders_moments():
    early = collected("b", at(40), allocated=90)
    later = collected("a", at(50), allocated=50)

    assert ["b", "c", "a"] == order(later, early, collected("c", at(50), allocated=40))
    assert ["b", "a", "c"] == order(later, early, collected("c", at(50), allocated=60))
    assert ["b", "c", "a"] == order(later, early, collected("c", at(50)))


def test_a_collection_stands_in_for_a_time_where_some_name_neither():
    undated = moment(artefact("smaps"), name="x")

    assert ["b", "x", "a"] == order(collected("a", at(50)), undated, collected("b", seconds=10))


# ---- profiles


def profiled(*kinds):
    files = [
        Artefact(Source(f"{kind}{n}", b"", b""), KINDS["pprof"], "1", None, "",
                 SimpleNamespace(kind=kind, source=f"{kind}{n}", printed=None))
        for n, kind in enumerate(kinds)
    ]  # fmt: skip
    return Moment("1", tuple(files))


def test_the_first_profile_of_a_kind_is_the_moments():
    found = profiled("heap", "goroutine", "heap")

    assert {"heap": "heap0", "goroutine": "goroutine1"} == {
        kind: one.source for kind, one in found.profiles.items()
    }
    assert ("heap0", "heap0") == (found.paths["heap"], found.heap_profile.source)


def test_an_allocs_profile_stands_in_for_a_heap_profile():
    assert "allocs0" == profiled("allocs", "goroutine").heap_profile.source
    assert "heap1" == profiled("allocs", "heap").heap_profile.source
    assert profiled("goroutine").heap_profile is None


# ---- what is handed on


MAPPING = "00400000-00500000 r-xp 00000000 00:00 7 /app/api\nSize: 1024 kB\nRss: 8 kB\n"


def laid_out(folder, **texts):
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


def test_what_a_reader_could_not_read_is_the_captures_damage(tmp_path):
    capture = gomem.load(laid_out(tmp_path, smaps=MAPPING + "Pss: many kB\n" + MAPPING[:20]))

    assert capture.damaged
    assert {"smaps"} == {one.source for one in capture.damaged}
    assert all("line " in one.where for one in capture.damaged)


def test_two_files_of_a_kind_in_a_moment_stand_below_one_another():
    def mappings(*names):
        frames = [pd.DataFrame({"Rss": [size]}) for size in (8, 16)]
        files = [artefact(name, mappings=frame) for name, frame in zip(names, frames, strict=False)]
        return Moment("m", tuple(files)).smaps

    assert [("m", 8, "a"), ("m", 16, "b")] == list(mappings("a", "b").itertuples(index=False))
    assert [("m", 8, "a")] == list(mappings("a").itertuples(index=False))
    assert list(mappings("a").columns) == ["moment", "Rss", "artefact"]


def test_smaps_stand_before_maps_and_a_part_that_is_not_there_is_passed_over():
    full, bare = (pd.DataFrame({"Rss": [size]}) for size in (8, 0))
    both = moment(artefact("maps", "maps", mappings=bare), artefact("smaps", mappings=full))
    text = moment(artefact("heap.txt", "heap_text", memstats=None))

    assert [8] == list(both.smaps["Rss"])
    assert 0 == len(text.memstats)


def test_a_moment_has_no_frame_of_another_name():
    with pytest.raises(AttributeError, match="a moment has no smap; it has cgroup, smaps"):
        _ = moment(artefact("a")).smap


def test_a_capture_shows_itself_with_its_moments_and_kinds(tmp_path):
    capture = gomem.load(laid_out(tmp_path, smaps=MAPPING))
    html = capture._repr_html_()

    assert "<p>1 moments, " in html
    assert "0 damaged</p>" in html
    assert html.count("<table") == 2
    assert "<p>1 artefacts</p>" in capture["capture"]._repr_html_()
    assert "<Moment capture: smaps>" == repr(capture["capture"])


def test_an_empty_folder_has_nothing_in_it(tmp_path):
    with pytest.raises(CaptureError, match="nothing in it; wanted at least one artefact"):
        gomem.load(tmp_path)


@pytest.mark.parametrize(("files", "end"), [(3, r"2\.txt.*[^e]$"), (4, "; and 1 more$")])
def test_of_what_cannot_be_read_three_are_named(files, end, tmp_path):
    texts = {f"{n}.txt": "remember the milk\n" for n in range(files)}

    with pytest.raises(CaptureError, match=end) as error:
        gomem.load(laid_out(tmp_path, **texts))

    assert "3.txt" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("heap-2026-11-20T05:45:49Z.pb.gz", "2026-11-20T05:45:49Z"),
        ("memprof.2020-08-08T16_12_12.743.32.pb.gz", "2020-08-08T16_12_12.743"),
    ],
)
def test_a_stamp_is_all_of_a_stem(name, stem):
    assert stem == stem_of(name)


@pytest.mark.parametrize(
    "types",
    [
        "alloc_objects.alloc_space.inuse_objects.inuse_space", "samples.cpu", "contentions.delay",
        "goroutine",
    ],
)  # fmt: skip
def test_what_pprof_saves_is_named_after_the_program_and_the_number(types):
    assert "api-007" == stem_of(f"pprof.api.{types}.007.pb.gz")
    assert "7" == stem_of(f"pprof.{types}.7.pb.gz")


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("pmap1.txt", "1"), ("ps_1.txt", "1"), ("rt_3.json", "3"), ("vars2.json", "2"),
        ("smaps2", "2"), ("cgroup4.txt", "4"), ("pod1.txt", "pod1"), ("t2.heap", "t2"),
    ],
)  # fmt: skip
def test_a_number_stands_behind_the_word_of_a_kind_with_or_without_a_separator(name, stem):
    assert stem == stem_of(name)


def test_files_of_one_moment_differ_by_the_words_of_their_kinds():
    found, _ = placed(
        *(artefact(f"pmap{place}.txt", "pmap") for place in (1, 2)),
        *(artefact(f"ps{place}.txt", "processes") for place in (1, 2)),
    )

    assert ["1", "2", "1", "2"] == list(found.values())


def test_a_table_of_processes_is_of_the_last_of_moments_that_clocks_order():
    """
    A loop wrote it until the end: never before the first profile. Other files can be of any.
    """
    named = [
        artefact(f"api-{name}.json", "memstats", seconds=seconds)
        for name, seconds in (("plus-25s", 25), ("start", 0), ("plus-10s", 10))
    ]

    assert [("rss", "api-plus-25s")] == of_last(*named, artefact("rss", "processes"))
    assert [] == of_last(*named, artefact("smaps.txt"))
    assert [] == of_last(*named, artefact("api-x.json", "memstats"), artefact("rss", "processes"))


@pytest.mark.parametrize(("before", "counted"), [(0, {"1": 1}), (-1, {}), (2**32, {})])
def test_collections_are_counted_from_none_on(before, counted):
    moments = [{"name": "1", "num_gc": {"before": before, "after": before + 1}}]

    assert counted == Manifest((("gomem.json", {"moments": moments}),)).collections


def of_last(*artefacts):
    files, _ = place(list(artefacts), Manifest(), {file.source.name for file in artefacts})
    return [(file.source.name, file.moment) for file in files if file.is_of_last]


def test_a_file_that_says_nothing_is_of_the_last_of_those_in_an_order():
    """
    Not beside names that are in none, nor where its kind is there.
    """
    numbered = [artefact(f"vars{place}.json", "memstats") for place in (1, 2, 10)]
    lettered = [artefact(f"vars_{letter}.json", "memstats") for letter in "ab"]
    at_hours = [artefact(f"vars_{hour}.json", "memstats") for hour in ("9h59", "10h01m30")]
    named = [artefact(f"vars-{name}.json", "memstats") for name in ("api", "web")]

    assert [("smaps.txt", "10")] == of_last(*numbered, artefact("smaps.txt"))
    assert [("smaps.txt", "b")] == of_last(*lettered, artefact("smaps.txt"))
    assert [("smaps.txt", "10h01m30")] == of_last(*at_hours, artefact("smaps.txt"))
    assert [] == of_last(*named, artefact("smaps.txt"))
    assert [] == of_last(*numbered, artefact("vars.json", "memstats"))


def test_a_clock_that_no_clock_of_the_last_snapshot_contradicts_keeps_no_file_apart():
    numbered = [artefact(f"smaps.{number}") for number in (1, 2)]
    once = [artefact("status", "status", seconds=5), artefact("rss", "processes")]

    assert [("status", "2"), ("rss", "2")] == of_last(*numbered, *once)


@pytest.mark.parametrize(("seconds", "is_of_last"), [(97, False), (101, True), (200, False)])
def test_a_file_with_a_clock_is_of_the_last_snapshot_if_that_ended_then(seconds, is_of_last):
    """
    What a snapshot of MemStats is not before is its last GC.
    """
    ends = pd.DataFrame({"LastGC": [pd.Timestamp(at(100))]})
    early, late = (
        artefact(f"vars.{name}.json", "memstats", stats=ends) for name in ("early", "late")
    )

    found = of_last(early, late, artefact("status", "status", seconds=seconds))
    assert is_of_last == (("status", "late") in found)


def test_the_first_of_several_downloads_has_no_number():
    """
    A browser calls the second one `status (1).txt`; smaps was taken once, at the end.
    """
    pages = [artefact(f"status{number}.txt", "status") for number in ("", " (1)", " (2)")]
    found, _ = placed(*pages, artefact("smaps"))

    assert ["0", "1", "2", "2"] == [*found.values()]


def test_the_form_that_pprof_was_asked_for_is_no_number_of_a_snapshot():
    names = ("heap_debug1.txt", "goroutine-debug=2.txt", "heap.debug1.txt")

    assert ["", "", ""] == [stem_of(name) for name in names]
    assert "3" == stem_of("heap_debug1_3.txt")
