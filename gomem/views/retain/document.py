"""A document about what retains the heap."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from gomem.text import Bytes, CaptureName, Function, text
from gomem.views.document import Block, Document, Figure, Notes, Section, Tile, Verdict
from gomem.views.figures.flame_graph import draw_flame
from gomem.views.retain.words import (
    arrays_table,
    growth_table,
    growth_words,
    headline,
    keepers_table,
    path_table,
    paths_table,
    sites_table,
    unreachable_words,
)
from gomem.views.share import Hidden, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.retention.described import Keeper
    from gomem.capture.capture import Capture
    from gomem.facts.keepers import Kept

KIND = "Who keeps the heap"
HOW = (
    "Retained bytes: keepers are below the live heap, and what a keeper keeps is below the "
    "keeper. The width of a frame is the memory that would become garbage without it."
)


def retain_document(
    capture: Capture, kept: Kept, hidden: Hidden, chosen: Sequence[Keeper] = ()
) -> Document:
    """All keepers; or for `chosen` keepers, the path and the allocation sites."""
    sections = tuple(map(_of_one, chosen)) or (
        Section("keepers", "Who keeps the heap", tuple(kept_blocks(kept))),
    )
    keeper = chosen[0] if chosen else None
    return share(_document(capture, kept, keeper, sections), hidden)


def kept_blocks(kept: Kept) -> list[Block]:
    """The keepers, their paths, the largest arrays, growth, and unreachable memory."""
    tables = [table for table in (growth_table(kept), arrays_table(kept)) if table is not None]
    figure = Figure(HOW, draw_flame, lambda: {"tree": kept.icicle, "name": "kept"})
    blocks: list[Block] = [figure, keepers_table(kept), *tables]
    blocks += [paths_table(kept), unreachable_words(kept)]
    return [*blocks, Notes(kept.notes)] if kept.notes else blocks


def _document(
    capture: Capture, kept: Kept, keeper: Keeper | None, sections: tuple[Section, ...]
) -> Document:
    release = capture.go_version
    grew = growth_words(kept) if keeper is None else None
    details = () if grew is None else (grew,)
    live = Tile(Bytes(kept.live_bytes), text("live heap"))
    verdict = Verdict("neutral", "retained", headline(kept, keeper), details, size=live)
    return Document(
        kind=KIND,
        title=CaptureName(capture.name),
        facts=(("Go release", text("{} ({})", str(release), release.evidence)),),
        verdict=verdict,
        sections=sections,
        made_by=f"gomem {version('gomem')}",
    )


def _of_one(keeper: Keeper) -> Section:
    sites = sites_table(keeper)
    blocks = (path_table(keeper), *(() if sites is None else (sites,)))
    heading = text("{}: {}", Function(keeper.name), Bytes(keeper.bytes))
    return Section(f"keeper-{keeper.name}", heading, blocks)
