"""What tables of `go tool pprof` show.

A table has functions with their flat and cum values, but no stacks. So a program's function is
known only if it is in the table; the caller of a library function is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gomem.capture.release import are_no_gos
from gomem.causes.commands import TAKE_GOROUTINES, TAKE_HEAP_PROFILE, with_files
from gomem.causes.signatures import Signature, known_sites
from gomem.diagnosis.table_callers import (
    MOSTLY,
    NAMED,
    NEARLY,
    WORTH_NAMING,
    by_cum_words,
    own_words,
    stack_words,
)
from gomem.facts.goroutines import GOROUTINE
from gomem.facts.profiles import ALLOCATED, IN_USE, UNSAID
from gomem.inputs.pprof.calls.names import can_be_mended
from gomem.statistics.sampling import limit_ratios
from gomem.text import (
    Bytes,
    BytesChange,
    Command,
    Count,
    File,
    Function,
    Seconds,
    Share,
    Text,
    joined,
    text,
)
from gomem.units import TIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gomem.inputs.pprof.table import Profile

_ROWS = "The rows of go tool pprof add up to {}"
_NO_LEAK = "It counts what was freed, too, so it cannot show a leak: {} can."
_UNSAID_USE = (
    "The table does not say whether this is in use (pprof's default) or allocated since the start."
)
IN_NO_MACHINE = TIB  # in use, by few machines
MALG, LARGE = "runtime.malg", 64 << 20  # goroutine descriptors, explained from this size on
DIGITS = 2  # of a number of objects by their sampled size
OBJECTS, LEAST_ALIKE = "inuse_objects", 2
DEFAULT_RATE = 512 << 10  # of heap profiles, in bytes
SINGLE = 1 / 16  # a value this much above the rate is still one sample of a small object
# init runs once and allocates a package's variables; a method of this name does not count.
INIT = re.compile(r"(?:^|/)[^/.()]+\.init(?:\.[0-9]+|\.ializers)?$")
SAID_ROUNDING = 0.005  # of the total; smaller rounding is below the digits of a sentence
_FREED_TOO = (
    "The table does not say what it counts, but hardly a machine has so much in use: most likely "
    "it is what was allocated since the start (alloc_space), which counts what was freed, too."
)
IS_USED = {
    "inuse_space": "in use",
    "inuse_objects": "objects in use",
    "alloc_space": "allocated since the start",
    "alloc_objects": "objects allocated since the start",
    "goroutine": "goroutines",
    "cpu": "of CPU time",
}


def pasted_words(profile: Profile) -> Text:
    """The total of a table that is not in-use memory, and the functions with most of it."""
    kind = profile.default_sample_type
    if profile.is_difference:
        difference = Text("The table of go tool pprof is a difference.")
        net = _of_a_tail(profile, kind) or _net_words(profile, kind)
        return joined(" ", filter(None, (difference, net, _changed(profile))))
    who = table_words(profile, kind)
    if profile.kind == "bytes" and kind == UNSAID:
        whole = text("{}.", told_total(profile, kind))
        return joined(" ", filter(None, (whole, _unsaid_words(profile), who)))
    whole = text("{} {}.", told_total(profile, kind), _counted(kind))
    in_use = f"go tool pprof -sample_index={kind.replace('alloc', 'inuse')} PROFILE"
    freed = text(_NO_LEAK, Command(in_use)) if kind.startswith("alloc") else Text()
    said = joined(" ", filter(None, (whole, who, freed)))
    if UNSAID not in profile.sample_type_names:
        return said
    rest = _unsaid_words(profile), table_words(profile, UNSAID)
    if kind.startswith("alloc"):  # all-time allocation is not the size of the heap
        unsaid = text("{}.", told_total(profile, UNSAID))
        return joined(" ", filter(None, (unsaid, *rest, other_words(profile))))
    other = text("Another table has {}.", size_words(profile, UNSAID))
    return joined(" ", filter(None, (said, other, *rest)))


def other_words(profile: Profile) -> Text:
    """The total of a table beside the one that is told, and where most of it is."""
    kind = profile.default_sample_type
    whole = text("Another table has {} {}.", size_words(profile, kind), _counted(kind))
    return joined(" ", filter(None, (whole, table_words(profile, kind))))


def _counted(kind: str) -> str:
    return IS_USED.get(kind, "samples" if kind == "count" else f"of {kind}")


def _unsaid_words(profile: Profile) -> Text:
    """What a table of bytes without a sample type counts, as far as its total shows it."""
    return Text(_FREED_TOO if profile.total(UNSAID) >= IN_NO_MACHINE else _UNSAID_USE)


def told_total(profile: Profile, kind: str) -> Text:
    """The total printed in the table, else the sum of its rows."""
    assert profile.printed is not None
    if kind not in profile.printed.derived:
        return text("The pprof table shows {}", size_words(profile, kind))
    flat = profile.top_rows(kind).flat
    rows = "The row of go tool pprof has {}" if len(flat) == 1 else _ROWS
    return text(rows, _of_kind(profile, kind, int(flat.sum())))


def size_words(profile: Profile, kind: str) -> Text:
    """The total, with its rounding error if that is visible."""
    assert profile.printed is not None
    total, off = profile.total(kind), profile.printed.total_rounding.get(kind, 0)
    size = _of_kind(profile, kind, total)
    if off <= SAID_ROUNDING * total:
        return size
    return text("{} (rounded, ±{})", size, _of_kind(profile, kind, off))


def table_words(profile: Profile, kind: str) -> Text:
    """The largest functions of a table, the program's function above them, known sites."""
    top, total = profile.top_rows(kind), profile.total(kind)
    if not total or profile.printed is None:
        return Text()
    flat = dict(zip(top.function, top.flat.tolist(), strict=True))
    named = [name for name in list(flat)[:NAMED] if flat[name] >= WORTH_NAMING * total]
    if kind == GOROUTINE:
        named = []  # the function in which all of them are parked
    elif not named:
        named = [name for name in list(flat)[:1] if flat[name]]
    is_small = bool(named) and flat[named[0]] < WORTH_NAMING * total
    by_cum = by_cum_words(profile, kind, flat)
    listed = _line_words(profile, kind)
    said = _rest_words(sum(flat.values()), total) if is_small and not listed else []
    said = _cut_words(profile, kind) or said
    is_own = not is_small and any(map(can_be_mended, named[:1]))
    above = by_cum or ([] if is_own else own_words(top, total, is_small))
    if named and not (above and (is_small or by_cum)):
        said.append(_largest_words(profile, kind, {name: flat[name] for name in named}, is_small))
    if kind == GOROUTINE and not above:
        above = stack_words(top, total)
    said += [*above, *listed, *_callers_words(profile, kind, named)]
    if kind.startswith("inuse") or profile.kind == "bytes":
        sizes = dict(zip(top.function, top.cum.tolist(), strict=True))
        own = {MALG: sizes[MALG]} if sizes.get(MALG, 0) >= LARGE else {}
        known = dict((*known_sites(sizes, total), *known_sites(own, 0))).items()
        is_bytes = profile.sample_type(kind).unit == "bytes"
        said += [_known_words(name, row, kind, sizes[name] * is_bytes) for name, row in known]
    said += _earlier_words(profile, kind, flat)
    return joined(" ", said)


def _largest_words(profile: Profile, kind: str, flat: dict[str, int], is_small: bool) -> Text:
    """The largest rows, with their shares of the total; of an excerpt without one, their sizes."""
    assert profile.printed is not None
    shown = " shown" if profile.printed.cut_above.get(kind) else ""
    first = f"The largest shares{shown} are from" if len(flat) > 1 else f"The largest row{shown} is"
    if kind in profile.printed.summed:
        words = "Of the rows shown, the largest {} {}"
        sizes = (
            text("{} ({})", Function(name), _of_kind(profile, kind, flat[name])) for name in flat
        )
        return text(words + ".", "are" if len(flat) > 1 else "is", joined(", ", sizes))
    total, rate, between = profile.total(kind), _rate_shown(profile, kind, flat.values()), ", "
    shares = [profile.printed.share_of(kind, name, flat[name] / total) for name in flat]
    if shares[0] > MOSTLY and not is_small:
        between = ", then "  # the first alone is most
        most = "Nearly all" if shares[0] >= NEARLY else "Most"
        first = f"{most} of {kind} is from" if kind in (IN_USE, ALLOCATED) else f"{most} is from"
    named = zip(flat, shares, strict=True)
    parts = (part_words(name, flat[name], share, rate) for name, share in named)
    return text("{} {}.", first, joined(between, parts))


def _cut_words(profile: Profile, kind: str) -> list[Text]:
    """Say that the table begins below its largest rows, by the first row's sum%."""
    assert profile.printed is not None
    above = 0.0 if profile.is_difference else profile.printed.cut_above.get(kind, 0.0)
    return [text("Rows with {} of the total stand above those shown.", Share(above))] * bool(above)


def _line_words(profile: Profile, kind: str) -> list[Text]:
    """The lines of `list` with the largest values, each with what it calls."""
    assert profile.printed is not None
    found = [
        (cum, file, line)
        for of_function in profile.printed.lines.get(kind, {}).values()
        for (file, line), cum in of_function.items()
        if cum >= WORTH_NAMING * profile.total(kind)
    ]
    if not found:
        return []
    parts = (
        text("{} ({})", File(f"{file}:{line}"), _of_kind(profile, kind, cum))
        for cum, file, line in sorted(found, reverse=True)[:NAMED]
    )
    words = "By line, with what each calls: {}."
    return [text(words, joined(", ", parts))]


def _earlier_words(profile: Profile, kind: str, flat: Mapping[str, int]) -> list[Text]:
    """Changes of rows that occur several times in the text, largest first."""
    assert profile.printed is not None
    before = profile.printed.earlier.get(kind, {})
    words = "The text has {} {} times, first with {}, last with {}."
    return [
        text(words, Function(name), Count(len(sizes) + 1), *(
            _of_kind(profile, kind, size) for size in (sizes[0], flat[name])
        ))
        for name, sizes in sorted(before.items(), key=lambda row: -max(row[1]))[:NAMED]
        if name in flat
    ]  # fmt: skip


def _callers_words(profile: Profile, kind: str, named: list[str]) -> list[Text]:
    """The callers of the largest function, if the text has a call tree."""
    assert profile.printed is not None
    callers = profile.printed.callers.get(kind, {}).get(named[0], {}) if named else {}
    whole = (
        max(sum(callers.values()), profile.printed.cum.get(kind, {}).get(named[0], 0))
        if named
        else 0
    )
    largest = sorted(callers.items(), key=lambda pair: -pair[1])[:NAMED]
    worth = [pair for pair in largest if pair[1] >= WORTH_NAMING * whole and pair[1]]
    if not worth:
        return []
    parts = (text("{} ({})", Function(name), Share(value / whole)) for name, value in worth)
    return [text("{} is called by {}.", Function(named[0]), joined(", ", parts))]


def _known_words(name: str, row: Signature, kind: str, size: int) -> Text:
    """The explanation of a known site, with its Go releases, because a table has no release.

    Where the size of one object is known, also how many there are, in the 95 % interval of as many
    samples at the default rate.
    """
    held = f" ({row.releases})" if row.releases else ""
    why = row.why if kind.startswith("alloc") else row.in_use or row.why
    said = text("{}{}: {}", Function(name), held, why)
    if not row.each or not size or name != row.frames[0]:
        return said
    ratios = limit_ratios(np.array([max(1.0, size / DEFAULT_RATE)]))
    bounds = zip(ratios[::-1], row.each, strict=True)
    most, fewest = (float(f"{size * ratio[0] / each:.{DIGITS}g}") for ratio, each in bounds)
    words = "{} That is about {} to {}, at {} to {} each."
    return text(words, said, Count(fewest), Count(most, row.counted), *map(Bytes, row.each))


def part_words(name: str, value: int, of_total: float, rate: int) -> Text:
    """A function with its share; marks package inits and values of a single sample."""
    is_single = rate and rate <= value <= (1 + SINGLE) * rate
    share = text("a single sample") if is_single else text("{}", Share(of_total))
    init = ", allocated once at start-up" if INIT.search(name) else ""
    return text("{} ({}{})", Function(name), share, init)


def _rate_shown(profile: Profile, kind: str, flat: Iterable[int]) -> int:
    """The default sampling rate minus rounding, if no row is below it; else 0."""
    assert profile.printed is not None
    least = DEFAULT_RATE - profile.printed.rounding.get(kind, 0)
    is_sampled = profile.sample_type(kind).unit == "bytes"
    return least if is_sampled and all(value >= least for value in flat if value) else 0


def _rest_words(shown: int, total: int) -> list[Text]:
    """Say that the rows are a small part of the total, as after `-focus`."""
    if shown >= WORTH_NAMING * total:
        return []
    return [text("The rows add up to {} of the total.", Share(shown / total))]


def _changed(profile: Profile) -> Text:
    """Functions with more, and with less, than in the subtracted profile."""
    kind = profile.default_sample_type
    top = profile.top_rows(kind)
    rows = [
        (flat, name) for name, flat in zip(top.function, top.flat.tolist(), strict=True) if flat
    ]
    least = WORTH_NAMING * max((abs(flat) for flat, _ in rows), default=0)
    sides = {
        "More": [row for row in rows if row[0] > 0],
        "Less": [row for row in rows if row[0] < 0],
    }
    said = (
        text(
            "{} {} by {}.",
            word,
            IS_USED.get(kind, "bytes" if kind == "space" else f"of {kind}"),
            joined(", ", (_change(profile, kind, *row) for row in side[:NAMED])),
        )
        for word, found in sides.items()
        if (side := [row for row in found if abs(row[0]) >= least])
    )
    return joined(" ", said)


def _net_words(profile: Profile, kind: str) -> Text:
    """The sum of the rows of a difference, as its head prints it."""
    if profile.printed is None or kind not in profile.printed.shown:
        return Text()
    net = profile.printed.shown[kind]
    is_bytes = profile.sample_type(kind).unit == "bytes"
    return text(
        "Its rows add up to {}.", BytesChange(net) if is_bytes else _of_kind(profile, kind, net)
    )


def _of_a_tail(profile: Profile, kind: str) -> Text:
    """Say that a difference begins below its largest rows, and which of those shown has most."""
    above = profile.printed.cut_above.get(kind) if profile.printed is not None else None
    top, total = profile.top_rows(kind), profile.total(kind)
    cums = sorted(zip(map(abs, top.cum.tolist()), top.function, strict=True), reverse=True)
    if not above or not cums or not total:
        return Text()
    cum, name = cums[0]
    most = text("of those shown, none has more than {} with its callees", Share(cum / total))
    words = "Its head is missing, and so are the rows above those shown ({} of the total); {} ({})."
    return text(words, Share(above), most, Function(name))


def _change(profile: Profile, kind: str, flat: int, name: str) -> Text:
    is_bytes = profile.sample_type(kind).unit == "bytes"
    size = BytesChange(flat) if is_bytes else _of_kind(profile, kind, flat)
    return text("{} ({})", Function(name), size)


def with_the_profile(profile: Profile) -> Text:
    """The next step: get the full profile, which has what the table omits."""
    flat = profile.top_rows(profile.default_sample_type)
    if dict(zip(flat.function, flat.cum.tolist(), strict=True)).get(MALG, 0) >= LARGE:
        return _STILL_SO_MANY
    saved = "" if profile.printed is None else profile.printed.saved
    command = with_files("gomem report {}", saved) if saved else TAKE_HEAP_PROFILE
    if not saved and are_no_gos(profile.functions["name"].dropna()):
        words = "This table has no Go function. Read the profile itself, which has stacks: {}."
        return text(words, Command("gomem report PROFILE"))
    return text("Read the profile itself: its stacks give each number an interval: {}.", command)


def alike_words(profile: Profile) -> Text:
    """The size of the objects of a lone record, if each is as large as the sampling rate."""
    if len(profile.columns.value) != 1 or OBJECTS not in profile.sample_type_names:
        return Text()
    count, size = profile.total(OBJECTS), profile.total(IN_USE)
    if count < LEAST_ALIKE or size < count * DEFAULT_RATE:
        return Text()
    return text("They are {}, {} each on average.", Count(count, "object"), Bytes(size // count))


_STILL_SO_MANY = text(
    "See whether so many goroutines still run, and where they wait: {}.", TAKE_GOROUTINES
)
WHO_HOLDS = text(
    "See which goroutines may hold them: {}. See what else is live: {}.",
    TAKE_GOROUTINES,
    TAKE_HEAP_PROFILE,
)


def step_after_heap(profile: Profile) -> Text:
    """What to take next for a printed profile or a lone record; empty for any other."""
    if profile.printed is not None:
        return with_the_profile(profile)
    return WHO_HOLDS if alike_words(profile) else Text()


WHO_ALLOCATED = text("See which functions allocated the memory in use: {}.", TAKE_HEAP_PROFILE)


def _of_kind(profile: Profile, kind: str, value: int) -> Text:
    return amount(value, profile.sample_type(kind).unit)


def amount(value: int, unit: str) -> Text:
    """Format a profile's value in the unit of its sample type."""
    if unit == "nanoseconds":
        return Seconds(value * 1e-9)
    return Bytes(value) if unit == "bytes" else Count(value)
