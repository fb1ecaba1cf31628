"""Which snapshot of a capture does a file belong to?

The order of precedence is: a manifest (see `gomem.capture.manifest`); sub-folders, unless they are
named after file types; a common stem or timestamp in the file names; timestamps inside the files.
Files without any of these form one snapshot. Logs and benchmark files belong to the whole capture.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from gomem.capture.ages import in_order_of_age
from gomem.capture.clock import BY_FILE, BY_NAME, ISO, MANIFEST_TIME, time_in_name
from gomem.capture.manifest import ONLY_MOMENT
from gomem.capture.moment import Moment
from gomem.capture.runs import title_of
from gomem.errors import Damage
from gomem.inputs.cgroup.parse import NAME as CGROUP_NAME
from gomem.inputs.kinds import CAPTURE_SCOPE, FILE_WORDS, slot_of
from gomem.sources.names import natural_key
from gomem.text import File, text
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gomem.capture.manifest import Manifest
    from gomem.capture.moment import Artefact

Name = TypeVar("Name", bound=str)
TOP_MOMENT = "(top)"
ONE_SCRIPT = timedelta(seconds=2)  # between files of one moment written by one script
NEAR_THE_END = timedelta(seconds=30)  # between a file taken once and the last snapshot
LONG_AGO = datetime.min.replace(tzinfo=UTC)

# Names of moments in chronological order; none begins with a digit, or a time.
ORDER = (
    {"before", "start", "first", "begin", "initial", "baseline", "early", "old"},
    {"during", "mid", "middle", "busy", "loaded", "peak", "spike", "second", "third"},
    {"after", "later", "late", "last", "end", "final", "now", "new"},
)
# Places in ORDER: of `before`, of `during` and names without a place, and of `after`.
BEFORE, DURING, AFTER = range(3)
# Numbers, letters, times, or a word and one of these: `2`, `b`, `10h01`, `scrape-07`, `before`.
_IN_ORDER = re.compile(
    rf"(?:[a-z]+-?)?[0-9TZ:.-]*[0-9](?:[hm]?[0-9TZ:.-])*|(?:[a-z]+-)?(?:[a-z]|{'|'.join(sorted(set().union(*ORDER)))})",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[-_. ()]+")
# The file name used by go tool pprof for fetched profiles: pprof.PROGRAM.TYPES.NUMBER.pb.gz
_SAMPLE_TYPES = re.compile(
    r"(?<=\.)(?:(?:(?:alloc|inuse)_(?:objects|space)\.)+|samples\.cpu\.|contentions\.delay\.)"
)
# What a browser adds to the name of the second download, and of later ones.
_DOWNLOADED = re.compile(r" \([0-9]+\)(?=\.|\Z)")
_NUMBERED = re.compile(r"([A-Za-z]+)([0-9]+)")
# The form that /debug/pprof was asked for: `heap_debug1.txt`, `goroutine?debug=2`.
_FORM = re.compile(r"(?<![a-z])debug[-_=]?[0-2](?![0-9])", re.IGNORECASE)
_NO_NAME = re.compile(r"[^\w.,%=+]+")
MAX_TITLE = 40
_LINE = re.compile(r":[0-9]+$")  # suffix of the names of parts of a text


def place(
    artefacts: Sequence[Artefact], manifest: Manifest, present: Collection[str]
) -> tuple[list[Artefact], list[Damage]]:
    """Assign snapshot and time to every artefact, and return damage for errors in the manifest."""
    # `present` has the names of all files of the capture, readable or not.
    of_manifest = manifest.places(present)
    damage = [
        Damage(known.manifest, "", text("the manifest names {}, which is not there", File(path)))
        for path, known in of_manifest.items()
        if path not in present
    ]
    placed: list[Artefact] = []
    listed: dict[str, list[Artefact]] = defaultdict(list)
    by_folder: dict[str, list[Artefact]] = defaultdict(list)
    for artefact in artefacts:
        if artefact.source.name in of_manifest:
            known = of_manifest[artefact.source.name]
            timed = replace(artefact, moment=known.moment)
            if known.time is not None:
                timed = replace(timed, time=known.time, time_source=MANIFEST_TIME)
            listed[_parts(artefact.source.name)[0]].append(timed)
        elif artefact.kind.scope == CAPTURE_SCOPE:
            placed.append(artefact)
        else:
            by_folder[_parts(artefact.source.name)[0]].append(artefact)
    by_folder = _without_folders_of_kinds(by_folder)
    for folder, group in by_folder.items():
        top = TOP_MOMENT if len(by_folder) > 1 else ONLY_MOMENT
        placed += _place_folder(group, folder, folder or top, listed.get(folder, []))
    if not listed:
        placed = _without_shared_end(placed)
    placed += [artefact for group in listed.values() for artefact in group]
    order = {artefact.source.name: number for number, artefact in enumerate(artefacts)}
    return sorted(placed, key=lambda artefact: order[artefact.source.name]), damage


def _without_shared_end(placed: list[Artefact]) -> list[Artefact]:
    """Snapshots `t1/debug` and `t2/debug` as `t1` and `t2`: how all names end tells none apart."""
    names = {artefact.moment for artefact in placed if artefact.moment}
    ends = list(zip(*(reversed(name.split("/")[1:]) for name in names), strict=False))
    shared = next((place for place, parts in enumerate(ends) if len(set(parts)) > 1), len(ends))
    if len(names) < 2 or not shared:
        return placed
    return [
        replace(artefact, moment="/".join(artefact.moment.split("/")[:-shared]))
        for artefact in placed
    ]


def _without_folders_of_kinds(by_folder: dict[str, list[Artefact]]) -> dict[str, list[Artefact]]:
    """Files by folder; files such as `smaps/t01` and `heap/t01.pb.gz` move to the parent folder."""
    # A folder that is named after a kind of file and has a kind several times only groups files;
    # the files' names give the time. The same holds for its siblings that are named after a kind,
    # and for two such folders that have files of the same name.
    of_kinds = {folder for folder in by_folder if folder and not stem_of(_parts(folder)[1])}
    divided = {_parts(folder)[0] for folder in of_kinds if are_repeated(by_folder[folder])}
    stems = Counter(
        (_parts(folder)[0], stem)
        for folder in of_kinds
        for stem in {stem_of(_parts(artefact.source.name)[1]) for artefact in by_folder[folder]}
    )
    divided |= {above for (above, stem), folders in stems.items() if stem and folders > 1}
    placed: dict[str, list[Artefact]] = defaultdict(list)
    for folder, group in by_folder.items():
        above = _parts(folder)[0]
        is_within = above in divided or _is_part_of(group, by_folder.get(above, []))
        placed[above if folder in of_kinds and is_within else folder] += group
    return placed


def _is_part_of(group: Sequence[Artefact], above: Sequence[Artefact]) -> bool:
    """Whether files of one kind complete the one snapshot of the folder above them.

    As `cgroup/memory.max` does beside `status`: neither the folder nor a file names a time.
    """
    is_named = any(stem_of(_parts(artefact.source.name)[1]) for artefact in group)
    is_of_one_kind = len({artefact.kind.name for artefact in group}) == 1
    return bool(above) and is_of_one_kind and not (is_named or are_repeated([*group, *above]))


def _parts(path: str) -> tuple[str, str]:
    """The parent folder, empty if none, and the file name."""
    above, _, name = path.rpartition("/")
    return above, name


def _place_folder(
    group: list[Artefact], folder: str, name: str, listed: list[Artefact]
) -> list[Artefact]:
    """Treat a folder as one snapshot, unless a kind repeats or its names have different times."""
    # Files missing in the manifest belong to the moment of the listed files in the same folder.
    named_times = {artefact.time for artefact in group if artefact.time_source == BY_NAME}
    moments = {artefact.moment for artefact in listed} or {name}
    if not are_repeated([*listed, *group]) and len(named_times) < 2 and len(moments) == 1:
        return [replace(artefact, moment=min(moments)) for artefact in group]
    by_stem: dict[str, list[Artefact]] = defaultdict(list)
    names = [_parts(artefact.source.name)[1] for artefact in group]
    first = {_DOWNLOADED.sub("", name) for name in names if _DOWNLOADED.search(name)}
    for file, artefact in zip(names, group, strict=True):
        by_stem[stem_of(file) or "0" * (file in first)].append(artefact)
    placed = []
    of_stems = _with_the_last(_of_one_word(_of_one_script(_without_kinds_word(by_stem))))
    is_alone = len(of_stems) == 1 and not folder and not listed
    for stem, same in of_stems.items():
        moment = "/".join(part for part in (folder, stem) if part) or name
        where = f"{moment}/beside" if moment in moments and listed else moment
        placed += _by_clock(same, where, is_alone=is_alone)
    return placed


def _of_one_script(by_stem: dict[str, list[Artefact]]) -> dict[str, list[Artefact]]:
    """Combine files written within seconds under the stem of the first."""
    # For a script in which each command makes a time stamp: `heap-$(date +%s).pb.gz`.
    stamps = {stem: time_in_name(stem) for stem in by_stem}
    joined = {stem: same for stem, same in by_stem.items() if stamps[stem] is None}
    latest, since = "", LONG_AGO
    for time, stem in sorted((time, stem) for stem, time in stamps.items() if time is not None):
        if time - since > ONE_SCRIPT or are_repeated([*joined[latest], *by_stem[stem]]):
            latest, since = stem, time
            joined[latest] = []
        joined[latest] = [*joined[latest], *by_stem[stem]]
    return joined


def are_repeated(group: Sequence[Artefact]) -> bool:
    """Whether two artefacts are of the same kind, so that they are not of one snapshot."""
    slots = [_slot(artefact) for artefact in group]
    return len(set(slots)) < len(slots)


def _slot(artefact: Artefact) -> str:
    return slot_of(artefact.kind, artefact.source.name, artefact.parsed)


def _by_clock(group: list[Artefact], name: str, *, is_alone: bool) -> list[Artefact]:
    """Assign artefacts with unhelpful names by time; a new snapshot begins when a kind repeats."""
    if not are_repeated(group):
        return [replace(artefact, moment=name) for artefact in group]
    in_time = _in_time(group)
    groups: list[list[Artefact]] = [[]]
    seen = set[str]()
    for artefact in in_time:
        if _slot(artefact) in seen:
            groups.append([])
            seen = set()
        seen.add(_slot(artefact))
        groups[-1].append(artefact)
    groups = in_order_of_age(groups)
    begins = [file.time if file.time_source != BY_FILE else None for file, *_ in groups]
    rows = [next(filter(None, map(row_of, group)), None) for group in groups]
    numbers = range(1, len(groups) + 1) if None in rows else rows
    names = names_of_day(begins) or _titles(group for group, *_ in groups) if is_alone else []
    return [
        replace(artefact, moment=moment)
        for moment, group in zip(names or [f"{name}-{n}" for n in numbers], groups, strict=True)
        for artefact in group
    ]


def _titles(files: Iterable[Artefact]) -> list[str]:
    """What the columns of a table are called, with numbers unless in order; empty without names."""
    titles = [_NO_NAME.sub("-", title_of(file))[:MAX_TITLE].strip("-") for file in files]
    if not all(titles) or len(set(titles)) < len(titles):
        return []
    numbered = [f"{number}-{title}" for number, title in enumerate(titles, start=1)]
    return titles if in_order_of_names(titles) == titles else numbered


def _in_time(group: Sequence[Artefact]) -> list[Artefact]:
    """Sort files by time. Those of a text have its lines for an order, and no time by its mtime."""
    named = sorted(group, key=lambda file: (file.is_of_last, natural_key(file.source.name)))
    if len({file.source.text_name for file in group}) > 1:
        return sorted(named, key=lambda file: (file.is_of_last, file.time or LONG_AGO))
    places = [at for at, file in enumerate(named) if file.time and file.time_source != BY_FILE]
    known = sorted((named[at] for at in places), key=lambda file: (file.is_of_last, file.time))
    for at, file in zip(places, known, strict=True):
        named[at] = file
    return named


def names_of_day(times: Sequence[datetime | None]) -> list[str]:
    """What ascending times are called, with dates if of several days; empty if two are the same."""
    known = [at for at in times if at is not None]
    if len(known) < len(times):
        return []
    form = "%H:%M:%S" if known[0].date() == known[-1].date() else "%Y-%m-%d %H:%M:%S"
    names = [at.strftime(form) for at in known]
    return names if len(set(names)) == len(names) else []


def row_of(artefact: Artefact) -> int | None:
    """Return the number of a reading in its file, if the file has more than are kept; else None."""
    return getattr(artefact.parsed, "row", None)


def place_of_word(name: str) -> int | None:
    """Return the position in `ORDER` of a snapshot's name, by its first word; None if not there."""
    words = [word for word in _SEPARATORS.split(_parts(name.lower())[1]) if word]
    if not words or is_digits(words[0][0]):
        return None
    said = (place for word in words for place, same in enumerate(ORDER) if word in same)
    return next(said, None)


def in_order_of_names(names: Iterable[Name]) -> list[Name]:
    """Sort names of snapshots; if words give an order, others come between `before` and `after`."""
    words = {name: place_of_word(name) for name in names}
    in_words = len(set(words.values()) - {None}) > 1
    between = {name: DURING if place is None else place for name, place in words.items()}
    return sorted(words, key=lambda name: (between[name] if in_words else 0, natural_key(name)))


def _of_one_word(by_stem: dict[str, list[Artefact]]) -> dict[str, list[Artefact]]:
    """Combine files of `after`, `after-deploy` and `m-after`, if no kind is then there twice."""
    joined = dict(by_stem)
    for short in sorted(by_stem, key=len):
        if place_of_word(short) is None:
            continue
        for long in [stem for stem in joined if stem != short and short in stem.split("-")]:
            if short in joined and not are_repeated([*joined[short], *joined[long]]):
                joined[short] = [*joined[short], *joined.pop(long)]
    return joined


def _without_kinds_word(by_stem: dict[str, list[Artefact]]) -> dict[str, list[Artefact]]:
    """`ms-02-45` as `02-45`, if `ms` leads all names of one kind, and another has `02-45` alone."""
    found = dict(by_stem)
    for word in sorted({stem.partition("-")[0] for stem in by_stem if "-" in stem}):
        rest = {
            stem: stem.removeprefix(f"{word}-") for stem in found if stem.startswith(f"{word}-")
        }
        kinds = {_slot(artefact) for stem in rest for artefact in found[stem]}
        others = {_slot(artefact) for stem in found.keys() - rest for artefact in found[stem]}
        names_kind = word.isalpha() and len(kinds) == 1 and kinds.isdisjoint(others)
        if names_kind and len(rest) > 1 and not found.keys().isdisjoint(rest.values()):
            for stem, short in rest.items():
                found[short] = [*found.get(short, []), *found.pop(stem)]
    return found


def _with_the_last(by_stem: dict[str, list[Artefact]]) -> dict[str, list[Artefact]]:
    """Add files without a snapshot to the last of ordered snapshots, such as numbered ones.

    `smaps.txt` beside `heap-1.pb.gz` and `heap-2.pb.gz` was taken once, at the end. This does not
    apply if a kind would be there twice, or if a file's clock says another time than the last
    snapshot's. A table of processes, which a loop can have written until the end, is also of the
    last of snapshots that only clocks order.
    """
    alone, named = by_stem.get("", []), [stem for stem in by_stem if stem]
    if not alone or len(named) < 2:
        return by_stem
    if all(map(_IN_ORDER.fullmatch, named)):
        last = max(named, key=lambda stem: (place_of_word(stem) or 0, natural_key(stem)))
    else:
        ends = {stem: _end(by_stem[stem]) for stem in named}
        if LONG_AGO in ends.values() or any(file.kind.name != "processes" for file in alone):
            return by_stem
        last = max(named, key=lambda stem: ends[stem])
    if are_repeated([*by_stem[last], *alone]) or not _can_be_of(by_stem[last], alone):
        return by_stem
    joined = {stem: same for stem, same in by_stem.items() if stem}
    joined[last] = [*by_stem[last], *(replace(artefact, is_of_last=True) for artefact in alone)]
    return joined


def _can_be_of(last: Sequence[Artefact], alone: Sequence[Artefact]) -> bool:
    """Whether no clock of files without a snapshot puts them outside the last snapshot.

    A clock of the last snapshot's files says its time; else their last GC says what it is not
    before, and the clocks agree if they are near that. Without either, nothing contradicts.
    """
    times = [file.exact_time for file in alone if file.exact_time is not None]
    if not times:
        return True
    known = _end(last)
    since = known if known != LONG_AGO else Moment("", tuple(last)).not_before
    return since is None or all(-ONE_SCRIPT <= time - since <= NEAR_THE_END for time in times)


def _end(files: Sequence[Artefact]) -> datetime:
    """The time of the last of the files by a good clock; long ago without any."""
    return max(filter(None, (file.exact_time for file in files)), default=LONG_AGO)


def stem_of(name: str) -> str:
    """Return the part of a file's name that is not its kind: `0007` of `heap-0007.pb.gz`."""
    if iso := ISO.search(name):
        return iso[0]
    told = _SAMPLE_TYPES.sub("", CGROUP_NAME.sub("", _LINE.sub("", _FORM.sub("", name))))
    words = [_without_kind(word) for word in _SEPARATORS.split(told)]
    return "-".join(word for word in words if word and word.lower() not in FILE_WORDS)


def _without_kind(word: str) -> str:
    """`smaps1` as `1`; a word whose letters name no kind stays."""
    numbered = _NUMBERED.fullmatch(word)
    return numbered[2] if numbered and numbered[1].lower() in FILE_WORDS else word
