"""Parts of a text that has several artefacts: what commands printed, or what somebody pasted."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby, zip_longest
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from gomem.capture.fenced_dumps import with_whole_dumps
from gomem.capture.loops import LoopPart, loop_parts
from gomem.capture.pasted import MAX_BYTES as MAX_TICKET
from gomem.capture.pasted import PPROF, PPROF_HEAD_LINE, pasted_parts
from gomem.capture.quoting import without_quoting
from gomem.capture.said_rss import BESIDE, SaidPart, rss_in_a_sentence
from gomem.errors import FormatError
from gomem.inputs.disk_free import lines_of_df
from gomem.inputs.kinds import MOMENT_SCOPE, kind_of
from gomem.inputs.markdown import FENCE
from gomem.inputs.pprof.printed.lines import AROUND, COMMAND, SHOWN
from gomem.inputs.pprof.printed.parse import ANOTHER, parse_printed
from gomem.inputs.text_lines import decoded
from gomem.inputs.unwrap import plain_characters
from gomem.sources.artefact import Source, SourcePart, open_source
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike


MARKDOWN = frozenset({".md", ".markdown", ".txt", ""})
DOCUMENTS = frozenset({"README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "LICENSE"})
MIN_FENCES = MIN_PROFILES = 2
MAX_PROFILES = 100
# The head of what `go tool pprof` prints, and the time of the profile in it.
PPROF_HEAD = re.compile(rb"^" + PPROF_HEAD_LINE + rb"+", re.MULTILINE)
PPROF_FILE = re.compile(rb"^File: ([^\n]*\S)", re.MULTILINE)
PPROF_TABLE = re.compile(rb"nodes accounting for|flat +flat% +sum%|ROUTINE ={4}")
PPROF_TIME = re.compile(rb"^Time: ([^\n]*\S)", re.MULTILINE)
MAX_BYTES = 1 << 24  # of a text that is searched for what df printed


def parts_of(source: Source, *, is_ticket: bool) -> list[Source]:
    """Return the artefacts in a text; empty if it is one artefact, or none."""
    parts = with_whole_dumps(source, _parts(source, is_ticket=is_ticket))
    df = _of_df(source)
    if df is None or (not parts and kind_of(source.data, source.name) is None):
        return parts
    return [*(part for part in parts or [source] if not _is_of_df(part)), df]


def _of_df(source: Source) -> Source | None:
    """The lines of a text that df printed of tmpfs, of all readings together; None without any."""
    data = source.data
    found = lines_of_df(data) if len(data) <= MAX_BYTES and b"Mounted on" in data else set()
    if not found:
        return None
    lines = data.split(b"\n")
    kept = b"".join(lines[number - 1].strip() + b"\n" for number in sorted(found))
    first = min(found)
    return SourcePart(f"{source.name}:{first}", kept, kept, source.modified, first_line=first)


def _is_of_df(source: Source) -> bool:
    """Whether a part is only what df printed of tmpfs, which the lines of all readings have."""
    return kind_of(source.data) is None and bool(lines_of_df(source.data))


def _of_profiles(source: Source) -> list[Source]:
    """What pprof printed of several profiles, one after the other; empty if of one, or mixed.

    The head of each says when its profile was taken; without a time, its total is another one.
    """
    begins = _by_their_times(source.data) or _by_their_totals(source.data)
    parts = [source.data[begin:end] for begin, end in zip_longest(begins, begins[1:])]
    if {PPROF} != {kind and kind.name for kind in map(kind_of, parts)} or len(_files(parts)) > 1:
        return []
    above = source.first_line - 1 if isinstance(source, SourcePart) else 0
    firsts = (above + source.data.count(b"\n", 0, begin) + 1 for begin in begins)
    return [_piece(source, line, part) for line, part in zip(firsts, parts, strict=True)]


def _piece(source: Source, line: int, data: bytes) -> SourcePart:
    """A part of a source, from a line of the text on; also of what is a part itself."""
    name = f"{source.text_name}:{line}"
    if isinstance(source, SourcePart):
        return replace(source, name=name, data=data, stored=data, first_line=line)
    return SourcePart(name, data, data, source.modified, first_line=line)


def _files(parts: Sequence[bytes]) -> set[bytes]:
    """The programs that the heads of profiles name."""
    return {found[1] for part in parts if (found := PPROF_FILE.search(part))}


def _by_their_times(data: bytes) -> list[int]:
    """Where what pprof printed of each profile begins, by the times in its heads."""
    if data.count(b"\nTime: ") + data.startswith(b"Time: ") < MIN_PROFILES:
        return []  # a log of any length is not searched line by line
    heads = [
        (head.start(), at[1])
        for head in PPROF_HEAD.finditer(data)
        if (at := PPROF_TIME.search(head.group()))
    ]
    begins = [next(runs)[0] for _, runs in groupby(heads, key=itemgetter(1))]
    is_each_once = MIN_PROFILES <= len(begins) == len({at for _, at in heads})
    return [0, *begins[1:]] if is_each_once else []


def _by_their_totals(data: bytes) -> list[int]:
    """The same, by tables of one sample type with another total: what its reader does not take."""
    if len(data) > MAX_BYTES or len(PPROF_TABLE.findall(data)) < MIN_PROFILES:
        return []
    first = next(PPROF_TABLE.finditer(data)).start()
    begins = [_first_byte(data, data.count(b"\n", 0, first) + 1)]
    while len(begins) < MAX_PROFILES:
        try:
            printed, damage = parse_printed(data[begins[-1] :], source="")
        except FormatError:
            return []
        lines = [int(fault.where.split()[1]) for fault in damage if fault.what == ANOTHER]
        if printed.is_difference or not lines:
            break
        begins.append(begins[-1] + _first_byte(data[begins[-1] :], min(lines)))
    return begins if begins[1:] else []


def _first_byte(data: bytes, number: int) -> int:
    """Where the head of a table begins that has a line, from 1."""
    lines = data.split(b"\n")[: number - 1]
    while lines and any(form.match(decoded(lines[-1])) for form in (AROUND, COMMAND, SHOWN)):
        lines.pop()
    return sum(len(line) + 1 for line in lines)


def _parts(source: Source, *, is_ticket: bool) -> list[Source]:
    printed = loop_parts(source) or _of_profiles(source)
    if not is_ticket:
        return printed
    pasted = [part for paste in pasted_parts(source) for part in _of_profiles(paste) or [paste]]
    parts = _chosen(source, printed, pasted)
    said = _said(source, parts or [source])
    return [*(parts or [source]), said] if said else parts


def _said(source: Source, parts: Sequence[Source]) -> SaidPart | None:
    """RSS in a sentence beside what was read once, without it; None without one."""
    if len(source.data) > MAX_TICKET:
        return None
    kinds = [kind.name for part in parts if (kind := kind_of(part.data, part.name)) is not None]
    if not kinds or not BESIDE.issuperset(kinds) or len(set(kinds)) < len(kinds):
        return None
    found = rss_in_a_sentence(plain_characters(source.data).split(b"\n"))
    if found is None:
        return None
    place, size, is_rss = found
    name, data = f"{source.name}:{place + 1}", b"VmRSS: " + size + b"\n"
    return SaidPart(
        name, data, data, source.modified, first_line=place + 1, is_rss=is_rss
    )  # fmt: skip


def _chosen(source: Source, printed: list[Source], pasted: list[Source]) -> list[Source]:
    """The parts by what stands between them, or by what a person pasted."""
    if pasted and sum(map(_is_fence, source.data.split(b"\n"))) >= MIN_FENCES:
        return pasted  # its fences say where a paste ends
    # Of a session of commands both have parts: those with times, or else the more, are better.
    has_times = any(isinstance(part, LoopPart) and part.has_time for part in printed)
    return printed if len(printed) + has_times > len(pasted) else pasted


def only_ticket(sources: Sequence[Source]) -> Source | None:
    """Return the only ticket of a folder; None if there is code, or a file of a kind that it has.

    A ticket has artefacts of two kinds, of which one is of a process. Files of other kinds are what
    is attached to it. A text alone in its folder needs one kind.
    """
    if len(sources) == 1 and PurePosixPath(sources[0].name).stem.upper() not in DOCUMENTS:
        return sources[0]
    tickets = [(source, kinds) for source in sources if (kinds := _kinds_of_ticket(source))]
    if len(tickets) != 1:
        return None
    ((ticket, kinds),) = tickets
    others = [source for source in sources if source is not ticket]
    found = {kind.name for other in others if (kind := kind_of(other.data, other.name))}
    return None if any(map(_is_code, others)) or found & kinds else ticket


def _kinds_of_ticket(source: Source) -> set[str]:
    """The kinds in a text that is a ticket by its content, and no README by its name; else none."""
    path = PurePosixPath(source.name)
    if path.suffix.lower() not in MARKDOWN or path.stem.upper() in DOCUMENTS:
        return set()
    kinds = [kind_of(part.data, part.name) for part in pasted_parts(source)]
    scopes = {kind.name: kind.scope for kind in kinds if kind is not None}
    return set(scopes) if len(scopes) > 1 and MOMENT_SCOPE in scopes.values() else set()


def _is_fence(line: bytes) -> bool:
    return FENCE.fullmatch(line) is not None


def _is_code(source: Source) -> bool:
    return PurePosixPath(source.name).suffix in {".go", ".mod"}


def part_named(path: str | PathLike[str]) -> Source | None:
    """Return a part of a text by the name that reports give it, such as `heaps.log:168`."""
    name, _, line = str(path).rpartition(":")
    if not is_digits(line) or Path(path).exists() or not Path(name).is_file():
        return None
    parts = parts_of(without_quoting(open_source(name)), is_ticket=True)
    return next((part for part in parts if part.name.endswith(f":{line}")), None)
