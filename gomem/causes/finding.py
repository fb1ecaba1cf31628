"""The result of a rule: one finding with its bytes and its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from gomem.inputs.pprof.calls.names import base_name
from gomem.text import File, Function, Text, text

CONFIDENCES = ("certain", "likely", "possible")


class Severity(IntEnum):
    """The severity of a finding, in ascending order."""

    INFO = 1
    WARNING = 2
    CRITICAL = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Evidence:
    """One number, or a few words, that support a finding.

    Attributes:
        artefact: The file that has it, or the files that it was computed from.
        field: What it is, in the artefact's own spelling where it has one.
        value: The value, in the base unit.
        unit: One of `inputs.schema.UNITS`; empty for text.
    """

    artefact: str
    field: str
    value: int | float | str
    unit: str


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the program that can be fixed.

    Attributes:
        function: Who called the allocator.
        own_function: The program's own function on the stack; the same if it is the caller itself.
        file: The file with the own function's call; empty if unknown.
        line: The line in that file; None if unknown.
        low: Lower end of the 95 % interval of its growth, in bytes; NaN if unknown.
        high: Upper end of the same.
        change: Its growth.
        share: Its growth as a share of the total growth.
        object_bytes: Size of the objects with most of its bytes; None if unknown.
    """

    function: str
    own_function: str
    file: str = ""
    line: int | None = None
    low: float = 0.0
    high: float = 0.0
    change: float = 0.0
    share: float = 0.0
    object_bytes: int | None = None

    @property
    def words(self) -> Text:
        """How a sentence names it: the own function, and the library's if that allocates."""
        own = Function(self.own_function)
        if self.function in ("", self.own_function):
            return Text(own)
        return text("{} (via {})", own, Function(self.function))


@dataclass(frozen=True, slots=True)
class MissingCall:
    """A call that is most likely missing, from a row of `signatures.toml`.

    Attributes:
        call: The call, to paste.
        why: The consequence of the missing call.
        reference: Address of its documentation.
        releases: The Go releases to which it applies, if the capture's can be another.
        function: The program's own function in which it is missing; empty if unknown.
        file: The file in which that function opens what it does not close; empty if unknown.
        line: The line in that file; None if unknown.
    """

    call: str
    why: str
    reference: str
    releases: str = ""
    function: str = ""
    file: str = ""
    line: int | None = None

    @property
    def words(self) -> Text:
        """Two sentences: what is missing and where, and why it is needed."""
        where = Text()
        if self.function:
            where = text(" in {}", Function(self.function))
        if self.function and self.file:
            place = "" if self.line is None else f":{self.line}"
            where += text(" ({}{})", File(base_name(self.file)), place)
        releases = f" ({self.releases})" if self.releases else ""
        return text("Check for a missing {}{}{}. {}", self.call, where, releases, self.why)


@dataclass(frozen=True, slots=True)
class Lack:
    """Insufficient evidence: a rule saw signs of its cause, but too few.

    Attributes:
        code: The cause.
        seen: The finding that it would be, in words.
        had: How much is available, in words.
        needed: How much is required, in words.
        next_step: How to get it.
        evidence: The same in numbers.
    """

    code: str
    seen: str
    had: str
    needed: str
    next_step: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A known cause, found in a capture.

    Attributes:
        code: The cause's fixed name, such as `idle-heap-kept`.
        severity: `critical`, `warning` or `info`.
        title: What is wrong, how much, and where: a few plain words with the number in them.
        moment: The last snapshot at which it holds; None if it is about the whole capture.
        bytes: Memory it explains; None if it is not about memory.
        evidence: What proves it.
        mechanism: Why this happens.
        next_step: What to do, with a command to paste first.
        references: Issues and documents.
        confidence: How sure it is: one of `CONFIDENCES`.
        cpu_fraction: CPU cost as a share of GOMAXPROCS times the elapsed time, as in
            `GCCPUFraction`; None if the finding is not about CPU. From a log: `ms cpu` without
            idle marking. The share of the CPU that the program used is larger if Ps were idle.
        moments: All snapshots at which it holds; empty if it is about the whole capture.
        now: Whether it holds at the last moment, according to that moment's files.
        over: Whether a later moment shows that it no longer holds. If neither is true, later
            moments lack the files to tell.
        sites: Places in the program that can be fixed.
        missing_call: The call that is most likely missing; None if unknown.
    """

    code: str
    severity: Severity
    title: str
    moment: str | None
    bytes: int | None
    evidence: tuple[Evidence, ...]
    mechanism: str
    next_step: str
    references: tuple[str, ...] = ()
    confidence: str = "certain"
    cpu_fraction: float | None = None
    moments: tuple[str, ...] = ()
    now: bool = True
    over: bool = False
    sites: tuple[Site, ...] = ()
    missing_call: MissingCall | None = None
