r"""A process's environment: only the five variables that set the Go runtime.

Printed by    the kernel as /proc/PID/environ, with a NUL after each entry; `env` and
              `tr '\0' '\n' < /proc/PID/environ`, one entry per line.
Secrets       The parser drops all other variables while reading. No table, message or excerpt
              contains them. A damaged entry is identified only by its number.
Quirks        The kernel shows the environment at the start of the process, without later changes by
              os.Setenv. If a name occurs twice, the runtime takes the first entry. Values in the
              output of `env` can span several lines, which look like further entries. Such a text
              is not read.
"""

from __future__ import annotations

import math
import re
from itertools import chain
from typing import TYPE_CHECKING

from gomem.errors import Damage
from gomem.units import BYTE_UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping

GOGC, GOMEMLIMIT, GOMAXPROCS, GODEBUG = "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"
KEPT = (GOGC, GOMEMLIMIT, GOMAXPROCS, GODEBUG, "GOTRACEBACK")
OFF, DEFAULT_PERCENT = "off", 100

ENTRY = re.compile(rb"([A-Za-z_][A-Za-z0-9_.%()-]*)=(.*)", re.DOTALL)
KNOWN_BY = frozenset({b"PATH", *(name.encode() for name in KEPT)})
GO_ENV_NAME = b"GOTOOLDIR"  # in `go env` output, which has the same form but is not an environment
WORDS = re.compile(r"(?<![a-z])env(?:iron(?:ment)?)?(?![a-z])", re.IGNORECASE)  # in file names
CUT = re.compile(rb"[A-Za-z_][A-Za-z0-9_.%()-]*")
MIN_LINES = 2
_SET = re.compile(
    rb"^(?:[^\n=]{0,200}[$#>%] ?)?(?:(?:sudo|env|time|nohup|exec) +)*"
    rb"((?:[A-Z_][A-Z0-9_]*=[^\s\"';&|]* +)+)(?![A-Z_]+=)[./\w-]",
    re.MULTILINE,
)
# A line that only sets variables: of a shell, of a script, or of a systemd unit.
_ALONE = re.compile(
    rb"^[ \t]*(?:(?:export|ENV) +|Environment=[\"']?)?"
    rb"((?:[A-Z_][A-Z0-9_]*=[^\s\"';&|]*(?: +|(?=[\"'\s]|\Z)))+)[\"']?\s*$",
    re.MULTILINE,
)
_ANYWHERE = re.compile(
    rb"(?<![\w$])(GOGC|GOMEMLIMIT)"
    rb"(?:=|[\"']?: ?|\s{0,3}\n\s{1,40}value: )[\"'`]?(off|\d{1,19}(?:B|[KMGT]iB)?)(?!\w|\.\d)"
)
# What says of a variable that it is set, and what asks, advises, or speaks of another time.
_STATES = re.compile(
    rb"(?<=\w )(?:sets?|r[ua]n(?:s|ning)?|start(?:s|ed)?|deploy(?:s|ed)?|us(?:es?|ing)|ha[sv]e?)\b"
    rb"|(?<=[,)] )(?:sets|runs|running|starts|started|deploy(?:s|ed)|us(?:es|ing)|has)\b"
)
_ASKS = re.compile(
    rb"\?|n't\b|\b(?:would|could|should|might|may|if|try|tried|tests?|tested|suggest\w*|recommend\w*"
    rb"|consider\w*|instead|before|earlier|previously|without|not?|or|even|e\.g|rais\w+|lower\w*"
    rb"|reduc\w+|increas\w+|chang\w+|until|used to)\b",
    re.IGNORECASE,
)
_END = re.compile(rb"(?<=[.!?])\s|\n\s*\n|\n(?=[-*#|`>])")  # of a sentence
MAX_SENTENCE = 300  # before a setting, and after it
MAX_TEXT_BYTES = 1 << 22  # twice the maximum that Linux passes to a program
SIZE = re.compile(r"([0-9]{1,19})(B|[KMGT]iB)?")
WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
MAX_PERCENT = 2**31 - 1


def looks_like_environ(data: bytes, name: str) -> bool:
    """Whether the content is an environment; its last entry can be cut."""
    # Many files have `KEY=VALUE` lines. So a text must set PATH or a variable of the runtime, or
    # have a file name with `env` in it.
    if len(data) > MAX_TEXT_BYTES or ENTRY.match(data.lstrip()) is None:
        return False
    entries = _entries(data)
    matches = [ENTRY.fullmatch(entry) for entry in entries]
    if b"\0" in data:
        return all(matches[:-1]) and bool(matches[-1] or CUT.fullmatch(entries[-1]))
    names = {match[1] for match in matches if match is not None}
    is_known = not names.isdisjoint(KNOWN_BY) or WORDS.search(name) is not None
    return all(matches) and len(matches) >= MIN_LINES and is_known and GO_ENV_NAME not in names


def settings_in_commands(lines: bytes) -> dict[str, str]:
    """Return the runtime's variables that a command, or a line alone, sets: `GOGC=400 ./server`.

    Empty if two commands set the same variable to different values.
    """
    found: dict[str, str] = {}
    for command in chain(_SET.finditer(lines), _ALONE.finditer(lines)):
        for entry in command[1].decode("utf-8", "backslashreplace").split():
            name, _, value = entry.partition("=")
            if name in KEPT and found.setdefault(name, value) != value:
                return {}
    return found


def settings_named(text: bytes) -> tuple[str, ...]:
    """Return GOGC and GOMEMLIMIT with each value mentioned in a text."""
    found = (
        f"{name.decode('ascii')}={value.decode('ascii')}" for name, value in _ANYWHERE.findall(text)
    )
    return tuple(dict.fromkeys(found))


def settings_stated(text: bytes) -> set[str]:
    """Return the GOGC and GOMEMLIMIT of which a sentence, or a command, says that they are set."""
    found = {f"{name}={value}" for name, value in settings_in_commands(text).items()}
    for named in _ANYWHERE.finditer(text):
        before = _END.split(text[max(named.start() - MAX_SENTENCE, 0) : named.start()])[-1]
        after = _END.split(text[named.end() : named.end() + MAX_SENTENCE])[0]
        if _STATES.search(before) and not _ASKS.search(before + b" " + after):
            found.update(settings_named(named[0]))
    return found


def _entries(data: bytes) -> list[bytes]:
    if b"\0" in data:
        return [entry for entry in data.split(b"\0") if entry.strip()]
    return [line for line in data.splitlines() if line.strip()]


def parse_environ(data: bytes, *, source: str) -> tuple[dict[str, str], list[Damage]]:
    """Parse the runtime's variables; a malformed entry becomes damage, without its text."""
    kept: dict[str, str] = {}
    damage: list[Damage] = []
    for number, entry in enumerate(_entries(data), start=1):
        match = ENTRY.fullmatch(entry)
        if match is None:
            damage.append(Damage(source, f"entry {number}", "no NAME=VALUE; the file may be cut"))
        elif (name := match[1].decode("ascii")) in KEPT:
            kept.setdefault(name, match[2].decode("utf-8", "backslashreplace"))
    return kept, damage


def gogc_fraction(variables: Mapping[str, str]) -> float:
    """Return GOGC as the runtime reads it: 1.0 for 100, the default; infinite for `off`."""
    value = variables.get(GOGC, "")
    if value == OFF:
        return math.inf
    percent = int(value) if WHOLE.fullmatch(value) else DEFAULT_PERCENT
    if abs(percent) > MAX_PERCENT:
        percent = DEFAULT_PERCENT
    return math.inf if percent < 0 else percent / 100


def memory_limit_bytes(variables: Mapping[str, str]) -> float:
    """Return GOMEMLIMIT in bytes as the runtime reads it; infinite if unset (the default)."""
    found = SIZE.fullmatch(variables.get(GOMEMLIMIT, ""))
    return math.inf if found is None else float(int(found[1]) * BYTE_UNITS[found[2] or "B"])
