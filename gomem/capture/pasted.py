"""Split a text with several pastes, such as a ticket: prose around a log, a dump, a table, smaps.

A part is bounded by a fence, a `==> name <==` line, a shell prompt, prose, a heading, or a blank
line after which the kind of text changes. A text is split only if its parts are of at
least two kinds, and a log is never split.
Lines keep their number in the text, and a part is named after its first line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from gomem.capture.blocks import begins_with_a_log, blocks_of
from gomem.capture.forms import begin_of_first_form, begins_of_forms
from gomem.capture.stretch import IN_LINES, LOG, TABLE, UNREAD, Stretch, joined
from gomem.inputs.cgroup.session import asks_for_cgroup
from gomem.inputs.environ.parse import MIN_LINES, settings_in_commands
from gomem.inputs.json_text import is_json_alone
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.machine import lines_of_the_machine
from gomem.inputs.markdown import FENCE, without_open_bold
from gomem.inputs.mem_info import lines_of_mem_info
from gomem.inputs.memstats.in_words import lines_in_words
from gomem.inputs.pods import lines_of_pods
from gomem.inputs.processes.dates import clock_of
from gomem.inputs.processes.other_systems import lines_of_freebsd
from gomem.inputs.processes.parse import asks_for_columns, lines_of_processes
from gomem.inputs.runtime_lines.typed import lines_of_readings, says_what
from gomem.inputs.separators import is_proc_path, is_yaml_key, time_above, time_in
from gomem.inputs.smaps.excerpt import is_rollup_excerpt
from gomem.inputs.unwrap import NAMED, PROMPT, TAG, plain_characters
from gomem.sources.artefact import Source, SourcePart

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


MAX_BYTES = 1 << 21  # a ticket is shorter
MAX_STRETCHES = 300  # more indicate a log, not a person's text
BENCHMARKS = "gobench"
# The two lines of heading of a table of benchstat, which can follow benchmarks at once.
_BENCHSTAT = re.compile(
    rb"^[^\n]*\xe2\x94\x82[^\n]*\n[^\n]*\xe2\x94\x82 +\S+/(?:op|s|sec)\b", re.MULTILINE
)
# What `go tool pprof -top` printed, from its head to a blank line.
PPROF_HEAD_LINE = rb"(?:(?:File|Build ID|Type|Time|Duration): [^\n]*\n)"
_BY_PPROF = re.compile(
    rb"^" + PPROF_HEAD_LINE + rb"*+Showing nodes accounting for [^\n]*\n"
    rb"(?:[^\n]*\S[^\n]*\n)++",
    re.MULTILINE,
)
LAST = b"```"  # a mark after the last line
PPROF = "pprof_text"
IN_A_LINE = IN_LINES | {TABLE, "status"}  # that a line says enough of, also between sentences
STACKS = frozenset({"count_text", "goroutines", "heap_text"})  # kinds that begin with their form
MIN_KINDS = 2
# Lines on the whole machine's memory, or of a list of pods, between those of processes.
MACHINE_LINES = (lines_of_the_machine, lines_of_mem_info, lines_of_freebsd, lines_of_pods)
# Texts of a crash, and the text between them and the stacks.
FATAL, STACK = (b"out of memory", b"fatal error: "), b"runtime stack:"
COMMAND_LINES = 50  # lines that can have the command that wrote a log
IN_WORDS = frozenset({"memstats", "runtime_lines"})
# Kinds whose parsers skip MemStats in words between their lines.
WITHOUT_WORDS = frozenset(
    {LOG, "pprof_text", "processes", "goroutines", "gobench", "cgroup", "pmap", "metrics"}
)

_NAMED = re.compile(NAMED)
_CLOCK = re.compile(rb"(?<![\d:.])\d\d:\d\d:\d\d(?![\d:.])")  # in a line above a paste
_COMMAND = re.compile(
    rb"[$#%>] *(?:(?:sudo|time|watch)\b[^\n]{0,80}? )?(?:cat|curl|wget|go|kubectl|oc|docker|podman"
    rb"|ps|top|htop|pmap|free|head|tail|grep|less|journalctl|dmesg|gops|systemctl|systemd-cgtop"
    rb"|ps_mem|smem|numastat|crictl|nomad|vmmap|procstat|date|df|du|uptime|wc|ls)\b"
)
_ASKS_PPROF = re.compile(rb"\bgo tool pprof\b|\bpprof\b[^\n\w-]{1,8}--?(?:inuse|alloc)_")
_ASKS_SMAPS = re.compile(rb"/smaps(?!_rollup)\b")
_HEADING = re.compile(
    rb"\s*(?:#{1,6} [A-Za-z][A-Za-z0-9 /,'()-]*:?|\*\*[^*\n]{1,80}\*\*:?"
    rb"|[A-Za-z][A-Za-z/-]*(?: [A-Za-z/-]+){0,8}:"
    rb"|(?:[A-Za-z]+ ){0,4}~?\d{1,4}(?:\.\d)? ?(?:s|sec|min|h|hr|second|minute|hour|day|week)s?"
    rb"(?:,? [A-Za-z]+){0,4}:|(?:-{3,}|={3,})(?: [^\n]{0,80})?)\s*"
)
# A line that announces what is below, with code in it: "Usage by `grep Vm /proc/1/status`:"
_WITH_CODE = re.compile(rb"[A-Z][^\n\t`]{2,200}`[^`\n]{1,200}`[^\n`]{0,100}:")
_WORD = re.compile(rb"[A-Za-z][a-z']+")
_SENTENCE_WORDS = frozenset(
    b"a after an and are as at be before but for from have here i in is it its my not of on our "
    b"see so that the there this to we when which why with you".split()
)
_PRINTED = re.compile(
    rb"\s*(?:panic:|fatal error:|goroutine |created by |gc \d"
    rb"|SIG[A-Z]+|\d{4}[-/]\d\d|\[?\d\d:\d\d"
    rb"|(?:Mem-Info|Call Trace|Tasks state|Memory cgroup stats|Hardware name)\b)"
)
_NO_SENTENCE = re.compile(rb"[\t={}|]|0x[0-9a-f]|\d{4}")
_ENDED = re.compile(rb"[.!?:]\W{0,3}$")  # as a sentence ends
_PAIR = re.compile(rb"\w:\d")  # of a program: `anon-rss:12kB`
MIN_WORDS, LONG_WORDS = 4, 8  # of a line of prose; of one that is prose by its length alone


@dataclass(frozen=True)
class PastedPart(SourcePart):
    """One of several artefacts in a text that a person wrote."""

    around: bytes = b""  # the whole text

    @property
    def whole_text(self) -> bytes:
        """The content of the whole text."""
        return self.around


def pasted_parts(source: Source) -> list[Source]:
    """Return the artefacts pasted into a text; empty if the text is one artefact or has none."""
    data = source.data
    if len(data) > MAX_BYTES or b"\0" in data or is_json_alone(data) or not data.strip():
        return []
    lines = without_open_bold(plain_characters(data).split(b"\n"))
    begins = begins_of_forms(lines)
    stretches = list(_stretches(lines, begins))
    if len(stretches) > MAX_STRETCHES:
        return []
    kind = kind_of(data, source.name)
    is_one = kind is not None
    whole = Stretch(0, len(lines), kind=UNREAD if kind is None else kind.name)
    is_by_a_person = _is_prose(next(filter(bytes.strip, lines))) or any(
        stretch.is_marked for stretch in stretches
    )
    is_put_together = is_by_a_person or bool(begins) or not begins_with_a_log(lines)
    if is_one and not is_put_together and whole.kind != BENCHMARKS:
        return _with_beside(source, lines, whole)
    divided = (part for stretch in stretches for part in _divided(lines, stretch))
    named = (_named(lines, part) for part in divided)
    parts = joined(lines, [part for part in named if part is not None])
    tables = [part for part in parts if whole.kind == BENCHMARKS and part.kind == UNREAD]
    if is_one and not is_put_together:
        return _with_beside(source, lines, whole, tables)
    evidence = parts if is_by_a_person else [part for part in parts if part.kind != UNREAD]
    is_whole = _is_alone(lines, parts) and (is_one or parts[0].kind == UNREAD)
    if (is_one and not _is_ticket(evidence, begins)) or is_whole:
        return _with_beside(source, lines, whole, tables)
    placed = [_part(source, lines, part) for part in (*parts, *_beside_all(lines, parts))]
    placed += _settings(source, lines, {part.kind for part in parts})
    # report damage only once
    return [*placed[:1], *(replace(part, damage=()) for part in placed[1:])]


def _with_beside(
    source: Source, lines: Sequence[bytes], whole: Stretch, tables: Sequence[Stretch] = ()
) -> list[Source]:
    """Return a one-artefact text and the further parts in its lines; empty if there are none."""
    beside = [_part(source, lines, table) for table in tables]
    further = _beside_all(lines, [whole])
    beside += [_part(source, lines, part) for part in further if not (tables and part.is_table)]
    beside += _settings(source, lines, {whole.kind})
    return [source, *(replace(part, damage=()) for part in beside)] if beside else []


def _settings(source: Source, lines: Sequence[bytes], kinds: set[str]) -> list[PastedPart]:
    """The environment set by the command that wrote a log, as a separate part."""
    if LOG not in kinds:
        return []
    for number, line in enumerate(lines[:COMMAND_LINES], start=1):
        found = settings_in_commands(line) if b"=" in line else {}
        if len(found) >= MIN_LINES:
            data = "".join(f"{name}={value}\n" for name, value in found.items()).encode()
            name = f"{source.name}:{number}"
            return [PastedPart(name, data, data, source.modified, first_line=number)]
    return []


def _beside_all(lines: Sequence[bytes], parts: Sequence[Stretch]) -> list[Stretch]:
    """Lines of another kind inside the parts."""
    return [beside for part in parts for beside in _beside(lines, part)]


def _beside(lines: Sequence[bytes], part: Stretch) -> Iterator[Stretch]:
    """Sizes in words between lines or below a table; a process's row; a benchmark's table."""
    text = b"\n".join(lines[part.start : part.stop]) + b"\n"
    of_machine = MACHINE_LINES if part.kind == TABLE else ()
    for machine in filter(None, (lines_of(text) for lines_of in of_machine)):
        kept = frozenset(part.start + number - 1 for number in machine)
        yield Stretch(min(kept), max(kept) + 1, part.is_marked, lines=kept)
    for table in _BY_PPROF.finditer(text) if part.kind == TABLE else ():
        start = part.start + text.count(b"\n", 0, table.start())
        stop = start + table[0].count(b"\n")
        yield Stretch(start, stop, part.is_marked, kind=PPROF)
    if part.kind == BENCHMARKS and (compared := _BENCHSTAT.search(text)):
        start = part.start + text.count(b"\n", 0, compared.start())
        yield Stretch(start, part.stop, part.is_marked)
    if part.kind in WITHOUT_WORDS:
        found = lines_in_words(text) or lines_of_readings(text)
        kinds = IN_WORDS
    elif part.kind in IN_WORDS:
        found, kinds = lines_of_processes(text), frozenset({TABLE})
        if not found and part.kind == "memstats":
            found, kinds = lines_of_readings(text), frozenset({"runtime_lines"})
    else:
        return
    kept = frozenset(part.start + number - 1 for number in found)
    if not kept:
        return
    start, stop = min(kept), max(kept) + 1
    beside = Stretch(start, stop, part.is_marked, lines=kept)
    kind = kind_of(_text(lines, beside))
    if kind is not None and kind.name in kinds:
        yield replace(beside, kind=kind.name)


def _is_ticket(parts: Sequence[Stretch], begins: set[int]) -> bool:
    """Whether a text that can be parsed as one artefact still contains several."""
    logs = [part for part in parts if part.kind == LOG and not part.is_marked]
    tables = [part for part in parts if part.kind == TABLE and part.start in begins]
    return len({part.kind for part in parts}) + len(tables) >= MIN_KINDS and len(logs) <= 1


def _is_alone(lines: Sequence[bytes], parts: Sequence[Stretch]) -> bool:
    """Whether there is no text besides the only part."""
    if len(parts) != 1:
        return False
    beside = (*lines[: parts[0].start], *lines[parts[0].stop :])
    return not any(line.strip() for line in beside)


def _stretches(lines: Sequence[bytes], begins: set[int]) -> Iterator[Stretch]:
    """The text between marks and where forms begin, and outside of fences between prose."""
    start, is_fenced, is_marked = 0, False, False
    prose, sessions = prose_in(lines, begins), _sessions(lines)
    sentences = sentences_in(lines)
    prose |= (
        sentences if begins else {place for place in sentences if _is_below_blank(lines, place)}
    )
    for place, line in enumerate([*lines, LAST]):
        if place in begins and place > start:
            yield Stretch(start, _without_heading(lines, start, place), is_fenced)
            start = place
        is_fence = FENCE.fullmatch(line) is not None
        is_open = place in sessions or not is_fenced
        ends = is_fence or (is_open and (is_mark(line) or is_proc_path(line)))
        if not ends and (is_fenced or place not in prose):
            continue
        if any(text.strip() for text in lines[start:place]):
            yield Stretch(start, place, is_fenced or is_marked)
        # A command that says what a number is, or pprof's sample type, belongs to its output.
        asks = (asks_for_cgroup, asks_for_columns)
        is_head = any(ask(line) for ask in asks) or says_what(lines, place)
        start = place if is_head or _ASKS_PPROF.search(line) is not None else place + 1
        is_marked = ends and not is_fence
        is_fenced ^= is_fence


def _is_below_blank(lines: Sequence[bytes], place: int) -> bool:
    """Whether the line above is blank."""
    return place > 0 and not lines[place - 1].strip()


def _without_heading(lines: Sequence[bytes], start: int, stop: int) -> int:
    """The end of a form without the line alone between it and the next, which is a heading."""
    last = stop - 1
    is_alone = last > start and lines[last].strip() and _is_below_blank(lines, last)
    return last if is_alone and kind_of(lines[last] + b"\n") is None else stop


def _divided(lines: Sequence[bytes], stretch: Stretch) -> list[Stretch]:
    """The blocks of a stretch, if they are several artefacts; else the stretch."""
    blocks = blocks_of(lines, stretch.start, stretch.stop)
    if len(blocks) < 2 and not any(block.is_item for block in blocks):
        if not blocks or kind_of(_text(lines, stretch)) is not None:
            return [stretch]
        above = begin_of_first_form(lines[stretch.start : blocks[0].start])
        start = blocks[0].start if above is None else stretch.start + above
        return [replace(stretch, start=start)]
    clocks = [block.caption is not None and _CLOCK.search(lines[block.caption]) for block in blocks]
    return [
        replace(stretch, start=block.start, stop=block.stop, at=clock[0] if clock else b"")
        for block, clock in zip(blocks, clocks, strict=True)
    ]


def _sessions(lines: Sequence[bytes]) -> set[int]:
    """Commands in a fence that has the output of several commands."""
    found: set[int] = set()
    inside: list[int] = []
    for place, line in enumerate([*lines, LAST]):
        if FENCE.fullmatch(line):
            found.update(inside[: len(inside) * (len(inside) > 1)])
            inside = []
        elif is_mark(line):
            inside.append(place)
    return found


def is_mark(line: bytes) -> bool:
    """Whether a line separates two artefacts: a name, a tag, a prompt with a command."""
    if any(form.fullmatch(line) for form in (FENCE, _NAMED, TAG)):
        return True
    return PROMPT.fullmatch(line) is not None and _COMMAND.search(line) is not None


def prose_in(lines: Sequence[bytes], begins: Collection[int] = ()) -> set[int]:
    """The lines that a person wrote: groups of prose next to a blank line, a mark, or a form."""
    # A program's own sentence, or a row of flags that resembles one, has similar lines around it.
    found: set[int] = set()
    place = 0
    is_crash = any(words in line for line in lines for words in FATAL)
    kept = (
        place not in begins
        and not (is_crash and line.strip() == STACK)
        and _is_prose(line)
        and not is_yaml_key(lines, place)
        for place, line in enumerate(lines)
    )
    for is_prose, group in groupby(kept):
        size = len(list(group))
        beside = (*lines[max(place - 1, 0) : place], *lines[place + size : place + size + 1])
        is_apart = len(beside) < 2 or any(not line.strip() or is_mark(line) for line in beside)
        is_apart |= place + size in begins
        if is_prose and is_apart:
            found.update(range(place, place + size))
        place += size
    return found


def sentences_in(lines: Sequence[bytes]) -> set[int]:
    """The long lines outside of marks that only a person writes, whatever digits they have."""
    found: set[int] = set()
    is_inside = False
    for place, line in enumerate(lines):
        is_inside ^= is_mark(line)
        words = _WORD.findall(line.lower())
        is_long = len(words) >= LONG_WORDS and not _SENTENCE_WORDS.isdisjoint(words)
        is_ended = _ENDED.search(line) is not None and _PAIR.search(line) is None
        if is_long and is_ended and not is_inside and not _PRINTED.match(line):
            found.add(place)
    return found


def _is_prose(line: bytes) -> bool:
    """Whether a line is a heading, or belongs to a sentence that a person wrote."""
    if _PRINTED.match(line):
        return False
    if _HEADING.fullmatch(line) or _WITH_CODE.fullmatch(line):
        return True
    if _NO_SENTENCE.search(line):
        return False
    words = _WORD.findall(line.lower())
    return len(words) >= MIN_WORDS and not _SENTENCE_WORDS.isdisjoint(words)


def _named(lines: Sequence[bytes], stretch: Stretch) -> Stretch | None:
    """The stretch with its kind; None if it is not evidence."""
    text = b"\n".join(lines[stretch.start : stretch.stop]) + b"\n"
    kind = kind_of(text)
    if kind is None and (later := _below_first_line(lines, stretch)) is not None:
        return later
    if kind is None or (is_rollup_excerpt(text) and _is_of_smaps(lines, stretch)):
        return stretch if looks_like(text, "").is_evidence else None
    is_long = stretch.is_marked or text.strip().count(b"\n") > 0
    return replace(stretch, kind=kind.name) if is_long or kind.name in IN_A_LINE else None


def _is_of_smaps(lines: Sequence[bytes], stretch: Stretch) -> bool:
    """Whether the command above a stretch asks for smaps, which has such lines for each mapping."""
    return stretch.start > 0 and _ASKS_SMAPS.search(lines[stretch.start - 1]) is not None


def _below_first_line(lines: Sequence[bytes], stretch: Stretch) -> Stretch | None:
    """The stretch without a first line that is a time, or a caption of stacks; None without one."""
    filled = (place for place in range(stretch.start, stretch.stop) if lines[place].strip())
    first = next(filled, stretch.stop - 1)
    kind = kind_of(b"\n".join(lines[first + 1 : stretch.stop]) + b"\n")
    at = time_in(lines[first].strip())
    if kind is None or not (at or kind.name in STACKS):
        return None
    return replace(stretch, start=first + 1, kind=kind.name, at=at)


def _text(lines: Sequence[bytes], part: Stretch) -> bytes:
    """A stretch's lines; lines that do not count are blank, so the others keep their number."""
    kept = part.lines
    texts = (
        lines[place] if not kept or place in kept else b"" for place in range(part.start, part.stop)
    )
    return b"\n".join(texts) + b"\n"


def _part(source: Source, lines: Sequence[bytes], part: Stretch) -> PastedPart:
    filled = (place for place in range(part.start, part.stop) if lines[place].strip())
    start = next(filled, part.start)
    data = _text(lines, replace(part, start=start))
    time, of_day = clock_of(part.at or time_above(lines, start))
    return PastedPart(
        f"{source.name}:{start + 1}", data, data, source.modified, source.damage,
        first_line=start + 1, time=time, time_of_day=of_day, around=source.data,
    )  # fmt: skip
