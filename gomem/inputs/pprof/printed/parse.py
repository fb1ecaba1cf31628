"""Pasted output of `go tool pprof`: `top`, `tree`, `list`, `traces`.

Written by    go tool pprof of all releases, at its prompt or with command-line options.
Described in  google/pprof's doc/README.md; `lines` describes each form of line.
Quirks        A table has only the larger rows, and the total of all. The rest becomes a sample
              without a stack. Values have two decimals, so `134.51MB` can be off by 5 kB.
              The header says whether values are in use or allocated. Many pastes omit it.
              Only negative values show that a profile was subtracted (`-base`).
              `list` has lines, `tree` and `peek` have callers, `traces` has every stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gomem.errors import EXCERPT, Damage, FormatError, excerpt
from gomem.inputs.markdown import without_bold_cells
from gomem.inputs.pprof.printed import lines
from gomem.inputs.pprof.printed.cut_names import with_whole_names
from gomem.inputs.pprof.printed.jeprof import is_of_jemalloc
from gomem.inputs.pprof.printed.lines import Amount, amount_of, fraction_of, without_inline
from gomem.inputs.pprof.printed.tables import Part, Printed, Row, Table, columns_of, printed_of
from gomem.inputs.pprof.printed.typed import with_types_before
from gomem.inputs.text_lines import lines_of

if TYPE_CHECKING:
    from gomem.inputs.pprof.columns import PprofColumns

HEAD_BYTES = 1 << 16  # the output must begin within these bytes
LEAST_SHARE = 1 / 3  # of the lines; a document that merely contains a table has fewer
LEAST_HEADED = 1 / 5  # the same, if a row follows the column header
_QUICK = re.compile(
    rb"\d% [^\n]{0,80}\d%|\d% of \S{1,20} total|ROUTINE ====|(?<!-)-{6,}+\+-{6,}"
    rb"|^ {2,}+\d\S*+ {3}(?>\S+?\.)\S[^\n]*+\n {8,}+\S+?\.\S",
    re.MULTILINE,
)
PARKED = "runtime.gopark"  # innermost function of a waiting goroutine, and of no other stack
ANOTHER = "another profile's table is not read here; save it to a file of its own"
TIME_AND_BYTES = frozenset({"nanoseconds", "bytes"})  # no profile has both
TABLE, TREE, LIST, TRACES = "table", "tree", "list", "traces"


@dataclass(frozen=True)
class PrintedText:
    """A profile parsed from pprof's output."""

    columns: PprofColumns
    printed: Printed
    totals: tuple[int, ...]
    is_difference: bool


def looks_like_printed(data: bytes) -> bool:
    """Whether enough lines of a text are output of `go tool pprof`."""
    head = without_bold_cells(data[:HEAD_BYTES])
    if b"\0" in head or _QUICK.search(head) is None or is_of_jemalloc(head):
        return False
    filled = [line for line in lines_of(head) if line.strip()]
    reader = _Reader("").of_lines(filled)
    least = LEAST_HEADED if reader.has_headed_row else LEAST_SHARE
    return reader.has_tables and reader.known >= least * len(filled)


def parse_printed(data: bytes, *, source: str) -> tuple[PrintedText, list[Damage]]:
    """Parse pprof's output as a profile; returns it and the damage.

    Damage is a row that is cut, rows that are missing, and a table of another profile than the
    first table's. Raises FormatError if there is no row.
    """
    reader = _Reader(source).of_lines(lines_of(without_bold_cells(data)))
    if not reader.has_tables:
        what = "no row of a table, wanted what go tool pprof prints: flat flat% sum% cum cum%"
        raise FormatError(source, "", what)
    return reader.profile(), reader.damage


class _Reader:
    """The parser's state between lines."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.damage: list[Damage] = []
        self.tables = [Table(0)]
        self.known = 0  # lines recognised as pprof's output
        self.kind = self.default_kind = self.file = self.build_id = self.saved = ""
        self.time_nanos = self.session = 0
        self.is_difference = False
        self.form = TABLE  # of the following lines
        self.routine = ("", "")  # function of the following lines, and its file
        self.above: list[tuple[str, Amount]] | None = None  # callers since the last rule
        self.nameless = ""  # a row whose name is on the next line
        self.is_ruled = True  # whether rules separate the stacks
        self.is_elided = False  # whether an ellipsis replaces some stacks
        self.unit = self.unit_of_rows = ""  # printed once by Perl's pprof, or known by decimals
        self.is_interrupted = False  # whether other text follows the last row
        self.has_headed_row = self.is_below_legend = False
        self.chosen = set[str]()  # sample types in commands and flags

    @property
    def has_tables(self) -> bool:
        """Whether there is any row or stack, or the head of one table of each sample type."""
        kinds = [table.kind for table in self.tables if table.is_head]
        has_heads = 0 < len(kinds) == len(set(kinds))
        return has_heads or any(table.rows or table.stacks for table in self.tables)

    def of_lines(self, texts: list[str]) -> _Reader:
        """Parse lines; returns itself."""
        self.unit = self.unit_of_rows = lines.unit_by_decimals(texts)
        for number, text in enumerate(with_whole_names(texts), start=1):
            nameless, self.nameless = self.nameless, ""
            whole = f"{nameless}  {text.strip()}" if nameless and text.strip() else text
            try:
                is_read = self._is_read(number, whole) or (nameless and self._is_read(number, text))
            except OverflowError:
                what = "a number that is larger than any machine's memory"
                self.damage.append(Damage(self.source, f"line {number}", what, excerpt(text)))
                continue
            if is_read or lines.AROUND.match(text):
                self.known += 1
            elif self.form == TABLE and self.tables[-1].rows and lines.TORN.fullmatch(text):
                what = f"{EXCERPT}a row that is cut, and was not read"
                self.damage.append(Damage(self.source, f"line {number}", what, excerpt(text)))
            elif text.strip():
                self.is_interrupted = True
        return self

    def profile(self) -> PrintedText:
        """Return the profile with all tables that belong to it, one per sample type."""
        by_type: dict[str, Table] = {}
        readings: dict[str, list[Table]] = {}  # earlier readings, by sample type
        if len(self.chosen) == 1 and not any(table.kind for table in self.tables):
            self.tables = [replace(table, kind=min(self.chosen)) for table in self.tables]
        typed = with_types_before(self.tables)
        for table in (table for table in typed if table.rows or table.stacks):
            if not table.kind and table.is_of_waiting(PARKED):
                table.kind = "goroutine"
            if {each.sample_type.unit for each in (table, *by_type.values())} >= TIME_AND_BYTES:
                self._refuse(table)
                continue
            self._check(table)
            first = by_type.setdefault(table.sample_type.type, table)
            if first is table:
                continue
            if table.is_later:
                readings.setdefault(table.sample_type.type, []).append(first)
                by_type[table.sample_type.type] = table
                continue
            if first.is_of_one_profile_with(table):
                first.take(table)
                continue
            if first.has_of_its_stacks(table):
                continue  # the table's rows already include these stacks
            self._refuse(table)
        for table in (table for table in typed if table.is_head):
            self._take_head(table, by_type)
        found = list(by_type.values())
        is_difference = self.is_difference or any(table.has_negative for table in found)
        columns = columns_of(
            found,
            file=self.file,
            build_id=self.build_id,
            time_nanos=self.time_nanos,
            is_difference=is_difference,
        )
        totals = tuple(abs(table.whole.value) for table in found)
        printed = printed_of(found, self.saved, is_elided=self.is_elided, earlier=readings)
        return PrintedText(columns, printed, totals, is_difference)

    def _take_head(self, table: Table, by_type: dict[str, Table]) -> None:
        """Add a header without rows, which has the total of its sample type, and record damage."""
        by_type.setdefault(table.sample_type.type, table)
        self._refuse(table, f"{EXCERPT}the head of a table without its rows: they are missing")

    def _refuse(self, table: Table, what: str = ANOTHER) -> None:
        self.damage.append(Damage(self.source, f"line {max(table.line, 1)}", what))

    def _check(self, table: Table) -> None:
        """Record damage if rows are missing."""
        if table.lost:
            what = f"{EXCERPT}its rows do not add up to what its head says: some are missing"
            self._refuse(table, what)

    def _is_read(self, number: int, text: str) -> bool:
        """Parse a line; returns whether it belongs to a table or its header."""
        if prompt := lines.PROMPT.fullmatch(text):
            self._command(number, text)
            self._is_read(number, prompt[1])
            return True
        if self._head(number, text):
            return True
        if self.form == TRACES and self._trace(text):
            return True
        if self.form == LIST and self._source(text):
            return True
        if self._row(number, text) or self._node(text) or self._stack_alone(text):
            return True
        self.nameless = text.rstrip() if lines.NAMELESS.fullmatch(text) else ""
        return False

    # Headers and commands

    def _head(self, number: int, text: str) -> bool:
        if self._of_profile(number, text):
            return True
        if found := lines.SHOWN.fullmatch(text):
            self._begin(number)
            self._shown(number, text, found)
        elif found := lines.TOTAL.fullmatch(text):
            self._begin(number)
            self.unit = found[2] or self.unit_of_rows
            self.tables[-1].total = amount_of(found[1], self.unit)
        elif found := lines.ROUTINE.fullmatch(text):
            self.form, self.routine = LIST, (found[1], found[2])
        elif lines.RULE.fullmatch(text):
            self.above = []
            # In a rule of `tree`, the left side is longer.
            self.form = TRACES if text.strip().index("+") < lines.TREE_RULE else TREE
            if self.form == TREE:
                self.tables[-1].shown = None  # `peek` has only some of the rows
        elif lines.LEGEND.fullmatch(text):
            self.is_below_legend = True
            if self.form != TREE:
                self._begin(number, closes=self.tables[-1].total is None)
        else:
            return False
        return True

    def _shown(self, number: int, text: str, found: re.Match[str]) -> None:
        """Parse a header: the sum of the shown rows, and the total."""
        rows, part, whole = found.group(1, 2, 3) if found[2] else found.group(4, 6, 5)
        shown, total, (share, off) = amount_of(rows), amount_of(whole), fraction_of(part)
        said = shown.value / total.value if total.value else share
        is_sound = abs(abs(said) - abs(share)) <= lines.MAX_HEAD_ERROR + off
        if not is_sound:
            what = "its head contradicts itself: the first size is not that share of the second"
            self.damage.append(Damage(self.source, f"line {number}", what, excerpt(text)))
        table = self.tables[-1]
        table.shown, table.total = shown if is_sound else None, total
        table.kind = table.kind or self.kind or self.default_kind

    def _of_profile(self, number: int, text: str) -> bool:
        """Parse a header line about the profile, or a command."""
        if found := lines.TYPE.fullmatch(text):
            self._begin(number)
            self.kind = found[1]
        elif found := lines.TIME.fullmatch(text):
            self.time_nanos = self.time_nanos or lines.nanoseconds_of(found[1])
        elif lines.DURATION.fullmatch(text):
            # A heap profile has a duration only if it is a delta profile: /heap?seconds=30.
            self.is_difference |= self.kind.startswith(("inuse_", "alloc_"))
        elif found := lines.FILE.fullmatch(text):
            self.file = self.file or found[1]
        elif found := lines.BUILD_ID.fullmatch(text):
            self.build_id = self.build_id or found[1]
        elif lines.COMMAND.fullmatch(text):
            self._command(number, text)
            self.session += 1
            self.tables[-1].session = self.session
        else:
            return False
        return True

    def _command(self, number: int, text: str) -> None:
        """Parse a command: the sample type it selects, and its profile."""
        self._begin(number)
        self.is_difference |= lines.DIFFERENCE.search(text) is not None
        self.default_kind = lines.default_type_of(text) or self.default_kind
        saved = lines.SAVED.fullmatch(text)
        self.saved = saved[1] if saved else self.saved
        chosen = None if saved else lines.CHOSEN.search(text)
        self.kind = chosen[1] if chosen else self.kind
        self.chosen |= {chosen[1]} if chosen else set()

    def _begin(self, number: int, *, closes: bool = True) -> None:
        """Close the current table, if it has rows or a header."""
        self.form, self.above = TABLE, None
        last = self.tables[-1]
        if closes and (last.rows or last.stacks or last.is_head):
            self.tables.append(Table(number, session=self.session))
        elif not last.rows:
            last.line = number

    # Rows

    def _table(self) -> Table:
        """Return the current table, whose sample type is now known."""
        table = self.tables[-1]
        table.kind = table.kind or self.kind or self.default_kind
        return table

    def _row(self, number: int, text: str) -> bool:
        found = lines.ROW.fullmatch(text)
        if found is None:
            return False
        flat, cum = (amount_of(found[part], self.unit) for part in (1, 3))
        name, share = without_inline(found[5]), fraction_of(found[2])[0]
        rows = self.tables[-1].rows
        inside = lines.IN_FILE.fullmatch(name)
        if self.is_interrupted and (name if inside is None else inside[1]) in rows:
            self.tables.append(Table(number, session=self.session, is_later=True))
        elif not rows:
            self.tables[-1].cut_above = lines.cut_above(text)
        self._add(name, flat, cum, share)
        self._derive((flat, found[2]), (cum, found[4]))
        self.has_headed_row |= self.is_below_legend
        self.is_below_legend = self.is_interrupted = False
        return True

    def _add(self, name: str, flat: Amount, cum: Amount, share: float | None = None) -> Row:
        place, inside = lines.PLACE.fullmatch(name), lines.IN_FILE.fullmatch(name)
        part = Part(flat.value) if place is None else Part(flat.value, place[2], int(place[3]))
        if inside is not None:
            name, part = inside[1], Part(flat.value, inside[2])
        row, rows = Row(flat, cum, [part], share=share), self._table().rows
        rows[name] = rows[name].plus(row) if name in rows else row
        return rows[name]

    def _derive(self, *pairs: tuple[Amount, str]) -> None:
        """Derive the total from a value and its share; the most precise pair wins."""
        table = self.tables[-1]
        for amount, share in pairs:
            fraction, off = fraction_of(share)
            if amount.value > 0 and fraction > 0:
                imprecise = off / fraction + amount.rounding / amount.value
                if imprecise < table.derived[1]:
                    table.derived = (amount.value / fraction, imprecise)

    def _node(self, text: str) -> bool:
        """Parse a function of `tree`, or a line for one of its callers or callees."""
        if edge := lines.EDGE.fullmatch(text):
            if self.above is not None:
                self.above.append((without_inline(edge[2]), amount_of(edge[1])))
            return True
        node = lines.NODE.fullmatch(text)
        if node is None:
            return False
        flat, cum = amount_of(node[1]), amount_of(node[3])
        row = self._add(without_inline(node[5]), flat, cum)
        row.callers += [(caller, weight.value) for caller, weight in self.above or ()]
        self._derive((flat, node[2]), (cum, node[4]))
        # If a function calls nothing, the values of its callers are all flat.
        if flat.value == cum.value and flat.value and self.above:
            parts = [Part(weight.value, caller=caller) for caller, weight in self.above]
            rest = flat.value - sum(part.value for part in parts)
            if abs(rest) > flat.rounding * (len(parts) + 1):
                parts.append(Part(rest))
            row.parts = parts
        self.above = None
        return True

    def _source(self, text: str) -> bool:
        """Parse a line of `list`: a source line, or the function's sums."""
        name, file = self.routine
        if sums := lines.ROUTINE_SUMS.fullmatch(text):
            self.unit = sums[4] or ""
            flat, cum = amount_of(sums[1], self.unit), amount_of(sums[2], self.unit)
            self._table().rows[name] = Row(flat, cum, [Part(flat.value, file)])
            self._derive((cum, sums[3] or "0%"))
            return True
        found = lines.SOURCE.fullmatch(text)
        row = self.tables[-1].rows.get(name)
        if found is None or row is None:
            return found is not None
        flat, cum = amount_of(found[1], self.unit), amount_of(found[2], self.unit)
        number = int(found[3])
        if flat.value or cum.value:
            row.cum_by_line[file, number] = cum.value
            row.parts = [part for part in row.parts if part.line]
            row.parts.append(Part(flat.value, file, number))
        return True

    def _stack_alone(self, text: str) -> bool:
        """Parse the first of several stacks that have no header."""
        if self.form != TABLE or self.tables[-1].rows or not lines.STACK_ALONE.fullmatch(text):
            return False
        self.form, self.above, self.is_ruled = TRACES, [], False
        return self._trace(text)

    def _trace(self, text: str) -> bool:
        """The frames of a stack, below its labels; the first has the value."""
        if lines.ELIDED.fullmatch(text):
            self.is_elided = True
            return True
        if not text.strip():
            self.above = self.above if self.is_ruled else []
            return False
        if self.above is None:
            self.tables[-1].stacks[-1][1].append(without_inline(text.strip()))
            return True
        if found := lines.STACK.fullmatch(text):
            self._table().stacks.append((amount_of(found[1]), [without_inline(found[2])]))
            self.above = None
            return True
        return lines.LABEL.fullmatch(text) is not None
