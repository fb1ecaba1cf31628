"""What a profile is about: what was profiled, under which Go release, with which totals."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from gomem.inputs.pprof.calls.names import release_in_path
from gomem.inputs.pprof.calls.nodes import function_files
from gomem.units import format_bytes, format_count

if TYPE_CHECKING:
    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.inputs.pprof.table import Profile

HEAP_TYPES = frozenset({"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"})

_KINDS = {
    ("goroutine",): "goroutine",
    ("goroutineleak",): "goroutineleak",
    ("threadcreate",): "threadcreate",
    ("samples", "cpu"): "cpu",
}
REFERENCE_TYPES = ("inuse_objects", "inuse_space")
_REFERENCE = re.compile(r"(?<=[\w\]$.]) \(.+\)$|^\$(?:map(?:key|val)|sub_objects)\b")
_PRINTED_KINDS = {
    **dict.fromkeys(("inuse_space", "inuse_objects"), "heap"),
    **dict.fromkeys(("alloc_space", "alloc_objects"), "allocs"),
    **dict.fromkeys(("cpu", "samples"), "cpu"),
    **dict.fromkeys(("delay", "contentions"), "contention"),
    "space": "bytes",
    "goroutine": "goroutine",
    "goroutineleak": "goroutineleak",
    "threadcreate": "threadcreate",
}


def kind_of(profile: Profile) -> str:
    """Return what was profiled; see `Profile.kind`."""
    types = tuple(profile.sample_type_names)
    if profile.printed is not None:
        return _kind_of_printed(profile)
    if types == ("contentions", "delay"):
        return _kind_of_contention(profile)
    if types == REFERENCE_TYPES and _has_references(profile.columns):
        return "references"
    if set(types) >= HEAP_TYPES:
        return "allocs" if profile.default_sample_type.startswith("alloc_") else "heap"
    return _KINDS.get(types, "heap" if "inuse_space" in types else "other")


def _has_references(columns: PprofColumns) -> bool:
    """Whether the stacks are chains of references, as written by cloudwego/goref.

    The frames are variables, fields and map entries, with their types: `cache (map[string][]uint8)`
    or `$mapval. ([]uint8)`. They have no address, file, line or mapping. Nothing is sampled.
    """
    functions, locations = columns.functions, columns.locations
    strings = columns.strings
    says_more = (
        columns.period or columns.period_type.type or columns.time_nanos
        or locations.address.any() or functions.file.any() or locations.line_number.any()
        or (locations.mapping >= 0).any() or columns.labels.sample.size
    )  # fmt: skip
    return not says_more and any(_REFERENCE.search(strings[name]) for name in functions.name)


def _kind_of_printed(profile: Profile) -> str:
    """Return the kind, by the printed sample types; a unit alone, such as bytes, is not enough."""
    if profile.is_difference:
        return "difference"
    types = profile.sample_type_names
    known = next((_PRINTED_KINDS[name] for name in types if name in _PRINTED_KINDS), "other")
    return _kind_of_contention(profile) if known == "contention" else known


def _kind_of_contention(profile: Profile) -> str:
    """Tell mutex profiles, whose stacks end in an unlock, from block profiles."""
    top = profile.top_rows()
    leaves = [name for name, flat in zip(top.function, top.flat.tolist(), strict=True) if flat]
    if not leaves:
        return "other"
    return "mutex" if any("nlock" in name for name in leaves) else "block"


def is_delta(profile: Profile) -> bool:
    """Whether a heap profile is the growth in a time, as of heap?seconds=30: only that has one."""
    return profile.kind == "heap" and profile.printed is None and profile.columns.duration_nanos > 0


def release_in(columns: PprofColumns) -> str | None:
    """Return the Go release found in a profile's file paths; None if there is none."""
    found = map(release_in_path, dict.fromkeys(function_files(columns)))
    return next(filter(None, found), None)


def html_of(profile: Profile) -> str:
    """Return a profile's kind, totals and time as HTML, for a notebook."""
    rows = ""
    for kind in profile.sample_types:
        total = profile.total(kind.type)
        counted = f"{format_count(total)} {escape(kind.unit)}"
        shown = format_bytes(total) if kind.unit == "bytes" else counted
        rows += f"<tr><th>{escape(kind.type)}</th><td>{shown}</td></tr>"
    taken = f", {profile.time:%Y-%m-%d %H:%M:%S} UTC" if profile.time is not None else ""
    head = f"{profile.kind} profile, {len(profile.columns.value)} samples{taken}"
    damage = f"<p>{len(profile.damaged)} parts could not be read</p>" if profile.damaged else ""
    return f"<p>{escape(head)}</p><table>{rows}</table>{damage}"
