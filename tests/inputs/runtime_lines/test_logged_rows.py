"""Log lines with numbers and names in either order are a series of all their quantities."""

import pytest

import gomem
from gomem.inputs.kinds import kind_of
from gomem.inputs.runtime_lines.table import read_runtime_lines
from gomem.units import MIB

RSS, ALLOC, COUNT = (740, 1600, 2200), (320, 974, 897), (187, 186, 182)
FORMS = {
    "the number first": "stats: {rss} MiB RSS, {count} goroutines, {alloc} MiB heap alloc, 0.0 %gc",
    "the name first": "mem: RSS: {rss} MiB, HeapAlloc: {alloc} MiB, goroutines: {count}",
    "in brackets": "(stats: {rss}MiB RSS | {alloc}MiB alloc | {count} goroutines)",
}  # fmt: skip
TIMES = {
    "": "",
    "2026-11-20T09:00:{at}Z ": "2026-11-20T09:00:10",
    "09:00:{at} INFO ": "",
}


def rows_of(form, before=""):
    lines = (
        before.format(at=10 * row) + form.format(rss=rss, alloc=alloc, count=count)
        for row, (rss, alloc, count) in enumerate(zip(RSS, ALLOC, COUNT, strict=True), start=1)
    )
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize("before", TIMES)
@pytest.mark.parametrize("form", FORMS)
def test_all_known_columns_are_read(form, before):
    data = rows_of(FORMS[form], before)

    assert "runtime_lines" == kind_of(data, "app.log").name
    found = read_runtime_lines(data).readings

    assert [size * MIB for size in RSS] == list(found["rss_bytes"])
    assert [size * MIB for size in ALLOC] == list(found["go_alloc_bytes"])
    assert list(COUNT) == list(found["goroutines"])
    stamp = TIMES[before]
    assert not stamp or found["logged_at"][0].isoformat().startswith(stamp)


def test_a_single_line_or_sizes_of_no_level_are_no_series():
    single = rows_of(FORMS["the number first"]).splitlines()[0]

    assert kind_of(single, "app.log") is None
    assert kind_of(b"copied 3 MiB cache, 7 goroutines\n" * 3, "app.log") is None


def test_cockroach_of_2016_is_read(tmp_path):
    lines = (
        f"I160502 13:06:{20 + at} server/status/runtime.go:160  runtime stats: {rss} MiB RSS, "
        f"{count} goroutines, {alloc} MiB active, 0.00cgo/sec, 0.00/0.00 %(u/s)time\n"
        for at, (rss, alloc, count) in enumerate(zip(RSS, ALLOC, COUNT, strict=True))
    )
    (tmp_path / "ticket.md").write_text(f"Since the restart:\n```\n{''.join(lines)}```\n")

    capture = gomem.load(tmp_path / "ticket.md")

    assert [size * MIB for size in ALLOC] == list(capture.memstats["HeapAlloc"])
