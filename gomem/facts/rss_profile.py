"""RSS of one snapshot as a pprof profile: the memory of each stack and each part, to the byte.

The account breaks down RSS. A heap profile breaks down the live heap, a second one the memory
allocated since the last GC, a goroutine profile the stacks, and smaps the memory outside Go. The
rest is one frame per part. The profile's comments say what is exact and what is estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.account import Snapshot, account_of
from gomem.analysis.memory.division import REST, Share, divided
from gomem.analysis.memory.groups import GARBAGE, LIVE, OBJECTS, STACKS
from gomem.analysis.memory.mapped import OUTSIDE_GO, mapped_parts
from gomem.analysis.profiles.call_tree import CallTree, call_tree
from gomem.analysis.profiles.published import total_bounds
from gomem.capture.wanted import SMAPS
from gomem.errors import CaptureError, did_you_mean
from gomem.facts.account import reading_of
from gomem.inputs.pprof.calls.merge import merged
from gomem.inputs.pprof.calls.rooted import Frame, named, rooted, with_program, without_unused
from gomem.inputs.pprof.columns import IntArray, PprofColumns, ValueType
from gomem.inputs.pprof.table import Profile
from gomem.inputs.schema import rows_of
from gomem.statistics.apportion import apportion
from gomem.text import Bytes, CaptureName, MomentName, Text, joined, text
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts

RSS, RESERVED = ValueType("rss", "bytes"), ValueType("reserved", "bytes")
TYPES = (RSS, RESERVED)
IN_USE, ALLOCATED, GOROUTINE = "inuse_space", "alloc_space", "goroutine"
NOT_SAMPLED = Frame("live heap not sampled")
MIN_STACK = 2 * KIB  # per goroutine, since Go 1.4
MAX_LAG = 1.25  # times the live heap: a profile with more in use is from another state of the heap


def rss_profile(facts: CaptureFacts, moment: str | None = None) -> Profile:
    """Return RSS at a snapshot, by default the last with RSS, as a profile of `rss` and `reserved`.

    The values of `rss` add up to RSS exactly. `reserved` is memory reserved by Go that is not in
    RSS.

    Raises:
        CaptureError: RSS is unknown, at this snapshot or at all; or there is no such snapshot.
    """
    known = [name for name, found in facts.by_moment.items() if found.rss_bytes is not None]
    if moment is not None and moment not in known:
        raise CaptureError(_without_rss(facts, moment, known))
    if not known:
        name, what = CaptureName(facts.capture.file_name), "no file has RSS"
        raise CaptureError(text("{}: {}; add smaps: {}", name, what, SMAPS.command()))
    shown = facts.by_moment[known[-1] if moment is None else moment]
    return _Breakdown(facts, shown).profile()


def rss_tree(facts: CaptureFacts, moment: str) -> CallTree:
    """Return the profile of RSS as a tree of frames, with RSS as the root."""
    return call_tree(rss_profile(facts, moment), RSS.type)


def _without_rss(facts: CaptureFacts, moment: str, known: list[str]) -> Text:
    name, asked = CaptureName(facts.capture.file_name), MomentName(moment)
    names = joined(", ", map(MomentName, known)) or "no snapshot"
    if moment in facts.capture.by_moment:
        said = "{}: no file has RSS at {}; {} has RSS; collect smaps: {}"
        return text(said, name, asked, names, SMAPS.command())
    near = did_you_mean(moment, facts.capture.by_moment, MomentName)
    return text("{}: there is no snapshot {}; RSS is known at {}{}", name, asked, names, near)


def _snapshot_of(facts: CaptureFacts, shown: MomentFacts) -> Snapshot:
    """Return the bounds of a snapshot's parts, which neighbouring snapshots make tighter."""
    readings = [
        reading_of(moment, even_least=moment is shown)
        for moment in facts.moments
        if moment.rss_bytes is not None
    ]
    account = account_of([reading for reading in readings if reading.rss_bytes is not None])
    snapshot = None if account is None else account.of(shown.name)
    assert snapshot is not None
    return snapshot


@dataclass
class _Breakdown:
    """The breakdown of one snapshot's RSS: the pieces of its profile so far, and their notes."""

    facts: CaptureFacts
    moment: MomentFacts
    pieces: list[PprofColumns] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    notes: list[Text] = field(default_factory=list)

    def profile(self) -> Profile:
        snapshot = _snapshot_of(self.facts, self.moment)
        ledger, groups = self.moment.ledger, self.moment.groups
        assert ledger is not None
        assert groups is not None
        parts = {row["part"]: int(row["bytes"]) for row in rows_of(ledger.parts)}
        division = divided(snapshot, groups.claimed, parts)
        self._introduce(snapshot, division.doubt_bytes)
        further = {LIVE: self._live, OBJECTS: self._live, GARBAGE: self._garbage,
                   STACKS: self._stacks}  # fmt: skip
        further |= dict.fromkeys(OUTSIDE_GO, self._mapped)
        if any(share.group == LIVE and share.rss_bytes for share in division.shares):
            further.pop(OBJECTS)  # the memory in use belongs to the live heap
        for share in division.shares:
            further.get(share.group, self.shares.append)(share)
        if ledger.next_file:
            self.notes.append(text("for a finer breakdown, add {}", ledger.next_file))
        rows = [(share.path, (share.rss_bytes, share.reserved_bytes)) for share in self.shares]
        columns = without_unused(merged([named(TYPES, rows), *self.pieces]))
        columns = replace(
            with_program(columns, self._program),
            default_sample_type=RSS.type,
            time_nanos=self._time_nanos(),
            comments=tuple(self.notes),
        )
        return Profile(f"RSS at {self.moment.name}", columns)

    @property
    def _program(self) -> str:
        """The executable's path; empty if unknown."""
        mappings = self.moment.mappings
        if mappings is None:
            return ""
        paths = mappings.loc[mappings["kind"] == "binary", "path"]
        return next((str(path) for path in paths if path), "")

    def _time_nanos(self) -> int:
        time = self.moment.time
        if time is not None:
            return int(time.as_unit("ns").value)
        profile = self.facts.profiles.by_moment.get(self.moment.name)
        return 0 if profile is None else profile.columns.time_nanos

    def _introduce(self, snapshot: Snapshot, doubt_bytes: int) -> None:
        ledger = self.moment.ledger
        assert ledger is not None
        name, size = MomentName(self.moment.name), Bytes(snapshot.total_bytes)
        self.notes.append(text("RSS at {}: {}, by {}", name, size, ledger.rss_source))
        if ledger.is_least:
            self.notes.append(Text("mappings are missing, so RSS is at least that"))
        if doubt_bytes:
            about = text("about: parts with bounds are off by {} at most", Bytes(doubt_bytes))
            why = text(", if {}", snapshot.assumption) if snapshot.assumption else Text()
            self.notes.append(Text(about, why))

    def _graft(self, share: Share, profile: PprofColumns, sizes: IntArray) -> None:
        value = np.column_stack([sizes, np.zeros_like(sizes)])
        self.pieces.append(rooted(profile, TYPES, value, share.path))

    def _keep(self, share: Share, frame: Frame, size: int) -> None:
        """Keep the part that a profile does not cover as one frame."""
        if size or share.reserved_bytes:
            self.shares.append(share.of(size, frame, reserved_bytes=share.reserved_bytes))

    def _live(self, share: Share) -> None:
        """Add the live heap, or objects including garbage, by what allocated the memory in use."""
        profile = self.facts.profiles.by_moment.get(self.moment.name)
        is_live, whole = share.group == LIVE, replace(share, path=_without_rest(share))
        if profile is None or not share.rss_bytes or not _has(profile, IN_USE):
            self.shares.append(share)
            return
        in_use, size = profile.values(IN_USE), share.rss_bytes
        total, bounds = int(in_use.sum()), total_bounds(profile)
        if min(total, total if bounds is None else bounds[0]) > MAX_LAG * size:
            self.notes.append(text(
                "no stacks: the heap profile has {} in use, of which at most {} is in RSS; the "
                "profile lags, or the rest was never touched",
                Bytes(total), Bytes(size),
            ))  # fmt: skip
            self._keep(whole, REST, size)
            return
        sizes = in_use if total <= size else apportion(size, in_use)
        self._graft(whole, profile.columns, sizes)
        self._keep(whole, NOT_SAMPLED if is_live else REST, size - int(sizes.sum()))
        said = "as sampled" if total <= size else "scaled down to the live heap in RSS"
        self.notes.append(text("by stack: {} in use, {}", Bytes(total), said))

    def _garbage(self, share: Share) -> None:
        """Add what was allocated since the last GC, by the functions that allocate at the time."""
        for before, after in self._intervals():
            first, last = (self.facts.profiles.of_last_process[name] for name in (before, after))
            grown = last.diff(first)
            sizes = np.maximum(grown.values(ALLOCATED), 0)
            if share.rss_bytes and int(sizes.sum()) >= share.rss_bytes:
                self._graft(share, grown.columns, apportion(share.rss_bytes, sizes))
                self._keep(share, REST, 0)
                said = (
                    "about: allocated since the last GC, by the functions that allocated from {} "
                    "to {}"
                )
                self.notes.append(text(said, MomentName(before), MomentName(after)))
                return
        self.shares.append(share)

    def _intervals(self) -> Iterator[tuple[str, str]]:
        """Return pairs of snapshots whose profiles show the allocations, the best pair first.

        A profile shows an allocation one or two collections later, so a later pair is better.
        """
        profiles = self.facts.profiles.of_last_process
        names = [name for name, profile in profiles.items() if _has(profile, ALLOCATED)]
        if self.moment.name in names:
            place = names.index(self.moment.name)
            yield from zip(names[place : place + 1], names[place + 1 : place + 2], strict=False)
            yield from zip(names[:place][-1:], names[place : place + 1], strict=False)

    def _stacks(self, share: Share) -> None:
        """Add goroutine stacks by what the goroutines run; each has at least the smallest stack."""
        moment = self.facts.capture.by_moment.get(self.moment.name)
        profile = None if moment is None else moment.profiles.get(GOROUTINE)
        frame = self.moment.goroutines
        if profile is not None and profile.has_stacks and _has(profile, GOROUTINE):
            sizes = _at_most(share.rss_bytes, profile.values(GOROUTINE) * MIN_STACK)
            self._graft(share, profile.columns, sizes)
        elif frame is not None and len(frame):
            sizes = _at_most(share.rss_bytes, frame["goroutines"].to_numpy(np.int64) * MIN_STACK)
            for stack, size in zip(frame["stack"].astype("str"), sizes.tolist(), strict=True):
                functions = [Frame(name) for name in reversed(stack.split(";")) if name]
                self.shares += [share.of(size, *functions)] if size else []
        else:
            self.shares.append(share)
            return
        self._keep(share, REST, share.rss_bytes - int(sizes.sum()))
        self.notes.append(Text("goroutine stacks: each goroutine has 2 KiB, the smallest stack"))

    def _mapped(self, share: Share) -> None:
        """Add memory outside Go by mapping and file; only smaps has this."""
        if self.moment.mappings is None:
            self.shares.append(share)
            return
        moment = self.moment
        parts = mapped_parts(moment.mappings, moment.is_malloced, moment.is_shared_anonymous)
        self.shares += share.split(parts.get(share.group, []))


def _without_rest(share: Share) -> tuple[Frame, ...]:
    return share.path[:-1] if share.path[-1] == REST else share.path


def _at_most(size: int, wanted: IntArray) -> IntArray:
    return wanted if int(wanted.sum()) <= size else apportion(size, wanted)


def _has(profile: Profile, sample_type: str) -> bool:
    """Return whether a profile has these values by stack, and not as a difference."""
    if sample_type not in profile.sample_type_names or profile.printed is not None:
        return False
    values = profile.values(sample_type)
    return bool((values >= 0).all() and values.any())
