"""Readings that people type: a time, and sizes that the line or the line above names."""

import pytest

from gomem.inputs.kinds import kind_of
from gomem.inputs.runtime_lines.table import read_runtime_lines
from gomem.inputs.runtime_lines.typed import lines_of_readings
from gomem.units import KIB

AT = ("11:02", "11:05", "11:09:30")
MB = (10, 64, 131)


def rows_of(form, head=""):
    rows = (form.format(at=at, mb=mb, kib=mb * 1000) for at, mb in zip(AT, MB, strict=True))
    return f"{head}{chr(10).join(rows)}\n".encode()


NAMED = {
    "of two sizes": " * {at}  RSS {mb} MB, HeapAlloc 7.5 MB, HeapObjects {kib}",
    "behind a colon": "- {at}: rss is {mb} MB and falling",
    "in brackets": "> [{at}] rss={mb}MB cpu=3",
    "of MemStats": "  {at}: cache_len 5, HeapAlloc {mb}000000, NextGC 150000000",
}


@pytest.mark.parametrize("form", NAMED)
def test_sizes_with_a_name_are_read_in_each_form(form):
    data = rows_of(NAMED[form])

    found = read_runtime_lines(data)

    assert "runtime_lines" == kind_of(data, "notes.txt").name
    name = "go_alloc_bytes" if form == "of MemStats" else "rss_bytes"
    assert [mb * 10**6 for mb in MB] == list(found.readings[name])
    assert ("11:02:00", "11:05:00", "11:09:30") == found.times_of_day


def test_columns_of_ps_are_in_kib_and_threads_are_counted():
    command = "$ ps -o lstart=,rss=,nlwp= -C till   # by hand\n"

    found = read_runtime_lines(rows_of("{at}  rss={kib}  nlwp={mb}", command))

    assert [mb * 1000 * KIB for mb in MB] == list(found.readings["rss_bytes"])
    assert list(MB) == list(found.readings["threads"])


@pytest.mark.parametrize("head", ["rss, by the monitoring:\n\n", "The RSS of till\n"])
def test_sizes_alone_are_of_what_the_line_above_says(head):
    data = rows_of("- {at}: {mb} MB", head)

    assert [mb * 10**6 for mb in MB] == list(read_runtime_lines(data).readings["rss_bytes"])
    assert 1 in lines_of_readings(data)


def test_cells_are_of_the_columns_that_a_sentence_names():
    head = "from the dashboard, the columns are time, jobs, heap_alloc, rss\n\n"

    found = read_runtime_lines(rows_of("   {at}   17   1.5MB   {mb}MB", head))

    assert [mb * 10**6 for mb in MB] == list(found.readings["rss_bytes"])
    assert {1_500_000} == set(found.readings["go_alloc_bytes"])


@pytest.mark.parametrize("end", [", Sys 12 MB", " (after the import)", " and Sys 12 MB."])
def test_rows_of_names_alone_are_a_series_whatever_each_of_them_names(end):
    data = f"11:02 RSS 20 MB\n11:05 RSS 307 MB{end}\n".encode()

    assert [20_000_000, 307_000_000] == list(read_runtime_lines(data).readings["rss_bytes"])


UNCERTAIN = {
    "of an unknown unit": ("{at} rss={mb}", ""),
    "of other processes": ("{at} pid={mb} rss={mb} MB", ""),
    "of nothing": ("- {at}: {mb} MB", "How long the download takes:\n"),
    "of a limit": ("{at} limit {mb} MB", ""),
    "of anybody": ("{at} res={mb} MB", ""),
    "of other columns": ("  {at}  1.5MB  {mb}MB", "the columns are time, jobs, heap_alloc, rss\n"),
}


@pytest.mark.parametrize("form", UNCERTAIN)
def test_what_is_not_certain_is_not_read(form):
    kind = kind_of(rows_of(*UNCERTAIN[form]), "notes.txt")

    assert kind is None


def test_two_rows_count_only_with_two_names():
    two = "11:02 import done, RSS 40 MB\n11:07 import done, RSS 90 MB\n"

    assert kind_of(two.encode(), "notes.txt") is None
    named = two.replace("MB", "MB, HeapAlloc 31 MB").encode()
    assert "runtime_lines" == kind_of(named, "notes.txt").name
