"""The report's section on limits: worst case, cgroup, time left, and GOMEMLIMIT."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from gomem.causes.checks import grows
from gomem.causes.limit_risk import COUNTED
from gomem.inputs.cgroup.parse import USED
from gomem.inputs.system import FREEBSD
from gomem.text import MomentName, text
from gomem.units import format_bytes, format_count, format_fraction, format_rate, format_seconds
from gomem.views.document import Block, Cell, Notes, Paragraph, Section, Table
from gomem.views.tables import BLANK, code, moment, share, size, table, words
from gomem.views.values import bytes_cell, fraction_cell
from gomem.views.words import first_few, minus_signs

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from gomem.analysis.memory.cgroup import CgroupUse
    from gomem.analysis.memory.limits import AddressSpace, TimeToLimit, WorstCase
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.diagnosis.limits import Limits

BOUNDED = "only garbage grew, which the next GCs free"
NAMED = 6  # snapshots without smaps
MOMENTS = 12  # rows in the table of worst cases; with more moments, the largest
LACKING = (
    "the container's limit is not in the capture; add memory.max, memory.current, memory.stat and "
    "memory.events of the process's cgroup (version 1: memory.limit_in_bytes, "
    "memory.usage_in_bytes, memory.stat and memory.failcnt)"
)
WORST_CASES = (
    "Assumes that the heap keeps its size. All resident: all that Go retains is in RSS. All "
    "reused: released memory is back in RSS too."
)
GROWS_ON = "the live heap grows, so RSS can exceed both"
HIGHER = (
    "{}: the part of Go's memory that is not in RSS is unknown, so the worst case can be higher"
)
STILL_COUNTED = (
    "FreeBSD counts released memory as resident until it needs the pages: released memory that is "
    "already in RSS is counted twice in “all reused”"
)


def _absent(step: int, row: tuple[str, WorstCase, bool]) -> int | None:
    """Bytes of a step that are not in RSS; None without smaps, which alone shows them."""
    _, worst, has_smaps = row
    return int(worst.steps["bytes"].iloc[step]) if has_smaps else None


WORST = (
    moment("snapshot", lambda worst: worst[0]),
    size("RSS", lambda worst: worst[1].rss_bytes),
    size("heap not in RSS", partial(_absent, 1)),
    size("runtime not in RSS", partial(_absent, 2)),
    size("all resident", lambda worst: worst[1].worst_bytes),
    size("all reused", lambda worst: worst[1].retaken_bytes),
)
YES_OR_NO = {True: "yes", False: "no"}
COUNTERS = (
    code("counter", "counter"),
    size("bytes", "bytes"),
    share("share of limit", "of_limit_fraction"),
    words("reclaimable", lambda row: YES_OR_NO.get(row["reclaimable"], "unknown")),
)
STEPS = (words("", "step"), size("bytes", "bytes"), words("from", "source"))


def limits_section(diagnosis: Diagnosis) -> Section | None:
    """The worst case of each snapshot; the cgroup of the last snapshot, if its files exist."""
    limits = diagnosis.limits
    if limits is None:
        return None
    blocks: list[Block] = []
    # The limit, or that none is known, and the worst-case RSS.
    said = ["no known limit"]
    if limits.worst:
        blocks += _worst_cases(diagnosis, limits)
    if limits.cgroup is None:
        known = limits.gomemlimit_bytes
        set_by = "" if known is None else f"GOMEMLIMIT is {format_bytes(known)}; "
        blocks.append(Notes((set_by + LACKING,)))
    else:
        limit = limits.cgroup.limit_bytes
        said = [f"limit {format_bytes(limit)}" if limit is not None else said[0]]
        if limit is None and limits.cgroup.limit_is_known:
            said = ["the cgroup has no limit"]
        blocks.append(_cgroup_table(limits.cgroup, limits.moment))
        blocks.append(Paragraph(minus_signs(_cgroup_words(limits, limits.cgroup))))
    if limits.address_space is not None:
        blocks.append(Paragraph(_address_space_words(limits.address_space)))
    if limits.advice is not None:
        caption = text("Recommended GOMEMLIMIT at {}", MomentName(limits.moment))
        blocks.append(advice_table(caption, limits.advice.steps, limits.advice.gomemlimit_bytes))
        blocks.append(Notes((limits.advice.note,)))
    if limits.worst:
        worst = max(case.retaken_bytes for case in limits.worst.values())
        said.append(f"at this heap size RSS can reach {format_bytes(worst)}")
    heading = "Worst-case RSS" if limits.cgroup is None else "Headroom to the memory limit"
    return Section("limits", heading, tuple(blocks), gist=", ".join(said))


def _worst_cases(diagnosis: Diagnosis, limits: Limits) -> Iterator[Block]:
    """The snapshots with the highest worst case, in order, and what the sizes leave out."""
    largest = sorted(limits.worst, key=lambda name: -limits.worst[name].worst_bytes)[:MOMENTS]
    rows = [
        (name, worst, diagnosis.by_moment[name].mappings is not None)
        for name, worst in limits.worst.items()
        if name in largest
    ]
    caption = WORST_CASES
    if len(rows) < len(limits.worst):
        which = f"the {len(rows)} snapshots with the highest worst case"
        caption += f" Shown: {which}, of {len(limits.worst)}."
    yield table(caption, WORST, rows)
    without = [MomentName(name) for name, _, has_smaps in rows if not has_smaps]
    who = text("no snapshot has smaps")
    if len(without) < len(rows):
        who = text("no smaps at {}", first_few(without, NAMED))
    notes = (
        *([GROWS_ON] if grows(diagnosis.case) else []),
        *([text(HIGHER, who)] if without else []),
        *([STILL_COUNTED] if diagnosis.capture.system == FREEBSD else []),
    )
    if notes:
        yield Notes(notes)


def advice_table(caption: str, steps: pd.DataFrame, gomemlimit_bytes: int | None) -> Table:
    """The computation of GOMEMLIMIT, with its result if the release supports it."""
    total = (Cell("GOMEMLIMIT"), bytes_cell(gomemlimit_bytes), Cell("recommended"))
    return table(caption, STEPS, steps, () if gomemlimit_bytes is None else (total,))


def _address_space_words(space: AddressSpace) -> str:
    limit = f"The process may map up to {format_bytes(space.limit_bytes)} of address space"
    if space.mapped_bytes is None:
        return f"{limit}; smaps would show how much is mapped."
    share = format_fraction(space.mapped_bytes / space.limit_bytes)
    return (
        f"{limit}, of which {format_bytes(space.mapped_bytes)} is mapped ({share}). The limit "
        "also counts reserved addresses, and Go reserves far more than it uses."
    )


def _cgroup_table(use: CgroupUse, moment: str) -> Table:
    share_of_limit = use.current_bytes / use.limit_bytes if use.limit_bytes else None
    current = bytes_cell(use.current_bytes), fraction_cell(share_of_limit)
    total = (Cell(use.current_name), *current, BLANK)
    caption = text("Memory charged to the cgroup at {}", MomentName(moment))
    return table(caption, COUNTERS, use.counters[use.counters["bytes"].fillna(0) != 0], (total,))


def _cgroup_words(limits: Limits, use: CgroupUse) -> str:
    words = [_unreclaimable_words(use)]
    if use.working_set_bytes is not None:
        working = format_bytes(use.working_set_bytes)
        words.append(f"The working set (usage without inactive page cache) is {working}.")
    if not use.limit_is_known:
        file = "memory.max" if use.current_name == USED[0] else "memory.limit_in_bytes"
        words.append(f"Its limit is unknown: {file} has it.")
    elif use.limit_bytes is None:
        words.append("The cgroup has no limit of its own.")
    else:
        least = "" if use.is_counted and not use.unknown_bytes else "at least "
        words.append(
            f"The limit is {format_bytes(use.limit_bytes)}: "
            f"{_reclaim_words(limits, use)}"
            f"{least}{format_bytes(use.unreclaimable_headroom_bytes)} before an OOM kill."
        )
        if limits.growth is not None or not (limits.is_reached or use.is_full):
            words.append(_growth_words(limits.growth, bounded=limits.bounded))
    if use.oom_kills:
        often = "once" if use.oom_kills == 1 else f"{format_count(use.oom_kills)} times"
        words.append(f"The OOM killer has killed {often}.")
    if limits.gomemlimit_bytes is not None:
        words.append(f"GOMEMLIMIT is {format_bytes(limits.gomemlimit_bytes)}.")
    return " ".join(words)


def _reclaim_words(limits: Limits, use: CgroupUse) -> str:
    """How near the limit is, or that it has been reached while the capture was taken."""
    if not limits.is_reached:
        return f"{format_bytes(use.headroom_bytes)} is left before the kernel must reclaim, "
    first, last = limits.limit_hits
    return (
        f"it is reached, and the kernel reclaims already (failcnt rose from {format_count(first)} "
        f"to {format_count(last)}); "
    )


def _unreclaimable_words(use: CgroupUse) -> str:
    held = format_bytes(use.unreclaimable_bytes)
    if use.is_counted and use.unknown_bytes:
        surely = format_bytes(use.unreclaimable_bytes - use.unknown_bytes)
        return (
            f"{surely} cannot be reclaimed, mostly {COUNTED.get(use.killer, use.killer)}; of "
            f"{format_bytes(use.unknown_bytes)} of kernel memory this is unknown, because cgroup "
            "v1 does not count its reclaimable slab."
        )
    if use.is_counted:
        killer = COUNTED.get(use.killer, use.killer)
        return f"{held} cannot be reclaimed, mostly {killer}."
    return (
        f"At most {held} cannot be reclaimed: how much is unknown without the anon and file of "
        "memory.stat."
    )


def _growth_words(growth: TimeToLimit | None, *, bounded: bool) -> str:
    if growth is None:
        return "The time to the limit is unknown: an estimate needs three snapshots with a time."
    bounds = (growth.slope_low, growth.slope_high)
    each = (growth.slope_bytes_per_second, *bounds)
    middle, low, high = (format_rate(rate, *bounds, signed=True) for rate in each)
    slope = f"{middle} (95 % interval: {low} to {high}, n={growth.points})"
    ends = (growth.soonest_seconds, growth.latest_seconds)
    soonest, latest = ("never" if math.isinf(end) else format_seconds(end) for end in ends)
    if math.isinf(growth.seconds) and soonest == "never":
        return f"At the observed slope, {slope}, the limit is never reached."
    if growth.slope_low <= 0 <= growth.slope_high:
        return (
            f"The observed slope, {slope}, might be zero, so the time to the limit is uncertain: "
            f"soonest {soonest}, latest {latest}."
        )
    if bounded:
        return f"At the observed slope, {slope}, the limit is not reached: {BOUNDED}."
    when = "never" if math.isinf(growth.seconds) else f"in {format_seconds(growth.seconds)}"
    return f"At the observed slope, {slope}, the limit is reached {when} ({soonest} to {latest})."
