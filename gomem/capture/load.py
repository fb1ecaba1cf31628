"""Load a capture: a folder, an archive, or loose files that belong together."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from itertools import chain
from os import PathLike
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from gomem.capture.ages import with_times_by_age
from gomem.capture.capture import Capture
from gomem.capture.clock import time_of
from gomem.capture.cut_mappings import cut_mappings
from gomem.capture.excerpts import as_excerpts
from gomem.capture.loops import LoopPart
from gomem.capture.manifest import MANIFEST_SCHEMA, Manifest, is_manifest
from gomem.capture.moment import Artefact, Moment
from gomem.capture.other_processes import PROCESSES, of_listed_process
from gomem.capture.parts import only_ticket, parts_of
from gomem.capture.place import in_order_of_names, place
from gomem.capture.prose import Prose
from gomem.capture.quoting import without_quoting
from gomem.capture.release import release_of
from gomem.capture.runs import OtherRun, of_last_run, runs_of_series
from gomem.capture.series import SERIES, has_several, taken_apart, with_undated_series
from gomem.capture.session import with_times_beside
from gomem.capture.timeline import with_series, with_stamped
from gomem.capture.times_of_day import dated
from gomem.capture.used_numbers import counts_apart
from gomem.capture.watched import watched_in_a_notebook
from gomem.errors import CaptureError, Damage, FormatError
from gomem.inputs.environ.parse import MAX_TEXT_BYTES
from gomem.inputs.json_text import first_value, json_values
from gomem.inputs.kinds import BY_NAME, is_named_as_one, kind_of
from gomem.inputs.kubernetes import oom_killed
from gomem.inputs.looks_like import looks_like
from gomem.inputs.measurements import has_series, size_named
from gomem.inputs.read import not_an_artefact, read_artefact
from gomem.inputs.runtime_lines.patterns import patterns_added
from gomem.sources.bounds import Bounds
from gomem.sources.listing import list_capture, only_archive
from gomem.sources.long import LongSource, long_source
from gomem.sources.names import readable_name, shared_name
from gomem.sources.paths import is_capture, matching, place_of
from gomem.text import File, MomentName, Text, joined, text
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from gomem.inputs.kinds import Kind
    from gomem.inputs.schema import WithDamage
    from gomem.sources.artefact import Source
    from gomem.sources.listing import Entry

    Named: TypeAlias = str | PathLike[str]
    Progress: TypeAlias = Callable[[str, int, int], None]

LOG = BY_NAME["gctrace"]
# What texts look like whose content nothing else says.
WRITTEN = frozenset({"a document in Markdown", "a document"})
# Kinds whose files can be too long for memory and are read in pieces, with reader options.
IN_PIECES = {"gctrace": {"packed": True}, "heapdump": {}}


@dataclass
class _Gathering:
    """The state while a capture is loaded."""

    damage: list[Damage] = field(default_factory=list)
    artefacts: list[Artefact] = field(default_factory=list)
    passed_over: list[Source] = field(default_factory=list)
    looks: dict[str, str] = field(default_factory=dict)
    evidence: list[str] = field(default_factory=list)
    reasons: list[Damage] = field(default_factory=list)
    prose: Prose = field(default_factory=Prose)  # around pastes


def load(
    *paths: Named | Iterable[Named],
    go_version: str | None = None,
    progress: Progress | None = None,
    patterns: Sequence[str] = (),
) -> Capture:
    """Load a capture: a folder, an archive, or loose files that belong together.

    Raises CaptureError if a path does not exist, or if gomem can read nothing at a path.

    Args:
        paths: One folder or archive, or any number of files; patterns such as `heap-*` are allowed,
            and so are lists of paths.
        go_version: The Go release, such as `go1.24.2`, if the capture does not name it.
        progress: Called with each file's name, its number and the number of files; if None,
            notebooks show progress below the cell.
        patterns: Further formats of a program's log lines about memory: regular expressions with
            groups such as `(?P<rss>…)`; see `gomem.inputs.runtime_lines.patterns`.
    """
    with patterns_added(patterns), watched_in_a_notebook() as watched:
        return _load(paths, go_version, progress or watched)


def _load(
    paths: Iterable[Named | Iterable[Named]], go_version: str | None, progress: Progress | None
) -> Capture:
    given = ([path] if isinstance(path, str | PathLike) else path for path in paths)
    chosen = chain.from_iterable(given)
    named = [only_archive(name) for pattern in chosen for name in matching(pattern)]
    if not named:
        raise CaptureError("no capture named; wanted a folder, an archive or files")
    gathering = _Gathering()
    sources = _open_all(named, gathering, progress)
    manifest = _manifest(sources, gathering)
    _read_all(sources, gathering, progress)
    if not (gathering.artefacts or any(map(_describes_a_kill, gathering.passed_over))):
        raise CaptureError(_nothing_readable(named[0], gathering))
    gathering.artefacts = with_times_by_age(with_times_beside(dated(gathering.artefacts)))
    left, timed = taken_apart([] if manifest.files else gathering.artefacts)
    left = left if timed else gathering.artefacts
    gathering.artefacts, other_runs = _of_one_process(with_undated_series(left, timed))
    present = {artefact.source.name for artefact in gathering.artefacts}
    present |= {source.name for source in gathering.passed_over}
    gathering.artefacts, wrong = place(gathering.artefacts, manifest, present)
    gathering.artefacts = with_stamped(gathering.artefacts)
    if timed:
        gathering.artefacts = with_series(gathering.artefacts, timed)
    gathering.damage += wrong
    damaged = {damage.source for damage in gathering.damage}
    by_name = {artefact.source.name: artefact for artefact in gathering.artefacts}
    for fault in cut_mappings(gathering.artefacts, damaged):
        of = by_name[fault.source]
        gathering.damage += as_excerpts(of.source, of.kind, [fault])
    moments = _moments(gathering.artefacts, manifest)
    return Capture(
        name=readable_name(shared_name([str(path) for path in named])),
        by_moment=moments,
        files=tuple(gathering.artefacts),
        passed_over=tuple(gathering.passed_over),
        damaged=tuple(gathering.damage),
        looks=gathering.looks,
        unread_evidence=tuple(gathering.evidence),
        go_version=release_of(go_version, manifest, gathering.artefacts, gathering.prose.release),
        manifest=manifest,
        other_runs=other_runs,
        told_beside=gathering.prose.told_beside(gathering.artefacts),
        unused_sizes=gathering.prose.sizes_apart(gathering.artefacts),
        unused_counts=counts_apart(gathering.prose.counts, gathering.artefacts, moments.values()),
        unused_settings=gathering.prose.unused_settings(gathering.artefacts),
        stated=tuple(gathering.prose.uses),
        unit=gathering.prose.limit,
        system=gathering.prose.system,
        place=readable_name(_place([str(path) for path in named])),
    )


def _place(named: Sequence[str]) -> str:
    """The folder or archive in which the files' paths begin; empty for files named alone."""
    if len(named) == 1 and is_capture(named[0]):
        return named[0]
    folders = [os.path.dirname(path) for path in named]  # noqa: PTH120 - as they were named
    if len(set(folders)) == 1:
        return folders[0]
    return os.path.commonpath(list(map(os.path.abspath, folders)))


def _open_all(
    paths: Sequence[Named], gathering: _Gathering, progress: Progress | None
) -> list[Source]:
    bounds = Bounds()
    listings = [list_capture(path, bounds) for path in paths]
    entries = [entry for listing in listings for entry in listing.entries]
    if len(paths) > 1:
        entries = _named_apart(entries, paths)
    for listing in listings:
        gathering.damage += listing.damage
    sources: list[Source] = []
    opened: list[tuple[Entry, Source]] = []
    named = {Path(path) for path in paths}
    for number, entry in enumerate(entries, start=1):
        if progress is not None:
            progress(entry.name, number, len(entries))
        opened.append((entry, _open(entry)))
    # A text named by the user is treated as a ticket; in a folder it is an unrelated document,
    # unless nothing else there is evidence.
    ticket = only_ticket([source for entry, source in opened if entry.path not in named])
    for entry, source in opened:
        is_ticket = entry.path in named or source is ticket
        if is_ticket:
            gathering.prose.add(source)
        sources += parts_of(source, is_ticket=is_ticket) or [source]
    return sources


def _open(entry: Entry) -> Source:
    """Read the file whole; of a long log or heap dump, read the beginning, and pieces later."""
    long = long_source(entry)
    if long is not None:
        kind = kind_of(long.data, entry.name)
        if kind is not None and kind.name in IN_PIECES:
            return long
    return without_quoting(entry.open())


def _named_apart(entries: Sequence[Entry], paths: Sequence[str | PathLike[str]]) -> list[Entry]:
    """Name loose files by their paths below their common folder: `1/smaps` and `2/smaps`."""
    if len(entries) != len(paths):
        raise CaptureError("several captures named as one; wanted one folder or archive, or files")
    full = [Path(path).absolute() for path in paths]
    if len(set(full)) < len(full):
        names = joined(", ", (File(path) for path in paths))
        raise CaptureError(text("a file is named twice among {}", names))
    shared = os.path.commonpath([path.parent for path in full])
    return [
        replace(entry, name=readable_name(path.relative_to(shared).as_posix()))
        for entry, path in zip(entries, full, strict=True)
    ]


def _manifest(sources: Sequence[Source], gathering: _Gathering) -> Manifest:
    """The manifests written by `gomem capture`, the topmost first."""
    found: list[tuple[str, dict[str, Any]]] = []
    for source in sources:
        if not is_manifest(source.name):
            continue
        gathering.damage += source.damage
        _, content = first_value(source.data)
        if isinstance(content, dict) and content.get("schema") == MANIFEST_SCHEMA:
            gathering.damage += json_values(source.data, source.name)[1]
            found.append((source.name, content))
        else:
            what = "not a gomem manifest; moments are found from folders and names instead"
            gathering.damage.append(Damage(source.name, "", what))
    return Manifest(tuple(sorted(found, key=lambda file: file[0].count("/"))))


def _read_all(sources: Iterable[Source], gathering: _Gathering, progress: Progress | None) -> None:
    for source in sources:
        if is_manifest(source.name):
            continue
        kind = kind_of(source.data, source.name)
        gathering.damage += source.damage
        if kind is None:
            _pass_over(source, gathering)
            continue
        try:
            parsed = _read(source, kind, progress)
        except FormatError as error:
            gathering.passed_over.append(source)
            gathering.damage.append(source.placed(error.damage))
            continue
        gathering.damage += as_excerpts(source, kind, parsed.damaged)
        time, time_source = time_of(source, parsed)
        gathering.artefacts.append(Artefact(source, kind, "", time, time_source, parsed))


def _pass_over(source: Source, gathering: _Gathering) -> None:
    """List a file of unknown kind with what it looks like; this is not damage."""
    # But if the file's name indicates a kind, and its content is an unknown binary or truncated
    # JSON, it counts as a broken file of that kind.
    gathering.passed_over.append(source)
    if source.damage:
        return
    seen = looks_like(source.data, source.name)
    why = not_an_artefact(source.data, source.name)
    broken = seen.is_unknown_binary or not first_value(source.data)[0]
    if broken and is_named_as_one(source.name):
        gathering.damage.append(why)
        return
    gathering.looks[source.name] = seen.what
    is_text = not seen.known or seen.what in WRITTEN
    size = size_named(source.data) if is_text else None
    if size is not None:
        gathering.looks[source.name] = text("{} that names {}", seen.what, size)
    measures = size is not None or (is_text and has_series(source.data, source.name))
    if seen.is_evidence or measures or (seen.is_stand_in and is_named_as_one(source.name)):
        gathering.evidence.append(source.name)
    gathering.reasons.append(why)


def _read(source: Source, kind: Kind, progress: Progress | None) -> WithDamage:
    """Parse one artefact; one that is too long for memory is read in pieces."""
    if not isinstance(source, LongSource):
        return read_artefact(kind, replace(source, damage=()))

    def advance(done: int, total: int | None) -> None:
        if progress is not None and total is not None:
            progress(f"{source.name} (MiB)", done // MIB, total // MIB)

    return read_artefact(kind, source, progress=advance, **IN_PIECES[kind.name])


def _of_one_process(artefacts: list[Artefact]) -> tuple[list[Artefact], tuple[OtherRun, ...]]:
    """Keep the readings of the last process in a text; return the others as runs."""
    are_readings = any(isinstance(artefact.source, LoopPart) for artefact in artefacts)
    if are_readings or len({artefact.source.text_name for artefact in artefacts}) != 1:
        return _with_last_listing(artefacts)
    of_runtime = SERIES - {PROCESSES}
    several = [file for file in artefacts if file.kind.name in of_runtime and has_several(file)]
    if len(several) == 1:  # the last dump counts, with the other files
        (file,) = several
        runs = runs_of_series(file)
    else:
        artefacts, runs = of_last_run(artefacts)
    artefacts, others = of_listed_process(artefacts)
    return artefacts, (*runs, *others)


def _with_last_listing(
    artefacts: list[Artefact],
) -> tuple[list[Artefact], tuple[OtherRun, ...]]:
    """Keep the last listing of the only process table; return the earlier ones as runs."""
    several = [file for file in artefacts if file.kind.name == PROCESSES and has_several(file)]
    if len(several) != 1:
        return artefacts, ()
    (table,) = several
    left, runs = of_listed_process([table])
    return [placed for file in artefacts for placed in (left if file is table else [file])], runs


def _describes_a_kill(source: Source) -> bool:
    """Whether a file of no kind is a description of a container that was killed."""
    return len(source.data) <= MAX_TEXT_BYTES and oom_killed(source.data) is not None


def _nothing_readable(path: Named, gathering: _Gathering) -> Text:
    named = place_of(path)
    if not gathering.passed_over:
        what = "{}: nothing in it; wanted at least one artefact, such as a heap profile"
        return text(what, named)
    found = [*gathering.damage, *gathering.reasons]
    only, name = found[0], PurePath(path).name
    if len(found) == 1 and only.source.startswith((name, f"{name}:")):  # the path names it
        beside = gathering.prose.beside(only.message)
        line = str(only.source).removeprefix(name)
        return text("{}{}{}{}", named, line, only.message.removeprefix(only.source), beside)
    more = [f"and {len(found) - 3} more"] if len(found) > 3 else []
    reasons = joined("; ", [*_said_once([place.message for place in found[:3]]), *more])
    nothing = "no measurement" if gathering.evidence else "nothing"
    beside = gathering.prose.beside(f"{reasons}")
    return text("{}: {} that gomem can read: {}{}", named, nothing, reasons, beside)


def _said_once(messages: Sequence[str]) -> list[str]:
    """Messages; a way out that several have stands behind the last of them alone."""
    ways_out = ["; " + message.partition("; ")[2] for message in messages]
    return [
        message.removesuffix(way_out) if way_out in ways_out[place + 1 :] else message
        for place, (message, way_out) in enumerate(zip(messages, ways_out, strict=True))
    ]


def _moments(artefacts: Sequence[Artefact], manifest: Manifest) -> dict[str, Moment]:
    """Group artefacts into snapshots, sorted by name, and by time as far as known."""
    groups: dict[MomentName, list[Artefact]] = {}
    for artefact in artefacts:
        if artefact.moment:
            groups.setdefault(MomentName(artefact.moment), []).append(artefact)
    counted = manifest.collections
    moments = [Moment(name, tuple(group), counted.get(name)) for name, group in groups.items()]
    by_name = {moment.name: moment for moment in moments}
    moments = [by_name[name] for name in in_order_of_names(by_name)]
    return {moment.name: moment for moment in _in_time(moments)}


def _in_time(moments: Sequence[Moment]) -> list[Moment]:
    """Sort snapshots by time; those without a time keep their positions."""
    # A reading knows every collection before it. So of two moments that have their last collection,
    # the one with the earlier collection came first, which sorts them even if not all have a time.
    # With the same last collection, the one with less allocation came first.
    timed = {moment.name: moment.time for moment in moments}
    if not all(timed.values()):
        bounds = {moment.name: moment.not_before for moment in moments}
        timed = bounds if all(bounds.values()) else {n: timed[n] or bounds[n] for n in timed}
    places = [number for number, moment in enumerate(moments) if timed[moment.name]]
    known = sorted(
        (moments[place] for place in places),
        key=lambda moment: (cast("datetime", timed[moment.name]), moment.allocated_bytes),
    )
    ordered = list(moments)
    for number, moment in zip(places, known, strict=True):
        ordered[number] = moment
    return ordered
