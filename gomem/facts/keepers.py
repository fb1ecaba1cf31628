"""What keeps the heap of a capture alive: its last heap dump, with symbols to name keepers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.profiles.call_tree import CallTree, call_tree
from gomem.analysis.profiles.references import IN_USE, Root, roots
from gomem.analysis.retention.described import Keeper, described
from gomem.analysis.retention.growth import grown
from gomem.analysis.retention.icicle import icicle_of
from gomem.analysis.retention.keepers import Retention, retention_of
from gomem.analysis.retention.variables import (
    WrongSymbols,
    load_bias,
    nameless_by,
)
from gomem.errors import FormatError
from gomem.inputs.answer import Answer
from gomem.inputs.elf import ELF
from gomem.inputs.symbols.table import read_symbols
from gomem.releases import Fact, GoVersion, known_version
from gomem.text import File, Quoted, text

if TYPE_CHECKING:
    from collections.abc import Collection

    from gomem.capture.capture import Capture
    from gomem.inputs.heapdump.table import HeapDump
    from gomem.inputs.pprof.table import Profile

SURPLUS = "From Go 1.22 on, free slots at the end of a span count as unreachable objects"

REFERENCES = "references"  # a kind of profile, see `Profile.kind`


@dataclass(frozen=True, repr=False)
class Kept(Answer):
    """What keeps the heap alive, by a capture's heap dumps.

    Attributes:
        dump: Path of the dump.
        moment: Its snapshot.
        retention: The analysis of the dump.
        growth: How the keepers changed since the capture's first dump; none if there is only one.
        since: The snapshot of the first dump; empty if there is only one.
        notes: Caveats.
    """

    dump: str
    moment: str
    retention: Retention
    growth: pd.DataFrame | None = None
    since: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def keepers(self) -> tuple[Keeper, ...]:
        """All keepers, the largest first."""
        return described(self.retention)

    def growing(self, functions: Collection[str] = ()) -> Keeper | None:
        """The keeper that grew most since the first dump; for a single dump, that of the sites."""
        if self.growth is not None:
            first = self.growth.iloc[0]
            named = (first["kind"], first["name"]) if first["change_bytes"] > 0 else None
            return next((k for k in self.keepers if (k.kind, k.name) == named), None)
        shares = [
            (sum(site.low for site in keeper.allocated_by if site.function in functions), keeper)
            for keeper in self.keepers
        ]
        most, keeper = max(shares, key=itemgetter(0), default=(0.0, None))
        return keeper if most > 0 else None

    def of_goroutines_in(self, function: str) -> Keeper | None:
        """The keeper of goroutines with a function on their stacks; of several, the largest."""
        parts = self.retention.tree.graph.nodes
        stacks = {tuple(node.name.split("\n")) for node in parts if not node.is_keeper}
        began = {stack[0] for stack in stacks if stack[1:] == (function,)}
        found = (k for k in self.keepers if k.kind == "goroutine" and k.name in began)
        return next(found, None)

    @cached_property
    def icicle(self) -> CallTree:
        """What each keeper retains, directly and indirectly, as frames of a figure."""
        return icicle_of(self.retention)

    @property
    def live_bytes(self) -> int:
        """Bytes of objects that something keeps."""
        return self.retention.live_bytes

    @property
    def may_have_cleanups(self) -> bool:
        """Whether memory that appears unreachable can be kept by a cleanup's argument."""
        is_named = self.retention.cleanups is not None
        return _possibly(self.retention.dump, Fact.CLEANUPS_UNSEEN if is_named else Fact.CLEANUPS)

    @property
    def hidden_cleanups(self) -> int:
        """Cleanups whose arguments' memory the dump does not show; 0 if unknown."""
        return (self.retention.cleanups or 0) if self.may_have_cleanups else 0

    @property
    def unreachable_bytes(self) -> int:
        """Bytes of objects that nothing keeps."""
        return self.retention.unreachable_bytes


@dataclass(frozen=True, repr=False)
class Held(Answer):
    """What each root holds, by a capture's last profile of references, such as goref's."""

    path: str  # path of the profile
    moment: str  # its snapshot
    profile: Profile
    total_bytes: int

    @cached_property
    def roots(self) -> tuple[Root, ...]:
        """All roots, the one that holds most first; they add up to the total."""
        return tuple(roots(self.profile))

    @cached_property
    def tree(self) -> CallTree:
        """The objects below each root, as frames of a figure."""
        return call_tree(self.profile, IN_USE)


def held_of(capture: Capture) -> Held | None:
    """Return the last profile of references in a capture; None without one, or if it is empty."""
    found = [
        Held(profiles[REFERENCES].source, moment, profiles[REFERENCES], total)
        for moment, profiles in capture.profiles.items()
        if REFERENCES in profiles and (total := profiles[REFERENCES].total(IN_USE))
    ]
    return found[-1] if found else None


def kept_of(capture: Capture, symbols: pd.DataFrame | None = None) -> Kept | None:
    """Return the analysis of a capture's last whole dump; None without a dump.

    Uses the given symbols, or else those of the capture. Raises NotWhole if no dump is whole, and
    WrongSymbols if the given symbols are another program's.
    """
    dumps = _dumps(capture)
    if not dumps:
        return None
    whole = [dump for dump in dumps if dump[2].is_whole]
    path, moment, last = (whole or dumps)[-1]
    named, notes = (symbols, []) if symbols is not None else _symbols_of(capture, last)
    retention = retention_of(last, named)
    if nameless := nameless_by(last, named):
        notes.append(nameless)
    if retention.unreachable_bytes and _possibly(last, Fact.DUMP_HAS_SURPLUS):
        notes.append(SURPLUS)
    earlier = whole[0]
    if earlier[2] is last:
        return Kept(path, moment, retention, notes=tuple(notes))
    growth = grown(retention_of(earlier[2], named), retention)
    return Kept(path, moment, retention, growth, earlier[1], tuple(notes))


def _possibly(dump: HeapDump, fact: Fact) -> bool:
    """Return whether the release that wrote a dump has this behaviour, or might have it."""
    return (known_version(dump.go_version, "the dump") or GoVersion()).possibly(fact)


def _dumps(capture: Capture) -> list[tuple[str, str, HeapDump]]:
    """Return path, snapshot and content of each dump, in snapshot order."""
    order = {name: place for place, name in enumerate(capture.by_moment)}
    files = [file for file in capture.files if file.kind.name == "heapdump"]
    files.sort(key=lambda file: (order.get(file.moment, -1), file.source.name))
    return [(file.source.name, file.moment, file.parsed) for file in files]


def _symbols_of(capture: Capture, dump: HeapDump) -> tuple[pd.DataFrame | None, list[str]]:
    """Return the capture's symbols that match the dump, and what is wrong with the others."""
    found: list[tuple[str, pd.DataFrame]] = []
    notes: list[str] = []
    for file in capture.files:
        if file.kind.name == "buildinfo" and file.source.data.startswith(ELF):
            try:
                found.append((file.source.name, read_symbols(file.source).symbols))
            except FormatError as error:
                notes.append(text("{}: {}", File(file.source.name), error.damage.what))
    found += [(path, read.symbols) for path, read in capture.symbols.items()]
    right: list[pd.DataFrame] = []
    for path, symbols in found:
        try:
            load_bias(dump, symbols)
        except WrongSymbols as error:
            notes.append(text("{}: {}", File(path), Quoted(error)))
        else:
            right.append(symbols)
    # A stripped executable names the wrappers' calls, a symbol table in text names variables.
    return (pd.concat(right, ignore_index=True) if right else None), notes
