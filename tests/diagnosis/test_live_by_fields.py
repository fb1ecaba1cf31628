"""A few fields of MemStats: what of HeapAlloc and of Sys is live, as far as they say it."""

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose


def said(tmp_path, text, **files):
    for name, content in {"log": text, **files}.items():
        (tmp_path / f"{name}.txt").write_text(content)
    return diagnose(load(tmp_path)).verdict.sentence


@pytest.mark.parametrize(
    ("environ", "live"),
    [
        ({}, "GOGC 100, assumed, about 157 MiB were live"),
        ({"environ": "GOGC=50\0HOME=/\0"}, "GOGC 50, about 209 MiB were live"),
        ({"environ": "GOMEMLIMIT=400MiB\0HOME=/\0"}, ""),
    ],
)
def test_the_heap_goal_says_what_was_live(environ, live, tmp_path):
    text = "HeapAlloc = 329165712\nHeapInuse = 343965696\nNextGC = 329126592\nNumGC = 3955\n"

    sentence = said(tmp_path, text, **environ)

    assert live in sentence
    assert bool(live) == ("(NextGC)" in sentence)


@pytest.mark.parametrize(("gcs", "is_all_live"), [(40, True), (2, False)])
def test_a_heap_always_at_its_goal_is_live(gcs, is_all_live, tmp_path):
    row = "HeapAlloc={} NextGC=50331648 GCCPUFraction=0.01 NumGC={}\n"
    sizes = enumerate((50331640, 50331650, 50331648, 51000000))

    sentence = said(tmp_path, "".join(row.format(size, gcs * place) for place, size in sizes))

    assert is_all_live == ("nearly all of it is live" in sentence)
    assert is_all_live == ("about 24 MiB were live" not in sentence)


def test_the_least_goal_says_nothing(tmp_path):
    text = "HeapAlloc = 229165\nHeapInuse = 343965\nNextGC = 4194304\nNumGC = 0\n"

    assert "(NextGC)" not in said(tmp_path, text)


@pytest.mark.parametrize(
    ("in_use", "gcs", "is_said"),
    [
        pytest.param(690, 6, True, id="nearly all of 700 MiB is still there"),
        pytest.param(440, 6, False, id="a third was freed"),
        pytest.param(690, 1, False, id="one GC could free hardly anything"),
    ],
)
def test_one_reading_says_that_hardly_anything_was_freed(in_use, gcs, is_said, tmp_path):
    text = f"Alloc = {in_use} MiB\tTotalAlloc = 700 MiB\tSys = 800 MiB\tNumGC = {gcs}\n"

    sentence = said(tmp_path, text)

    assert is_said == ("6 GCs freed 10 MiB of the 700 MiB allocated since the start" in sentence)


@pytest.mark.parametrize(("last", "is_said"), [(18, True), (19, False)])
def test_a_rise_without_a_gc_can_be_garbage(last, is_said, tmp_path):
    text = f"HeapAlloc: 8722318896 , NumGC: 18\nHeapAlloc: 13410817592 , NumGC: {last}\n"

    sentence = said(tmp_path, text)

    assert is_said == ("No GC ran since" in sentence)
    assert is_said == ("how much of the 4.37 GiB allocated since is live is unknown" in sentence)


@pytest.mark.parametrize(("alloc", "is_said"), [("1", True), ("928", False)])
def test_what_go_reserved_for_little_is_not_live(alloc, is_said, tmp_path):
    text = f"Alloc = {alloc} MiB\tTotalAlloc = 4589 MiB\tSys = 3043 MiB\tNumGC = 14\n"

    assert is_said == ("Nearly all of that is not live" in said(tmp_path, text))
