"""A snapshot's MemStats and smaps show two different states of the process.

The ledger subtracts numbers in one file from numbers in the other. If a collection ended between
the two readings, objects became idle spans, and idle spans were released. Then the untouched and
unexplained parts of the ledger come from the time between the readings, and are not memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import GROUP_OF_PART, NAMES
from gomem.capture.wanted import MEMSTATS, SMAPS
from gomem.causes.cause import Case, Cause
from gomem.causes.commands import CAPTURE_ONCE
from gomem.causes.evidence import COMPUTED, known
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.text import Bytes, Command, Count, Seconds, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.facts.moment import MomentFacts


KERNEL_TOTALS = ("smaps_rollup", "status")  # the ledger's checks


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot whose files do not, or might not, belong together.

    The finding is a warning if the contradiction is certain and the parts can be far off; else a
    note.
    """
    return case.at_moments(lambda moment, case: _of_the_kernel(moment, case) or _at(moment, case))


CAUSE = Cause(
    code="data-skew",
    mechanism="MemStats (or the metrics) and smaps show different states of the process. A "
    "collection between the two readings turns objects into idle heap and releases idle heap, so "
    "some differences between the files are not real. RSS and the parts that come from smaps "
    "alone are right.",
    remedy=text(
        "Read both files at once: {}. By hand: {}.",
        CAPTURE_ONCE,
        Command(f"{MEMSTATS.command()}; {SMAPS.command()}"),
    ),
    references=(),
    rule=find,
)


def bytes_apart(moment: MomentFacts) -> int:
    """Return the heap mapped in smaps but not counted by MemStats; negative if smaps has less.

    GC work buffers are in the arenas but not in HeapSys, so up to GCSys is subtracted.
    """
    mapped, counted = _mapped_bytes(moment), _counted_bytes(moment)
    if mapped is None or counted is None:
        return 0
    beyond = mapped - counted
    return min(beyond, 0) or max(0, beyond - (moment.counted("GCSys") or 0))


def _buffers(moment: MomentFacts, apart: int) -> tuple[Evidence, ...]:
    """Return what `bytes_apart` subtracts if more is mapped than counted."""
    if apart <= 0:
        return ()
    buffers = moment.counted("GCSys") or 0
    return known(moment.path("memstats"), "B", {"GCSys, which can be in go-heap": buffers})


def _counted_bytes(moment: MomentFacts) -> int | None:
    heap, stacks = moment.counted("HeapSys"), moment.counted("StackInuse")
    return None if heap is None or stacks is None else heap + stacks


def _mapped_bytes(moment: MomentFacts) -> int | None:
    if moment.mappings is None:
        return None
    arenas = moment.mappings[moment.mappings["kind"] == "go-heap"]
    return int(arenas.loc[arenas["perms"] != "---p", "Size"].sum())


def _of_the_kernel(moment: MomentFacts, case: Case) -> Finding | None:
    """Return a finding if two kernel files disagree on RSS by more than a process can change."""
    ledger = moment.ledger
    if ledger is None or moment.mappings is None or ledger.rss_bytes is None:
        return None
    checks = ledger.checks[ledger.checks["total"].str.startswith(KERNEL_TOTALS)]
    least = case.thresholds.rss_disagreement * checks["bytes"]
    apart = checks[checks["difference_bytes"].abs() > least]
    if apart.empty:
        return None
    total, size = apart["total"].iloc[0], int(apart["bytes"].iloc[0])
    title = "RSS is uncertain: the mappings add up to {}, but {} is {}"
    return CAUSE.finding(
        Severity.WARNING,
        text(title, Bytes(ledger.rss_bytes), total, Bytes(size)),
        moment=moment.name,
        evidence=(
            Evidence(moment.path("smaps"), ledger.rss_source, ledger.rss_bytes, "B"),
            *(Evidence(row.total.partition(" ")[0], row.total.partition(" ")[2], row.bytes, "B")
              for row in apart.itertuples()),
        ),
        mechanism="The kernel's files were read at different times, or one is damaged.",
        next_step=text("Read all files again, at once: {}.", CAPTURE_ONCE),
    )  # fmt: skip


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    ledger, skew, limits = moment.ledger, moment.skew, case.thresholds
    doubtful: list[str] = []
    if ledger is not None:
        doubtful = list(ledger.parts.loc[ledger.parts["confidence"] == "doubtful", "part"])
    seconds = skew.seconds if skew.collections is None and moment.mappings is not None else None
    if not doubtful and (seconds is None or seconds < limits.skew_seconds):
        return None
    apart = bytes_apart(moment)
    is_small = 0 < abs(apart) < limits.notable(limits.skew_bytes, moment.rss_bytes)
    is_little = not doubtful or (is_small and not skew.crosses_a_collection)
    mapped = _mapped_bytes(moment) if doubtful else None
    return CAUSE.finding(
        Severity.INFO if is_little else Severity.WARNING,
        _title(moment, apart, is_doubtful=bool(doubtful), is_little=is_little),
        moment=moment.name,
        evidence=(
            *known(
                f"{moment.path('memstats')}, {moment.path('smaps')}",
                "s",
                {"seconds apart": None if skew.seconds is None else round(skew.seconds, 6)},
            ),
            *known(skew.source, "count", {"collections between": skew.collections}),
            *known(moment.path("memstats"), "B", {"HeapSys + StackInuse": _counted_bytes(moment)}),
            *known(moment.path("smaps"), "B", {"Size of go-heap": mapped}),
            *_buffers(moment, apart),
            *(
                Evidence(COMPUTED, "owners whose sizes might be wrong", rows, "")
                for rows in filter(None, [", ".join(_row_names(doubtful))])
            ),
        ),
        confidence="certain" if doubtful else "possible",
    )


def _row_names(parts: Sequence[str]) -> list[str]:
    """Return the owners of ledger parts, without duplicates, as tables name them."""
    owners = (GROUP_OF_PART.get(part) for part in parts)
    return list(dict.fromkeys(NAMES[owner] for owner in owners if owner is not None))


def _title(moment: MomentFacts, apart: int, *, is_doubtful: bool, is_little: bool) -> Text:
    skew, off = moment.skew, Bytes(abs(apart))
    read = Text("MemStats and smaps show different states")
    if skew.seconds is not None:
        read = text("MemStats and smaps measured {} apart", Seconds(skew.seconds))
    if skew.crosses_a_collection:
        ran = Count(skew.collections, "collection")
        return text(
            "{}, with {} between the readings: do not trust the breakdown of the heap", read, ran
        )
    if not is_doubtful:
        return text("{}; no file says whether a collection ran between the readings", read)
    if is_little:
        did = "grew" if apart > 0 else "differs"
        return text(
            "The heap {} by {}{} between MemStats and smaps, so its breakdown might be wrong",
            did,
            "at least " if apart > 0 else "",
            off,
        )
    by = text(" by {}{}", "at least " if apart > 0 else "", off) if apart else ""
    return text(
        "MemStats and smaps contradict each other{}: do not trust the breakdown of the heap", by
    )
