"""Lines that a script or a person puts between what several commands print into one text.

A name     ### goroutine    === ps    --- heap 07:44:25 ---    or a rule without one
A time     as `date` prints it, alone or decorated like a name: === Fri Nov 27 07:55:27 UTC 2026
           or at the end of a comment: # scraped 2026-11-27T07:55:27Z
Neither is part of what stands above or below. `go test` prints lines of that form, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.markdown import FENCE
from gomem.inputs.processes.dates import is_date
from gomem.inputs.unwrap import PROMPT

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 200  # a separator is shorter
MAX_LINES_ABOVE = 5  # a time, a fence and a command, with blank lines between them
AROUND = b"=-#*+<>[]~_ \t\r"
_NAME = re.compile(rb"(?:#{2,6}|={2,}|-{2,}|\*{2,}|>{2,}|<{2,}|~{2,}) ?[^\s#=*<>~|-][^\n|]*")
_RULE = re.compile(rb"#{3,}|={3,}|-{3,}|\*{3,}|~{3,}|_{3,}")
_BY_GO_TEST = re.compile(rb"(?:===|---) (?:RUN|PAUSE|CONT|NAME|FAIL|PASS|SKIP|BENCH)\b")
# Behind `/proc/71/`, `/proc/$PID/` and `/proc/$(pidof api)/` a name such as `status`.
_PROC_PATH = re.compile(
    rb"\s*[`*]{0,2}(?:cat )?/proc/(?:\w+|\$\{?\w+\}?|\$\(\w[^()\n]{0,60}\))/[a-z_]{4,13}"
    rb"[`*:\s]{0,5}"
)
_KEY, _KEY_BELOW = re.compile(rb"( *)[\w.-]+:\s*"), re.compile(rb"( *)[\w.-]+:(?: \S|\s*$)")
_IN_A_DIFF = re.compile(rb"--- \S*/\S*(?:\t.*)?")


def time_in(line: bytes) -> bytes:
    """Return the time that a line consists of, without decoration, or ends with; else empty."""
    bare = line[:MAX_BYTES].strip(AROUND)
    if is_date(bare):
        return bare
    is_comment = line.startswith(b"# ")
    if not (is_separator(line) or is_comment):
        return b""
    words = bare.split(b" ")
    ends = (b" ".join(words[place:]) for place in range(1, len(words)))
    at = next(filter(is_date, ends), b"")
    return b"" if is_comment and at.isdigit() else at  # `# TotalAlloc = 1526150912` is no time


def is_separator(line: bytes) -> bool:
    """Whether a line is a decorated name."""
    if line[:1] not in {b"#", b"=", b"-", b"*", b"<", b">", b"~"} or len(line) > MAX_BYTES:
        return False
    if _BY_GO_TEST.match(line) or _IN_A_DIFF.fullmatch(line):
        return False
    return _NAME.fullmatch(line.rstrip()) is not None


def time_above(lines: Sequence[bytes], place: int) -> bytes:
    """Return the time that is the line above an artefact, its fence and its command; else empty."""
    above = lines[max(0, place - MAX_LINES_ABOVE) : place]
    said = (line.strip() for line in reversed(above) if line.strip() and not FENCE.fullmatch(line))
    return next((time_in(line) for line in said if PROMPT.fullmatch(line) is None), b"")


def is_rule(line: bytes) -> bool:
    """Whether a line only separates."""
    return _RULE.fullmatch(line.strip()) is not None


def is_proc_path(line: bytes) -> bool:
    """Whether a line is a file of a process alone, or the command that prints it."""
    return _PROC_PATH.fullmatch(line) is not None


def is_yaml_key(lines: Sequence[bytes], place: int) -> bool:
    """Whether a line is a key of YAML with keys below it, which looks like a heading."""
    key = _KEY.fullmatch(lines[place])
    below = _KEY_BELOW.match(lines[place + 1]) if key and place + 1 < len(lines) else None
    return key is not None and below is not None and len(below[1]) > len(key[1])
