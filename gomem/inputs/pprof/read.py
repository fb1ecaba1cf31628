"""A profile, from a file or bytes to a `Profile`: protobuf, legacy text, folded stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.errors import Damage, FormatError
from gomem.inputs.looks_like import looks_like
from gomem.inputs.pprof.calls.filters import drop_uninteresting
from gomem.inputs.pprof.columns import ValueType
from gomem.inputs.pprof.count_text import looks_like_count_text, parse_count_text
from gomem.inputs.pprof.folded import parse_folded
from gomem.inputs.pprof.heap_text import looks_like_heap_text, parse_heap_text
from gomem.inputs.pprof.parse import parse_pprof
from gomem.inputs.pprof.table import Profile
from gomem.sources.artefact import open_source

if TYPE_CHECKING:
    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.sources.artefact import Readable, Source


def read_pprof(readable: Readable) -> Profile:
    """Read a pprof profile of any kind, compressed or not, or one of heap or counts in text.

    Raises:
        FormatError: It is not a profile, or not a whole one.
    """
    source = open_source(readable)
    if looks_like_heap_text(source.data):
        return _read_heap_text(source)
    if looks_like_count_text(source.data):
        counted, wrong = parse_count_text(source.data, source=source.name)
        return Profile(source.name, counted, (*source.damage, *wrong))
    try:
        columns, damage = parse_pprof(source.data, source=source.name)
    except FormatError as error:
        for cause in source.damage:  # the bytes before the profile's own end
            raise FormatError(source.name, cause.where, cause.what) from error
        _name_another(source)
        raise
    if not columns.drop_frames:
        return Profile(source.name, columns, (*source.damage, *damage))
    kept = _without_dropped(columns, source.name, damage)
    return Profile(source.name, kept, (*source.damage, *damage), undropped=columns)


def read_folded(readable: Readable, sample_type: str = "samples", unit: str = "count") -> Profile:
    """Read folded stacks, such as `main.main;main.work 120`, as a profile.

    Args:
        readable: A path, a file or bytes.
        sample_type: What the numbers count,
        unit: and their unit: the format does not say.

    Raises:
        FormatError: There is no stack in it.
    """
    source = open_source(readable)
    kind = ValueType(sample_type, unit)
    columns, damage = parse_folded(source.data, source=source.name, sample_type=kind)
    return Profile(source.name, columns, (*source.damage, *damage))


def _name_another(source: Source) -> None:
    """Say what a file is that is no profile and is recognised: its bytes say nothing as one's.

    Raises:
        FormatError: It is recognised.
    """
    from gomem.inputs.kinds import kind_of  # which names this reader's kinds among the others

    kind = kind_of(source.data, source.name)
    if kind is not None and kind.name != "pprof":
        what = f"{kind.wanted}, wanted a pprof profile; gomem report and gomem table read it"
        raise FormatError(source.name, "", what)
    seen = looks_like(source.data, source.name)
    if kind is None and not seen.is_unknown_binary:
        way_out = f"; {seen.way_out}" if seen.way_out else ""
        what = f"{seen.what}, wanted a pprof profile{way_out}"
        raise FormatError(source.name, "", what, seen.text)


def _without_dropped(columns: PprofColumns, source: str, damage: list[Damage]) -> PprofColumns:
    """Leave out what the profile asks to leave out; a pattern that RE2 refuses is damage."""
    try:
        return drop_uninteresting(columns)
    except ValueError as error:
        damage.append(Damage(source, "drop_frames", f"{error}; all frames stay"))
        return columns


def _read_heap_text(source: Source) -> Profile:
    from gomem.inputs.memstats.parse import parse_memstats
    from gomem.inputs.memstats.table import memstats_tables

    text, damage = parse_heap_text(source.data, source=source.name)
    found = (*source.damage, *damage)
    if text.memstats is None:
        return Profile(source.name, text.columns, found)

    dumps, wrong = parse_memstats(text.memstats, source=source.name)
    return Profile(
        source.name,
        text.columns,
        (*found, *wrong),
        memstats=memstats_tables(dumps, wrong),
        max_rss_bytes=text.max_rss_bytes,
    )
