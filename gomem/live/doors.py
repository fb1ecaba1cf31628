"""Which address of a process serves pprof, expvar or metrics, and which of them gives MemStats?

MemStats come from expvar, else from the metrics page, else from the end of `heap?debug=1`, the
cheapest first, because it disturbs the process least. All three have NumGC.
"""

from __future__ import annotations

import json
import math
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gomem.inputs.looks_like import looks_like
from gomem.inputs.metrics.page import is_page
from gomem.inputs.pprof.parse import starts_like_pprof
from gomem.live.endpoints import Answer, Endpoints, NoAnswer
from gomem.numbered import Address
from gomem.sources.artefact import open_source
from gomem.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

PROBE_SECONDS = 3.0  # for an address that the user did not name
ALIVE_SECONDS = 2.0  # for a sign of life after a slow answer
SAME_START_SECONDS = 3.0
MAX_ADDRESSES = 16  # a process with more is not a service with a debug port
VARS, METRICS, INDEX = "/debug/vars", "/metrics", "/debug/pprof/"
HEAP_TEXT = f"{INDEX}heap?debug=1"
_COLLECTIONS = ("go_gc_duration_seconds_count", "go_gc_cycles_total_gc_cycles_total")
_HAS_MEMSTATS = re.compile(rb"(?m)^go_memstats_heap_sys_bytes ")
_RELEASE = re.compile(rb'(?m)^go_info\{version="(go1\.[\w.]+)[^"]*"\} 1')
_TEXT_GOROUTINES = re.compile(rb"goroutine profile: total (\d+)")
NANOSECONDS = 1e9
GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class RuntimeReading:
    """MemStats as read from an endpoint."""

    kind: str  # the file's name in the manifest: `memstats`, `metrics` or `heap_text`
    answer: Answer  # the file and the time of the request
    collections: int | None  # NumGC; None if missing
    last_gc_seconds: float | None = None  # LastGC, since the epoch; None if missing


@dataclass(frozen=True)
class Doors:
    """The endpoints found in a process, and the address of each."""

    pprof: Endpoints | None = None  # serves `/debug/pprof/`
    expvar: Endpoints | None = None  # serves `/debug/vars` with MemStats
    metrics: Endpoints | None = None  # serves `/metrics` as Prometheus text
    has_memstats: bool = False  # whether the metrics page has MemStats, too
    go_version: str = ""  # the release on the metrics page; empty if it has none
    # Failed requests, by address and path, with the reason.
    said: tuple[str, ...] = field(default=())

    @property
    def found(self) -> bool:
        """Whether any endpoint was found."""
        return any((self.pprof, self.expvar, self.metrics))

    @property
    def bases(self) -> list[str]:
        """The addresses with at least one endpoint."""
        found = filter(None, (self.pprof, self.expvar, self.metrics))
        return list(dict.fromkeys(door.base for door in found))

    @property
    def memstats_from(self) -> tuple[str, Endpoints] | None:
        """Where MemStats come from: the file's name in the manifest, and the address."""
        metrics = self.metrics if self.has_memstats else None
        ways = (("memstats", self.expvar), ("metrics", metrics), ("heap_text", self.pprof))
        return next(((kind, address) for kind, address in ways if address is not None), None)

    def runtime(self, during_page: Callable[[], None] = lambda: None) -> RuntimeReading:
        """Read MemStats from the cheapest endpoint; raises NoAnswer without MemStats.

        `during_page` is called while a heap profile in text is being written.
        """
        if self.memstats_from is None:
            raise NoAnswer("no MemStats: /debug/vars, /metrics and /debug/pprof/ are not served")
        kind, address = self.memstats_from
        if kind == "memstats":
            answer = _asked(address, VARS)
            stats = memstats_of_expvar(answer.data)
            answer = replace(answer, data=json.dumps(stats).encode() + b"\n")
            count, last = stats["NumGC"], stats.get("LastGC")
            last = last if isinstance(last, int) else None
        elif kind == "metrics":
            answer = self.read_metrics()
            seconds = _metric(answer.data, "go_memstats_last_gc_time_seconds")
            return RuntimeReading(
                kind, answer, _whole(_metric(answer.data, *_COLLECTIONS)), seconds
            )
        else:
            # Go reads MemStats first (since 1.10), then writes for as long as it has sites.
            answer = _asked(address, HEAP_TEXT, during_page)
            if not answer.data.startswith(b"heap profile:"):
                what = "answered {}, not a heap profile as text"
                raise NoAnswer(text(what, seen_as(answer.data)))
            forms = (re.compile(rb"(?m)^# %s = (\d+)" % name) for name in (b"NumGC", b"LastGC"))
            count, last = (_whole(_number(form, answer.data)) for form in forms)
        return RuntimeReading(kind, answer, count, None if last is None else last / NANOSECONDS)

    def read_metrics(self) -> Answer:
        """Read the metrics page; raises NoAnswer if none is served."""
        if self.metrics is None:
            raise NoAnswer("no /metrics is served")
        answer = _asked(self.metrics, METRICS)
        if not is_page(answer.data):
            raise NoAnswer(text("answered {}, not Prometheus text", seen_as(answer.data)))
        return answer

    def read_profile(self, name: str) -> Answer:
        """Read a profile without forcing a GC; raises NoAnswer if no complete profile arrives."""
        if self.pprof is None:
            raise NoAnswer("no /debug/pprof/ is served")
        answer = _asked(self.pprof, f"{INDEX}{name}")
        if not answer.data.startswith(GZIP):  # net/http/pprof always compresses
            raise NoAnswer(text("answered {}, not a profile", seen_as(answer.data)))
        source = open_source(answer.data, name="answer")
        for damage in source.damage:
            raise NoAnswer(text("answered an incomplete profile ({}); discarded", damage.what))
        if not starts_like_pprof(source.data):
            raise NoAnswer(text("answered {}, not a profile", seen_as(source.data)))
        return answer

    def goroutines(self) -> int:
        """Read the number of goroutines; raises NoAnswer if no endpoint has it."""
        found = None
        if self.metrics is not None:
            found = _whole(_metric(self.read_metrics().data, "go_goroutines"))
        if found is None and self.pprof is not None:
            page = _asked(self.pprof, f"{INDEX}goroutine?debug=1").data
            found = _whole(_number(_TEXT_GOROUTINES, page[:200]))
        if found is not None:
            return found
        raise NoAnswer("no goroutine count: /metrics and /debug/pprof/goroutine are not served")

    def is_of(self, arguments: Sequence[str], started: datetime) -> bool:
        """Return whether the endpoints belong to a process, by command line or start time."""
        # A local port can be forwarded by kubectl, ssh or Docker. The command line is compared and
        # not stored. Without evidence, the process is assumed to be the right one.
        if not arguments:
            return True
        with suppress(NoAnswer, ValueError):
            if self.pprof is not None:
                theirs = self.pprof.get(f"{INDEX}cmdline").data
                # Some programs, such as gopls, join the arguments with blanks.
                ours = b" ".join(os.fsencode(word) for word in arguments)
                return theirs.replace(b"\0", b" ").rstrip() == ours.rstrip()
            if self.expvar is not None:
                page = json.loads(self.expvar.get(VARS).data)
                return bool(page.get("cmdline") == list(arguments))
            found = _metric(self.read_metrics().data, "process_start_time_seconds")
            return found is None or abs(found - started.timestamp()) < SAME_START_SECONDS
        return True


def _asked(
    address: Endpoints, path: str, at_first_bytes: Callable[[], None] = lambda: None
) -> Answer:
    """The answer at a path; a message about a slow answer names the path."""
    try:
        return address.get(path, at_first_bytes=at_first_bytes)
    except NoAnswer as error:
        if error.late:
            raise NoAnswer(text("{} {}", path, error.what), late=True) from error
        raise


def is_silent(address: Endpoints, error: NoAnswer) -> bool:
    """Return whether other paths of an address are useless to ask after an error of one path.

    A slow path says nothing about the others, so after one, the address gets a cheap request: a
    response to that, even a 404, is a sign of life.
    """
    if not error.late:
        return error.silent
    try:
        address.get(f"{INDEX}cmdline", timeout_seconds=ALIVE_SECONDS)
    except NoAnswer as again:
        return again.silent
    return False


def find_doors(addresses: Sequence[Endpoints], *, is_wanted: bool = False) -> Doors:
    """Find out what each address serves; for each endpoint, the first address with it is used."""
    # If the user named an address, report that it does not answer.
    doors, said, unheard = Doors(), list[str](), list[str]()
    for address in addresses[:MAX_ADDRESSES]:
        doors = _with(doors, address, said, unheard, is_wanted=is_wanted)
    if len(addresses) > MAX_ADDRESSES:
        said.append(f"{len(addresses) - MAX_ADDRESSES} more addresses were not tried")
    if is_wanted or not doors.found:
        said += unheard
    return replace(doors, said=tuple(said))


def _with(
    doors: Doors, address: Endpoints, said: list[str], unheard: list[str], *, is_wanted: bool
) -> Doors:
    """Return what is known after probing one more address."""
    for name, (path, is_it) in _QUESTIONS.items():
        if getattr(doors, name) is not None:
            continue
        try:
            answer = address.get(path, timeout_seconds=None if is_wanted else PROBE_SECONDS)
        except NoAnswer as error:
            # then other paths do not answer either; a service has ports for other things
            if is_silent(address, error):
                unheard.append(text("{}: {}", Address(address.base), error.what))
                break
            if is_wanted or "404" not in str(error):
                said.append(text("{}{}: {}", Address(address.base), path, error.what))
            continue
        if is_it(answer.data):
            told = _told_by_metrics(answer.data) if name == "metrics" else {}
            doors = replace(doors, **{**told, name: address})
        elif is_wanted:
            what = seen_as(answer.data)
            said.append(text("{}{}: answered {}", Address(address.base), path, what))
    return doors


def _told_by_metrics(page: bytes) -> dict[str, Any]:
    release = _RELEASE.search(page)
    version = "" if release is None else release[1].decode()
    return {"has_memstats": _HAS_MEMSTATS.search(page) is not None, "go_version": version}


def memstats_of_expvar(data: bytes) -> dict[str, Any]:
    """Extract MemStats with a valid NumGC from an expvar page; NoAnswer if there are none."""
    # The rest of the page is ignored: it has the command line, and the program's own variables.
    try:
        stats: dict[str, Any] = json.loads(data)["memstats"]
        stats["NumGC"] = int(stats["NumGC"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise NoAnswer(f"answered {seen_as(data)}, not expvar with MemStats in it") from error
    return stats


# For each endpoint, the path to request, and a check of the answer.
_QUESTIONS: dict[str, tuple[str, Callable[[bytes], bool]]] = {
    "pprof": (INDEX, lambda page: b"goroutine" in page and b"heap" in page),
    "expvar": (VARS, lambda page: b'"memstats"' in page),
    "metrics": (METRICS, is_page),
}


def seen_as(data: bytes) -> str:
    """Describe in words what a response looks like."""
    return looks_like(data, "answer").what if data.strip() else "nothing"


def _metric(page: bytes, *names: str) -> float | None:
    """The value of the first of these metrics that has a sample without labels on the page."""
    forms = (re.compile(rb"(?m)^%s ([0-9.e+]+)" % name.encode()) for name in names)
    return next((_number(form, page) for form in forms if form.search(page)), None)


def _number(form: re.Pattern[bytes], data: bytes) -> float | None:
    """The number matched by a pattern; None if there is none, or it is out of range."""
    found = form.search(data)
    try:
        value = math.inf if found is None else float(found[1])
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
