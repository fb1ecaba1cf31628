"""What a profile of references shows: what retains the heap, but not what allocated it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.profiles.references import roots
from gomem.diagnosis.table_callers import MOSTLY, NAMED, WORTH_NAMING
from gomem.facts.profiles import IN_USE
from gomem.text import Bytes, Quoted, Share, Text, joined, text

if TYPE_CHECKING:
    from gomem.inputs.pprof.table import Profile


def held_words(profile: Profile) -> Text:
    """What retains the heap, by references."""
    total = profile.total(IN_USE)
    if not total:
        return Text("The profile of references is empty.")
    worth = [root for root in roots(profile)[:NAMED] if root.held_bytes >= WORTH_NAMING * total]
    parts = (text("{} ({})", Quoted(root.name), Share(root.held_bytes / total)) for root in worth)
    first = "Most is held by" if worth and worth[0].held_bytes > MOSTLY * total else "Held by"
    held = text("{} {}.", first, joined(", ", parts)) if worth else Text()
    through = Text()
    if worth and worth[0].through:
        path = joined(" → ", (Quoted(name) for name in worth[0].through[:NAMED]))
        through = text("Most of that is reached through {}.", path)
    whole = text("References reach {} of the heap (exact, not sampled).", Bytes(total))
    return joined(" ", filter(None, (whole, held, through)))
