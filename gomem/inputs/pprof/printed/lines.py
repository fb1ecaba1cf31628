"""The lines that `go tool pprof` prints: rows of `top`, `tree` and `list`, stacks, and headers.

Written by    google/pprof, internal/report/report.go and source.go; Perl's pprof before Go 1.4.
Quirks        A number has two decimals, but `.00` is omitted; `0` has no unit.
              Perl's pprof prints the unit once, in `Total: 12.5 MB`. Without that line the decimals
              tell: one for MB, three for the seconds of a contention profile, none for counts.
              `(inline)` and `(partial-inline)` follow a name in `top` and in stacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FACTORS = {
    **{unit: 1 << 10 * step for step, unit in enumerate(("B", "kB", "MB", "GB", "TB", "PB"))},
    "KB": 1 << 10,
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "mins": 60 * 10**9,
    "hrs": 3600 * 10**9,
    "days": 86400 * 10**9,
}
IN_BYTES = frozenset({"B", "kB", "KB", "MB", "GB", "TB", "PB"})

_BY_DECIMALS = {1: "MB", 3: "s"}  # of Perl's pprof, see UnparseAlt and Units there

_UNIT = "|".join(sorted(FACTORS, key=len, reverse=True))
_AMOUNT = rf"-?[0-9]+(?:\.[0-9]+)?(?:{_UNIT})?"
_PER_CENT = r"-?[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?%"
_REST = r"(\S(?:.*\S)?)\s*"  # rest of a line, without trailing blanks
_SHARES = rf"({_PER_CENT})\s+{_PER_CENT}\s+({_AMOUNT})\s+({_PER_CENT})"

MAX_VALUE = 2**62
MAX_HEAD_ERROR = 0.02  # between the printed share and the ratio of the two sizes in a header
TREE_RULE = 20  # minimum characters left of the cross in a rule of `tree`
AMOUNT = re.compile(rf"(-?[0-9]+(\.[0-9]+)?)({_UNIT})?")
LEGEND = re.compile(r"\s*flat\s+flat%\s+sum%\s+cum\s+cum%.*")
NAMELESS = re.compile(rf"\s*({_AMOUNT})\s+{_SHARES}\s*")
ROW = re.compile(rf"{NAMELESS.pattern[:-3]}\s+(?!\|){_REST}")
SUM = re.compile(rf"\s*{_AMOUNT}\s+({_PER_CENT})\s+({_PER_CENT})\s")  # flat% and sum% of a row
NODE = re.compile(rf"\s*({_AMOUNT})\s+{_SHARES}\s*\|\s*{_REST}")
EDGE = re.compile(rf"\s*({_AMOUNT})\s+{_PER_CENT}\s*\|\s*{_REST}")
TORN = re.compile(rf"\s*{_AMOUNT}\s+{_PER_CENT}(?:\s+[0-9.].*)?|\s*{_AMOUNT}\s+[0-9.]+")
RULE = re.compile(r"\s*-{6,}\+-{6,}\s*")
STACK = re.compile(rf"\s*({_AMOUNT})\s{{2,}}{_REST}")
# A stack of `traces` without rules, as in pastes of only the first stack.
STACK_ALONE = re.compile(
    rf"\s{{2,}}({_AMOUNT}) {{3}}([\w./-]+\.[^\s|]+(?: \((?:partial-)?inline\))?)\s*"
)
ELIDED = re.compile(r"\s*(?:\.{3,}|\[\.{3}\]|\u2026)\s*")
LABEL = re.compile(r"\s*[^\s:]+: {2}\S.*")
ROUTINE = re.compile(rf"\s*ROUTINE =+ (.+) in {_REST}")
ROUTINE_SUMS = re.compile(
    rf"\s*({_AMOUNT})\s+({_AMOUNT})\s+(?:\(flat, cum\)\s+({_PER_CENT}) of Total"
    r"|Total (\w+) \(flat / cumulative\))\s*"
)  # the share is of cum; before Go 1.5 there is none, and the unit is printed once
SOURCE = re.compile(rf"\s*({_AMOUNT}|\.)\s+({_AMOUNT}|\.)\s+([0-9]{{1,9}}):.*")
INLINED = re.compile(r" \((?:partial-)?inline\)$")
# A name in a row of `-lines`; paths on Windows can contain blanks.
PLACE = re.compile(r"(\S.*?) ([A-Za-z]:[\\/].*|\S+):([0-9]+)(?::[0-9]+)?")
IN_FILE = re.compile(r"(\S+) ((?:[A-Za-z]:[\\/]|/)\S.*\.(?:go|s))")  # a row of `-filefunctions`

_NODES = rf"Showing nodes accounting for ({_AMOUNT}), ({_PER_CENT}) of ({_AMOUNT}) t"
_OLDER = rf"({_AMOUNT}) of ({_AMOUNT}) t"
SHOWN = re.compile(rf"\s*(?:> ?)?(?:{_NODES}otal|{_OLDER}otal \(\s*({_PER_CENT})\))\s*")
SHOWN_CUT = re.compile(rf"\s*(?:> ?)?(?:{_NODES}|{_OLDER})")  # by the end of a text
TOTAL = re.compile(rf"\s*Total: ({_AMOUNT})(?: (MB|GB|kB|samples|objects))?\s*")
TYPE = re.compile(r"\s*Type: (\w+)\s*")
TIME = re.compile(r"\s*Time: (.*\S)\s*")
FILE = re.compile(rf"\s*File: {_REST}")
SAVED = re.compile(rf"\s*Saved profile in {_REST}")
BUILD_ID = re.compile(r"\s*Build ID: (\S+)\s*")
CHOSEN = re.compile(r"(?:^|[\s-])(?:sample_index=)?((?:inuse|alloc)_(?:space|objects))\b")
DIFFERENCE = re.compile(r"\s-{1,2}(?:diff_)?base[= ]|[?&]seconds=[0-9]+")
DURATION = re.compile(r"\s*Duration: .*")
PROMPT = re.compile(
    r"\s*(?:[$#>] )?(?:\(pprof\)\s*)+(.*)"
)  # a command, or output on the same line as the prompt
COMMAND = re.compile(
    r"\s*(?:Fetching profile|Saved profile in).*|.*\bgo tool pprof\b.*"
    r"|(?:[^\n]{0,60}[$#>%] +)?pprof +[-/\w].*"
    r"|.*\bpprof\b[^\n\w-]{1,8}-{1,2}(?:inuse|alloc)_(?:space|objects)\b.*"
    r"|\s*-{1,2}(?:inuse|alloc)_(?:space|objects)\s*"
)
AROUND = re.compile(
    r"\s*(?:Fetching (?:profile|[0-9]+ )|Saved profile in|Entering interactive|File: |Build ID: "
    r"|Doc: "
    r"|Type: |Time: |Duration: |Active filters:|Showing |Dropped [0-9]+ |Total: |\(pprof\)|Error: "
    r"|Local symbolization failed|Some binary filenames|Use -|Main binary|No source information"
    r"|See https://git\.io/|Generating report|PROFILE).*"
)
_DEFAULT_TYPES = (
    (re.compile(r"/debug/pprof/allocs\b"), "alloc_space"),
    (re.compile(r"/debug/pprof/heap\b|\.inuse_space\.[0-9]+\.pb|\bpprof\.heap\."), "inuse_space"),
)
_TIME_FORMS = (
    (
        re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}) (\S+)"),
        "%Y-%m-%d %H:%M:%S",
    ),
    (
        re.compile(r"(\w{3} [0-9]{1,2}, [0-9]{4} at [0-9]{1,2}:[0-9]{2}[ap]m) \((\S+)\)"),
        "%b %d, %Y at %I:%M%p",
    ),
)
_ZONE = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})?")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as pprof prints it."""

    value: int  # in the base unit
    rounding: int  # maximum rounding error
    unit: str  # as printed; empty for counts and for 0

    def plus(self, other: Amount) -> Amount:
        """The sum of both."""
        value, rounding = self.value + other.value, self.rounding + other.rounding
        return Amount(value, rounding, self.unit or other.unit)


def amount_of(text: str, unit: str = "") -> Amount:
    """Parse an amount; `.` is 0. `unit` applies if the text has no unit.

    Raises OverflowError if the amount exceeds `MAX_VALUE`.
    """
    found = AMOUNT.fullmatch(text)
    if found is None:
        return Amount(0, 0, "")
    unit = found[3] or (unit if unit in FACTORS else "")  # samples and objects are counts
    factor = FACTORS.get(unit, 1)
    value = float(found[1]) * factor
    if abs(value) >= MAX_VALUE:
        raise OverflowError(text)
    # pprof prints two decimals, Perl's pprof one; an integer may have lost two.
    off = 0.0 if factor == 1 else factor * (0.05 if len(found[2] or "") == 2 else 0.005)
    return Amount(round(value), round(off), unit)


def unit_by_decimals(texts: Iterable[str]) -> str:
    """Return the unit of rows that Perl's pprof printed, by their decimals; empty if unknown."""
    rows = (found.group(1, 3) for found in map(ROW.fullmatch, texts) if found)
    amounts = (AMOUNT.fullmatch(amount) for row in rows for amount in row)
    printed = {(found[2] or "", found[3] or "") for found in amounts if found}
    decimals = {len(fraction) - 1 for fraction, _ in printed}
    if len(decimals) != 1 or any(unit for _, unit in printed):
        return ""
    return _BY_DECIMALS.get(decimals.pop(), "")


def fraction_of(text: str) -> tuple[float, float]:
    """Parse a percentage as a fraction, with its maximum rounding error."""
    digits = text.removesuffix("%")
    mantissa = digits.partition("e")[0]
    exponent = int(digits.partition("e")[2] or 0)
    decimals = len(mantissa.partition(".")[2])
    if digits == "100":
        return 1.0, 0.0005
    return float(digits) / 100, 0.5 * 10.0 ** (exponent - decimals - 2)


def cut_above(text: str) -> float:
    """Return the fraction of the total in rows before a table's first row; 0 if there are none."""
    shares = SUM.match(text)
    if shares is None:
        return 0.0
    (flat, flat_off), (so_far, so_far_off) = map(fraction_of, shares.groups())
    before = so_far - flat
    return before if before > flat_off + so_far_off else 0.0


def nanoseconds_of(text: str) -> int:
    """Parse a header's time as nanoseconds since 1970; 0 if the zone's name is ambiguous."""
    for form, layout in _TIME_FORMS:
        found = form.fullmatch(text)
        zone = None if found is None else _zone_of(found[2])
        if found is None or zone is None:
            continue
        try:
            time = datetime.strptime(found[1].replace("am", "AM").replace("pm", "PM"), layout)
            return int(time.replace(tzinfo=zone).timestamp()) * 10**9
        except (ValueError, OverflowError):
            return 0
    return 0


def _zone_of(name: str) -> timezone | None:
    if name in {"UTC", "GMT", "Z"}:
        return UTC
    offset = _ZONE.fullmatch(name)
    if offset is None:
        return None
    minutes = int(offset[2]) * 60 + int(offset[3] or 0)
    try:
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    except ValueError:
        return None


def default_type_of(line: str) -> str:
    """Return pprof's default sample type for the profile fetched in a line; empty if unknown."""
    return next((kind for form, kind in _DEFAULT_TYPES if form.search(line)), "")


def without_inline(name: str) -> str:
    """Return a function's name without the suffix `(inline)` or `(partial-inline)`."""
    return INLINED.sub("", name)
