"""Reads a file or bytes as a `Profile`: protobuf, legacy text, folded stacks, pprof's output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.errors import Damage, FormatError
from gomem.inputs.pprof.calls.filters import drop_uninteresting
from gomem.inputs.pprof.columns import ValueType
from gomem.inputs.pprof.count_text import looks_like_count_text, parse_count_text
from gomem.inputs.pprof.folded import parse_folded
from gomem.inputs.pprof.heap_text import looks_like_heap_text, parse_heap_text
from gomem.inputs.pprof.parse import parse_pprof
from gomem.inputs.pprof.printed.parse import looks_like_printed, parse_printed
from gomem.inputs.pprof.table import Profile
from gomem.inputs.unwrap import plain_texts, read_plain
from gomem.inputs.wrong_file import name_another
from gomem.sources.artefact import open_source
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from gomem.sources.artefact import Readable, Source

PROFILE_KINDS = ("pprof", "heap_text", "count_text", "pprof_text")


def read_pprof(readable: Readable) -> Profile:
    """Read a pprof profile, compressed or not, in protobuf or in the text form of heaps and counts.

    Also reads the output of `go tool pprof`; see `Profile.printed`.

    Raises FormatError if it is not a complete profile.
    """
    source = open_source(readable)
    in_text = _read_text(source, source.data)
    if in_text is not None:
        return in_text
    try:
        columns, damage = parse_pprof(source.data, source=source.name)
    except FormatError as error:
        texts = (source.data, *(plain.data for plain in plain_texts(source.data)))
        pasted = (_read_text(source, text) or _read_printed(source, text) for text in texts)
        for profile in filter(None, pasted):
            return profile
        for cause in source.damage:  # damage to the file itself is the cause
            raise FormatError(source.name, cause.where, cause.what) from error
        name_another(source, "a pprof profile", PROFILE_KINDS, refused=True)
        raise
    if not columns.drop_frames:
        return Profile(source.name, columns, (*source.damage, *damage))
    kept = columns
    try:  # apply the profile's `drop_frames`; a pattern that RE2 rejects is damage
        kept = drop_uninteresting(columns)
    except ValueError as error:
        what = text("{}; all frames stay", Quoted(error))
        damage.append(Damage(source.name, "drop_frames", what))
    return Profile(source.name, kept, (*source.damage, *damage), undropped=columns)


def read_folded(readable: Readable, sample_type: str = "samples", unit: str = "count") -> Profile:
    """Read folded stacks, such as `main.main;main.work 120`, as a profile.

    The format does not say what the numbers count, or in which unit; `sample_type` and `unit` do.
    Raises FormatError if there is no stack.
    """
    source = open_source(readable)
    kind = ValueType(sample_type, unit)
    columns, damage = parse_folded(source.data, source=source.name, sample_type=kind)
    return Profile(source.name, columns, (*source.damage, *damage))


def _read_text(source: Source, data: bytes) -> Profile | None:
    """Return the profile in text form that a file contains; None if there is none."""
    if looks_like_heap_text(data):
        return _read_heap_text(source)
    if looks_like_count_text(data):
        counted, damaged, _ = read_plain(source, looks_like_count_text, parse_count_text)
        return Profile(source.name, counted.columns, damaged, header_total=counted.total)
    return None


def _read_printed(source: Source, data: bytes) -> Profile | None:
    """Return the profile that `go tool pprof` printed into a file; None if there is none."""
    if not looks_like_printed(data):
        return None
    found, damaged, _ = read_plain(source, looks_like_printed, parse_printed)
    return Profile(
        source.name,
        found.columns,
        damaged,
        totals=found.totals,
        is_difference=found.is_difference,
        printed=found.printed,
    )


def _read_heap_text(source: Source) -> Profile:
    from gomem.inputs.memstats.parse import parse_memstats
    from gomem.inputs.memstats.table import memstats_tables

    text, damaged, _ = read_plain(source, looks_like_heap_text, parse_heap_text)
    if text.memstats is None:
        return Profile(source.name, text.columns, damaged, header_total=text.header_total)

    dumps, wrong = parse_memstats(text.memstats, source=source.name)
    memstats, damaged = memstats_tables(dumps, wrong), (*damaged, *wrong)
    return Profile(source.name, text.columns, damaged, memstats, text.max_rss_bytes)
