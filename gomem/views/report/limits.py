"""How far from the limit, in the report: worst case, cgroup, time, and GOMEMLIMIT's arithmetic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.text import MomentName, text
from gomem.units import format_bytes, format_change, format_fraction, format_seconds
from gomem.views.document import Block, Cell, Notes, Paragraph, Section, Table
from gomem.views.values import bytes_cell, fraction_cell
from gomem.views.words import minus_signs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.analysis.memory.cgroup import CgroupUse
    from gomem.analysis.memory.limits import AddressSpace, LimitAdvice, TimeToLimit, WorstCase
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.diagnosis.limits import Limits

BOUNDED = "what grew is garbage, which collections free"
MOMENTS = 12  # rows of the table of worst cases; of more moments, the largest


def limits_section(diagnosis: Diagnosis) -> Section | None:
    """Worst case of each moment; the cgroup of the last one, where its files are there."""
    limits = diagnosis.limits
    if limits is None:
        return None
    blocks: list[Block] = []
    if limits.worst:
        blocks.append(_worst_table(limits.worst))
    if limits.cgroup is None:
        blocks.append(Notes((_LACKING,)))
    else:
        blocks.append(_cgroup_table(limits.cgroup, limits.moment))
        blocks.append(Paragraph(minus_signs(_cgroup_words(limits))))
    if limits.address_space is not None:
        blocks.append(Paragraph(_address_space_words(limits.address_space)))
    if limits.advice is not None:
        blocks.append(_advice_table(limits.advice, limits.moment))
        blocks.append(Notes((limits.advice.note,)))
    return Section("limits", "How far from the limit", tuple(blocks), gist=_gist(limits))


def _gist(limits: Limits) -> str:
    """The limit, or that none is known, and how large RSS can get."""
    said = ["no limit is known"]
    if limits.cgroup is not None:
        limit = limits.cgroup.limit_bytes
        said = ["the cgroup has no limit" if limit is None else f"limit {format_bytes(limit)}"]
    if limits.worst:
        worst = max(one.worst_bytes for one in limits.worst.values())
        said.append(f"RSS at worst {format_bytes(worst)}")
    return ", ".join(said)


_LACKING = (
    "no cgroup file here says what the limit is; add memory.max, memory.current, memory.stat and "
    "memory.events of the process's cgroup"
)


def _address_space_words(space: AddressSpace) -> str:
    limit = f"The process may map up to {format_bytes(space.limit_bytes)} of address space"
    if space.mapped_bytes is None:
        return f"{limit}; only smaps can tell how much is mapped."
    share = format_fraction(space.mapped_bytes / space.limit_bytes)
    return (
        f"{limit}, of which {format_bytes(space.mapped_bytes)} are mapped ({share}): Go reserves "
        "far more than it uses, and the limit counts all of it."
    )


def _worst_table(worst: Mapping[str, WorstCase]) -> Table:
    """RSS if everything the runtime mapped were touched, and if it took back what it gave back."""
    chosen = sorted(worst, key=lambda name: -worst[name].worst_bytes)[:MOMENTS]
    rows = tuple(
        (
            Cell(MomentName(name)),
            bytes_cell(worst[name].rss_bytes),
            *(bytes_cell(int(size)) for size in worst[name].steps["bytes"].iloc[1:3]),
            bytes_cell(worst[name].worst_bytes),
            bytes_cell(worst[name].retaken_bytes),
        )
        for name in worst
        if name in chosen
    )
    columns = ("moment", "RSS", "never touched", "runtime's own", "worst case", "all retaken")
    caption = (
        "Worst-case RSS: with all that was never touched, in the heap and in the runtime's "
        "structures; then also with all that was given back taken again"
    )
    return Table(caption, columns, "<>>>>>", rows)


def _cgroup_table(use: CgroupUse, moment: str) -> Table:
    rows = tuple(
        (
            Cell(row["counter"], code=True),
            bytes_cell(row["bytes"]),
            fraction_cell(row["of_limit_fraction"]),
            Cell("yes" if row["reclaimable"] else "no"),
        )
        for row in rows_of(use.counters)
        if row["bytes"]
    )
    total = (
        Cell("memory.current"),
        bytes_cell(use.current_bytes),
        fraction_cell(use.current_bytes / use.limit_bytes if use.limit_bytes else None),
        Cell(""),
    )
    columns = ("counter", "bytes", "of the limit", "can be reclaimed")
    caption = text("What the cgroup is charged, {}", MomentName(moment))
    return Table(caption, columns, "<>><", rows, (total,))


def _cgroup_words(limits: Limits) -> str:
    use = limits.cgroup
    assert use is not None
    words = [
        (
            f"{format_bytes(use.unreclaimable_bytes)} cannot be reclaimed, most of it "
            f"{use.killer}; the working set is {format_bytes(use.working_set_bytes)}."
        )
    ]
    if use.limit_bytes is None:
        words.append("The cgroup has no limit of its own.")
    else:
        words.append(
            f"The limit is {format_bytes(use.limit_bytes)}: "
            f"{format_bytes(use.headroom_bytes)} can be charged before the kernel must reclaim, "
            f"{format_bytes(use.unreclaimable_headroom_bytes)} before it kills, and what fills "
            f"the limit is {use.killer}."
        )
        words.append(_growth_words(limits.growth, bounded=limits.bounded))
    if use.oom_kills:
        words.append(f"The kernel has killed here {use.oom_kills} times.")
    if limits.gomemlimit_bytes is not None:
        words.append(f"GOMEMLIMIT is {format_bytes(limits.gomemlimit_bytes)}.")
    return " ".join(words)


def _growth_words(growth: TimeToLimit | None, *, bounded: bool) -> str:
    if growth is None:
        return "When it will be reached is unknown: that takes three moments with a time."
    slope = (
        f"{format_change(growth.slope_bytes_per_second)}/s "
        f"(95 %: {format_change(growth.slope_low)}/s to {format_change(growth.slope_high)}/s, "
        f"n={growth.points})"
    )
    ends = (growth.soonest_seconds, growth.latest_seconds)
    soonest, latest = ("never" if math.isinf(end) else format_seconds(end) for end in ends)
    if math.isinf(growth.seconds) and soonest == "never":
        return f"At the slope seen, {slope}, it will never be reached."
    if growth.slope_low <= 0 <= growth.slope_high:
        return (
            f"The slope seen, {slope}, may be none at all, so when it will be reached is "
            f"uncertain: soonest {soonest}, latest {latest}."
        )
    if bounded:
        return f"At the slope seen, {slope}, it is not reached: {BOUNDED}."
    when = "never" if math.isinf(growth.seconds) else f"in {format_seconds(growth.seconds)}"
    return f"At the slope seen, {slope}, it is reached {when}; soonest {soonest}, latest {latest}."


def _advice_table(advice: LimitAdvice, moment: str) -> Table:
    rows = tuple(
        (Cell(row["step"]), bytes_cell(row["bytes"]), Cell(row["source"]))
        for row in rows_of(advice.steps)
    )
    result = (Cell("GOMEMLIMIT"), bytes_cell(advice.gomemlimit_bytes), Cell("recommended"))
    return Table(
        text("A GOMEMLIMIT for this limit, {}", MomentName(moment)),
        ("", "bytes", "from"),
        "<><",
        rows,
        (result,),
    )
