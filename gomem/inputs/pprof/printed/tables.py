"""The tables that were found in a text, one a sample type, and what they say of the profile."""

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
ALIKE = 0.02  # totals that differ by less are of one profile, where a share had to tell one


@dataclass(frozen=True)
class Part:
    """Some of a function's own value."""

    value: int
    file: str = ""
    line: int = 0
    caller: str = ""  # who called the function for it; empty if that is not said


@dataclass
class Row:
    """A function of a table."""

    flat: Amount
    cum: Amount
    parts: list[Part] = field(default_factory=list)  # what flat consists of
    cum_by_line: dict[tuple[str, int], int] = field(default_factory=dict)
    share: float | None = None  # of the total, as flat% says it; None of what it does not say
    callers: list[tuple[str, int]] = field(default_factory=list)  # and what each had of cum

    def plus(self, other: Row) -> Row:
        """This and another function of the same name, which pprof tells apart and does not say."""
        flat, cum = self.flat.plus(other.flat), self.cum.plus(other.cum)
        share = None if other.share is None else other.share + (self.share or 0)
        parts, callers = [*self.parts, *other.parts], [*self.callers, *other.callers]
        return Row(flat, cum, parts, share=share, callers=callers)

    @property
    def detail(self) -> int:
        """How much it says: of a function with lines or callers, more."""
        return sum(bool(part.line or part.caller) for part in self.parts) + len(self.cum_by_line)


@dataclass
class Table:
    """The rows of one sample type."""

    line: int  # where it begins
    kind: str = ""  # the sample type; empty if nothing says it
    session: int = 0  # of those that a profile was opened in, as far as the text has them
    total: Amount | None = None
    shown: Amount | None = None  # what its rows add up to
    rows: dict[str, Row] = field(default_factory=dict)
    stacks: list[tuple[Amount, list[str]]] = field(default_factory=list)
    derived: tuple[float, float] = (0.0, 1.0)  # the total by the best share, and how far off
    is_later: bool = False  # whether its rows came again behind words: it is a later reading

    @property
    def amounts(self) -> list[Amount]:
        """Every number of its rows."""
        rows = (amount for row in self.rows.values() for amount in (row.flat, row.cum))
        return [*rows, *(amount for amount, _ in self.stacks)]

    @property
    def sample_type(self) -> ValueType:
        """As its head says, else by the units that are printed."""
        of_total = () if self.total is None else (self.total,)
        printed = {amount.unit for amount in (*self.amounts, *of_total)} - {""}
        unit = "bytes" if self.kind.endswith("_space") else _UNITS.get(self.kind, "count")
        if printed:
            unit = "bytes" if printed <= IN_BYTES else "nanoseconds"
        elif unit == "bytes" and any(amount.value for amount in (*self.amounts, *of_total)):
            return ValueType(_UNTYPED["count"], "count")  # pprof prints no bytes without a unit
        return ValueType(self.kind or _UNTYPED[unit], unit)

    @property
    def flat(self) -> int:
        """What its rows add up to."""
        rows = sum(row.flat.value for row in self.rows.values())
        return rows + sum(amount.value for amount, _ in self.stacks)

    def is_of_waiting(self, parked: str) -> bool:
        """Whether it counts goroutines: each stack is parked, or the rows say most of all are."""
        if any(names[0] == parked for _, names in self.stacks):
            return True
        row = self.rows.get(parked)
        return row is not None and not row.flat.unit and 2 * row.flat.value > self.whole.value

    @property
    def rounding(self) -> int:
        """By how much a number may be off."""
        return max((amount.rounding for amount in self.amounts), default=0)

    @property
    def has_negative(self) -> bool:
        """Whether something is below zero: then it is a difference."""
        return any(amount.value < 0 for amount in self.amounts)

    @property
    def whole(self) -> Amount:
        """The total: as the head says it, else by the shares of the rows, else their sum."""
        if self.total is not None:
            return self.total
        value, off = self.derived
        if value > 0 and not self.stacks:
            return Amount(round(value), round(off * value), "")
        return Amount(self.flat, self.rounding * len(self.amounts), "")

    def is_of_one_profile_with(self, other: Table) -> bool:
        """Whether the totals are the same, as far as they are printed."""
        ours, theirs = self.whole, other.whole
        slack = ours.rounding + theirs.rounding
        if self.total is None or other.total is None:
            slack = max(slack, round(ALIKE * max(ours.value, theirs.value)))
        return abs(ours.value - theirs.value) <= slack

    def has_of_its_stacks(self, other: Table) -> bool:
        """Whether another is some stacks of the same profile, as `traces` lists them behind it."""
        most = self.whole.value + self.whole.rounding
        return bool(other.stacks) and other.session == self.session and other.flat <= most

    def take(self, other: Table) -> None:
        """What another table of the same profile says besides."""
        self.stacks = self.stacks or other.stacks
        self.total = self.total or other.total
        for name, row in other.rows.items():
            if name not in self.rows or row.detail > self.rows[name].detail:
                self.rows[name] = row


@dataclass(frozen=True)
class Printed:
    """What a table says that no stack holds, by sample type.

    Attributes:
        cum: Of each row, by its name, what it has with the functions that it called.
        rounding: By how much a number may be off, in the unit.
        total_rounding: By how much the total may be off.
        has_stacks: Whether it has every stack (`traces`).
        saved: The profile that it was printed from, where pprof says where it is; else empty.
        shares: Of each row, by its name, its share of the total as it is printed.
        is_elided: Whether somebody put dots for some of the stacks.
        derived: The sample types whose total no line says: it follows from the rows' shares.
        earlier: Of each row what it had in the readings before, where a text has it several times.
        callers: Of each function of a tree its callers, and what of its cum each had.
    """

    cum: Mapping[str, Mapping[str, int]]
    rounding: Mapping[str, int]
    total_rounding: Mapping[str, int]
    has_stacks: bool = False
    saved: str = ""
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    is_elided: bool = False
    derived: frozenset[str] = frozenset()
    earlier: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    callers: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)

    def share_of(self, sample_type: str, name: str, otherwise: float) -> float:
        """A row's share of the total, as it is printed."""
        return self.shares.get(sample_type, {}).get(name, otherwise)

    def cum_of(self, sample_type: str, nodes: Nodes, least: IntArray) -> IntArray:
        """The cum of nodes; of one that no row is of, what the stacks have at least."""
        known = dict(self.cum.get(sample_type, {}))
        cums = list(zip(nodes.names, least.tolist(), strict=True))
        if nodes.granularity in OWN:
            # A package has as much as any of its functions, and all that they have themselves.
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
        """Why there are no intervals."""
        off = self.rounding.get(sample_type.type, 0)
        amount = format_bytes(off) if sample_type.unit == "bytes" else format_count(off)
        rounded = f", rounded to ±{amount}" if off else ""
        return f"a table of go tool pprof{rounded}; it does not say at which rate it was sampled"

    def less(self, base: Printed) -> Printed:
        """That of a difference."""
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
    earlier: Mapping[str, Mapping[str, tuple[int, ...]]] | None = None,
) -> Printed:
    """What tables say beside the flat values of their rows."""
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
        earlier=earlier or {},
        callers={kind: _callers_of(table) for kind, table in types},
    )


def _callers_of(table: Table) -> dict[str, dict[str, int]]:
    """The callers of each function, the rows of its lines together."""
    found: dict[str, dict[str, int]] = {}
    for name, row in table.rows.items():
        for caller, value in row.callers:
            of_function = found.setdefault(_function_of(name), {})
            of_function[_function_of(caller)] = of_function.get(_function_of(caller), 0) + value
    return found


def _function_of(name: str) -> str:
    """A row's function, without its line."""
    place = PLACE.fullmatch(name)
    return name if place is None else place[1]


def _shares_of(table: Table) -> dict[str, float]:
    """Each row's share as it is printed; of a function with rows of several lines their sum."""
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
        return found  # which add up to it
    for name, row in table.rows.items():
        found[name] = row.cum.value
        for (file, line), cum in row.cum_by_line.items():
            found[f"{name} {file}:{line}"] = cum
        if place := PLACE.fullmatch(name):  # a line: its function has as much at least
            found[place[1]] = max(found.get(place[1], 0), row.cum.value, key=abs)
    return found


def columns_of(
    tables: Sequence[Table], *, file: str, build_id: str, time_nanos: int, is_difference: bool
) -> PprofColumns:
    """The tables as a profile: a sample a row, or a stack, and one for what no row is of."""
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
    """Samples, from the rows of one table after the other."""

    column: int = 0  # of the table
    width: int = 1  # sample types

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
        whole = table.whole
        rest = whole.value - table.flat
        if not is_difference and rest > whole.rounding + table.rounding * len(table.rows):
            self._sample(rest, [])

    def _sample(self, value: int, frames: Sequence[tuple[str, str, int]]) -> None:
        named = ((_bytes(name), _bytes(file), line) for name, file, line in frames)
        self.stacks.append([self.location(0, (frame,)) for frame in named])
        self.values.append(tuple(value * (row == self.column) for row in range(self.width)))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
