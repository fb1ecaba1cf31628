"""Growth is judged by site: a total hides who grows, and one cause explains only what it can."""

import pytest

import gomem
from gomem.causes.finding import Severity
from gomem.text import Bytes, Function, MomentName, Seconds
from gomem.units import KIB, MIB
from tests.builders import memstats_json
from tests.heap_profiles import heap_bytes, seen, turned_over

FIRST = 1_800_000_000
NAMES = (
    *("shop/cache.New", "shop/audit.Note", "shop/hub.Serve", "main.main", "time.NewTicker"),
    *("shop/hub.Poll", "/usr/local/go1.22.12/src/runtime.malg"),
)
CACHE, NOTE, SERVE, MAIN, TICKER, POLL = range(1, 7)


def held(mib: float, leaf: int, root: int = MAIN, size: int = 4 * KIB) -> bytes:
    """A bucket with so many MiB in objects of a size."""
    return seen(round(mib * MIB / max(size, 512 * KIB)), size, leaf=leaf, root=root)


def profiles(folder, *moments, every=60):
    """Heap profiles of these buckets, a minute apart."""
    for number, buckets in enumerate(moments):
        raw = heap_bytes(*buckets, names=NAMES, seconds=FIRST + every * number)
        (folder / f"heap-{number}.pb").write_bytes(raw)


def findings(folder):
    found = gomem.diagnose(folder).findings
    return {one.code: one for one in found if not one.code.startswith("data-")}


def test_a_constant_cache_hides_no_site_that_grows(tmp_path):
    """
    The total rises by an eighth.
    """
    profiles(
        tmp_path,
        (held(200, CACHE), held(2.5, NOTE)),
        (held(200, CACHE), held(30, NOTE)),
    )

    finding = findings(tmp_path)["heap-growth"]

    assert (Severity.WARNING, "possible") == (finding.severity, finding.confidence)
    assert ["shop/audit.Note"] == [name.value for name in finding.title.of(Function)]
    assert ["shop/audit.Note"] == [site.own_function for site in finding.sites]
    last, first = (size.value for size in finding.title.of(Bytes))
    assert last > 10 * first


def test_a_small_heap_of_which_one_site_doubles_is_a_note_that_asks_for_a_later_profile(tmp_path):
    profiles(tmp_path, [held(9.5, NOTE)], [held(19, NOTE)], every=9)

    finding = findings(tmp_path)["heap-growth"]

    assert Severity.INFO == finding.severity
    assert "--base" in finding.next_step
    assert "smaps" not in finding.next_step


def test_what_is_never_freed_is_a_warning_of_whatever_size(tmp_path):
    """
    Before Go 1.23, a ticker that nothing stops stays.
    """
    small, more = (held(mib, TICKER, POLL, size=200) for mib in (1, 6.5))
    profiles(tmp_path, [small], [more])

    finding = findings(tmp_path)["heap-growth"]

    assert Severity.WARNING == finding.severity
    assert "ticker.Stop()" in finding.missing_call.words
    assert ["shop/hub.Poll"] == [site.own_function for site in finding.sites]


@pytest.mark.parametrize(
    "levels",
    [
        pytest.param((40, 60), id="less than double"),
        pytest.param((0.5, 2.5), id="three samples more"),
        pytest.param((2.5, 30, 30, 30, 30, 30, 30), id="filled at once, and stayed"),
        pytest.param((30, 2.5), id="less"),
    ],
)
def test_what_has_not_grown_for_certain_or_has_stopped_is_no_growth(levels, tmp_path):
    moments = ((held(200 + at, CACHE), held(mib, NOTE)) for at, mib in enumerate(levels))
    profiles(tmp_path, *moments)

    assert "heap-growth" not in findings(tmp_path)


def test_within_seconds_work_in_progress_looks_the_same(tmp_path):
    pair = [(held(200, CACHE), held(mib, NOTE)) for mib in (2.5, 30)]
    profiles(tmp_path, *pair, every=3)

    assert "heap-growth" not in findings(tmp_path)


DUMP = """goroutine profile: total {total}
{waiting} @ 0x47a16b 0x66af46
#\t0x66af45\tshop/hub.(*Hub).pump+0x45\t/src/hub.go:41

2 @ 0x43cc91 0x47bf5d
#\t0x64d7b0\tmain.main+0xb0\t/src/main.go:7
"""


def leaking(folder, *, site, mib):
    """Goroutines that pile up in hub, which holds 25 MiB more, and a site that grows too."""
    profiles(folder, (held(2, SERVE), held(2, site)), (held(27, SERVE), held(mib, site)))
    for number, waiting in enumerate((250, 3000)):
        (folder / f"goroutine-{number}.txt").write_text(
            DUMP.format(total=waiting + 2, waiting=waiting)
        )
    return findings(folder)


def test_goroutines_explain_only_what_their_stacks_can_hold(tmp_path):
    found = leaking(tmp_path, site=NOTE, mib=22)

    growth, leak = found["heap-growth"], found["goroutine-leak"]
    assert [Severity.WARNING] * 2 == [growth.severity, leak.severity]
    assert ["shop/audit.Note"] == [site.own_function for site in growth.sites]
    assert pytest.approx(20 * MIB, rel=0.1) == growth.bytes
    assert leak.bytes < 36 * MIB
    assert ["goroutine-leak", "heap-growth"] == [*found]


def test_what_grows_in_the_goroutines_own_package_is_theirs(tmp_path):
    found = leaking(tmp_path, site=POLL, mib=22)

    assert Severity.INFO == found["heap-growth"].severity
    assert found["goroutine-leak"].bytes > 45 * MIB


LIBRARY = (
    *(
        "github.com/nats-io/nats%2ego.(*Conn).parse",
        "github.com/nats-io/nats%2ego.(*Conn).readLoop",
    ),
    *("github.com/nats-io/nats%2ego.(*Conn).ChanSubscribe", "shop/quotes.Last"),
)


def test_behind_a_librarys_bytes_stands_the_own_function_that_calls_it(tmp_path):
    """
    The reader of the connection allocates all messages; the one that subscribes is elsewhere.
    """
    for number, (messages, subscriptions) in enumerate(((4, 2), (60, 5))):
        buckets = (held(messages, 1, root=2), held(subscriptions, 3, root=4))
        raw = heap_bytes(*buckets, names=LIBRARY, seconds=FIRST + 60 * number)
        (tmp_path / f"heap-{number}.pb").write_bytes(raw)

    finding = findings(tmp_path)["heap-growth"]

    assert "sub.Unsubscribe()" in finding.missing_call.words
    assert "shop/quotes.Last" == finding.missing_call.function


def test_a_rise_that_ends_before_the_last_profile_is_told_as_ended(tmp_path):
    """
    The last two profiles have the same in use, and between them was allocated and freed.
    """
    start, read, served = (
        [turned_over(allocated, in_use, 512 * KIB)]
        for allocated, in_use in ((40, 40), (90, 60), (190, 60))
    )
    profiles(tmp_path, start, read, served)

    (level,) = (one for one in gomem.diagnose(tmp_path).observations if one.group == "in_use")
    assert ["0", "1"] == [name.value for name in level.sentence.of(MomentName)]
    assert [60, 60] == [length.value for length in level.sentence.of(Seconds)]
    assert "was then level for" in level.sentence


def test_a_rise_whose_last_profiles_are_of_one_gc_is_not_told_as_ended(tmp_path):
    start, read = (
        [turned_over(allocated, in_use, 512 * KIB)] for allocated, in_use in ((40, 40), (90, 60))
    )
    profiles(tmp_path, start, read, read)

    (rise,) = (one for one in gomem.diagnose(tmp_path).observations if one.group == "in_use")
    assert ["0", "2"] == [name.value for name in rise.sentence.of(MomentName)]
    assert "level" not in rise.sentence


def test_the_profile_of_a_baseline_beside_it_is_what_growth_is_compared_with(tmp_path):
    """
    The counters of MemStats show the growth, and each side has one profile.
    """
    for side, mib in (("v1", 4), ("v2", 60)):
        for number in (1, 2, 3):
            stats = {"NumGC": 5 * number, "LastGC": (FIRST + 60 * number) * 10**9}
            stats |= dict.fromkeys(("HeapAlloc", "HeapInuse", "HeapSys"), mib * number * MIB)
            (tmp_path / side / str(number)).mkdir(parents=True)
            file = tmp_path / side / str(number) / "memstats.json"
            file.write_bytes(memstats_json(**stats, NextGC=2 * stats["HeapAlloc"]))
        raw = heap_bytes(held(mib, NOTE), names=NAMES, seconds=FIRST + 180)
        (tmp_path / side / "3" / "heap.pb").write_bytes(raw)

    alone = gomem.diagnose(tmp_path / "v2").findings[0]
    step = gomem.diagnose(tmp_path).findings[0].next_step
    assert "heap-growth" == alone.code
    assert "gomem top LAST --base" in alone.next_step
    assert "v2/3/heap.pb" in step
    assert "v1/3/heap.pb" in step
    assert "LAST" not in step
