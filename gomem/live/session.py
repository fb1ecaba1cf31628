"""Take snapshots of one process until a stop condition is met.

`Plan` sets the interval, the stop condition and the triggers. A callback receives messages about
the progress.
"""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.live.endpoints import NoAnswer
from gomem.live.heap_dump import KIND, HeapDumpDoor
from gomem.live.process import Ended
from gomem.live.reading import PROFILES, Moment, fill
from gomem.text import text
from gomem.units import GIB, MIB
from gomem.views.words import how_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from gomem.live.folder import CaptureFolder
    from gomem.live.targets import Target
    from gomem.live.trigger import Trigger

COLLECTION_WITHIN_SECONDS = 150.0  # the runtime forces a collection after two minutes without one
COLLECTION_POLL_SECONDS = 0.25
LOOK_SECONDS = 0.5  # how often to check whether the process has ended
MAX_EMPTY = 5  # consecutive moments without data
PIECE_BYTES = MIB
MAX_LOG_BYTES = GIB


@dataclass
class LogTail:
    """A growing log, which rotation can truncate or replace."""

    path: Path  # where it is
    taken_bytes: int = field(default=0, init=False)  # bytes already copied
    _at: int = field(default=0, init=False)
    _inode: int = field(default=0, init=False)

    def after(self, copy: Path) -> None:
        """Skip what an earlier capture copied, if the log still begins with the whole copy."""
        try:
            with copy.open("rb") as had, self.path.open("rb") as file:
                while piece := had.read(PIECE_BYTES):
                    if file.read(len(piece)) != piece:
                        return
                self._inode, self._at = os.fstat(file.fileno()).st_ino, had.tell()
        except OSError:
            return  # no copy, or reading the log will report the error

    def new(self) -> Iterator[bytes]:
        """Yield whole lines added since the last call; raises OSError if the log is unreadable."""
        with self.path.open("rb") as file:
            known = os.fstat(file.fileno())
            if known.st_ino != self._inode or known.st_size < self._at:
                self._inode, self._at = known.st_ino, 0
            file.seek(self._at)
            while self.taken_bytes < MAX_LOG_BYTES and (piece := file.read(PIECE_BYTES)):
                whole = piece[: piece.rfind(b"\n") + 1] or (
                    piece if len(piece) == PIECE_BYTES else b""
                )
                if not whole:
                    return
                yield whole
                self._at += len(whole)
                self.taken_bytes += len(whole)
                file.seek(self._at)


@dataclass(frozen=True)
class Plan:
    """When to take snapshots, and what to read."""

    # Between the starts of two moments, or of two checks of the trigger; None for one moment.
    every_seconds: float | None = None
    for_seconds: float | None = None  # None until the process ends or the user stops
    trigger: Trigger | None = None  # after the first, moments are taken only if it fires
    pair: bool = False  # whether to take a last moment after a further collection has ended
    profiles: Sequence[str] = PROFILES  # profiles to read


@dataclass
class Session:
    """One run of `gomem capture`."""

    target: Target  # the process
    folder: CaptureFolder  # the capture's folder
    plan: Plan  # interval and stop conditions
    tell: Callable[[str], None]  # receives messages for the user
    # Receives the number of moments and the last RSS, to show progress.
    show: Callable[[int, int | None], None]
    log: LogTail | None = None  # the GC log to follow, if there is one
    # Seconds between MemStats and smaps, per moment.
    skews: list[float] = field(default_factory=list)
    crossed: int = 0  # number of moments in which a collection ended between the two
    heap_dump: HeapDumpDoor | None = None  # used once, at the end of the first moment
    _missed: dict[str, str] = field(default_factory=dict)
    _empty: int = 0

    def run(self) -> str:
        """Take snapshots until a stop condition is met, and return the condition.

        Raises CaptureError if no snapshot was written.
        """
        why = "stopped"
        try:
            why = self._moments()
        except KeyboardInterrupt:
            why = "interrupted"
        except Ended:
            why = "the process ended"
        finally:
            self._tail()
            self.folder.end(why)
        return why

    def _moments(self) -> str:
        """Take the planned snapshots; return the reason to stop."""
        begun = time.monotonic()
        why = self._take()
        if why or self.plan.every_seconds is None:
            return why or self._pair() or "done"
        number = 0
        while True:
            number = max(number + 1, int((time.monotonic() - begun) / self.plan.every_seconds))
            due = begun + number * self.plan.every_seconds
            if self.plan.for_seconds is not None and due - begun >= self.plan.for_seconds:
                return self._pair() or "done"
            self._wait_until(due)
            if self._is_occasion() and (why := self._take()):
                return why

    def _is_occasion(self) -> bool:
        """Whether to take a snapshot now; true without a trigger."""
        trigger, process = self.plan.trigger, self.target.process
        if trigger is None:
            return True
        is_of_rss = trigger.level == "rss"
        if is_of_rss and process is None:
            self._note("trigger", "rss: only known for processes on this machine")
            return False
        if process is not None and not process.is_running:
            raise Ended
        try:
            ask = self.target.doors.goroutines
            value = process.rss_bytes if process is not None and is_of_rss else ask()
        except NoAnswer as error:
            self._note("trigger", text("{}: {}", trigger.level, error.what))
            return False
        self.show(self.folder.moments, value if is_of_rss else None)
        return trigger.fires(value, time.monotonic())

    def _take(self) -> str:
        """Take a snapshot and write it; return the reason to stop, or an empty text."""
        moment = Moment()
        try:
            fill(moment, self.target.process, self.target.doors, self.plan.profiles)
        except KeyboardInterrupt:
            if not self.folder.moments:
                moment.missing["the rest"] = "interrupted"
                self._write(moment)
            raise
        self._tail()
        self._dump(moment)
        self._write(moment)
        if moment.ended:
            raise Ended
        return "no more data" if self._empty >= MAX_EMPTY else ""

    def _dump(self, moment: Moment) -> None:
        """Take the heap dump, if requested and the process still exists."""
        door, self.heap_dump = self.heap_dump, None
        if door is None or moment.ended:
            return
        try:
            moment.readings.append(door.read(self.folder.hidden()))
        except NoAnswer as error:
            moment.missing[KIND] = error.what
        except OSError as error:
            moment.missing[KIND] = f"cannot be written: {error.strerror or error}"

    def _write(self, moment: Moment) -> None:
        for artefact, why in moment.missing.items():
            self._note(artefact, why)
        worth = moment.has_kernel_side or not (moment.ended and self.folder.moments)
        if not moment.readings or not worth:
            self._empty += 1
            return
        self._empty = 0
        try:
            self.folder.add(moment)
        except CaptureError as error:
            kept = how_many(self.folder.moments, "whole moment")
            raise CaptureError(text("{}; {} in it", error.message, kept)) from error
        if moment.skew_seconds is not None:
            self.skews.append(moment.skew_seconds)
        if moment.num_gc is not None:
            self.crossed += moment.num_gc[0] != moment.num_gc[1]
        self.show(self.folder.moments, moment.rss_bytes)

    def _note(self, what: str, why: str) -> None:
        """Report why data is missing, once per reason."""
        if self._missed.get(what) != why:
            self._missed[what] = why
            self.tell(text("no {}: {}", what, why) if what != "trigger" else why)

    def _wait_until(self, due: float) -> None:
        """Sleep; raises Ended as soon as the process has ended."""
        process = self.target.process
        while (left := due - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
            if process is not None and not process.is_running:
                raise Ended

    def _pair(self) -> str:
        """Wait for a collection, and take the second heap profile of the pair."""
        if not self.plan.pair:
            return ""
        try:
            first = self.target.doors.runtime().collections
        except NoAnswer as error:
            self.tell(text("no second heap profile: {}", error.what))
            return ""
        until = time.monotonic() + COLLECTION_WITHIN_SECONDS
        while first is not None and time.monotonic() < until:
            self._wait_until(time.monotonic() + COLLECTION_POLL_SECONDS)
            try:
                now = self.target.doors.runtime().collections
            except NoAnswer:
                continue
            if now is not None and now > first:
                return self._take()
        self.tell(f"no second heap profile: no GC within {COLLECTION_WITHIN_SECONDS:g} s")
        return ""

    def _tail(self) -> None:
        """Copy new lines of the GC log."""
        if self.log is None:
            return
        try:
            for piece in self.log.new():
                self.folder.append_log(piece)
        except OSError as error:
            self._note("gctrace log", error.strerror or "cannot be read")

    @property
    def apart(self) -> tuple[float, float] | None:
        """Seconds between MemStats and smaps: median and p99 over the snapshots."""
        if not self.skews:
            return None
        ordered = sorted(self.skews)
        return statistics.median(ordered), ordered[max(0, -(-99 * len(ordered) // 100) - 1)]
