"""`go test -bench` output: one line per result, `BenchmarkName-8  1000  12.5 ns/op  64 B/op`.

Printed by    the testing package's benchmark.go, and tools that use the same format.
Described in  golang.org/design/14313-benchmark-format; `Unit` lines in x/perf's benchfmt.
Quirks        The number after the name's last dash is GOMAXPROCS. go test omits it when it is 1, so
              a sub-benchmark named `x-8` then looks like `x` on 8 processors.
              Configuration, `key: value`, holds for every result below it until it is set again.
              MB/s means 10^6 bytes, unlike the MB of the runtime's own logs.
              go test prints the name before the benchmark and the numbers after it, so the
              program's output can come in between. Such a line is joined again.
              With -v the name also has a line of its own, without numbers.
              go test runs BenchmarkX and not Benchmarkx, but other tools write lower-case names,
              and x/perf's benchfmt reads them. `Benchmarking is fun` can be a log line. So a name
              that continues in lower case counts only before a complete result whose unit has a
              slash or a dash (`ns/op`, `text-bytes`).
              benchcmp's table has similar lines, with old, new and delta. They are not results.
              Some people paste two runs in one text, with `After this change:` between them. The
              second run begins if repeated settings follow such a line, or if other text comes
              between go test's end of a run and further results. If both runs have a
              benchmark in common, their results get `run: 1` and `run: 2`. A Markdown fence also
              ends a run. So does a heading such as `Before` or `## master`, which then names the
              run: `run: Before`.
              Pasted results are sometimes indented. benchfmt skips these lines; this parser reads
              them if they are complete.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.markdown import FENCE
from gomem.inputs.unwrap import plain_characters
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = re.compile(r"Benchmark(\S*)")
WORD = re.compile(r"Benchmark[a-z]")
PROCS = re.compile(r"(.*)-([0-9]+)", re.DOTALL)
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?Inf|NaN")
COUNT = re.compile(r"[0-9]{1,18}")
NUMBERS_ALONE = re.compile(r" *[0-9]+[ \t]+\S+[ \t]+[^\s/]+/op(?:\s.*)?")
CONFIGURATION = re.compile(r"([^\W0-9A-Z_][^\sA-Z:]*):(?:[ \t]+(.*))?")
FAILED = re.compile(r"\s*--- FAIL: (Benchmark\S+)")
ANY_RESULT = re.compile(
    rb"^([ \t]*)Benchmark(?:(?![a-z])\S*[ \t]+\d+[ \t]+[-+.\dIN]\S*[ \t]+[^\s\d+~.-]"
    rb"|\S*[ \t]+\d+[ \t]+[-+.\dIN]\S*[ \t]+[^\s\d+~.-][^\s/-]*[/-]\S)",
    re.MULTILINE,
)
UNIT_OF_RESULT = re.compile(r"[^\s/-]+[/-]\S+")  # which no word in prose is
COMPARED = re.compile(r"\s*Benchmark\S*\s+[0-9.]+\s+[0-9.]+\s+(?:[-+]?[0-9.]+(?:%|x)|~)\s*")
HEADLINE = re.compile(r"\s*(?:#{1,6} .{1,80}|\*\*.{1,80}\*\*:?|[A-Za-z][\w' ,/().`-]{0,80}:)\s*")
# A heading that distinguishes runs: a Markdown heading, or a word that names a run.
MARKED = re.compile(r"\s*(?:#{1,6} +|[*_]{2,3}(?=\S))([^*_\n]{1,80}?)(?:[*_]{2,3})?:?\s*")
ALONE = re.compile(r"\s*([A-Za-z][\w'./-]*(?: [\w'./-]+){0,3}):?\s*")  # after a blank line
SENTENCE = re.compile(  # a statement about the results, which names no run
    r".*(?:\.|\b(?:am|are|be|been|did|does|has|have|is|it|that|this|was|we|were|will|would)\b.*)",
    re.IGNORECASE,
)
RUN_NAMED = re.compile(
    r"\s*((?:before|after|old|new|base|baseline|main|master|original|previous|current|patched"
    r"|unpatched|optimi[sz]ed)(?: (?:this|the|that|my) \w+)?):?\s*",
    re.IGNORECASE,
)
# Lines that go test prints after results, and between two packages.
ENDED = re.compile(r"\s*(?:PASS|FAIL|(?:ok|FAIL)\s+\S+\s+[0-9.]+s(?:\s.*)?)\s*")
BETWEEN = re.compile(r"\s*+(?:coverage: .*|testing: .*|\?\s+\S+\s+\[no test files\].*)?\s*+")
FIRST_SETTINGS = ("goos", "pkg")  # the first settings that go test prints before results
RUN = "run"  # a setting added by gomem: the number or name of a run in a text with several
UNIT_WORD = re.compile(r"[^\s*/-]+|[*/]")

USUAL_UNITS = ("ns/op", "MB/s", "B/op", "allocs/op")
# Printed unit, base unit, and factor. x/perf's benchunit has the same two.
SCALED_UNITS = {"ns": ("sec", 1e-9), "MB": ("B", 1e6)}


@dataclass(frozen=True, slots=True)
class Measurements:
    """One entry for each result and unit, in the file's order; all lists have equal length."""

    name: list[str]  # without the word Benchmark and without the GOMAXPROCS suffix
    procs: np.ma.MaskedArray  # GOMAXPROCS; masked if the name has no such suffix
    unit: list[str]  # in base units: `sec/op`, `B/s`
    value: NDArray[np.float64]  # in that unit
    printed_unit: list[str]  # as printed: `ns/op`, `MB/s`
    printed_value: NDArray[np.float64]  # in that unit
    iterations: NDArray[np.int64]  # number of iterations that the value is averaged over
    config: NDArray[np.int64]  # index of its configuration in `GoBench.configurations`
    line: NDArray[np.int64]  # line with the numbers, from 1


@dataclass(frozen=True, slots=True)
class UnitNote:
    """An entry of a `Unit` line, `better=higher` or `assume=exact`, for a unit in base form."""

    unit: str
    key: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class GoBench:
    """A benchmark file: its measurements, their configurations, and the notes on units."""

    measurements: Measurements
    configurations: list[dict[str, str]]
    units: list[UnitNote]


def looks_like_gobench(data: bytes) -> bool:
    """Whether there is a benchmark result anywhere in the content."""
    return b"Benchmark" in data and ANY_RESULT.search(data) is not None


def parse_gobench(data: bytes, *, source: str) -> tuple[GoBench, list[Damage]]:
    """Parse the benchmark results in the output of `go test -bench`, in base units.

    Damage: a result line with a part missing or not a number, a failed benchmark, numbers that lost
    their name. Other lines (PASS, ok, the program's own) are skipped. Raises FormatError if there
    is no result.
    """
    reader = _Reader(source)
    lines = _undented(plain_characters(data)).split(b"\n")
    for number, line in enumerate(lines, start=1):
        reader.read(number, line.decode("utf-8", "backslashreplace"))
    reader.abandon_torn()
    reader.close()
    if not reader.rows:
        for fault in reader.damage:
            raise FormatError(source, fault.where, fault.what, fault.text)
        what = "no benchmark result, wanted the output of: go test -run '^$' -bench . -count 10"
        raise FormatError(source, "", what)
    measurements = _columns(reader.rows)
    return GoBench(measurements, reader.configurations, reader.units), reader.damage


def _undented(data: bytes) -> bytes:
    """Remove the indentation of the first result, which its settings share, from the text."""
    first = ANY_RESULT.search(data)
    if first is None or not first[1]:
        return data
    return re.sub(rb"^" + re.escape(first[1]), b"", data, flags=re.MULTILINE)


def tidy_unit(unit: str) -> tuple[str, float]:
    """Return the base unit of a printed unit, and the factor: `ns/op` gives `sec/op` and 1e-9."""
    # Only the numerator is scaled: `x/ns` is unchanged.
    factor = 1.0
    is_below = False
    tidied = []
    end = 0
    for word in UNIT_WORD.finditer(unit):
        tidied.append(unit[end : word.start()])
        end = word.end()
        if word[0] in "*/":
            is_below = word[0] == "/"
        base, scale = (word[0], 1.0) if is_below else SCALED_UNITS.get(word[0], (word[0], 1.0))
        factor *= scale
        tidied.append(base)
    return "".join(tidied) + unit[end:], factor


@dataclass(slots=True)
class _Reader:
    """The parser's state between lines."""

    source: str
    rows: list[tuple[Any, ...]] = field(default_factory=list)  # in the columns of `Measurements`
    units: list[UnitNote] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    configurations: list[dict[str, str]] = field(default_factory=list)
    _current: dict[str, str] = field(default_factory=dict)
    # a name that waits for its numbers, and the damage if none come
    _torn: tuple[str, Damage] | None = None
    _is_headed: bool = False  # whether the author's headline came since the last result
    _is_ended: bool = False  # whether go test reported its end since the last result
    _is_apart: bool = False  # whether a line other than go test's came after that end
    _is_after_blank: bool = True
    _heading: str = ""  # the last heading that names a run
    _names: dict[str, str] = field(default_factory=dict)
    _runs: int = 1
    _last: int = 0  # the last line that is not blank

    def read(self, number: int, line: str) -> None:
        """Parse one line."""
        self._read(number, line)
        self._is_after_blank = not line.strip()

    def _read(self, number: int, line: str) -> None:
        self._last = number if line.strip() else self._last
        if COMPARED.fullmatch(line):
            return  # part of benchcmp's table
        if ENDED.fullmatch(line):
            self._is_ended = True
            return
        is_named = NAME.match(line) is not None
        is_result = is_named and not WORD.match(line)
        if is_result or ((is_named or line[:1] in {" ", "\t"}) and _is_whole_result(line.split())):
            self.abandon_torn()
            self._read_result(number, line)
        elif is_named:
            return  # a word in a log
        elif failed := FAILED.match(line):
            self._note(number, text("{} failed, so it has no result", Quoted(failed[1])), line)
        elif NUMBERS_ALONE.fullmatch(line):
            self._join(number, line)
        elif line.startswith("Unit") and line[4:5].isspace():
            self._read_unit(number, line)
        elif (setting := CONFIGURATION.fullmatch(line)) and setting[2]:
            self._set(setting[1], setting[2].rstrip())
        else:
            self._read_prose(line, setting)

    def _read_prose(self, line: str, emptied: re.Match[str] | None) -> None:
        """Parse a line without a known format, which can separate two runs."""
        if FENCE.fullmatch(line.encode()):
            self._is_apart |= self._is_ended
            self._is_ended |= bool(self.rows)
            return
        named = MARKED.fullmatch(line) or RUN_NAMED.fullmatch(line)
        if named := named or (_title_of(line) if self._is_after_blank else None):
            self._heading = named[1].strip()
            self._is_ended |= bool(self.rows)
        if emptied:
            self._current.pop(emptied[1], None)
        self._is_headed |= emptied is not None or HEADLINE.fullmatch(line) is not None
        self._is_apart |= self._is_ended and BETWEEN.fullmatch(line) is None

    def _set(self, key: str, value: str) -> None:
        """Apply a setting; go test's first settings begin another run if a headline came before."""
        is_again = self.rows and key in FIRST_SETTINGS and self._current.get(key) == value
        if is_again and self._is_headed:
            self._begin_run()
        self._current[key] = value

    def _begin_run(self) -> None:
        self._runs += 1
        self._current[RUN], self._is_headed, self._is_apart = str(self._runs), False, False

    def close(self) -> None:
        """Name the runs if there are several; drop a last measurement whose unit is cut."""
        if self._runs > 1:
            self._tell_runs_apart()
        if not self.rows:
            return
        *_, (_, _, _, _, unit, _, _, _, number) = self.rows
        known = dict.fromkeys((*(row[4] for row in self.rows[:-1]), *USUAL_UNITS))
        whole = next((name for name in known if name.startswith(unit)), unit)
        if number == self._last and unit not in known and whole != unit:
            self.rows.pop()
            self._note(number, text("the last line is cut: {} of {}", unit, whole), "")

    def _tell_runs_apart(self) -> None:
        """Number the runs if they share a benchmark; otherwise merge them."""
        self.configurations = [{RUN: "1"} | known for known in self.configurations]
        runs: dict[tuple[Any, ...], set[str]] = {}
        for row in self.rows:
            of = self.configurations[row[-2]]
            runs.setdefault((*row[:3], of.get("pkg")), set()).add(of[RUN])
        is_one = all(len(found) == 1 for found in runs.values())
        names = self._names if len({*self._names.values()} - {""}) == self._runs else {}
        for known in self.configurations:
            if is_one:
                del known[RUN]
            else:
                known[RUN] = names.get(known[RUN], known[RUN])

    def abandon_torn(self) -> None:
        """Report a name whose numbers never came."""
        if self._torn is not None:
            self.damage.append(self._torn[1])
            self._torn = None

    def _read_result(self, number: int, line: str) -> None:
        name, *numbers = line.split()
        if line == name or (name == "Benchmark" and _problem(numbers)):
            # go test -v announces a benchmark by its bare name; prose can begin with the word
            return
        if FAILED.match(line[len(name) :]):
            self._note(number, "the benchmark failed, so it has no result", line)
        elif problem := _problem(numbers):
            self._torn = (name, self._damage(number, problem, line))
        else:
            self._add(number, name, numbers)

    def _join(self, number: int, line: str) -> None:
        """Parse numbers that the program's output has separated from their name."""
        numbers = line.split()
        lost = "" if self._torn else "numbers of a benchmark without its name"
        if problem := lost or _problem(numbers):
            self._note(number, problem, line)
        elif self._torn is not None:
            self._add(number, self._torn[0], numbers)
            self._torn = None

    def _add(self, number: int, name: str, numbers: list[str]) -> None:
        if self._is_apart:
            self._begin_run()
        self._names.setdefault(str(self._runs), self._heading)
        self._is_ended = False
        if not self.configurations or self.configurations[-1] != self._current:
            self.configurations.append(dict(self._current))
        self._is_headed = False
        place = (int(numbers[0]), len(self.configurations) - 1, number)
        whole = name.removeprefix("Benchmark")
        split = PROCS.fullmatch(whole)
        called = (whole, None) if split is None else (split[1], int(split[2][:9]))
        for value, unit in zip(map(float, numbers[1::2]), numbers[2::2], strict=True):
            if math.isfinite(value):
                tidied, factor = tidy_unit(unit)
                self.rows.append((*called, tidied, value * factor, unit, value, *place))
            else:
                what = text("{}: not a finite number of {}", Quoted(name), Quoted(unit))
                self._note(number, what, str(value))

    def _read_unit(self, number: int, line: str) -> None:
        words = line.split()[1:]
        if not words:
            self._note(number, "a Unit line without a unit", line)
            return
        unit, _ = tidy_unit(words[0])
        for word in words[1:]:
            key, equals, value = word.partition("=")
            if key and equals:
                self.units.append(UnitNote(unit, key, value, number))
            else:
                self._note(number, text("{} where key=value is wanted", Quoted(word)), line)

    def _note(self, number: int, what: str, line: str) -> None:
        self.damage.append(self._damage(number, what, line))

    def _damage(self, number: int, what: str, line: str) -> Damage:
        return Damage(self.source, f"line {number}", what, excerpt(line))


def _title_of(line: str) -> re.Match[str] | None:
    """A few words on a line of their own, if they are no sentence."""
    found = ALONE.fullmatch(line)
    return None if found is None or SENTENCE.fullmatch(found[1].strip()) else found


def _is_whole_result(words: list[str]) -> bool:
    if not words or NAME.match(words[0]) is None or _problem(words[1:]):
        return False
    return WORD.match(words[0]) is None or UNIT_OF_RESULT.fullmatch(words[3]) is not None


def _problem(numbers: list[str]) -> str:
    """Return why the words after a name are not a count and pairs of value and unit."""
    if not numbers or COUNT.fullmatch(numbers[0]) is None:
        return "no iteration count behind the benchmark's name"
    if len(numbers) == 1:
        return "no measurement behind the iteration count"
    unreadable = next((word for word in numbers[1::2] if NUMBER.fullmatch(word) is None), None)
    if unreadable is not None:
        return f"{unreadable!r} where a measurement is wanted"
    return "the last measurement has no unit" if len(numbers) % 2 == 0 else ""


def _columns(rows: list[tuple[Any, ...]]) -> Measurements:
    name, procs, unit, value, printed_unit, printed_value, *others = zip(*rows, strict=True)
    unknown = [number is None for number in procs]
    return Measurements(
        list(name),
        np.ma.MaskedArray([number or 0 for number in procs], mask=unknown, dtype=np.int64),
        list(unit),
        np.array(value, dtype=np.float64),
        list(printed_unit),
        np.array(printed_value, dtype=np.float64),
        *(np.array(numbers, dtype=np.int64) for numbers in others),
    )
