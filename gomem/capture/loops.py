"""Files that commands printed into one text, one after another, and often again and again.

    while sleep 5; do date; cat /proc/PID/smaps_rollup; done > rollup.log
    for i in 1 2 3; do date; curl -s HOST/debug/pprof/heap?debug=1; sleep 10; done > heaps.log

A file ends where the next one begins: at a line that is only a time, a separator, or a prompt; at
the head of a dump; where lines of /proc/PID/status begin or end; and, for files without a head, at
their first line again, with other numbers. A time is that of all files up to the next one. Files of
the same kind are then readings; what no parser reads is a file, too, which the report names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from gomem.capture.pasted import is_mark, prose_in
from gomem.inputs.kinds import MOMENT_SCOPE, kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.processes.dates import clock_of
from gomem.inputs.processes.parse import is_head_of_table
from gomem.inputs.separators import is_rule, is_separator, time_in
from gomem.inputs.smaps.excerpt import is_rollup_excerpt
from gomem.inputs.text_lines import LineNumbers
from gomem.inputs.unwrap import PROMPT
from gomem.sources.artefact import Source, SourcePart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.inputs.kinds import Kind

HEAD_BYTES = 1 << 12  # searched for a byte that no text has
MAX_BYTES = 1 << 26  # of dumps in one text
HEAD_LINES = 400  # within which a text shows that it has several files
MAX_READINGS = 10_000
# Kinds without a head, which a loop can print without anything in between.
BARE = frozenset({"status", "smaps_rollup", "statm"})
# Kinds with a head, of which a text can have several: their readers would add them up.
DUMPS = frozenset({"heap_text", "count_text", "goroutines"})
# Kinds of which a text has several only if something stands between them, from its first line on.
COPIES = frozenset({"smaps", "pmap", "maps", "metrics", "memstats"})
TABLE = "processes"  # whose reader has a loop's readings, but no other file between them
MIN_FILES = 2
# Why a file can begin or end at a line: what the groups of _CANDIDATE are called.
END, HEAD, STACK, STATUS, HEADER, AGAIN = "end", "head", "stack", "status", "header", "again"
_HEAD = (
    rb"[ \t]*(?:heap profile: *\d+: *-?\d+ *\["
    rb"|(?:goroutine(?:leak)?|threadcreate) profile: total \d)"
)
_STACK = rb"goroutine \d+ (?:\S+ )*\[[a-z]"  # the first line of a dump of stacks
_DUMP = re.compile(rb"^(?:" + _HEAD + rb"|" + _STACK + rb")", re.MULTILINE)
# A line of status has a tab after its colon; smaps has blanks. Each pattern begins with a byte that
# is searched for fast, as these are sought in dumps of many MiB.
_CANDIDATE = re.compile(
    rb"\n(?:(?P<head>" + _HEAD + rb")|(?P<stack>" + _STACK + rb")|(?P<status>\w+:\t)"
    rb"|(?P<end>[=*<>~`_+\[-]|#(?!\t)"
    rb"|[ \t]*(?:\d{4}-\d\d-\d\d[T ])?(?:\d\d?:\d\d:\d\d|1\d{9}\b)"
    rb"[-+.,:\dZAPM =#*<>\]~_]*\r?(?=\n|\Z)"
    rb"|[ \t]*[A-Z][a-z]{2},? +[A-Z0-9][a-z0-9]{0,2} [^\n]{0,50}(?=\n|\Z)|[ \t]+<))"
)
_PROMPT = re.compile(rb"[$#%>\xaf](?=[ \r\n]|\Z)")
_HEADER = re.compile(rb"RS[SZ]\b|RES\b|MEM USAGE|MEMORY\(bytes\)|INODES")
_NUMBERS = re.compile(rb"[0-9a-f]*[0-9][0-9a-f]*")


@dataclass(frozen=True)
class LoopPart(SourcePart):
    """A part of a loop's output."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines of a text, from `start` on, which one command printed."""

    start: int
    data: bytes
    at: bytes  # the time above; empty without one

    def part(self, source: Source) -> LoopPart:
        time, of_day = clock_of(self.at)
        number = self.start + 1
        return LoopPart(
            f"{source.name}:{number}", self.data, self.data, source.modified,
            first_line=number, time=time, time_of_day=of_day,
        )  # fmt: skip


def loop_parts(source: Source) -> list[Source]:
    """Take a text of several files apart; empty if it is something else."""
    if not _may_have_several(source.data):  # before a question that is asked of each file again
        return []
    kind = kind_of(source.data, source.name)
    if kind is not None and kind.name not in BARE | DUMPS | COPIES | {TABLE}:
        return []
    lines = source.data.split(b"\n")
    pieces = list(islice(_pieces(source.data, lines, source.name), MAX_READINGS + 1))
    if not MIN_FILES <= len(pieces) <= MAX_READINGS:
        return []
    kinds = [_kind_of(piece, source.name) for piece in pieces]
    first = next(filter(bytes.strip, lines), b"")
    if kind is not None and kind.name in COPIES:
        are_files = _ends_a_file(first) and _are_copies(pieces, kinds)
    else:
        are_files = _are_files(kinds, kind, is_dated=bool(time_in(first)))
    if not are_files:
        return []
    names = [kind.name for kind in kinds if kind is not None]
    if len(set(names)) == len(names) and _has_prose(lines):
        return []  # a document, of which each kind is there once
    seen: set[str] = set()
    parts: list[Source] = []
    for piece, own in zip(pieces, kinds, strict=True):
        if own is None:
            what = str(looks_like(piece.data, "").what)
            if what in seen:
                continue  # the first of such files is named
            seen.add(what)
        parts.append(piece.part(source))
    return [replace(parts[0], damage=source.damage), *parts[1:]]


def _are_files(kinds: Sequence[Kind | None], whole: Kind | None, *, is_dated: bool) -> bool:
    """Whether pieces of these kinds are files, rather than parts of one or of a document."""
    names = [kind.name for kind in kinds if kind is not None and kind.scope == MOMENT_SCOPE]
    has_other = not {TABLE}.issuperset(names)
    is_known = is_dated or not (BARE | DUMPS).isdisjoint(names)
    if whole is None or whole.name == TABLE:
        return len(names) >= MIN_FILES and has_other and is_known
    return len(names) >= MIN_FILES


def _are_copies(pieces: Sequence[_Piece], kinds: Sequence[Kind | None]) -> bool:
    """Whether several pieces are files of a kind that has no head: of MemStats, JSON alone."""
    known = [(piece, kind) for piece, kind in zip(pieces, kinds, strict=True) if kind is not None]
    is_json = (piece.data[:1] == b"{" for piece, kind in known if kind.name == "memstats")
    return len(known) >= MIN_FILES and all(is_json)


def _has_prose(lines: Sequence[bytes]) -> bool:
    """Whether a person wrote a part of the text."""
    return any(not is_separator(lines[place]) for place in prose_in(lines))


def _kind_of(piece: _Piece, name: str) -> Kind | None:
    kind = kind_of(piece.data, name)
    return kind if kind is not None and kind.scope == MOMENT_SCOPE else None


def _may_have_several(data: bytes) -> bool:
    """Whether a text begins like one with several files, or has the head of a dump."""
    head = data.lstrip(b"\r\n")
    if b"\0" in head[:HEAD_BYTES]:
        return False
    lines = head.split(b"\n", HEAD_LINES)[:HEAD_LINES]
    if _ends_a_file(lines[0]) or len(_again(lines, lines[0])) > 1:
        return True
    return len(data) <= MAX_BYTES and _DUMP.search(data) is not None


def _again(lines: Sequence[bytes], first: bytes) -> set[int]:
    """The lines that are a file's first line, with other numbers."""
    shape = _NUMBERS.sub(b"0", first)
    return {
        number
        for number, line in enumerate(lines)
        if (line[:1] == shape[:1] or shape[:1] == b"0") and _NUMBERS.sub(b"0", line) == shape
    }


def _pieces(data: bytes, lines: Sequence[bytes], name: str) -> Iterator[_Piece]:
    """The files of a text, with the time above each."""
    begin, at, is_dump, is_stacks = 0, b"", False, False
    for number, why in _candidates(data, lines, name):
        line = lines[number] if number < len(lines) else b""
        is_end = why == END and (
            number == len(lines) or _ends_a_file(line) or (is_dump and is_rule(line))
        )
        is_head = (
            why in {AGAIN, HEAD}
            or (why == STACK and is_dump and not is_stacks)
            or (why == HEADER and is_dump and is_head_of_table(line))
            or (why == STATUS and number > begin)
        )
        if is_end or is_head:
            filled = [place for place in range(begin, number) if lines[place].strip()][:1]
            if filled:
                text = b"\n".join(lines[filled[0] : number]).strip(b"\r\n\t ")
                yield _Piece(filled[0], text + b"\n", at)
            begin, is_dump, is_stacks = number + is_end, False, False
            at = (time_in(line) or at) if is_end else at
        if why in {HEAD, STACK} and not is_dump:
            is_dump, is_stacks = True, why == STACK


def _candidates(data: bytes, lines: Sequence[bytes], name: str) -> list[tuple[int, str]]:
    """The lines at which a file can begin or end, and why: found at once, as a dump is long."""
    found = dict.fromkeys(_beginnings(lines, name), AGAIN)
    text = b"\n" + data
    last = -1  # the last line of status
    for number, match in _with_lines(_CANDIDATE, text):
        why = str(match.lastgroup)
        if last >= 0 and number > last + 1:
            found.setdefault(last + 1, STATUS)  # the first line below status
        if why == STATUS and 0 <= last == number - 1:
            last = number
            continue
        last = number if why == STATUS else -1
        found.setdefault(number, why)
    if last >= 0:
        found.setdefault(last + 1, STATUS)
    for pattern, why in ((_PROMPT, END), (_HEADER, HEADER)):
        for number, _ in _with_lines(pattern, text):
            found.setdefault(number - 1, why)
    return [*sorted(found.items()), (len(lines), END)]


def _with_lines(pattern: re.Pattern[bytes], text: bytes) -> Iterator[tuple[int, re.Match[bytes]]]:
    """Matches, each with the number of newlines before it."""
    numbers = LineNumbers(text)
    return ((numbers.at(match.start()) - 1, match) for match in pattern.finditer(text))


def _beginnings(lines: Sequence[bytes], name: str) -> set[int]:
    """The lines at which a file begins that has no head, and comes again."""
    places = (place for place, line in enumerate(lines) if line.strip())
    start = next((place for place in places if not _ends_a_file(lines[place])), len(lines))
    head = lines[start : start + HEAD_LINES]
    again = sorted(_again(head, head[0])) if head else []
    if len(again) < MIN_FILES:
        return set()
    own = b"\n".join(head[: again[1]]) + b"\n"
    kind = kind_of(own, name)
    if kind is None or kind.name not in BARE or is_rollup_excerpt(own):
        return set()  # without a time between them, such lines are of the mappings of one smaps
    return _again(lines, head[0])


def _ends_a_file(line: bytes) -> bool:
    """Whether a line stands between what two commands printed."""
    if line[:1] in {b"", b" ", b"\t"}:
        return bool(line) and bool(time_in(line))
    is_prompt = not line.startswith(b"#") and PROMPT.fullmatch(line) is not None
    return is_separator(line) or is_prompt or bool(time_in(line)) or is_mark(line)
