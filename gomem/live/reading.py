"""Read one snapshot of a running process, in the order that disturbs the process least.

1. MemStats, with NumGC. Probing the addresses has already created connections and buffers.
2. The kernel's files immediately afterwards, smaps first, so that MemStats and smaps are as close
   as possible. Reading these files costs the process only a lock on its mappings. If MemStats come
   with a heap profile in text, which takes up to seconds, the files are read while it is written.
3. MemStats again. If a collection ended in between, and LastGC is before the start of step 2, this
   second reading belongs to the kernel's files. Otherwise steps 2 and 3 are repeated, up to three
   times, so that a matching pair is found if the process leaves time for one.
4. Data that changes slowly or costs most: cgroup files, limits, the metrics page, and profiles
   last. A profile creates garbage in the process, so nothing is measured after it.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from gomem.live.cgroup_files import cgroup_files, read_file
from gomem.live.doors import Doors, RuntimeReading, is_silent
from gomem.live.endpoints import Answer, Endpoints, NoAnswer
from gomem.live.process import Ended, NotRead, Process
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


ATTEMPTS = 3
_RSS = re.compile(rb"(?m)^VmRSS:\s+(\d+) kB")
DEAR_SECONDS = 0.25  # longer readings are not repeated, because they cost the process as well
PROFILES = ("heap", "allocs", "goroutine")
KERNEL_FILES = ("smaps", "smaps_rollup", "status", "statm")
FILE_NAMES = {
    "memstats": "memstats.json",
    "metrics": "metrics.txt",
    "heap_text": "heap.txt.gz",
    "heapdump": "heap.dump",
    **{name: f"{name}.pb.gz" for name in PROFILES},
}


PACKED = frozenset({"heap_text"})  # kinds that are long and come as plain text


@dataclass(frozen=True, slots=True)
class Reading:
    """One file: its kind in the manifest, its bytes, when it was read, how many seconds it took."""

    kind: str
    data: bytes
    time: datetime
    seconds: float
    file: Path | None = None  # the file with its bytes instead, to be moved

    @property
    def file_name(self) -> str:
        """The name of the file in the snapshot's folder."""
        return FILE_NAMES.get(self.kind, self.kind)


@dataclass
class Moment:
    """The data of one snapshot."""

    readings: list[Reading] = field(default_factory=list)  # in order of reading
    # Data that could not be read, with the reason, by kind in the manifest.
    missing: dict[str, str] = field(default_factory=dict)
    num_gc: tuple[int, int] | None = None  # collections before and after the kernel's files
    ended: bool = False  # whether the process ended during the reading
    silent: set[str] = field(default_factory=set)  # addresses that are not requested again

    def of(self, kind: str) -> Reading | None:
        """Return the reading of a kind; None if there is none."""
        return next((reading for reading in self.readings if reading.kind == kind), None)

    def lacks(self, kind: str, address: Endpoints | None, error: NoAnswer) -> None:
        """Record why an address did not give data, and whether to ask it for more."""
        self.missing[kind] = error.what
        if address is not None and is_silent(address, error):
            self.silent.add(address.base)

    @property
    def has_kernel_side(self) -> bool:
        """Whether the snapshot has a kernel file with RSS."""
        return any(self.of(kind) is not None for kind in ("smaps", "smaps_rollup", "status"))

    @property
    def rss_bytes(self) -> int | None:
        """VmRSS of the file status, in bytes; None without it."""
        status = self.of("status")
        found = None if status is None else _RSS.search(status.data)
        return None if found is None else int(found[1]) * KIB

    @property
    def skew_seconds(self) -> float | None:
        """Seconds between the readings of MemStats and smaps; None without both."""
        runtime = next(filter(None, map(self.of, ("memstats", "heap_text", "metrics"))), None)
        kernel = self.of("smaps") or self.of("status")
        if runtime is None or kernel is None:
            return None
        return abs((kernel.time - runtime.time).total_seconds())


def fill(
    moment: Moment, process: Process | None, doors: Doors, profiles: Sequence[str] = PROFILES
) -> None:
    """Read all data of a snapshot, in the module's order; an interruption keeps the data so far.

    `process` is None if the process runs on another machine, or must not be identified.
    """
    try:
        if process is None:
            moment.missing["smaps"] = "the process is not on this machine, or its PID is unknown"
            _keep(moment, _runtime(moment, doors))
        else:
            _both_sides(moment, process, doors)
            _add(moment, "limits", lambda: process.read("limits"))
        if doors.metrics is not None and moment.of("metrics") is None:
            _add_answer(moment, "metrics", doors.metrics, doors.read_metrics)
        for name in profiles if doors.pprof is not None else ():
            _add_answer(moment, name, doors.pprof, partial(doors.read_profile, name))
    except Ended:
        moment.ended = True


def _both_sides(moment: Moment, process: Process, doors: Doors) -> None:
    """Read MemStats and the kernel's files in the same state of the process, if possible."""
    of_cgroup: list[Path] = []  # found first, because that takes time
    try:
        of_cgroup = cgroup_files(process.read("cgroup"))
    except (NotRead, OSError) as error:
        moment.missing["cgroup"] = str(error)
    before: RuntimeReading | None = None
    for attempt in range(1, ATTEMPTS + 1):
        began = time.perf_counter()
        before = _with_kernel(moment, process, doors, before)
        after = _runtime(moment, doors) if before is not None else None
        moment.num_gc = _counts(before, after)
        if _ended_before(after, moment):
            moment.readings = [
                reading for reading in moment.readings if reading.kind in KERNEL_FILES
            ]
            _keep(moment, after)
            moment.num_gc = _counts(after, after)
        is_same = moment.num_gc is None or moment.num_gc[0] == moment.num_gc[1]
        if is_same or attempt == ATTEMPTS or time.perf_counter() - began > DEAR_SECONDS:
            break
        before = None if moment.of("heap_text") else after
    for path in of_cgroup:
        _add(moment, path.name, partial(read_file, path))


def _with_kernel(
    moment: Moment, process: Process, doors: Doors, before: RuntimeReading | None
) -> RuntimeReading | None:
    """Read MemStats, unless they were read just `before`, and the kernel's files."""
    moment.readings = []
    if before is None:
        before = _runtime(moment, doors, partial(_kernel, moment, process))
    kernel = moment.readings
    moment.readings = []
    _keep(moment, before)
    moment.readings += kernel
    if not kernel:
        _kernel(moment, process)
    return before


def _ended_before(after: RuntimeReading | None, moment: Moment) -> bool:
    """Whether a collection ended between the readings, but before the kernel's files."""
    # Then the second reading belongs to the kernel's files. Both times are from the same clock.
    kernel = next((reading for reading in moment.readings if reading.kind in KERNEL_FILES), None)
    counts = moment.num_gc
    if counts is None or counts[0] == counts[1] or kernel is None:
        return False
    assert after is not None
    last = after.last_gc_seconds
    return last is not None and 0 < last < kernel.time.timestamp()


def _counts(before: RuntimeReading | None, after: RuntimeReading | None) -> tuple[int, int] | None:
    """NumGC of both readings, if both are known and from one run of the runtime."""
    first, last = (None if reading is None else reading.collections for reading in (before, after))
    return (first, last) if first is not None and last is not None and first <= last else None


def _runtime(
    moment: Moment, doors: Doors, during_page: Callable[[], None] = lambda: None
) -> RuntimeReading | None:
    if doors.memstats_from is None:
        if doors.found:
            moment.missing["memstats"] = "not served"
        return None
    try:
        return doors.runtime(during_page)
    except NoAnswer as error:
        moment.lacks("memstats", doors.memstats_from[1], error)
        return None


def _keep(moment: Moment, runtime: RuntimeReading | None) -> None:
    if runtime is not None:
        moment.readings.append(_reading(runtime.kind, runtime.answer))


def _reading(kind: str, answer: Answer) -> Reading:
    return Reading(kind, answer.data, answer.time, answer.seconds)


def _kernel(moment: Moment, process: Process) -> None:
    """Read the kernel's files, those closest to MemStats first; raises Ended with the process."""
    # When the process ends, the kernel cuts a file off without a sign. So files are kept only if
    # the process still has memory afterwards.
    before = list(moment.readings)
    try:
        for name in KERNEL_FILES:
            _add(moment, name, partial(process.read, name))
        status = moment.of("status")
        if not process.is_running or (status is not None and b"VmRSS:" not in status.data):
            raise Ended  # noqa: TRY301 - as where a file tells so
    except Ended:
        moment.readings = before
        moment.missing["smaps"] = "the process ended while the kernel's files were read"
        raise


def _add(moment: Moment, kind: str, call: Callable[[], bytes]) -> None:
    """Add a kernel file, or the reason why it is missing."""
    at, began = datetime.now(UTC), time.perf_counter()
    try:
        moment.readings.append(Reading(kind, call(), at, time.perf_counter() - began))
    except NotRead as error:
        moment.missing[kind] = str(error)


def _add_answer(
    moment: Moment, kind: str, address: Endpoints | None, call: Callable[[], Answer]
) -> None:
    """Add an endpoint's answer, or the reason why it is missing."""
    if address is not None and address.base in moment.silent:
        moment.missing[kind] = "not requested: the address did not answer before"
        return
    try:
        moment.readings.append(_reading(kind, call()))
    except NoAnswer as error:
        moment.lacks(kind, address, error)
