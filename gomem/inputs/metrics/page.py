"""Pages of Prometheus metrics, as text or OpenMetrics: `go_memstats_heap_inuse_bytes 1.724e+07`.

Printed by    client_golang on /metrics, go-metrics' Prometheus sink, federation, gateways.
Described in  Prometheus' exposition_formats.md; OpenMetrics' specification.
Quirks        Numbers are the shortest text that gives the same float64 again: whole numbers below
              2^53 (8 PiB) are exact, and times are exact to a quarter of a microsecond.
              go-metrics' numbers come from a float32: exact to one part in 16 million.
              NextGC, GOMEMLIMIT and GOGC above 1e18 mean that none is set.
              client_golang reads GC pauses before the rest, so a collection in between appears in
              NumGC one scrape later than in HeapAlloc.
              client_golang takes MemStats from runtime/metrics since Go 1.17. Up to Go 1.18 those
              count a span in a P's cache as full, so objects exceed MemStats' own number, by less
              than the free space of such spans.
              OpenMetrics' time stamps are seconds, Prometheus' milliseconds. OpenMetrics ends with
              `# EOF`. Prometheus' text has no end mark, but every line ends with a newline.
              A page can have several processes, separated by labels (job, instance, pid), and
              several scrapes in sequence.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gomem.errors import EXCERPT, Damage, FormatError, excerpt
from gomem.inputs.memstats.parse import NO_GOAL_FROM
from gomem.inputs.metrics.histogram import histogram_of
from gomem.inputs.metrics.names import (
    LIKELY,
    MARKS,
    RUNTIME_PREFIX,
    Meaning,
    fields_written_with,
    meaning_of,
)
from gomem.inputs.metrics.parse import NO_LIMIT, Metrics, looks_like_lines, looks_like_readings
from gomem.text import Count, Quoted, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

HEAD_BYTES = 1 << 12
LINES_LOOKED_AT = 20
_BEGINNING = re.compile(rb"\s*#\s+(?:HELP|TYPE|UNIT)\s+\S")
# A number and an optional time stamp: `Rss:   968 kB` is a line of /proc, not a sample.
_SAMPLE = re.compile(
    rb"[ \t]*+([A-Za-z_:][\w:]*+)(?<!:)(?:[ \t]*+\{.*\})?[ \t]++[-+]?(?:[\d.][\w.+-]*+|Inf|NaN)"
    rb"(?:[ \t]++[-\d.][\d.]*+)?\s*+(?:#.*)?"
)
_NAME = re.compile(rb"[ \t]*([A-Za-z_:][\w:]{0,200})(?<!:)(?![\w:])")
# Who pasted a sample into a chat: `> ken: go_goroutines 334`.
_SAID_BY = re.compile(rb"[ \t>]*(?:[\w.-]{1,30}:[ \t]+)?(?=(?:go|process)_\w+(?:\{[^}\n]*\})? +\d)")
# Lines that only OpenMetrics has; it names a counter without its `_total`.
_OPEN = re.compile(
    rb"^# (?:UNIT |EOF$|TYPE (?:\S+ (?:unknown|info|stateset|gaugehistogram)$"
    rb"|(?P<counter>go_\w+(?<!_total)) counter$))",
    re.MULTILINE,
)
EOF = b"# EOF"
NEWLINE = b"\n"
OWN_LABELS = frozenset({"quantile", "le", "version"})  # labels that do not distinguish processes
# Fields that clients print all together or not at all: some alone mean that the page was cut.
TOGETHER = frozenset(
    {
        *("Alloc", "Sys", "HeapAlloc", "HeapSys", "HeapIdle", "HeapInuse", "HeapReleased"),
        *("StackInuse", "StackSys", "MSpanSys", "MCacheSys", "BuckHashSys", "GCSys", "OtherSys"),
    }
)
HEAP = frozenset({"HeapAlloc", "Alloc"})
GO_METRICS_FIELDS = frozenset({"HeapAlloc", "Sys", "Mallocs", "Frees", "HeapObjects"})
PROCESSES_NAMED = 4
MISSING_NAMED = 3
NUMBERS = 2  # after a name: the value and its time
# Upper bounds by meaning, which no number can reach; limits of the runtime can be infinite.
MOST = {"memstats": float(NO_GOAL_FROM), "process": 2.0**53, "histogram": 2.0**62}
MOST_OF = {
    "NextGC": 2.0**65,  # 64 bits set to 1 mean no goal
    "process_max_fds": 2.0**65,
    "LastGC": 2.0**63,  # in nanoseconds
    "process_start_time_seconds": 2.0**63 / 1e9,
}
BOUND = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|Inf)", re.IGNORECASE)
BOUNDED = frozenset({"quantiles", "histogram"})
MAY_BE_UNKNOWN = frozenset({"quantiles", "release"})  # an empty summary has NaN
LATEST = 253402300799  # the last second with a four-digit year


@dataclass
class Page:
    """One scrape of one process."""

    memstats: dict[str, float] = field(default_factory=dict)  # by Go's field name
    runtime: Metrics = field(default_factory=Metrics)  # its runtime/metrics
    process: dict[str, float] = field(default_factory=dict)  # by the name on the page
    # seconds by quantile, over at most 256 pauses
    pauses: dict[float, float] = field(default_factory=dict)
    go_version: str = ""  # the release, from `go_info`; empty if missing
    time: datetime | None = None  # its latest time stamp, if any
    # Fields that the page's exporters write.
    fields: frozenset[str] = frozenset()
    # Upper bounds and cumulative counts of histograms, by the runtime's name.
    buckets: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


_Labels = tuple[tuple[str, str], ...]  # labels that distinguish processes


@dataclass(frozen=True, slots=True)
class _Sample:
    """A line of the page with a number from Go."""

    prefix: str
    name: str
    meaning: Meaning
    labels: dict[str, str]
    value: float
    stamp: float | None
    bound: float | None  # the quantile, or a bucket's upper bound; None if it has neither

    @property
    def apart(self) -> _Labels:
        return tuple(sorted(item for item in self.labels.items() if item[0] not in OWN_LABELS))

    @property
    def is_of_go_metrics(self) -> bool:
        return self.name.startswith(f"{self.prefix}{RUNTIME_PREFIX}")


SAYS_RSS = re.compile(rb"^process_resident_memory_bytes [\d.]", re.MULTILINE)
OTHERS = re.compile(rb"^(?:python|jvm|java|nodejs|ruby|dotnet|process_runtime)_", re.MULTILINE)


def looks_like_metrics(data: bytes, _: str = "") -> bool:
    """Whether it is runtime/metrics in JSON or lines, or a page of Prometheus metrics of Go."""
    return looks_like_page(data) or looks_like_readings(data) or looks_like_lines(data)


def looks_like_page(data: bytes) -> bool:
    """Whether a text is a metrics page that has a Go name, or had one before it was cut."""
    # A text that begins with a page's comments and ends within a line is cut: Go names may have
    # followed.
    return is_page(data) and (_has_mark(data) or _is_cut(data))


def ends_before_go(data: bytes) -> bool:
    """Whether a page is cut before its first Go name."""
    return _is_cut(data) and not _has_mark(data)


def _has_mark(data: bytes) -> bool:
    """Whether it has a Go name, or RSS without names of another language's client."""
    if any(mark in data for mark in MARKS):
        return True
    return SAYS_RSS.search(data) is not None and OTHERS.search(data) is None


def _is_cut(data: bytes) -> bool:
    """Whether it begins with a page's comments and ends within a line."""
    return _BEGINNING.match(data[:HEAD_BYTES]) is not None and bool(without_cut_line(data)[1])


def is_page(data: bytes) -> bool:
    """Whether a text begins like a metrics page: with comments, or mostly samples."""
    head = data[:HEAD_BYTES]
    if _BEGINNING.match(head):
        return True
    lines = head.split(b"\n")[:LINES_LOOKED_AT]
    whole = lines[:-1] if len(lines) > 1 else lines
    ours = [line for line in whole if line.strip() and not line.startswith(b"#")]
    return 2 * sum(_SAMPLE.fullmatch(line) is not None for line in ours) > len(ours)


def families_of(data: bytes) -> list[str]:
    """Return the first words of the names on a page, by frequency: `node`, `python`, `process`."""
    words = Counter(name.partition("_")[0] for name in _names(data))
    return [word for word, _ in words.most_common()]


def likely_of_go(data: bytes) -> list[str]:
    """Return the names on a page that can be of Go's numbers, though gomem does not know them."""
    return list(dict.fromkeys(filter(LIKELY.search, _names(data))))


def _names(data: bytes) -> Iterator[str]:
    """Yield the name of each sample."""
    found = filter(None, map(_SAMPLE.fullmatch, data.split(b"\n")))
    return (sample[1].decode() for sample in found)


def without_cut_line(data: bytes) -> tuple[bytes, str]:
    """Remove a last line without a newline; also return its place, empty if there is none."""
    # Its number may lack digits, so it is not used. `# EOF` needs no newline.
    last = data.rfind(b"\n") + 1
    rest = data[last:].strip()
    if not rest or rest == EOF or not (rest.startswith(b"#") or _NAME.match(rest)):
        return data, ""
    return data[:last], f"line {data.count(NEWLINE) + 1}"


def parse_page(data: bytes, *, source: str) -> tuple[list[Page], list[Damage]]:
    """Parse the data on one Go process in one or several pages: one `Page` per scrape.

    Damage: lines with a Go name that are not samples, a missing end, incomplete sets of MemStats
    fields, and other processes on the page. Other metrics are skipped. Raises FormatError if there
    is no Go metric, or if there are several processes and none is clearly meant.
    """
    damage: list[Damage] = []
    is_open = _is_open(data)
    samples = list(_samples(data, source, damage, 1000.0 if is_open else 1.0))
    pages = _pages(_of_one_process(samples, source, damage))
    damage += [fault for page in pages for fault in _add_histograms(page, source)]
    if is_open and EOF not in data[-64:]:
        what = f"OpenMetrics without its last line, `{EOF.decode()}`: it is cut"
        damage.append(Damage(source, "", what))
    damage += [missing for page in pages if (missing := _lacks(page, source)) is not None]
    return pages, damage


def _is_open(data: bytes) -> bool:
    """Whether it is OpenMetrics, whose counters only have samples that end in `_total`."""
    counters = (found["counter"] for found in _OPEN.finditer(data))
    return any(
        name is None or re.search(rb"^%b[ {]" % name, data, re.MULTILINE) is None
        for name in counters
    )


def _samples(
    data: bytes, source: str, damage: list[Damage], stamp_scale: float
) -> Iterator[_Sample]:
    """Yield the samples with a Go name, parsed by Prometheus' own client."""
    # slow to import, because it includes a server
    from prometheus_client.parser import text_string_to_metric_families

    for number, pasted in enumerate(data.split(NEWLINE), start=1):
        line = _SAID_BY.sub(b"", pasted, count=1)
        name = None if line.startswith(b"#") else _NAME.match(line)
        meant = None if name is None else meaning_of(name[1].decode())
        if name is None or meant is None:
            continue
        # Exemplars are not used, and this function of the client cannot parse them.
        text = line.partition(b" # ")[0].decode("utf-8", "replace")
        try:
            sample = next(iter(text_string_to_metric_families(text))).samples[0]
            value, stamp = float(sample.value), sample.timestamp
            what = _why_not(text, value, meant[1])
            bound = _bound_of(sample.labels, meant[1])
            if not what and bound is None and meant[1].of in BOUNDED:
                what = "not a sample; wanted its bound, as `le` or `quantile`"
        except (ValueError, IndexError, StopIteration, OverflowError):
            what = "not a sample; wanted `name{labels} number`"
        if what:
            damage.append(Damage(source, f"line {number}", what, excerpt(line)))
            continue
        stamp = None if stamp is None else float(stamp) * stamp_scale
        yield _Sample(meant[0], name[1].decode(), meant[1], sample.labels, value, stamp, bound)


def _why_not(text: str, value: float, meaning: Meaning) -> str:
    """Return why a sample's number is impossible; empty if it is possible."""
    numbers = text.rpartition("}")[2] if "}" in text else text.partition(" ")[2]
    if not numbers.isascii() or len(numbers.split()) > NUMBERS:
        return "not a sample; wanted `name{labels} number`, and at most a time behind it"
    if math.isnan(value):
        return "" if meaning.of in MAY_BE_UNKNOWN else "no number"
    most = MOST_OF.get(meaning.name, MOST.get(meaning.of, math.inf))
    if value < 0 or value * meaning.scale >= most:
        return "less than nothing, or more than any machine has"
    return ""


def _bound_of(labels: Mapping[str, str], meaning: Meaning) -> float | None:
    """Return the quantile, or the upper bound of a bucket; None if the label is invalid."""
    text = labels.get("quantile" if meaning.of == "quantiles" else "le", "")
    if BOUND.fullmatch(text) is None:
        return None
    bound = float(text)
    return bound if meaning.of == "histogram" or 0 <= bound <= 1 else None


def _of_one_process(samples: list[_Sample], source: str, damage: list[Damage]) -> list[_Sample]:
    """Return the samples of the process that is meant; FormatError if there is none, or unclear."""
    # It is the only process with Go heap metrics, or with goroutines if none has a heap. If there
    # are several, it is the one without labels: the process that wrote the page.
    found = _processes(samples)
    if not found:
        raise FormatError(source, "", "a page of Prometheus metrics without a number of Go's")
    own = next(iter(found)) if len(found) == 1 else ("", ())
    if own not in found:
        what = "numbers of {} ({}), and nothing says which is meant; keep the lines of one: {}"
        processes = Count(len(found), "Go process", "Go processes")
        raise FormatError(source, "", text(what, processes, _named(found), "grep LABEL PAGE"))
    others = [process for process in found if process != own]
    if others:
        what = "numbers of more Go processes ({}) are not read: those without a label are of the"
        what = text(f"{what} process that wrote the page", _named(others))
        damage.append(Damage(source, "", what))
    prefix, apart = own
    is_of_client = any(
        sample.prefix == prefix and not sample.is_of_go_metrics for sample in samples
    )
    prefixes = {prefix, ""} if is_of_client else {""}
    own_samples = (sample for sample in samples if sample.apart == apart)
    return [
        sample for sample in own_samples if sample.prefix in prefixes or sample.is_of_go_metrics
    ]


def _processes(samples: list[_Sample]) -> dict[tuple[str, _Labels], None]:
    """Return prefix and labels of each process, found by its heap, other metrics, or RSS."""
    ways: tuple[Callable[[_Sample], bool], ...] = (
        lambda sample: sample.meaning.name in HEAP and not sample.is_of_go_metrics,
        lambda sample: sample.meaning.name in HEAP,
        lambda sample: sample.meaning.of != "process" or sample.meaning.name == "go_goroutines",
        lambda sample: sample.meaning.name == "process_resident_memory_bytes",
    )
    for is_of_one in ways:
        found = {(sample.prefix, sample.apart): None for sample in samples if is_of_one(sample)}
        if found:
            return found
    return {}


def _named(processes: Iterable[tuple[str, _Labels]]) -> Quoted:
    names = [
        ", ".join([f"{prefix}…"] * bool(prefix) + [f"{name}={value!r}" for name, value in labels])
        for prefix, labels in processes
    ]
    more = ["…"] if len(names) > PROCESSES_NAMED else []
    shown = [*(name or "no label" for name in names[:PROCESSES_NAMED]), *more]
    return Quoted(excerpt("; ".join(shown)))


def _pages(samples: Iterable[_Sample]) -> list[Page]:
    """Split samples into one page per scrape: a repeated number begins the next one."""
    pages: list[Page] = []
    seen: set[tuple[str, _Labels]] = set()
    for sample in samples:
        key = sample.name, tuple(sorted(sample.labels.items()))
        if not pages or key in seen:
            seen = set()
            pages.append(Page())
        seen.add(key)
        _put(pages[-1], sample)
    return pages


def _add_histograms(page: Page, source: str) -> Iterator[Damage]:
    """Add histograms to the page's runtime/metrics; yield damage for invalid ones."""
    for name, buckets in page.buckets.items():
        histogram = histogram_of(buckets)
        if histogram is None:
            what = text("the buckets of {} count fewer below a higher bound", Quoted(name))
            yield Damage(source, "", what + ": its lines are torn, or of several processes")
        else:
            page.runtime.histograms[name] = histogram


def _put(page: Page, sample: _Sample) -> None:
    meaning, value = sample.meaning, sample.value
    if sample.stamp is not None and 0 < sample.stamp <= LATEST:
        stamp = datetime.fromtimestamp(sample.stamp, UTC)
        page.time = stamp if page.time is None else max(page.time, stamp)
    if meaning.of == "release":
        page.go_version = sample.labels.get("version", "")
    elif math.isnan(value):
        return  # in a summary without a value
    elif meaning.of == "memstats":
        page.fields |= fields_written_with(sample.name.removeprefix(sample.prefix))
        if not (sample.is_of_go_metrics and meaning.name in page.memstats):
            page.memstats[meaning.name] = value * meaning.scale
    elif meaning.of == "runtime":
        limit = float(NO_LIMIT.get(meaning.name, math.inf))
        page.runtime.scalars[meaning.name] = math.inf if value >= limit else value
    elif meaning.of == "process":
        page.process.setdefault(meaning.name, value)
    else:
        assert sample.bound is not None
        if meaning.of == "quantiles":
            page.pauses[sample.bound] = value
        else:
            page.buckets.setdefault(meaning.name, []).append((sample.bound, value))


def _lacks(page: Page, source: str) -> Damage | None:
    """Return damage if only some fields of a set that clients print together are there."""
    there = TOGETHER & page.memstats.keys()
    of_one_number = HEAP if HEAP & there else set()
    missing = sorted((TOGETHER & page.fields) - there - of_one_number)
    if not missing or not there - GO_METRICS_FIELDS:
        return None
    more = len(missing) - MISSING_NAMED
    names = ", ".join(missing[:MISSING_NAMED]) + (f" and {more} more" if more > 0 else "")
    why = "the program writes no more of them, the page is cut, or lines were taken out"
    what = f"{EXCERPT}MemStats without {names}: {why}"
    return Damage(source, "", what)
