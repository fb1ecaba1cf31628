"""Structured logs whose rows have RSS, or one or two fields of MemStats."""

import pytest

import gomem
from gomem.inputs.kinds import kind_of
from gomem.inputs.runtime_lines.table import read_runtime_lines
from gomem.units import KIB, MIB

SIZES = (90 * MIB, 112 * MIB, 131 * MIB)
STAMPS = [f"2026-11-20T09:00:{second:02}Z" for second in (0, 10, 20)]


def log_of(row, separator="\n"):
    rows = (row(stamp, size) for stamp, size in zip(STAMPS, SIZES, strict=True))
    return (separator.join(rows) + "\n").encode()


FORMS = {
    "slog": lambda t, s: f'{{"time":"{t}","msg":"mem","rss_bytes":{s},"goroutines":5}}',
    "logrus": lambda t, s: f'{{"level":"info","rss_mb":{s / MIB},"time":"{t}"}}',
    "an object in it": lambda t, s: f'{{"mem":{{"memory_rss_kib":{s // KIB}}},"time":"{t}"}}',
    "a size with its unit": lambda t, s: f'{{"ts":"{t}","process.rss":"{s // MIB} MiB"}}',
    "logfmt": lambda t, s: f'time={t} level=INFO msg="x y" rss_kb={s // KIB} goroutines=5',
    "behind a time": lambda t, s: f"{t} INFO stats: rss_mb={s // MIB} goroutines=5",
    "of a container": lambda t, s: f'api-1  | {{"time":"{t}","pid":7,"rss_bytes":{s}}}',
}


@pytest.mark.parametrize("form", FORMS)
def test_rss_over_time_is_read_in_each_form(form):
    data = log_of(FORMS[form], "\n2026-11-20T09:00:05Z INFO alloc a page\n")

    readings = read_runtime_lines(data).readings

    assert "runtime_lines" == kind_of(data, "x").name
    assert list(SIZES) == list(readings["rss_bytes"])
    assert [0.0, 10.0, 20.0] == list(
        (readings["logged_at"] - readings["logged_at"].iloc[0]).dt.total_seconds()
    )


def test_two_fields_of_memstats_are_a_dated_series():
    data = log_of(lambda t, s: f'{{"time":"{t}","alloc":{s},"stackInuse":983040}}')

    readings = read_runtime_lines(data).readings

    assert list(SIZES) == list(readings["go_alloc_bytes"])
    assert readings["logged_at"].notna().all()


UNCERTAIN = {
    "of several processes": lambda t, s: f'{{"time":"{t}","pid":{s % 7},"rss_bytes":{s}}}',
    "of responses": lambda t, s: f"time={t} path=/x res_bytes={s} status=200",
    "of the CPU": lambda t, s: f"time={t} real=1.5 user={s % 9} sys=0.3",
    "without a unit": lambda t, s: f"time={t} rss={s // KIB}",
    "without a time": lambda t, s: f'{{"rss_bytes":{s},"to":"{t}"}}',
}


@pytest.mark.parametrize("form", UNCERTAIN)
def test_what_is_not_certain_is_not_read(form):
    kind = kind_of(log_of(UNCERTAIN[form]), "x")

    assert kind is None or "runtime_lines" != kind.name


def test_sizes_that_are_not_read_are_named_before_the_goroutines(tmp_path):
    row = lambda t, s: f"time={t} heap_objects={s} released={s // 9} goroutines=3"  # noqa: E731
    (tmp_path / "kiosk.log").write_bytes(log_of(row))

    verdict = gomem.diagnose(gomem.load(tmp_path)).verdict

    assert verdict.headline.startswith("Not read: released, heap_objects, as name")


TOTALS = "".join(f"09:00:{at} goroutine profile: total {at - 3}\n" for at in (20, 22, 30, 32))


def test_totals_of_goroutines_behind_a_time_are_a_series(tmp_path):
    (tmp_path / "x.txt").write_text(TOTALS)

    capture = gomem.load(tmp_path / "x.txt")

    assert [17, 19, 27, 29] == list(capture.logged["goroutines"])
    assert [0.0, 2.0, 10.0, 12.0] == list(
        (capture.logged["time"] - capture.logged["time"].iloc[0]).dt.total_seconds()
    )


def test_two_series_of_a_mail_with_times_of_day_have_the_same_snapshots(tmp_path):
    sizes = [f'09:00:{at} "HeapAlloc":{at}675360 "HeapInuse":{at}742880\n' for at in (10, 30, 50)]
    totals = [f"09:00:{at} goroutine profile: total {at}\n" for at in (10, 30, 50)]
    mail = ("Please look at this, it is large. HeapAlloc:", *sizes, "and the goroutines:", *totals)
    (tmp_path / "mail.txt").write_text("\n\n".join(mail).replace("\n\n09", "\n09", 2))

    capture = gomem.load(tmp_path / "mail.txt")

    assert 3 == len(capture)
    assert 3 == len(capture.memstats) == len(capture.logged)


GC = (
    "gc {0} @{0}.039s 3%: 3.8+12+0.017 ms clock, 7.7+0/0.30/0+0.034 ms cpu, "
    "4->4->4 MB, 4 MB goal, 2 P\n"
)
BETWEEN = {
    "pairs": "time=2026-11-20T09:00:{0}0Z msg=mem rss_mb={0}0 goroutines=5\n",
    "JSON": '{{"time":"2026-11-20T09:00:{0}0Z","rss_mb":{0}0}}\n',
    "VmRSS": "09:00:{0}0 VmRSS:\t   {0}0240 kB\n",
}


@pytest.mark.parametrize("form", BETWEEN)
def test_rss_between_the_lines_of_a_gc_log_is_read_beside_it(form, tmp_path):
    rows = (GC.format(at) + BETWEEN[form].format(at) for at in (1, 2, 3))
    (tmp_path / "app.log").write_text("".join(rows))

    capture = gomem.load(tmp_path / "app.log")

    assert {"gctrace", "runtime_lines"} == {file.kind.name for file in capture.files}
    assert [10, 20, 30] == [round(size / MIB) for size in capture.logged["rss_bytes"]]
