"""What retains the heap, from the last heap dump and from goref's profile of references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.text import Bytes, Function, Share, Text, joined, text
from gomem.views.document import Block, Figure, Notes, Section
from gomem.views.figures.flame_graph import draw_flame, known_name
from gomem.views.retain.document import kept_blocks
from gomem.views.retain.words import growth_words, headline
from gomem.views.tables import code, share, size, table, words

if TYPE_CHECKING:
    from gomem.analysis.profiles.references import Root
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.keepers import Held

ROOTS = 20  # rows
EXACT = (
    "goref follows every reference, so its bytes are exact. An object counts once, for the first "
    "root that reaches it, even if several roots share the object."
)


def keepers_section(diagnosis: Diagnosis) -> Section | None:
    """The keepers, with a figure; None without a complete heap dump or profile of references."""
    kept, held = diagnosis.facts.kept, diagnosis.facts.held
    blocks: list[Block] = [] if kept is None else kept_blocks(kept)
    if held is not None:
        blocks += _held_blocks(held)
    if kept is not None:
        gist = growth_words(kept) or headline(kept)
    elif held is not None:
        gist = _held_most(held)
    else:
        return None
    return Section("keepers", "Who keeps the heap", tuple(blocks), gist=gist)


def _held_most(held: Held) -> Text:
    first = held.roots[0]
    sizes = (Bytes(first.held_bytes), Bytes(held.total_bytes))
    part = Share(first.held_bytes / held.total_bytes)
    return text("{} holds {} of {} ({}), by goref.", _named(first.name), *sizes, part)


def _held_blocks(held: Held) -> list[Block]:
    figure = Figure(
        "Each root that goref found, with its objects below; its width is the memory it holds.",
        draw_flame,
        lambda: {"tree": held.tree, "name": "held"},
    )
    columns = (
        code("root", lambda root: _named(root.name)),
        size("holds", lambda root: root.held_bytes),
        share("of total", lambda root: root.held_bytes / held.total_bytes),
        words("through", _through),
    )
    caption = text(
        "Memory held by each root, according to goref: {} total", Bytes(held.total_bytes)
    )
    return [figure, table(caption, columns, held.roots[:ROOTS]), Notes((EXACT,))]


def _through(root: Root) -> Text:
    return joined(" → ", map(_named, root.through))


def _named(name: str) -> Function:
    return Function(known_name(name))
