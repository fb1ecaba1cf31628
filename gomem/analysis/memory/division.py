"""What does RSS consist of at one snapshot, as a tree of parts that adds up to the byte?

The parts are those of the account. A part with narrow bounds gets the midpoint of the bounds as its
size, as in the report's bars. A part with wide bounds gets only the lower bound, which is certain;
the rest of RSS is not broken down. With smaps and MemStats, nearly all sizes are exact.

Besides its resident bytes, each part has the bytes that Go reserved for the part and that are not
in RSS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gomem.analysis.memory.account import Snapshot, drawn_doubt
from gomem.analysis.memory.bounds import Bounds, Interval
from gomem.analysis.memory.groups import (
    FILES,
    FREE,
    GARBAGE,
    HEAP,
    LIVE,
    NAMES,
    NATIVE,
    OBJECTS,
    PROGRAM,
    RUNTIME,
    STACKS,
    UNDIVIDED,
)
from gomem.analysis.memory.readings import ALL, FILE_GROUPS, GO, GO_HEAP, NOT_GO
from gomem.inputs.pprof.calls.rooted import Frame, Path
from gomem.statistics.apportion import apportion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


OBJECT_GROUPS = frozenset({LIVE, GARBAGE})
SLOTS, IDLE, RELEASED, UNCOUNTED = "free slots", "idle heap", "released, still in RSS", "uncounted"
# The parts of each whole; other parts are groups of the account, or parts of the free heap.
PARTS_OF: dict[frozenset[str], tuple[frozenset[str], ...]] = {
    ALL: (GO, NOT_GO),
    GO: (GO_HEAP, frozenset({RUNTIME})),
    GO_HEAP: (OBJECT_GROUPS, frozenset({FREE}), frozenset({STACKS})),
    OBJECT_GROUPS: (frozenset({LIVE}), frozenset({GARBAGE})),
    NOT_GO: (frozenset({NATIVE}), FILE_GROUPS),
    FILE_GROUPS: (frozenset({FILES}), frozenset({PROGRAM})),
}
# Frames inserted before the parts of these wholes; other parts are next to those of the whole.
OWN_FRAMES = {GO: "Go", NOT_GO: "not Go"}
# Frames for the part of a whole that is not broken down.
REST_FRAMES = {
    GO_HEAP: NAMES[HEAP],
    OBJECT_GROUPS: NAMES[OBJECTS],
    FILE_GROUPS: "files and program text",
}
FREE_PARTS = {
    "heap_slack": SLOTS,
    "heap_idle": IDLE,
    "heap_released_resident": RELEASED,
    "heap_unexplained": UNCOUNTED,
}
FREE_FRAMES = {UNCOUNTED: "in RSS beyond what Go counts"}
ROOT = Frame("RSS")
REST = Frame(NAMES[UNDIVIDED])


@dataclass(frozen=True)
class Share:
    """Bytes of RSS in one frame of the tree, not broken down further."""

    path: Path  # what they belong to, RSS first
    group: str  # the group of all these bytes, one of `GROUPS`; empty if unknown
    rss_bytes: int
    reserved_bytes: int = 0  # memory reserved by Go that is not in RSS

    def of(self, rss_bytes: int, *further: Frame, reserved_bytes: int = 0) -> Share:
        """Return a share with these bytes, below this one in the tree."""
        path = (*self.path, *further)
        return replace(self, path=path, rss_bytes=rss_bytes, reserved_bytes=reserved_bytes)

    def split(self, parts: Sequence[tuple[Path, int]]) -> list[Share]:
        """Split into named parts and a rest."""
        shares = [self.of(size, *path) for path, size in parts if size]
        left = self.rss_bytes - sum(share.rss_bytes for share in shares)
        if left or self.reserved_bytes:
            shares.append(self.of(left, REST, reserved_bytes=self.reserved_bytes))
        return shares


@dataclass(frozen=True)
class Division:
    """RSS at one snapshot, as shares that add up to RSS."""

    shares: tuple[Share, ...]
    doubt_bytes: int  # maximum error of sizes that are the midpoint of bounds


def divided(
    snapshot: Snapshot, reserved: Mapping[str, int], ledger_parts: Mapping[str, int]
) -> Division:
    """Divide a snapshot's RSS as far as its bounds allow.

    `reserved` is the memory reserved by Go, by group. `ledger_parts` are bytes by part of the
    ledger, according to which the free heap is divided.
    """
    work = _Dividing(snapshot, reserved, ledger_parts)
    shares = tuple(work.within(ALL, snapshot.total_bytes, (ROOT,)))
    return Division(shares, round(work.widest / 2))


class _Dividing:
    """The division of one snapshot."""

    def __init__(
        self, snapshot: Snapshot, reserved: Mapping[str, int], ledger_parts: Mapping[str, int]
    ) -> None:
        self.likely, self.certain = snapshot.likely, snapshot.certain
        self.doubt = drawn_doubt(snapshot.total_bytes)
        self.ledger_parts, self.widest = ledger_parts, 0.0
        self.released = ledger_parts.get("heap_released_resident", 0)
        self.reserved = dict(reserved)

    def within(self, whole: frozenset[str], size: int, path: Path) -> Iterator[Share]:
        """Yield the shares of a part of the account that has this many bytes."""
        if whole in OWN_FRAMES:
            path = (*path, Frame(OWN_FRAMES[whole]))
        if whole not in PARTS_OF:
            yield from self._of_group(next(iter(whole)), size, path)
            return
        parts, sizes = PARTS_OF[whole], [0]
        if size:
            sizes = self._sizes(
                size,
                [self.likely.together(part) for part in PARTS_OF[whole]],
                [self.certain.together(part).low for part in PARTS_OF[whole]],
            )
        rest = size - sum(sizes)
        is_whole = bool(size) and not rest
        for part, own in zip(parts, sizes, strict=False):
            yield from self.within(part, own, path) if is_whole else self._least(part, own, path)
        beyond = 0 if is_whole else self._beyond(whole, size)
        if rest or beyond:
            between = (Frame(REST_FRAMES[whole]),) if whole in REST_FRAMES else ()
            group = OBJECTS if whole == OBJECT_GROUPS else ""
            yield Share((*path, *between, REST), group, rest, beyond)

    def _least(self, part: frozenset[str], size: int, path: Path) -> Iterator[Share]:
        """Yield a part's minimum, if its whole is not broken down and has the reserved memory."""
        if size:
            for share in self.within(part, size, path):
                yield replace(share, reserved_bytes=0)

    def _of_group(self, group: str, size: int, path: Path) -> Iterator[Share]:
        whole = Share(
            (*path, Frame(NAMES[group])), group, size, self._beyond(frozenset({group}), size)
        )
        if group == FREE:
            yield from self._free(whole)
        elif size or whole.reserved_bytes:
            yield whole

    def _free(self, whole: Share) -> Iterator[Share]:
        """Divide free heap into free slots, idle heap and released memory; reserved is idle."""
        counted = {
            name: self.ledger_parts[part]
            for part, name in FREE_PARTS.items()
            if self.ledger_parts.get(part, 0) > 0
        }
        size = whole.rss_bytes
        untouched = max(0, sum(counted.values()) - size)
        each = {
            name: Interval.exactly(most)
            if name in {RELEASED, UNCOUNTED}
            else Interval(max(0, most - untouched), most)
            for name, most in counted.items()
        }
        both = (frozenset(each), Interval.exactly(size))
        bounds = Bounds(each, (both,)).closed().parts
        sizes = self._sizes(size, list(bounds.values()), [part.low for part in bounds.values()])
        parts = [
            ((Frame(FREE_FRAMES.get(name, name)),), own)
            for name, own in zip(bounds, sizes, strict=True)
        ]
        inside = replace(whole, reserved_bytes=0).split(parts)
        if beyond := whole.reserved_bytes:
            frame = Frame(IDLE) if beyond <= counted.get(IDLE, 0) else REST
            inside.append(whole.of(0, frame, reserved_bytes=beyond))
        yield from inside

    def _sizes(self, size: int, likely: Sequence[Interval], certain: Sequence[float]) -> list[int]:
        """Return a size for each part: the midpoint of narrow bounds, the minimum of wide ones."""
        is_narrow = [bounds.width <= min(self.doubt, bounds.middle) for bounds in likely]
        wanted = [
            max(0.0, bounds.middle if narrow else least)
            for bounds, least, narrow in zip(likely, certain, is_narrow, strict=True)
        ]
        widths = [bounds.width for bounds, narrow in zip(likely, is_narrow, strict=True) if narrow]
        self.widest = max(self.widest, *widths, 0.0)
        if (all(is_narrow) or sum(wanted) > size) and sum(wanted) > 0:
            sizes: list[int] = apportion(size, wanted).tolist()
            return sizes
        return [int(each) for each in wanted]

    def _beyond(self, whole: frozenset[str], size: int) -> int:
        """Return memory reserved by Go for these groups that is not in RSS."""
        reserved = sum(self.reserved.get(group, 0) for group in whole)
        if whole >= OBJECT_GROUPS:
            reserved += self.reserved.get(OBJECTS, 0)
        released = self.released if FREE in whole else 0
        return max(0, reserved + released - size) if reserved else 0
