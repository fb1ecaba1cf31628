"""The tables found in a text, one per sample type, and what they add to the profile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.pprof.calls.names import module_of, package_of
from gomem.inputs.pprof.calls.nodes import OWN
from gomem.inputs.pprof.columns import Labels, Mappings, ValueType
from gomem.inputs.pprof.heap_text import TextReader
from gomem.inputs.pprof.printed.lines import IN_BYTES, PLACE, Amount
from gomem.units import format_bytes, format_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.inputs.pprof.calls.nodes import Nodes
    from gomem.inputs.pprof.columns import IntArray, PprofColumns

_UNTYPED = {"bytes": "space", "nanoseconds": "time", "count": "count"}
_UNITS = {"cpu": "nanoseconds", "delay": "nanoseconds"}
# totals that differ by less are the same profile's, if a total was derived from a share
ALIKE = 0.02


@dataclass(frozen=True)
class Part:
    """A part of a function's flat value."""

    value: int
    file: str = ""
    line: int = 0
    caller: str = ""  # the function's caller for this part; empty if unknown


@dataclass
class Row:
    """A function in a table."""

    flat: Amount
    cum: Amount
    parts: list[Part] = field(default_factory=list)  # the parts of flat
    cum_by_line: dict[tuple[str, int], int] = field(default_factory=dict)
    share: float | None = None  # flat% as a fraction of the total; None if not printed
    # callers, and how much of cum came from each
    callers: list[tuple[str, int]] = field(default_factory=list)

    def plus(self, other: Row) -> Row:
        """Add another function of the same name; pprof does not print what distinguishes them."""
        flat, cum = self.flat.plus(other.flat), self.cum.plus(other.cum)
        share = None if other.share is None else other.share + (self.share or 0)
        parts, callers = [*self.parts, *other.parts], [*self.callers, *other.callers]
        return Row(flat, cum, parts, share=share, callers=callers)

    @property
    def detail(self) -> int:
        """The level of detail; higher if there are lines or callers."""
        return sum(bool(part.line or part.caller) for part in self.parts) + len(self.cum_by_line)


@dataclass
class Table:
    """The rows of one sample type."""

    line: int  # its first line
    kind: str = ""  # the sample type; empty if unknown
    session: int = 0  # number of the pprof session, as far as the text has them
    total: Amount | None = None
    shown: Amount | None = None  # sum of the rows
    rows: dict[str, Row] = field(default_factory=dict)
    stacks: list[tuple[Amount, list[str]]] = field(default_factory=list)
    # the total by the most precise share, and its relative error
    derived: tuple[float, float] = (0.0, 1.0)
    cut_above: float = 0.0  # fraction of the total in rows before the first; the table is cut
    is_later: bool = False  # a later reading: the rows are repeated after other text

    @property
    def is_head(self) -> bool:
        """Whether only its header is there, with a total that is not 0."""
        if self.rows or self.stacks or self.shown is None:
            return False
        return self.shown.value > 0 and self.whole.value > 0

    @property
    def amounts(self) -> list[Amount]:
        """All values of the rows."""
        rows = (amount for row in self.rows.values() for amount in (row.flat, row.cum))
        return [*rows, *(amount for amount, _ in self.stacks)]

    @property
    def sample_type(self) -> ValueType:
        """The sample type in the header, else by the printed units."""
        of_total = () if self.total is None else (self.total,)
        printed = {amount.unit for amount in (*self.amounts, *of_total)} - {""}
        unit = "bytes" if self.kind.endswith("_space") else _UNITS.get(self.kind, "count")
        if printed:
            unit = "bytes" if printed <= IN_BYTES else "nanoseconds"
        elif unit == "bytes" and any(amount.value for amount in (*self.amounts, *of_total)):
            return ValueType(_UNTYPED["count"], "count")  # pprof always prints a unit after bytes
        return ValueType(self.kind or _UNTYPED[unit], unit)

    @property
    def flat(self) -> int:
        """The sum of the rows."""
        rows = sum(row.flat.value for row in self.rows.values())
        return rows + sum(amount.value for amount, _ in self.stacks)

    @property
    def lost(self) -> int:
        """What the rows have less than the sum in the header, beyond rounding; 0 if nothing."""
        if self.shown is None or self.stacks:
            return 0
        lost = abs(self.shown.value - self.flat)
        return lost if lost > self.shown.rounding + self.rounding * len(self.rows) else 0

    @property
    def rest(self) -> int:
        """What the rows do not have of the total: by the header, unless rows are missing."""
        is_whole = self.shown is not None and not (self.lost or self.stacks)
        return self.whole.value - (self.shown.value if is_whole and self.shown else self.flat)

    def is_of_waiting(self, parked: str) -> bool:
        """Whether it counts goroutines: a stack waits in `parked`, or most of the total does."""
        if any(names[0] == parked for _, names in self.stacks):
            return True
        row = self.rows.get(parked)
        return row is not None and not row.flat.unit and 2 * row.flat.value > self.whole.value

    @property
    def rounding(self) -> int:
        """The maximum rounding error of a value."""
        return max((amount.rounding for amount in self.amounts), default=0)

    @property
    def has_negative(self) -> bool:
        """Whether a value is negative; if so, the table is a difference."""
        return any(amount.value < 0 for amount in self.amounts)

    @property
    def whole(self) -> Amount:
        """The total: from the header, else from the rows' shares, else their sum."""
        if self.total is not None:
            return self.total
        value, off = self.derived
        if not self.is_summed:
            return Amount(round(value), round(off * value), "")
        return Amount(self.flat, self.rounding * len(self.amounts), "")

    @property
    def is_summed(self) -> bool:
        """Whether the total is unknown: neither a header nor a share of a row says it."""
        return self.total is None and (self.derived[0] <= 0 or bool(self.stacks))

    def is_of_one_profile_with(self, other: Table) -> bool:
        """Whether the totals are the same, within rounding."""
        ours, theirs = self.whole, other.whole
        slack = ours.rounding + theirs.rounding
        if self.total is None or other.total is None:
            slack = max(slack, round(ALIKE * max(ours.value, theirs.value)))
        return abs(ours.value - theirs.value) <= slack

    def has_of_its_stacks(self, other: Table) -> bool:
        """Whether the other table has stacks of the same profile, such as `traces` after `top`."""
        most = self.whole.value + self.whole.rounding
        return bool(other.stacks) and other.session == self.session and other.flat <= most

    def take(self, other: Table) -> None:
        """Add what another table of the same profile has in more detail."""
        self.stacks = self.stacks or other.stacks
        self.total = self.total or other.total
        for name, row in other.rows.items():
            known = self.rows.get(name)
            if known is None or row.detail > known.detail:
                share = known.share if known is not None and row.share is None else row.share
                self.rows[name] = replace(row, share=share)


@dataclass(frozen=True)
class Printed:
    """What tables have beyond the stacks and flat values, by sample type.

    Attributes:
        cum: The cum value of each row, by name.
        rounding: The maximum rounding error of a value, in its unit.
        total_rounding: The maximum rounding error of the total.
        has_stacks: Whether every stack is known (`traces`).
        saved: The path that pprof saved the profile to; empty if unknown.
        shares: The printed share of the total of each row, by name.
        is_elided: Whether an ellipsis replaces some of the stacks.
        derived: The sample types whose total is not printed, but derived from the rows' shares.
        summed: The sample types whose total is unknown: what stands for it is the sum of the rows.
        shown: The sum of the rows as the head prints it, else their sum.
        cut_above: The fraction of the total in rows above the first, if the table begins later.
        lines: The cum values of lines of `list`, by function and then by file and line.
        earlier: The values of each row in earlier readings, if the text has several.
        callers: The callers of each function of a tree, and how much of its cum came from each.
    """

    cum: Mapping[str, Mapping[str, int]]
    rounding: Mapping[str, int]
    total_rounding: Mapping[str, int]
    has_stacks: bool = False
    saved: str = ""
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    is_elided: bool = False
    derived: frozenset[str] = frozenset()
    summed: frozenset[str] = frozenset()
    shown: Mapping[str, int] = field(default_factory=dict)
    cut_above: Mapping[str, float] = field(default_factory=dict)
    lines: Mapping[str, Mapping[str, Mapping[tuple[str, int], int]]] = field(default_factory=dict)
    earlier: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    callers: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)

    def share_of(self, sample_type: str, name: str, otherwise: float) -> float:
        """Return a row's printed share of the total, or `otherwise`."""
        return self.shares.get(sample_type, {}).get(name, otherwise)

    def cum_of(self, sample_type: str, nodes: Nodes, least: IntArray) -> IntArray:
        """Return the nodes' cum values; a node without a row has `least`, its cum by the stacks."""
        known = dict(self.cum.get(sample_type, {}))
        cums = list(zip(nodes.names, least.tolist(), strict=True))
        if nodes.granularity in OWN:
            # A package has at least as much as any of its functions, and at least its stacks' sum.
            of_owner: dict[str, int] = {}
            for name, cum in known.items():
                module = (
                    package_of(name) if nodes.granularity == "packages" else module_of(name, "")
                )
                of_owner[module] = max(of_owner.get(module, 0), cum, key=abs)
            return np.array(
                [max(of_owner.get(name, 0), cum, key=abs) for name, cum in cums], np.int64
            )
        return np.array([known.get(name, cum) for name, cum in cums], np.int64)

    def note(self, sample_type: ValueType) -> str:
        """Return why there are no intervals."""
        off = self.rounding.get(sample_type.type, 0)
        amount = format_bytes(off) if sample_type.unit == "bytes" else format_count(off)
        rounded = f", rounded to ±{amount}" if off else ""
        return f"a table of go tool pprof{rounded}; it does not state its sampling rate"

    def less(self, base: Printed) -> Printed:
        """Subtract a baseline's values."""
        pairs = {kind: (own, base.cum.get(kind, {})) for kind, own in self.cum.items()}
        return Printed(
            {
                kind: {name: own.get(name, 0) - old.get(name, 0) for name in {**own, **old}}
                for kind, (own, old) in pairs.items()
            },
            _sums(self.rounding, base.rounding),
            _sums(self.total_rounding, base.total_rounding),
        )


def _sums(ours: Mapping[str, int], theirs: Mapping[str, int]) -> dict[str, int]:
    return {kind: off + theirs.get(kind, 0) for kind, off in ours.items()}


def printed_of(
    tables: Sequence[Table],
    saved: str = "",
    *,
    is_elided: bool = False,
    earlier: Mapping[str, list[Table]] | None = None,
) -> Printed:
    """Collect what tables have beyond the flat values of their rows."""
    types = [(table.sample_type.type, table) for table in tables]
    return Printed(
        {kind: _cum_of(table) for kind, table in types},
        {kind: table.rounding for kind, table in types},
        {kind: table.whole.rounding for kind, table in types},
        has_stacks=all(table.stacks for table in tables),
        saved=saved,
        shares={kind: _shares_of(table) for kind, table in types},
        is_elided=is_elided,
        derived=frozenset(kind for kind, table in types if table.total is None),
        summed=frozenset(kind for kind, table in types if table.is_summed),
        shown={
            kind: table.flat if table.shown is None else table.shown.value for kind, table in types
        },
        cut_above={kind: table.cut_above for kind, table in types},
        lines={kind: _lines_of(table) for kind, table in types},
        earlier={kind: _by_row(tables) for kind, tables in (earlier or {}).items()},
        callers={kind: _callers_of(table) for kind, table in types},
    )


def _callers_of(table: Table) -> dict[str, dict[str, int]]:
    """Return each function's callers; the rows of its lines are added up."""
    found: dict[str, dict[str, int]] = {}
    for name, row in table.rows.items():
        for caller, value in row.callers:
            of_function = found.setdefault(_function_of(name), {})
            of_function[_function_of(caller)] = of_function.get(_function_of(caller), 0) + value
    return found


def _lines_of(table: Table) -> dict[str, dict[tuple[str, int], int]]:
    """Return the cum values of the lines of each function that `list` printed."""
    return {name: dict(row.cum_by_line) for name, row in table.rows.items() if row.cum_by_line}


def _function_of(name: str) -> str:
    """Return a row's function, without its line."""
    place = PLACE.fullmatch(name)
    return name if place is None else place[1]


def _shares_of(table: Table) -> dict[str, float]:
    """Return each row's printed share, and each function's sum over the rows of its lines."""
    shares: dict[str, float] = {}
    for name, row in table.rows.items():
        if row.share is None:
            continue
        shares[name] = row.share
        if place := PLACE.fullmatch(name):
            shares[place[1]] = shares.get(place[1], 0.0) + row.share
    return shares


def _cum_of(table: Table) -> dict[str, int]:
    found: dict[str, int] = {}
    if table.stacks:
        return found  # cum is computed from the stacks
    for name, row in table.rows.items():
        found[name] = row.cum.value
        for (file, line), cum in row.cum_by_line.items():
            found[f"{name} {file}:{line}"] = cum
        # a row of a line; cum of the function is at least as large
        if place := PLACE.fullmatch(name):
            found[place[1]] = max(found.get(place[1], 0), row.cum.value, key=abs)
    return found


def columns_of(
    tables: Sequence[Table], *, file: str, build_id: str, time_nanos: int, is_difference: bool
) -> PprofColumns:
    """Convert tables to a profile: a sample per row or stack, and one for the rest of the total."""
    laid_out = _LaidOut(b"", "", strings={"": 0})
    for column, table in enumerate(tables):
        laid_out.column, laid_out.width = column, len(tables)
        laid_out.take(table, is_difference=is_difference)
    strings = [laid_out.string(text) for text in (file, build_id)]
    types = tuple(table.sample_type for table in tables)
    value = np.array(laid_out.values, np.int64).reshape(-1, len(tables))
    columns = laid_out.columns(types, value, Labels.of())
    program = (0, 0, 0, *strings, True, False, False, False)
    mappings = Mappings.of([program] if file else [])
    return replace(columns, mappings=mappings, time_nanos=time_nanos)


@dataclass
class _LaidOut(TextReader):
    """The samples from one table after the other."""

    column: int = 0  # number of the table
    width: int = 1  # number of sample types

    def take(self, table: Table, *, is_difference: bool) -> None:
        for amount, names in table.stacks:
            self._sample(amount.value, [(name, "", 0) for name in names])
        if table.stacks:
            return
        for name, row in table.rows.items():
            place = PLACE.fullmatch(name)
            function = name if place is None else place[1]
            for part in row.parts:
                callers = [(part.caller, "", 0)] if part.caller else []
                self._sample(part.value, [(function, part.file, part.line), *callers])
        off = table.whole.rounding + table.rounding * len(table.rows)
        if not is_difference and table.rest > off:
            self._sample(table.rest, [])

    def _sample(self, value: int, frames: Sequence[tuple[str, str, int]]) -> None:
        named = ((_bytes(name), _bytes(file), line) for name, file, line in frames)
        self.stacks.append([self.location(0, (frame,)) for frame in named])
        self.values.append(tuple(value * (row == self.column) for row in range(self.width)))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _by_row(tables: Sequence[Table]) -> dict[str, tuple[int, ...]]:
    """Return the values of each row, in the order of the readings."""
    names = dict.fromkeys(name for table in tables for name in table.rows)
    return {
        name: tuple(table.rows[name].flat.value for table in tables if name in table.rows)
        for name in names
    }
