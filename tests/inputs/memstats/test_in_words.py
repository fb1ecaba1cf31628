"""MemStats in a program's own words, against the JSON that the same program wrote of the same."""

import json

import numpy as np
import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose
from gomem.errors import FormatError
from gomem.inputs.kinds import kind_of
from gomem.inputs.memstats.in_words import lines_in_words, looks_like_in_words, parse_in_words
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.pprof.read import read_pprof
from gomem.text import Bytes, Count, Text
from gomem.units import GIB, MIB
from tests.builders import FIXTURES, as_text

PASTED = FIXTURES / "pasted" / "memstats-in-words"
EXACT = [json.loads(line) for line in (PASTED / "exact.jsonl").read_text().splitlines()]
FIELDS = {  # how many of each text, and what its sizes are rounded to at most
    "a-comma-too-many.json": (25, 0),
    "columns.csv": (6, 0),
    "cut.json": (23, 0),
    "decimals.txt": (4, 0.01 * MIB),
    "dogstatsd.txt": (6, 0),
    "field-value.txt": (7, 0),
    "gauges.json": (6, 0),
    "graphite.txt": (6, 0),
    "influx.txt": (7, 0),
    "labelled.txt": (5, 0.1 * MIB),
    "log.log": (7, 0),
    "logfmt.log": (5, 0),
    "mysql.txt": (7, 0),
    "object.txt": (14, 0),
    "one-a-line.txt": (17, 0),
    "page.txt": (15, 0),
    "print-mem-usage.log": (4, MIB),
    "psql.txt": (7, 0),
    "rcrowley.json": (6, 0),
    "rcrowley.log": (6, 0),
    "show-stats.txt": (13, 0),
    "spew.txt": (16, 0),
    "statsd.txt": (6, 0),
    "two-lines.txt": (8, MIB),
    "variables.txt": (7, 0),
    "without-braces.txt": (25, 0),
}
USAGE = b"Alloc = 5 MiB\tTotalAlloc = 12 MiB\tSys = 20 MiB\tNumGC = 3\n"


def dumps_of(text):
    return parse_in_words(text, source="log")[0]


@pytest.mark.parametrize("name", FIELDS)
def test_every_number_is_the_runtimes_own(name):
    stats = read_memstats(PASTED / name).stats
    exact = EXACT if len(stats) == len(EXACT) else EXACT[-1:]
    count, step = FIELDS[name]

    for row, dump in zip(stats.to_dict("records"), exact, strict=True):
        known = {key: row[key] for key in dump if isinstance(row.get(key), int)}
        assert len(known) >= count
        assert all(abs(value - dump[key]) <= step for key, value in known.items())
        assert known["HeapAlloc"] == known["Alloc"]


@pytest.mark.parametrize("name", FIELDS)
def test_it_is_found_by_its_content(name):
    assert "memstats" == kind_of((PASTED / name).read_bytes(), name).name


def test_the_end_of_a_heap_profile_alone_has_its_memstats():
    alone = read_memstats(PASTED / "heap-tail.txt").stats.dropna(axis="columns")
    whole = read_memstats(PASTED / "heap.txt").stats

    assert len(alone.columns) > 20
    assert all(alone[name][0] == whole[name][0] for name in alone.columns if name != "place")


def test_a_heap_profile_that_is_cut_keeps_the_fields_that_are_whole():
    cut, whole = (read_pprof(PASTED / name).memstats.stats for name in ("heap-cut.txt", "heap.txt"))
    known = cut.dropna(axis="columns")

    assert {"HeapIdle", "StackInuse", "GCSys"} <= set(known.columns)
    assert known.equals(whole[known.columns])
    assert "OtherSys" not in known  # whose number is cut


def test_what_a_unit_rounds_away_is_in_the_dictionary():
    rounded = read_memstats(USAGE).stats.attrs["columns"]
    exact = read_memstats(PASTED / "log.log").stats.attrs["columns"]

    assert rounded["Sys"]["means"].endswith("To 1 MiB, as the text has it.")
    assert "as the text has it" not in rounded["NumGC"]["means"]
    assert "as the text has it" not in exact["HeapSys"]["means"]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (b"heap_alloc=5242880 heap_sys=12582912 num_gc=3", (5 * MIB, 12 * MIB)),
        (b"HeapAlloc: 5,242,880 , HeapSys: 12,582,912 , NumGC: 3", (5 * MIB, 12 * MIB)),
        (b"HeapAlloc 5242880 HeapSys 12582912 NumGC 3", (5 * MIB, 12 * MIB)),
        (b"HeapAlloc (MB): 5 HeapSys (MB): 12 NumGC: 3", (5 * MIB, 12 * MIB)),
        (b"heap_alloc_mb=5 heap_sys_mb=12 num_gc=3", (5 * MIB, 12 * MIB)),
        (b"HeapAlloc=5120KiB HeapSys=0.5GB NumGC=3", (5 * MIB, GIB // 2)),
        (b"HeapAlloc: 5M, HeapSys: 12 M, NumGC: 3", (5 * MIB, 12 * MIB)),
        (b"HeapAlloc: 5.24288e+06 HeapSys: 1.2582912e+07 NumGC: 3", (5 * MIB, 12 * MIB)),
        (b"| HeapAlloc | 5242880 |\n| HeapSys | 12582912 |\n| NumGC | 3 |\n", (5 * MIB, 12 * MIB)),
        (
            b"<td>HeapAlloc<td>5242880\n<td>HeapSys<td>12582912\n<td>NumGC<td>3</td>\n",
            (5 * MIB, 12 * MIB),
        ),
        (
            b'{"level":"info","heap_alloc":5242880,"heap_sys":12582912,"num_gc":3}',
            (5 * MIB, 12 * MIB),
        ),
    ],
)
def test_a_sign_a_unit_and_a_notation_are_free(text, sizes):
    (dump,) = dumps_of(text)

    assert sizes == (dump.values["HeapAlloc"], dump.values["HeapSys"])
    assert 3 == dump.values["NumGC"]


@pytest.mark.parametrize(
    "text",
    [
        b"Alloc = 5 MiB\tTotalAlloc = 12 MiB\n",
        b"could not Alloc: 5 of 12; HeapAlloc = 3\n",
        b"real 1.0\nuser 0.9\nsys 0.3\nalloc 7\nfrees 5\n",
        b"Alloc: 5\nSys: 7\nFrees: 12\nMallocs: 4\n",
        b"s.HeapAlloc = m.HeapAlloc\ns.HeapSys = m.HeapSys\ns.NumGC = m.NumGC\n",
        b"peak HeapAlloc: 5000000 max HeapSys: 600000 NumGC: 3 Sys: 7000000\n",
        b"BenchmarkA 10 5 ns/op 7 HeapAlloc-bytes 9 HeapSys-bytes 3 NumGC-count\n",
        b"HeapAlloc=5ms HeapSys=7% NumGC=3x\n",
        b"NumGC=3 PauseTotalNs=700000 HeapObjects=5\n",
        b'{"runs": [{"HeapAlloc": 5000000, "HeapSys": 6000000, "NumGC": 3}], "of": "a document"}',
    ],
)
def test_few_fields_and_those_of_other_programs_are_none(text):
    assert not looks_like_in_words(text)


def test_sizes_without_a_unit_that_are_no_bytes_are_refused():
    """
    A helper that divides by MiB and prints no unit must not make a heap of five bytes.
    """
    with pytest.raises(FormatError, match="sizes without a unit, and too small for bytes"):
        read_memstats(b"Alloc: 5 TotalAlloc: 12 Sys: 20 NumGC: 3\n")


def test_a_size_with_decimals_and_no_unit_is_unknown():
    (dump,) = dumps_of(b"HeapAlloc: 5.25 HeapSys: 12582912 HeapIdle: 4194304 NumGC: 3\n")

    assert "HeapAlloc" not in dump.values


def test_a_field_that_is_not_printed_is_unknown():
    stats = read_memstats(USAGE).stats

    assert {"HeapSys", "HeapIdle", "NextGC", "StackInuse"} <= set(stats.columns[stats.isna().any()])
    assert np.isnan(stats["GCCPUFraction"][0])


@pytest.mark.parametrize("begins", [0, 1, 2, 3])
def test_a_log_that_begins_within_a_dump_is_not_put_together_wrongly(begins):
    lines = "".join(
        f"2026/11/20 03:5{number}:00 HeapAlloc={number}000000 HeapSys={number}500000 "
        f"HeapIdle={number}00000 NumGC={number}\n"
        for number in range(1, 5)
    )
    names = ("HeapAlloc", "HeapSys", "HeapIdle", "NumGC")
    dumps = dumps_of(lines[lines.index(names[begins]) :].encode())

    for dump in dumps[-3:]:
        number = dump.values["NumGC"]
        assert number * 1_000_000 == dump.values["HeapAlloc"]
        assert number * 1_000_000 + 500_000 == dump.values["HeapSys"]
        assert number == dump.time.minute - 50


def test_rounded_sizes_that_do_not_add_up_are_no_damage():
    text = b"HeapSys = 63 MiB HeapInuse = 4 MiB HeapIdle = 58 MiB NumGC = 3\n"

    assert [] == list(read_memstats(text).damaged)
    assert 1 == len(read_memstats(text.replace(b" MiB", b"000000")).damaged)


def test_dumps_of_a_log_are_moments_with_their_times():
    capture = load(PASTED / "log.log")

    assert 3 == len(capture)
    assert [49, 59, 9] == [moment.time.second for moment in capture.values()]
    assert [dump["HeapAlloc"] for dump in EXACT] == list(capture.memstats["HeapAlloc"])


def test_the_verdict_says_how_the_heap_went_and_what_of_rss_can_be_gos():
    said = diagnose(load(PASTED / "print-mem-usage.log")).verdict

    assert [16 * MIB, 48 * MIB, 59 * MIB] == [size.value for size in said.sentence.of(Bytes)]
    assert "/debug/pprof/heap" in said.next_step


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: "```\n" + text + "```\n",
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
        lambda text: "".join(f"    {line}\n" for line in text.splitlines()),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "[me@host ~]$ tail app.log\n" + text,
        lambda text: "".join(
            f"2026-11-20T03:53:49.470512345Z stderr F {line}\n" for line in text.splitlines()
        ),
    ],
)
@pytest.mark.parametrize("name", ["print-mem-usage.log", "one-a-line.txt", "heap-tail.txt"])
def test_it_is_read_as_people_quote_it(name, wrap):
    text = (PASTED / name).read_text()
    bare, wrapped = (read_memstats(one.encode()).stats for one in (text, wrap(text)))

    assert bare.drop(columns="place").equals(wrapped.drop(columns="place"))


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        (
            "run {0}: Alloc: {0}000000, Idle: 516096, InUse: 2367488, Objects: 199",
            {"Alloc", "HeapAlloc", "HeapIdle", "HeapInuse", "HeapObjects"},
        ),
        (
            "sys: 120 MB alloc: {0} MB idel: 7 MB released: 3 MB inuse: 90 MB",
            {"Alloc", "HeapAlloc", "HeapIdle", "HeapReleased", "HeapInuse", "Sys"},
        ),
        (
            "Alloc: {0}000000, Idle: 516096, InUse: 2367488, Obejcts: 199",
            {"Alloc", "HeapAlloc", "HeapIdle", "HeapInuse", "HeapObjects"},
        ),
    ],
)
def test_rows_of_short_names_are_dumps(row, fields):
    data = "The output is:\n" + "\n".join(row.format(place) for place in (1, 2, 3)) + "\n"

    dumps, damage = parse_in_words(data.encode(), source="x")

    assert looks_like_in_words(data.encode())
    assert [fields] * 3 == [set(dump.values) for dump in dumps]
    assert [] == damage


@pytest.mark.parametrize(
    "text",
    [
        "Alloc: 5000000, Idle: 516096, InUse: 2367488\n",
        "Open: 3, InUse: 2367488, Idle: 516096, Objects: 5\n" * 3,
        "alloc: 5 idle: 20% in use: 30% released: 3\n",
    ],
)
def test_short_names_alone_or_of_others_are_none(text):
    assert not looks_like_in_words(text.encode())


def rewritten(form):
    """The three readings in a form that others print, as text."""
    return "".join(form(dump) for dump in EXACT)


def as_influx(dump):
    return (
        f"internal_memstats,host=a heap_sys_bytes={dump['HeapSys']}i,heap_in_use_bytes="
        f"{dump['HeapInuse']}i,num_gc={dump['NumGC']}i,alloc_bytes={dump['Alloc']}i 1\n"
    )


def as_logged(dump):
    sizes = (f"{dump[name] / MIB:.1f}MB" for name in ("HeapAlloc", "Sys"))
    return "[INFO] [11-20|03:53:49.000] Progress   number=1 alloc={} sys={}\n".format(*sizes)


def as_struct(dump):
    return (
        f"Count: 1  MemStats.Sys: {dump['Sys']}  MemStats.Alloc: {dump['Alloc']}"
        f"  MemStats.TotalAlloc: {dump['TotalAlloc']}\n"
    )


@pytest.mark.parametrize(
    ("form", "names", "off"),
    [
        pytest.param(as_influx, ("HeapSys", "HeapInuse", "NumGC", "Alloc"), 0, id="influx"),
        pytest.param(as_logged, ("HeapAlloc", "Sys"), 0.05 * MIB, id="geth"),
        pytest.param(as_struct, ("Sys", "Alloc", "TotalAlloc"), 0, id="with the struct's name"),
    ],
)
def test_other_forms_are_read_as_fields(form, names, off):
    text = rewritten(form).encode()

    dumps, damage = parse_in_words(text, source="a")

    assert looks_like_in_words(text)
    assert [] == damage
    assert 3 == len(dumps)
    for dump, exact in zip(dumps, EXACT, strict=True):
        assert {name: exact[name] for name in names} == {
            name: pytest.approx(dump.values[name], abs=max(off, 0.5)) for name in names
        }


def test_a_last_reading_that_is_cut_is_damage_and_what_it_still_says_is_read():
    whole = rewritten(as_struct)
    cut = whole[: whole.rindex(":")]

    dumps, damage = parse_in_words(cut.encode(), source="a")

    assert [dump["Sys"] for dump in EXACT] == [dump.values["Sys"] for dump in dumps]
    assert "TotalAlloc" not in dumps[-1].values
    assert [("line 3", "the last reading is cut: TotalAlloc missing")] == [
        (fault.where, fault.what) for fault in damage
    ]


def test_rss_and_fields_of_one_line_are_both_read(tmp_path):
    lines = [f"Resident size: {60 + number}.0MB  {as_struct(dump)}"
             for number, dump in enumerate(EXACT)]  # fmt: skip
    (tmp_path / "out.txt").write_text("".join(lines))

    diagnosis = diagnose(tmp_path / "out.txt")

    assert [60 * MIB, 61 * MIB, 62 * MIB] == [moment.rss_bytes for moment in diagnosis.moments]
    assert [dump["Sys"] for dump in EXACT] == diagnosis.capture.levels["Sys"].to_list()
    most = Bytes(EXACT[-1]["Sys"])
    assert f"at most {most} of it is Go's heap and runtime (Sys)" in diagnosis.verdict.where
    assert any(said.startswith("HeapAlloc went from") for said in diagnosis.verdict.whose)
    (finding,) = (found for found in diagnosis.findings if found.code == "data-missing")
    assert "no snapshot has full MemStats" in finding.title


def test_the_number_of_goroutines_beside_a_dump_is_read(tmp_path):
    lines = (PASTED / "print-mem-usage.log").read_text().splitlines()
    text = "".join(f"{line} goroutines = {number}\n" for number, line in enumerate(lines, 10))
    (tmp_path / "out.txt").write_text(text)

    diagnosis = diagnose(tmp_path / "out.txt")

    assert [10, 11, 12] == [count.goroutines for count in diagnosis.facts.goroutine_counts]
    assert [EXACT[-1]["NumGC"]] == diagnosis.capture.levels["NumGC"].to_list()[-1:]


def test_numbers_of_goroutines_alone_are_a_series(tmp_path):
    text = "".join(f"Version: 1\nNumGoroutine: {number}\n" for number in (3, 4, 12))
    (tmp_path / "out.txt").write_text(text)

    diagnosis = diagnose(tmp_path / "out.txt")

    assert [3, 4, 12] == [count.goroutines for count in diagnosis.facts.goroutine_counts]
    assert "12 goroutines, up from 3" in diagnosis.verdict.sentence
    assert kind_of(b"NumGoroutine: 3\n") is None


@pytest.mark.parametrize("between", ["\t\t 511 KB\t ", " (", " = "])
def test_of_a_size_in_several_units_the_exact_one_is_read(between):
    text = f"HeapAlloc = 0 MB{between}523536 B\nSys = 66 MB{between}70191104 B\nNumGC = 0\n"
    (dump,) = dumps_of(text.encode())

    assert (523536, 70191104) == (dump.values["HeapAlloc"], dump.values["Sys"])
    assert {} == dump.steps


def test_a_pair_of_unlike_sizes_is_no_size_in_two_units():
    (dump,) = dumps_of(b"HeapAlloc = 7 MB (1024 B free)\nSys = 66 MB\nNumGC = 0\n")

    assert 7 * MIB == dump.values["HeapAlloc"]


def test_an_object_that_is_cut_within_memstats_of_one_field_a_line_is_damage():
    text = '{\n"cmdline": ["api"],\n"memstats": {\n"Alloc":4894936,\n"TotalAlloc":8457192,\n'
    _, damage = parse_in_words(f'{text}"Sys":10688760,\n"PauseNs":[1,2'.encode(), source="a")

    assert ["ends within MemStats: it is cut, and fields are missing"] == [d.what for d in damage]


DEFINED = "sys: bytes of heap memory obtained from the OS: {HeapSys}\n"
SHORT = (
    "sys: {HeapSys} alloc: {HeapAlloc} idle: {HeapIdle} released: {HeapReleased} inuse: {HeapInuse}"
)


def test_what_a_text_calls_sys_is_heapsys_where_it_is_in_use_and_idle_together():
    rows = "".join(f"{SHORT.format(**reading)}\n" for reading in EXACT)
    stats = read_memstats(rows.encode()).stats

    assert [reading["HeapSys"] for reading in EXACT] == stats["HeapSys"].to_list()
    assert stats["Sys"].isna().all()


def test_what_a_text_calls_sys_is_heapsys_where_it_defines_it_so():
    rows = "".join(f"{SHORT.format(**reading)} x\n" for reading in EXACT[:1] * 2)
    defined = rows.replace("idle: ", "idle: 1") + "where\n" + DEFINED.format(**EXACT[0])
    told = read_memstats(defined.encode()).stats

    assert told["Sys"].isna().all()
    assert EXACT[0]["HeapSys"] == told["HeapSys"].iloc[0]


def test_sys_is_go_s_own_where_it_is_more_than_the_heap():
    rows = "".join(f"{SHORT.replace('HeapSys', 'Sys').format(**reading)}\n" for reading in EXACT)

    assert [reading["Sys"] for reading in EXACT] == read_memstats(rows.encode()).stats[
        "Sys"
    ].to_list()


def test_a_last_reading_that_is_cut_is_said_and_not_taken_for_the_whole(tmp_path):
    text = (PASTED / "log.log").read_text()
    cut = text[: text.rindex("HeapIdle")]
    (tmp_path / "usage.txt").write_text(cut)
    diagnosis = diagnose(tmp_path / "usage.txt")

    assert "03:53:59" == diagnosis.verdict.moment
    (said,) = [sentence for sentence in diagnosis.verdict.whose if "only some fields" in sentence]
    assert "03:54:09" in said
    assert EXACT[2]["HeapAlloc"] // MIB in [size.value // MIB for size in said.of(Bytes)]
    shown = as_text(diagnosis)
    assert "At the last snapshot, the retained heap is unknown" in " ".join(shown.split())


def test_dots_stand_between_a_name_and_its_number():
    text = b"heap .... 49.5Mb\ntotal allocated ... 225.3Mb\nheap allocated .... 46.4Mb\n"
    stats = read_memstats(text + b"mallocs ....... 3165990\nnum GC ........ 12\n").stats

    assert (round(46.4 * MIB), round(225.3 * MIB)) == (
        stats["HeapAlloc"].item(), stats["TotalAlloc"].item()
    )  # fmt: skip
    assert 12 == stats["NumGC"].item()


def test_a_number_that_is_cut_before_its_unit_is_none():
    text = USAGE + USAGE[: USAGE.index(b" MiB\tNumGC")]
    assert [20 * MIB] == read_memstats(text).stats["Sys"].dropna().to_list()


HEAD = "Alloc HeapAlloc HeapSys HeapIdle\n"


@pytest.mark.parametrize(
    "row",
    [
        "16849528 16849528 24870912\n",  # a column is empty: which one is unknown
        "used by the heap of each shard\n",
        "16849528 16849528 24870912 n/a\n",
    ],
)
def test_a_row_that_does_not_fit_its_header_is_none(row):
    assert not looks_like_in_words((HEAD + row).encode())


def test_rows_with_a_label_of_several_words_keep_their_columns():
    dumps, damage = parse_in_words((HEAD + "after the burst 7 7 24870912 8\n").encode(), source="a")

    assert [] == damage
    assert [24870912] == [dump.values["HeapSys"] for dump in dumps]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("HeapAlloc  16849528\nHeapSys  24870912\nSys  29255960\nNumGoroutine  37\n", 37),
        (
            "HeapAlloc | HeapSys | Sys | goroutines\n---|---|---|---\n1684952|2487091|2925596|41\n",
            41,
        ),
    ],
)
def test_a_column_of_goroutines_is_read(text, count):
    dumps, _ = parse_in_words(text.encode(), source="a")

    assert [count] == [dump.goroutines for dump in dumps]


@pytest.mark.parametrize("name", ["go routines", "go-routines", "Go Routines", "num go routines"])
def test_goroutines_are_counted_in_two_words(tmp_path, name):
    text = "".join(f"{name}: {number}\n" for number in (3, 4, 12))
    (tmp_path / "out.txt").write_text(text)
    diagnosis = diagnose(tmp_path / "out.txt")

    assert [3, 4, 12] == [count.goroutines for count in diagnosis.facts.goroutine_counts]


GLOSSED = (
    ("HeapSys", "reserved from the OS", "96 MB"),
    ("HeapAlloc", "live + garbage", "33 MB"),
    ("HeapIdle", "spans in no use", "60 MB"),
)


@pytest.mark.parametrize("mark", ["{}", "**{}**", "`{}`", "- {}", "> {}"])
@pytest.mark.parametrize("sign", [": ", " = ", ":"])
def test_a_gloss_behind_a_name_is_passed_over(mark, sign):
    text = "".join(f"{mark.format(name)} ({gloss}){sign}{size}\n" for name, gloss, size in GLOSSED)

    dumps, damage = parse_in_words(text.encode(), source="a")

    assert [] == damage
    sizes = {"HeapSys": 96, "HeapAlloc": 33, "Alloc": 33, "HeapIdle": 60}
    assert {name: size * MIB for name, size in sizes.items()} == dumps[0].values


@pytest.mark.parametrize("gloss", ["peak", "average", "change in 1 h", "p99", "limit"])
def test_a_gloss_that_makes_it_another_number_is_kept(gloss):
    text = "".join(f"{name} ({gloss}): {size}\n" for name, _, size in GLOSSED)

    assert not looks_like_in_words(text.encode())


def test_a_time_with_its_unit_is_no_number_of_nanoseconds():
    text = "".join(f"{name}: {size}\n" for name, _, size in GLOSSED)

    for unit in ("ms", "µs", " ms", " s"):
        dumps, _ = parse_in_words(f"{text}PauseTotalNs: 106{unit}\n".encode(), source="a")
        assert "PauseTotalNs" not in dumps[0].values


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("_bytes", 1), ("Bytes", 1), ("_kb", 1 << 10), ("KiB", 1 << 10), ("_mib", MIB), ("MB", MIB)],
)
def test_a_key_with_its_unit_is_the_same_field_of_a_structured_log(unit, factor):
    names = ("HeapAlloc", "HeapInuse", "HeapReleased", "Sys", "rss")
    row = {f"{name}{unit}": size * MIB // factor for size, name in enumerate(names, start=4)}
    log = b"".join(json.dumps({**row, "time": f"2026-11-20T09:0{n}:00Z"}).encode() + b"\n"
                   for n in range(3))  # fmt: skip

    dumps = dumps_of(log)

    assert "runtime_lines" == kind_of(log).name
    assert [4 * MIB, 5 * MIB, 6 * MIB, 7 * MIB] == [dumps[0].values[name] for name in names[:4]]
    assert [8 * MIB] * 3 == [dump.rss[0] for dump in dumps]


@pytest.mark.parametrize(
    "stamp", ['"time":"2026-11-20T09:0{}:00Z"', '"ts":1795755{}00.5', '"ts":1795755{}00500']
)
@pytest.mark.parametrize("is_last", [True, False])
def test_the_time_of_a_row_is_that_of_its_own_key(stamp, is_last):
    sizes = '"heap_alloc":5242880,"heap_sys":12582912,"num_gc":3'
    keys = [f"{sizes},{stamp}" if is_last else f"{stamp},{sizes}"]
    log = "".join("{" + keys[0].replace("{}", str(n)) + "}\n" for n in range(1, 4)).encode()

    times = [dump.time for dump in dumps_of(log)]

    first = times[0].isoformat()
    assert first.startswith("2026-11-20T09:01:00" if "Z" in stamp else "2026-11-27T04:51:40.5")
    assert times == sorted(set(times))


def test_an_object_of_a_javascript_console_is_read_as_far_as_it_goes():
    # its keys are sorted: two sizes stand above the size classes
    text = (
        b"> debug.memStats()\n{\n  Alloc: 1595232344,\n  BuckHashSys: 16016695,\n"
        b"  BySize: [{\n      Frees: 0,\n      Mallocs: 0,\n      Size: 0\n  }, {\n"
    )
    (dump,), damage = parse_in_words(text, source="geth.txt")

    assert {"Alloc": 1595232344, "HeapAlloc": 1595232344, "BuckHashSys": 16016695} == dump.values
    assert ["ends within MemStats: it is cut, and fields are missing"] == [d.what for d in damage]
    assert "memstats" == kind_of(text).name


@pytest.mark.parametrize("key", ["start_time ", "start time: ", "Started at: "])
def test_the_time_of_a_reading_is_the_start_and_the_uptime(key):
    head = f"{key}2026-11-18T17:19:14+08:00\nuptime 45h39m37.5s\n"
    fields = "heap_idle_bytes 16039936\nheap_inuse_bytes 119717888\nheap_released_bytes 4997120\n"
    dumps, _ = parse_in_words((head + fields).encode(), source="stats.txt")

    assert ["2026-11-20T06:58:51.500000+00:00"] == [dump.time.isoformat() for dump in dumps]
    dumps, _ = parse_in_words((head.partition("\n")[0] + "\n" + fields).encode(), source="a.txt")
    assert [None] == [dump.time for dump in dumps]


def test_the_line_above_a_dump_says_when_it_was_taken():
    dump = '   "Alloc": {size},\n   "Sys": 25864472,\n   "HeapAlloc": {size},\n   "NumGC": {gcs},\n'
    each = (("22:03:46", 9314664, 8), ("22:04:04", 25644016, 14))
    text = "".join(
        f"{at} (resident {gcs} MB)\n{dump.format(size=size, gcs=gcs)}\n" for at, size, gcs in each
    ).encode()

    dumps, _ = parse_in_words(text, source="mail")

    assert ["22:03:46", "22:04:04"] == [one.time_of_day for one in dumps]
    assert {1, 7} <= lines_in_words(text)


def test_a_rows_own_clock_counts_and_not_a_time_in_the_text_above():
    names = ("time", "HeapAlloc", "HeapInuse", "Sys", "NumGC")
    rows = [
        names,
        ["---"] * 5,
        ("22:06:23", *["10485760"] * 3, "1"),
        ("22:06:47", *["20971520"] * 3, "2"),
    ]
    table = "".join("| {} |\n".format(" | ".join(row)) for row in rows)

    dumps, _ = parse_in_words(f"2026/11/27 22:06:27 batch done\n\n{table}".encode(), source="mail")

    assert [(None, "22:06:23"), (None, "22:06:47")] == [(d.time, d.time_of_day) for d in dumps]


def test_goroutines_without_a_sign_are_counted_in_the_line_of_a_dump(tmp_path):
    """A chat has the page's numbers as a person typed them, twice."""
    line = "goroutines {}, mails_sent 233, HeapAlloc {} StackInuse 1409024 Sys 12670216\n"
    path = tmp_path / "chat.txt"
    path.write_text(f"fresh start: {line.format(506, 3723080)}\nnow: {line.format(4709, 4088392)}")

    counts = diagnose(load(path)).facts.goroutine_counts

    assert [506, 4709] == [count.goroutines for count in counts]


def test_elastic_names_are_memstats_with_rss_of_the_process():
    data = b"""
    NAME                                 VALUE
    golang.goroutines                    31
    golang.heap.allocations.active       25165824
    golang.heap.allocations.allocated    20971520
    golang.heap.allocations.idle         83886080
    golang.heap.system.obtained          109051904
    golang.heap.system.released          62914560
    golang.heap.system.total             125829120
    system.cpu.total.norm.pct            0.25
    system.memory.total                  8589934592
    system.process.memory.rss.bytes      73400320
    """
    (dump,), damage = parse_in_words(data, source="x")

    assert {
        "Alloc": 20 << 20, "HeapAlloc": 20 << 20, "HeapInuse": 24 << 20, "HeapIdle": 80 << 20,
        "HeapSys": 104 << 20, "HeapReleased": 60 << 20, "Sys": 120 << 20,
    } == dump.values  # fmt: skip
    assert (70 << 20, 1) == dump.rss
    assert 31 == dump.goroutines
    assert [] == damage


def test_dotted_leaders_stand_before_any_number(tmp_path):
    (tmp_path / "run.txt").write_text(
        "heap allocated ... 12.5Mb\nnum GC ......... 7\ngoroutines ..... 9\n"
    )

    said = Text(diagnose(load(tmp_path)).verdict.sentence)
    assert [9, 7] == [part.value for part in said.of(Count)]


def test_the_number_of_goroutines_that_expvar_has_beside_memstats_is_told(tmp_path):
    fields = '"Sys": 9000000, "HeapSys": 8000000, "HeapAlloc": 5000000, "NumGC": 7'
    (tmp_path / "vars.json").write_text(f'{{"Goroutines": 31, "memstats": {{{fields}}}}}')

    assert [31] == [count.goroutines for count in diagnose(load(tmp_path)).facts.goroutine_counts]


def test_a_page_below_a_log_is_a_reading_of_its_own():
    line = b"mem alloc=%d heapsys=91947008 heapinuse=86433792 nextgc=85587456 numgc=%d\n"
    page = b"# HeapAlloc = 85607856\n# HeapSys = 91848704\n# NextGC = 85587456\n# NumGC = 220\n"
    log = b"".join(line % (85587040, count) for count in (187, 207))

    dumps, damage = parse_in_words(log + b"\nand the page\n\n" + page, source="log")

    assert [85587040, 85587040, 85607856] == [dump.values["HeapAlloc"] for dump in dumps]
    assert [187, 207, 220] == [dump.values["NumGC"] for dump in dumps]
    assert [] == damage


def test_another_value_of_the_same_size_in_one_dump_is_no_dump_of_its_own():
    (dump,) = dumps_of(b"Alloc = 85587040\nSys = 107233560\nHeapAlloc = 85607856\nNumGC = 3\n")

    assert (85587040, 85607856) == (dump.values["Alloc"], dump.values["HeapAlloc"])


@pytest.mark.parametrize(
    ("line", "total"),
    [
        (b"mem alloc=25681136 total=70511640 sys=53130504 numgc=9", 70511640),
        (b"mem alloc: 25 MiB, total: 70 MiB, sys: 53 MiB, numgc: 9", 70 * MIB),
        (b"mem alloc=25681136 total=70511640 numgc=9 heapsys=41582592", None),
    ],
)
def test_a_total_between_alloc_and_sys_is_of_all_allocation(line, total):
    (dump,) = dumps_of(line + b"\n")

    assert total == dump.values.get("TotalAlloc")
