"""What a text names that gomem does not read: processes without RSS, sizes in words, a crash.

Rows          `  371 app      812m S    api -v` of busybox ps, and of its top: VSZ is address space
States        `305 chan send`, a list of goroutines by their state
Sizes         `max is 1366.2MB`, `| 33.1 MB |`, `Allocated MB: 10310`, in a log or in prose
Crashes       `fatal error: runtime: out of memory`, without the stacks that name who asked

It is a refusal's second sentence: what was seen, and the command that gives what is missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.text import Quoted, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED = 3  # sizes
_STATE = rb"[DIRSTtWXZ][\w<+]{0,4}"
_BUSYBOX_PS = re.compile(
    rb"^ *(?P<pid>\d{1,10}) +[A-Za-z_][\w.+-]{0,31} +(?P<size>\d{1,9}[mgMG]?) +" + _STATE
    + rb" +(?P<name>\S+)", re.MULTILINE,
)  # fmt: skip
_BUSYBOX_TOP = re.compile(
    rb"^ *(?P<pid>\d{1,10}) +\d{1,10} +[A-Za-z_][\w.+-]{0,31} +" + _STATE
    + rb" +(?P<size>\d{1,9}[mgMG]?) +\d+(?:\.\d+)?% +(?:\d{1,3} +)?\d+(?:\.\d+)?% +(?P<name>\S+)",
    re.MULTILINE,
)  # fmt: skip
_ADDRESS_SPACE = re.compile(
    rb"\b(VSZ|VIRT|vsz|VmSize|VmPeak)[=: \t]{1,20}(\d[\d.]*(?:[kmgKMG]| kB)?)\b"
)
# `305 chan send` of a list by state, and a goroutine whose number somebody took out.
_BY_STATE = re.compile(
    rb"^ *(\d{1,9}) (chan (?:send|receive)|select|IO wait|semacquire|sleep|syscall"
    rb"|sync\.[\w.]{1,30}|GC worker \(idle\))(?![\w-])", re.MULTILINE,
)  # fmt: skip
_ASK_STACKS = (
    "curl -s 'http://HOST:PORT/debug/pprof/goroutine?debug=2' has their stacks, which gomem reads"
)
_CRASH = re.compile(rb"fatal error: runtime: (?:out of memory|cannot allocate memory)")
_SIZE = re.compile(
    rb"(?<![\w.,-])(?:\d+(?:[.,]\d+)*[ ]?(?:[KMGT]i?[Bb]|[kmg]b|[MG]i)(?![\w/])"
    rb"|(?:[KMGT]i?B)[:=] *\d+(?:\.\d+)?)"
)
_ASK_STATUS = "grep VmRSS /proc/{}/status has its RSS, gomem capture {} -o DIR what is in it"
_ASK_CAPTURE = "gomem capture PID -o DIR records what the process uses, and what for"


@dataclass(frozen=True, slots=True)
class Mention:
    """What a text names, and the next step."""

    what: Text
    way_out: Text

    @property
    def sentence(self) -> Text:
        """Both."""
        return text("{}; {}", self.what, self.way_out)


def mentioned(head: bytes) -> Mention | None:
    """The first that says most of what a text names; None where it names nothing of memory."""
    return next(_mentions(head), None)


def _mentions(head: bytes) -> Iterator[Mention]:
    rows = [row for form in (_BUSYBOX_TOP, _BUSYBOX_PS) for row in form.finditer(head)]
    if rows:
        largest = max(rows, key=lambda row: _kib(row["size"]))
        pid = largest["pid"].decode()
        words = "it lists processes with VSZ alone, which is address space and no RSS ({} has {})"
        name, size = (Quoted(_decoded(largest[part])) for part in ("name", "size"))
        yield Mention(text(words, name, size), text(_ASK_STATUS, pid, pid))
    if b"VmRSS" not in head and (found := _ADDRESS_SPACE.search(head)):
        words = "it says {} {}, which is address space and no RSS"
        said = _decoded(found[1]), Quoted(_decoded(found[2]))
        yield Mention(text(words, *said), text(_ASK_STATUS, "PID", "PID"))
    if counts := _BY_STATE.findall(head):
        words = "it counts goroutines by their state ({}), without the stacks that say where"
        states = [text("{} in {}", number.decode(), state.decode()) for number, state in counts]
        yield Mention(text(words, joined(", ", states[:NAMED])), Text(_ASK_STACKS))
    sizes = list(dict.fromkeys(_decoded(found[0]) for found in _SIZE.finditer(head)))
    named = joined(", ", map(Quoted, sizes[:NAMED]))
    more = ", …" if sizes[NAMED:] else ""
    if _CRASH.search(head):
        beside = text(", and names {}{}", named, more) if sizes else ""
        words = "it says that a Go program ran out of memory{}, without the stacks below"
        way_out = "capture the next run while it grows: gomem capture PID --every 10s -o DIR"
        yield Mention(text(words, beside), Text(way_out))
    if sizes:
        words = "it names sizes ({}{}), but no line says which process has how much RSS or heap"
        yield Mention(text(words, named, more), Text(_ASK_CAPTURE))


def _kib(size: bytes) -> int:
    times = {b"m": 1 << 10, b"g": 1 << 20}.get(size[-1:].lower(), 1)
    return int(size.rstrip(b"mgMG")) * times


def _decoded(said: bytes) -> str:
    return said.decode("utf-8", "replace")
