"""The result of a rule: a finding with its size and its evidence."""

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
        artefact: The file with the number, or the files that the number was computed from.
        field: The name of the number, as the artefact spells it, if the artefact has a name for it.
        value: The value, in the base unit.
        unit: One of `inputs.schema.UNITS`; empty for text.
    """

    artefact: str
    field: str
    value: int | float | str
    unit: str


def placed(function: str, file: str, line: int | None) -> Text:
    """Return a function with the base name of its file, and the line: `main.f (store.go:41)`."""
    if not file:
        return Text(Function(function))
    number = "" if line is None else f":{line}"
    return text("{} ({}{})", Function(function), File(base_name(file)), number)


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the program that can be fixed.

    Attributes:
        function: The caller of the allocator.
        own_function: The program's own function on the stack; equal to `function` if that is the
            caller.
        file: The file of the call in the program's own function; empty if unknown.
        line: The line in that file; None if unknown.
        low: Lower end of the 95 % interval of the growth, in bytes; NaN if unknown.
        high: Upper end of that interval.
        change: The growth, in bytes.
        share: The growth as a share of the total growth.
        object_bytes: Size of the objects that take most of the bytes; None if unknown.
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
    def place(self) -> Text:
        """The own function with its line: `main.f (store.go:41)`; only the name if unknown."""
        return placed(self.own_function, self.file, self.line)

    @property
    def words(self) -> Text:
        """The name in sentences: the own function, and the library's if the library allocates."""
        own = Function(self.own_function)
        if self.function in ("", self.own_function):
            return Text(own)
        return text("{} (calls {})", own, Function(self.function))


@dataclass(frozen=True, slots=True)
class MissingCall:
    """A call that is most likely missing, from a row of `signatures.toml`.

    Attributes:
        call: The call, to paste.
        why: The consequence of the missing call.
        reference: Address of its documentation.
        releases: The Go releases to which the row applies; empty if the capture's release is one of
            them.
        function: The program's own function in which the call is missing; empty if unknown.
        file: The file in which that function opens something that is not closed; empty if unknown.
        line: The line in that file; None if unknown.
        is_elsewhere: Whether the call is missing in another function, and this one waits for it.
        seen_in: A library's function on the stacks that show that the call is missing; else empty.
    """

    call: str
    why: str
    reference: str
    releases: str = ""
    function: str = ""
    file: str = ""
    line: int | None = None
    is_elsewhere: bool = False
    seen_in: str = ""

    @property
    def words(self) -> Text:
        """Two sentences: the missing call and its place, and why the call is needed."""
        where = placed(self.function, self.file, self.line) if self.function else Text()
        if where:
            words = ": {} waits for it" if self.is_elsewhere else " in {}"
            where = text(words, where)
        releases = f" ({self.releases})" if self.releases else ""
        return text("Check for a missing {}{}{}. {}", self.call, where, releases, self.why)


@dataclass(frozen=True, slots=True)
class Lack:
    """Insufficient evidence: a rule saw signs of its cause, but too few.

    Attributes:
        code: The cause.
        seen: The finding that the signs point to, in words.
        had: The available evidence, in words.
        needed: The required evidence, in words.
        next_step: How to get the required evidence.
        evidence: The available evidence, in numbers.
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
        title: What is wrong, how much memory, and where: a short sentence with the number.
        moment: The last snapshot at which the finding holds; None for the whole capture.
        bytes: Memory that the finding explains; None if the finding is not about memory.
        evidence: The numbers that support the finding.
        mechanism: Why the problem happens.
        next_step: What to do, with a command to paste first.
        references: Issues and documents.
        confidence: How sure the finding is: one of `CONFIDENCES`.
        cpu_fraction: CPU cost as a share of GOMAXPROCS times the elapsed time, as in
            `GCCPUFraction`; None if the finding is not about CPU. From a log: `ms cpu` without
            idle marking. The share of the CPU that the program used is larger if Ps were idle.
        moments: All snapshots at which the finding holds; empty for the whole capture.
        now: Whether the finding holds at the last snapshot, according to that snapshot's files.
        over: Whether a later snapshot shows that the finding no longer holds. If neither `now` nor
            `over` is true, later snapshots lack the files to tell.
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
