"""Go releases, and the runtime's behaviour in each: gomem's only table of these facts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from gomem.sources.names import natural_key

if TYPE_CHECKING:
    from collections.abc import Iterable

# Matches `go1.24.2`, `1.9`, `go1.27rc1`, `devel go1.26-abcdef`; not the 1.24.2 of `v1.24.2`.
_RELEASE = re.compile(
    r"(?<![\w.])(?:go)?1\.([0-9]{1,2})(?:\.([0-9]{1,3}))?(?:rc[0-9]+|beta[0-9]+)?(?![\w])"
)


@dataclass(frozen=True, order=True, slots=True)
class GoRelease:
    """The release Go 1.`minor`.`patch`."""

    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"go1.{self.minor}.{self.patch}" if self.patch else f"go1.{self.minor}"


ANY = GoRelease(0)  # older than any release that gomem can read


def parse_release(text: str) -> GoRelease | None:
    """Return the first Go release named in a text; None if there is none."""
    match = _RELEASE.search(text)
    if match is None:
        return None
    return GoRelease(int(match[1]), int(match[2] or 0))


class Span(Protocol):
    """A range of releases."""

    @property
    def since(self) -> GoRelease:
        """The first release; `ANY` if there is no lower bound."""

    @property
    def before(self) -> GoRelease | None:
        """The first release after the range; None if there is no upper bound."""


class Fact(Enum):
    """A behaviour of the runtime: the releases that have it, and a description.

    Each fact comes from the runtime's source, and was observed in programs built with the releases
    just before and after each change.
    """

    # fmt: off
    STACKS_RESCANNED = "", "1.8", "mark termination scans all stacks again, with the world stopped"
    IDLE_SPANS_AGE = (
        "", "1.13", "heap is released after five minutes idle; there is no goal")
    BACKGROUND_SCAVENGER = (
        "1.13", "", "a background scavenger keeps a tenth more heap than the next cycle will need")
    GOAL_BY_NEXT_GC = "1.13", "1.13.2", "the scavenger's goal is 1.1 × NextGC"
    GOAL_BY_PEAK = (
        "1.13.2", "", "its goal is 1.1 × (HeapInuse at the last GC) × (NextGC / previous NextGC)")
    ONE_PASS_A_CYCLE = "1.14", "1.19", "the scavenger passes over the heap once a GC cycle"
    LIMIT_GOAL_MISSED = (
        "1.19", "1.22",
        "a bug makes the scavenger aim at 95 instead of 0.95 × GOMEMLIMIT (golang/go#62449)")
    LIMIT_GOAL = "1.22", "", "the scavenger also aims at 0.95 × GOMEMLIMIT"
    DENSE_CHUNKS_STAY = (
        "1.21", "", "it skips 4 MiB chunks that were nearly full in this GC cycle or the last")
    MADV_FREE = (
        "1.12", "1.16", "memory released with MADV_FREE stays in RSS until the kernel needs it")
    MADV_DONTNEED = (
        "1.16", "", "memory is released with MADV_DONTNEED, as before 1.12, and RSS falls at once")
    FRESH_IS_RELEASED = (
        "1.13", "", "heap that was never touched counts in HeapReleased; before, in HeapIdle alone")
    FRESH_ARENAS_ARE_IDLE = (
        "1.11", "1.13", "a fresh arena of 64 MiB counts as idle heap that was not released")
    GROWS_BY_MIB = "", "1.11", "the heap grows by 1 MiB"
    GROWS_BY_ARENAS = "1.11", "1.17", "the heap grows by whole arenas of 64 MiB"
    GROWS_BY_CHUNKS = "1.17", "", "the heap grows by chunks of 4 MiB"
    NAMED_MAPPINGS = (
        "1.25", "", "the runtime names its mappings, such as `[anon: Go: heap]`, if the kernel can")
    RANDOM_ADDRESS = "1.26", "", "the heap is at a random address; before, at 0xc000000000"
    HUGE_PAGES_ASKED = (
        "1.21", "1.21.4",
        "the heap asks for huge pages, in 1.21.0 as MADV_HUGEPAGE, then MADV_COLLAPSE")
    ZEROES_LARGE = (
        "1.24", "1.24.6",
        "large objects with pointers are zeroed even in fresh memory, and so become resident")
    TRIGGER_HAS_A_FLOOR = "1.14", "", "collections start no sooner than 0.6 of the way to the goal"
    STACKS_COUNT = (
        "1.18", "", "stacks and globals are added to what GOGC multiplies, and gctrace prints them")
    ALL_STACKS_COUNT = (
        "1.18", "1.19", "all stack memory counts for the goal, not just the scanned part")
    MEMORY_LIMIT = "1.19", "", "GOMEMLIMIT can lower the heap goal"
    RUNWAY_OF_FIVE = "1.20", "", "the trigger uses the largest runway of the last five cycles"
    LIMIT_HEADROOM = "1.21", "", "3 % of what GOMEMLIMIT leaves to the heap stay free"
    DUMP_HAS_SURPLUS = "1.22", "", "a heap dump lists a span's free slots at its end as objects"
    CLEANUPS = "1.24", "", "the argument of runtime.AddCleanup can keep objects"
    CLEANUPS_UNSEEN = (
        "1.26", "", "a heap dump does not show what the argument of runtime.AddCleanup keeps")
    DUMP_CAN_END = (
        "1.26", "",
        "debug.WriteHeapDump can end the process, if a goroutine is in a system call")
    # fmt: on

    def __init__(self, since: str, before: str, what: str) -> None:
        self.since = parse_release(since) or ANY
        self.before = parse_release(before)
        self.what = what

    @property
    def sentence(self) -> str:
        """The fact in a sentence, as in `Go 1.12 to 1.15: memory is …`."""
        first = str(self.since).removeprefix("go")
        if self.before is None:
            return f"Since Go {first}: {self.what}."
        minor, patch = self.before.minor, self.before.patch
        last = str(GoRelease(minor, patch - 1) if patch else GoRelease(minor - 1))[2:]
        span = f"Up to Go {last}" if self.since == ANY else f"Go {first} to {last}"
        return f"{span}: {self.what}."


@dataclass(frozen=True, slots=True)
class GoVersion:
    """The Go release of a capture, as far as it is known.

    Attributes:
        low: The oldest possible release; None if unknown.
        high: The newest possible release; None if unknown.
        text: As the evidence spells it, if the release is known exactly.
        evidence: What states the release, or narrows it.
        against: What the capture says, if the user says otherwise; else empty.
    """

    low: GoRelease | None = None
    high: GoRelease | None = None
    text: str | None = None
    evidence: str = "no file states it"
    against: str = ""

    @property
    def exact(self) -> GoRelease | None:
        """The release; None if it is not known exactly."""
        return self.low if self.text is not None else None

    def certainly(self, fact: Span) -> bool:
        """Return whether every possible release has this behaviour."""
        has_begun = fact.since == ANY or (self.low is not None and self.low >= fact.since)
        goes_on = fact.before is None or (self.high is not None and self.high < fact.before)
        return has_begun and goes_on

    def possibly(self, fact: Span) -> bool:
        """Return whether some possible release has this behaviour."""
        not_ended = fact.before is None or self.low is None or self.low < fact.before
        return not_ended and (self.high is None or self.high >= fact.since)

    @property
    def words(self) -> str:
        """The release as text: `Go 1.24.2`."""
        return str(self).replace("go1", "Go 1")

    def __str__(self) -> str:
        if self.text is not None:
            return self.text
        if self.low is None and self.high is None:
            return "unknown"
        if self.high is None:
            return f"{self.low} or later"
        if self.low is None:
            return f"{self.high} or earlier"
        return f"{self.low} to {self.high}"


def known_version(text: str, evidence: str) -> GoVersion | None:
    """Return the exact version named in a text such as `go1.24.2`; None if it names no release."""
    release = parse_release(text)
    if release is None:
        return None
    return GoVersion(release, release, str(release), evidence)


_STATED = re.compile(
    rb"\b(?:go version(?: \((?:client|server)\))?:?[ \t]+"
    rb"|(?:compiled|built|running) (?:under |with |by |using |on |w/)"
    rb"(?:go(?:lang)? )?|go ?(?:release|version)[:=] ?"
    rb"|(?:process|program|service|server|binary|application) (?:in|on|under|with) (?=go1\.))"
    rb"\\?[\"'`]?(?:go|v)?"
    rb"(1\.\d{1,2}(?:\.\d{1,3})?)(?![\w.]*\d)"
    rb"|\bgo(1\.\d{1,2}(?:\.\d{1,3})?)[ /](?:linux|darwin|windows|freebsd)[/-]\w{3,8}\b",
    re.IGNORECASE,
)  # fmt: skip
# One among other facts: `(go1.20.14, CGO_ENABLED=1)`, `(bbolt, go1.24)`, `Go 1.24.6, GOGC not set`;
# or a sentence of its own: `Go 1.20.14, no cgo.`, `Go 1.19.`, `It is Go 1.19.`.
_AMONG = re.compile(
    rb"(?:[(,] ?)go ?(1\.\d{1,2}(?:\.\d{1,3})?)(?=[,)])"
    rb"|(?:^[ \t>*-]*|[.;!?)][ \t]+)(?:(?:(?:it|this)(?: is|'s)|we(?: are|'re) on) )?"
    rb"go ?(1\.\d{1,2}(?:\.\d{1,3})?)"
    rb"(?=, ?(?:no |without )?(?:GO[A-Z]{2,10}|CGO(?:_ENABLED)?)\b|[.;](?:\s|\Z))",
    re.IGNORECASE | re.MULTILINE,
)
# The answer below a question of an issue template, in a fence or tags, or behind a prompt.
_ANSWER = re.compile(
    rb"\b(?:version of go(?:lang)?|go(?:lang)? version)\b[^\n\d]{0,60}\n"
    rb"(?:[ \t>]*(?:`{3,}\w*|<[^<>\n]{1,200}>)?[ \t]*\n){0,6}"
    rb"[ \t>]*(?:<[a-z]{1,9}>)*[ \t]*(?:[$#%-][ \t]+)?[`*\"]{0,3}(?:(?:go(?:lang)?)?[ \t]*v?)"
    rb"(1\.\d{1,2}(?:\.\d{1,3})?)(?![\w.]*\d)",
    re.IGNORECASE,
)
_ANY_RELEASE = re.compile(rb"(?<![\w.])go ?(1\.\d{1,2}(?:\.\d{1,3})?)(?![\w.]*\d)", re.IGNORECASE)
# What docker version, podman version and the like print of themselves, and a process of docker's.
_DOCKER_VERSION = re.compile(rb"API version:[^\n]*\n[ \t>]*go version[^\n]*", re.IGNORECASE)
_IS_DOCKER = re.compile(rb"\d:\d\d(?:\.\d+)? +\S*docker(?:d|-daemon)?\b|github\.com/docker/docker/")

# What a program of the cluster prints of itself, above a list of the cluster's pods.
_CLUSTER_VERSION = re.compile(
    rb"\b(?:k?3s|rke2|k0s|kubelet|kubernetes|containerd) version [^\n]*\n[ \t>]*go version[^\n]*",
    re.IGNORECASE,
)
_POD_LIST = re.compile(rb"\bCPU\(cores\) +MEMORY\(bytes\)|\bkubectl top pods?\b")
_IS_OF_CLUSTER = re.compile(rb"\d:\d\d(?:\.\d+)? +\S*(?:k3s|rke2|k0s|kubelet|containerd)\b")


def stated_release(text: bytes) -> str:
    """Return the Go release that a text states: `go version go1.17.7 linux/amd64`; else empty.

    If a text states several, none of them is certain to be the program's. That of docker version is
    only if the text shows a process of docker's, or its code. That of a cluster's own program is
    not if the text lists pods, and no process of the cluster's.
    """
    if _DOCKER_VERSION.search(text) and not _IS_DOCKER.search(text):
        text = _DOCKER_VERSION.sub(b"", text)
    if _POD_LIST.search(text) and not _IS_OF_CLUSTER.search(text):
        text = _CLUSTER_VERSION.sub(b"", text)
    found = {(first or second).decode() for first, second in _STATED.findall(text)}
    found.update(map(bytes.decode, _ANSWER.findall(text)))
    if not found and len(set(_ANY_RELEASE.findall(text))) == 1:
        found = {(first or second).decode() for first, second in _AMONG.findall(text)}
    return f"go{found.pop()}" if len(found) == 1 else ""


def build_order(builds: Iterable[str]) -> list[str]:
    """Sort builds by Go release, or else by the numbers in their names."""

    def place(build: str) -> Any:
        release = parse_release(build) or ANY
        return release.minor, release.patch, natural_key(build)

    return sorted(set(builds), key=place)
