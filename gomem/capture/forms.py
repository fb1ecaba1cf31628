"""Where another form begins in a text, whatever stands between: a line that only this form has.

People paste what several commands printed, one below the other, without a fence or a blank line.
Each line then belongs to the last form whose line stands above it; a field of status that stands
again is of another reading. The head of a form counts from its first line on: a profile's `File:`,
the summary of top, `Name:` of status.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.cgroup.parse import NUMBER, STAT_FIELDS
from gomem.inputs.cgroup.session import asks_for_cgroup
from gomem.inputs.gctrace.mixed_lines import OWN_LINE
from gomem.inputs.memstats.in_words import lines_in_words
from gomem.inputs.processes.oom import KERNEL_KILL
from gomem.inputs.processes.parse import TOP_HEAD, is_head_of_table
from gomem.inputs.separators import time_in
from gomem.inputs.smaps.parse import SIZE_FIELDS
from gomem.inputs.status.parse import OTHERS, PRINTED, RESIDENT, SIGN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOG, WORDS, TABLE, KILLS, STATUS = "gctrace", "memstats", "processes", "oom", "status"
FIELDS_OF_SMAPS = b"|".join(sorted(SIZE_FIELDS))
# Lines that belong to a form, and to what form; the first that matches counts.
_LINES = (
    (STATUS, re.compile(rb"(?:" + RESIDENT + rb"|" + OTHERS + rb")" + SIGN + PRINTED + rb"\s*")),
    ("smaps", re.compile(rb"[0-9a-f]{6,16}-[0-9a-f]{6,16} [r-][w-][x-][ps] .*")),
    ("smaps", re.compile(rb"(?:" + FIELDS_OF_SMAPS + rb"): +\d{1,15} kB")),
    ("heap_text", re.compile(rb"heap profile: *\d+: *-?\d+ *\[.*")),
    ("count_text", re.compile(rb"\w{1,20} profile: total \d.*|\d{1,9} @(?: 0x[0-9a-f]+)+.*")),
    ("goroutines", re.compile(rb"goroutine \d{1,19} (?:\S+ )*\[[a-z].*|created by \S+\.\S+.*")),
    ("goroutines", re.compile(rb"(?:fatal error|panic|runtime): [a-z].*|SIG[A-Z]+: .*")),
    ("pprof_text", re.compile(rb"Showing nodes accounting for .*|flat +flat% +sum% +cum +cum%.*")),
    ("pprof_text", re.compile(rb"-?\d[\d.]*\w* +\d[\d.]*% +\d[\d.]*% +-?\d[\d.]*\w* +\d.*")),
    ("metrics", re.compile(rb"# (?:HELP|TYPE) \w+ .*|(?:go|process)_\w+(?:\{.*\})? [\d.e+-]+")),
    ("cgroup", re.compile(rb"(?:anon|file|cache|rss|" + b"|".join(STAT_FIELDS) + rb") \d{1,20}")),
)
# Lines that can stand above the first line of a form, and belong to it.
_ABOVE = {
    "pprof_text": re.compile(
        rb"(?:File|Build ID|Type|Time|Duration|Active filters): ?.*|Entering interactive mode.*"
        rb"|\(pprof\).*|(?:Fetching|Saved) profile .*|.*[$#>%] ?go tool pprof .*"
    ),
    STATUS: re.compile(
        rb"(?:Name|Umask|State|Tgid|Ngid|Pid|PPid|TracerPid|[UG]id|FDSize|Groups|NS\w+|Kthread):\s.*"
    ),
    TABLE: re.compile(
        rb"(?:" + TOP_HEAD.pattern + rb"|(?:total|-/\+ buffers) .*|[A-Z][\w()]{2,20}: +\d+ kB)?"
    ),
    WORDS: re.compile(rb"[{(]|\"?memstats\"?: ?\{"),
}
_NOTHING = re.compile(rb"(?!)")
# Forms whose files have lines that alone would be of another form.
_HAS_LINES_OF = {
    "heap_text": frozenset({WORDS, "smaps"}),
}


def begins_of_forms(lines: Sequence[bytes]) -> set[int]:
    """Return the lines at which another form begins than that above; none if forms alternate."""
    begins: set[int] = set()
    forms: list[str] = []
    before, last = "", -1  # the form above, and its last line
    fields: set[bytes] = set()  # of status, which has each once
    for place, form in _forms_in(lines):
        is_other = form != before and form not in _HAS_LINES_OF.get(before, ())
        field = lines[place].strip().partition(b":")[0] if form == STATUS else b""
        if is_other or field in fields:
            if before:
                begins.add(_first_line(lines, form, last, place))
            forms += [form] * is_other
            before = form
            fields.clear()
        fields |= {field} - {b""}
        last = place
    # A program writes words between the lines of its log, again and again: its output is one log.
    is_log = {LOG, WORDS} == set(forms) and len(forms) > len({LOG, WORDS}) + 1
    return set() if is_log else begins


def begin_of_first_form(lines: Sequence[bytes]) -> int | None:
    """Return the first line that only one form has; None without one."""
    return next((place for place, _ in _forms_in(lines)), None)


def _first_line(lines: Sequence[bytes], form: str, last: int, place: int) -> int:
    """The first line of a form, whose first known line is at `place`, below the last of another."""
    above = _ABOVE.get(form.partition(" ")[0], _NOTHING)
    while place - 1 > last:
        line = lines[place - 1].strip()
        if not (above.fullmatch(line) or time_in(line)):
            break
        place -= 1
    return place


def _forms_in(lines: Sequence[bytes]) -> Iterator[tuple[int, str]]:
    """Yield the lines of which the form is known; a table's has its header, which is another's."""
    found = dict(_by_their_own(lines))
    if not found:
        return
    for number in lines_in_words(b"\n".join(lines) + b"\n"):
        found.setdefault(number - 1, WORDS)
    for place in sorted(found):
        is_single = found.get(place + 1) != "cgroup" != found.get(place - 1)
        if found[place] != "cgroup" or not is_single:
            yield place, found[place]


def _by_their_own(lines: Sequence[bytes]) -> Iterator[tuple[int, str]]:
    is_asked = False
    for place, line in enumerate(lines):
        text = line.strip()
        was_asked, is_asked = is_asked, b"memory." in text and asks_for_cgroup(text)
        if is_asked or (was_asked and NUMBER.fullmatch(text)):
            yield place, "cgroup"
        elif OWN_LINE.search(text):
            yield place, LOG
        elif KERNEL_KILL.search(text):
            yield place, KILLS
        elif is_head_of_table(text):
            yield place, f"{TABLE} {b' '.join(text.split()).decode('utf-8', 'replace')}"
        elif form := next((name for name, form in _LINES if form.fullmatch(text)), ""):
            yield place, form
