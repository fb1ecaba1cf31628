"""Heap keepers in words and tables, for the command's document and the report's section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.retention.keepers import SEVERAL
from gomem.text import Bytes, Count, Function, Share, Text, joined, text
from gomem.views.document import Paragraph, Table
from gomem.views.figures.flame_graph import known_name
from gomem.views.tables import Row, change, code, count, share, size, table, words
from gomem.views.words import first_few

if TYPE_CHECKING:
    from gomem.analysis.retention.described import Keeper
    from gomem.facts.keepers import Kept

SHOWN, BRIEF, PATHS, ARRAYS, GROWN = 20, 10, 5, 5, 10  # rows of each
MAX_SITES = 2
NOT_TOLD_APART = "the dump does not separate them"
MIN_ARRAY_SHARE = 0.01  # of the live heap: smaller arrays are left out


def headline(kept: Kept, keeper: Keeper | None = None) -> Text:
    """The largest keeper, or what a given keeper retains, and who allocated it."""
    if not kept.keepers:
        return text("Nothing keeps the heap: all {} is unreachable.", Bytes(kept.unreachable_bytes))
    if keeper is None and kept.unreachable_bytes > kept.live_bytes:
        total = Bytes(kept.live_bytes + kept.unreachable_bytes)
        most = text("Most is unreachable: {} of {}.", Bytes(kept.unreachable_bytes), total)
        return text("{} {}", most, _keeps(kept, kept.keepers[0]))
    return _keeps(kept, keeper or kept.keepers[0])


def _keeps(kept: Kept, keeper: Keeper) -> Text:
    is_many = keeper.count > 1 or " and " in keeper.name or keeper.name == SEVERAL
    kept_share = Share(keeper.bytes / kept.live_bytes)
    template = "{} keep {} of {} live heap ({})" if is_many else "{} keeps {} of {} live heap ({})"
    said = text(template, who(keeper), Bytes(keeper.bytes), Bytes(kept.live_bytes), kept_share)
    if not keeper.allocated_by:
        return text("{}.", said)
    return text("{}, mostly allocated by {}.", said, _function(keeper.allocated_by[0].function))


def who(keeper: Keeper) -> Text:
    """A keeper as the subject of a sentence."""
    name = _function(keeper.name)
    if keeper.kind == "goroutine":
        return text("{} of {}", Count(keeper.count, "goroutine"), name)
    if keeper.kind in {"finalizer", "cleanup"}:
        return text("{} of {}", Count(keeper.count, keeper.kind), name)
    return Text(name)


def keepers_table(kept: Kept) -> Table:
    """The largest keepers."""
    columns = (
        code("kept by", lambda keeper: _function(keeper.name)),
        words("kind", _kind),
        size("retains", lambda keeper: keeper.bytes),
        share("of live", lambda keeper: keeper.bytes / kept.live_bytes),
        count("objects", lambda keeper: keeper.objects),
        words("allocated by", _sites),
    )
    caption = "Memory that would become garbage without each keeper"
    return table(caption, columns, kept.keepers[:SHOWN], brief_rows=BRIEF)


def paths_table(kept: Kept) -> Table:
    """The paths of the largest keepers, one per line."""
    columns = (
        code("kept by", lambda keeper: _function(keeper.name)),
        words("path", lambda keeper: joined(" → ", map(_function, keeper.path[1:]))),
    )
    paths = [keeper for keeper in kept.keepers[:PATHS] if len(keeper.path) > 1]
    return table("From each keeper down to where it fans out", columns, paths)


def path_table(keeper: Keeper) -> Table:
    """The path from a keeper to the point where it fans out, one step per line."""
    columns = (code("from the keeper down to where it fans out", _function),)
    return table("Path", columns, keeper.path)


def sites_table(keeper: Keeper) -> Table | None:
    """The allocation sites of what a keeper retains; None without samples."""
    if not keeper.allocated_by:
        return None
    columns = (
        code("allocated by", lambda site: _function(site.function)),
        size("at least", lambda site: site.low),
        size("at most", lambda site: site.high),
    )
    return table("Allocation sites, with 95 % intervals", columns, keeper.allocated_by)


def arrays_table(kept: Kept) -> Table | None:
    """The largest arrays, with their used part if it is known; None if none is large."""
    arrays = kept.retention.arrays
    rows = arrays[arrays["bytes"] >= MIN_ARRAY_SHARE * kept.live_bytes].head(ARRAYS)
    if not len(rows):
        return None
    columns = (
        size("array", "bytes"),
        code("kept by", lambda row: _function(row["keeper"] or "nothing")),
        count("pointers", "pointers"),
        words("pointed into", _pointed),
        words("from", "by"),
    )
    return table("The largest arrays", columns, rows)


def _pointed(row: Row) -> Text:
    if not row["pointers"]:
        return Text("nowhere")
    if row["only_inside"]:
        return text(
            "only from {} on: a slice of the array keeps the whole array", Bytes(row["lowest"] or 0)
        )
    return Text("at its beginning")


def growth_table(kept: Kept) -> Table | None:
    """The keepers that grew since the first dump; None for a single dump."""
    if kept.growth is None:
        return None
    grew = kept.growth[kept.growth["change_bytes"] != 0].head(GROWN)
    columns = (
        code("kept by", lambda row: _function(row["name"])),
        size("before", "before_bytes"),
        size("after", "after_bytes"),
        change("change", "change_bytes"),
    )
    return table("Change since the first dump", columns, grew)


def unreachable_words(kept: Kept) -> Paragraph:
    """How much memory is unreachable."""
    gone = Count(kept.retention.unreachable_objects, "object")
    said = text("{} in {} is unreachable: garbage that no GC has freed yet",
                Bytes(kept.unreachable_bytes), gone)  # fmt: skip
    if kept.hidden_cleanups:
        what = "{}, and what only the arguments of {} (runtime.AddCleanup) keep; {}."
        cleanups = Count(kept.hidden_cleanups, "cleanup")
        return Paragraph(text(what, said, cleanups, NOT_TOLD_APART))
    if kept.may_have_cleanups:
        what = "{}, or what only the argument of a cleanup (runtime.AddCleanup) keeps; {}."
        return Paragraph(text(what, said, NOT_TOLD_APART))
    return Paragraph(text("{}.", said))


def growth_words(kept: Kept) -> Text | None:
    """The keeper that grew most; None if none did."""
    if kept.growth is None or not (kept.growth["change_bytes"] > 0).any():
        return None
    row = kept.growth.iloc[0]
    sizes = (Bytes(row["before_bytes"]), Bytes(row["after_bytes"]))
    return text("{} grew most: from {} to {}.", _function(row["name"]), *sizes)


def _kind(keeper: Keeper) -> str:
    return f"{keeper.count} × {keeper.kind}" if keeper.count > 1 else keeper.kind


def _sites(keeper: Keeper) -> Text:
    names = [_function(site.function) for site in keeper.allocated_by]
    return first_few(names, MAX_SITES) if names else Text("")


def _function(name: str) -> Function:
    return Function(known_name(name))
