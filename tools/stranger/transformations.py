"""What happens to a capture on its way to its reader: it is copied, packed, pasted, cut.

A transformation maps a capture's files (bytes by path) to the files that the reader gets. It says
what kind of information is lost. If it can be applied in several places, its choices name them.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.capture.clock import time_in_name
from gomem.capture.manifest import MANIFEST
from gomem.capture.place import stem_of
from gomem.inputs.pprof.read import read_pprof
from gomem.sources.names import natural_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Files = dict[str, bytes]
WIPED, NOON, HOUR = 0, 1_700_000_000, 3600
BEGAN = datetime.fromtimestamp(NOON, UTC)  # years before the recordings
LATER = timedelta(hours=9)  # of a time zone ahead of UTC
_EPOCH = datetime.fromtimestamp(0, UTC)
MIN_LINE = 28  # shorter lines of a file are the program's own, and mark a moment
MIN_CUT = 64  # bytes; half of a single number is still a number, which nobody can tell


class Loss(Enum):
    """What a transformation removes from a capture."""

    NOTHING = "nothing"
    CLOCK = "when each file was read, which the manifest alone says"
    EVIDENCE = "an artefact, a part of one, or the release"


@dataclass(frozen=True)
class Handed:
    """The files that the reader gets.

    Attributes:
        files: Content by path.
        release: The Go release according to the sender, if the capture does not have it.
        dates: Unix seconds by path; other files have the time of writing.
        listed: Whether each file is named on the command line, instead of the folder.
        at: The path to read, relative to the files; empty for the folder itself.
    """

    files: Files
    release: str | None = None
    dates: Mapping[str, int] = field(default_factory=dict)
    listed: bool = False
    at: str = ""


@dataclass(frozen=True)
class Transformation:
    """Something that happens to captures.

    Attributes:
        name: Its name.
        lost: What it removes.
        apply: Maps the files and a choice to the result.
        choices: Where it can be applied to these files; a nameless choice if to all of them.
        harms: Whether the rest of a file counts as damaged.
    """

    name: str
    lost: Loss
    apply: Callable[[Files, str], Handed]
    choices: Callable[[Files], list[str]]
    harms: bool = False


TRANSFORMATIONS: dict[str, Transformation] = {}


def _always(_: Files) -> list[str]:
    return [""]


def _untimed_names(files: Files) -> list[str]:
    """One choice, if no folder's name has a time or a kind, which renaming would lose."""
    folders = moments_of(files)
    is_of_kinds = any(not any(map(stem_of, PurePosixPath(folder).parts)) for folder in folders)
    return [""] if not is_of_kinds and not any(map(time_in_name, folders)) else []


def _with_a_clock(files: Files) -> list[str]:
    """The same, if each moment's time is also known, so that a time in a name adds nothing."""
    return _untimed_names(files) if _times(files).keys() >= set(moments_of(files)) else []


def _seconds_apart(files: Files) -> list[str]:
    """The same, if also no two moments are in the same second."""
    if not _with_a_clock(files):
        return []
    seconds = [time.replace(microsecond=0) for time in _named_times(files).values()]
    return [""] if len(set(seconds)) == len(seconds) else []


def transformation(
    lost: Loss, choices: Callable[[Files], list[str]] = _always
) -> Callable[[Callable[[Files], Handed]], Callable[[Files], Handed]]:
    """Register a transformation of whole captures."""

    def add(function: Callable[[Files], Handed]) -> Callable[[Files], Handed]:
        name = function.__name__
        TRANSFORMATIONS[name] = Transformation(
            name, lost, lambda files, _: function(files), choices
        )
        return function

    return add


def harm(
    choices: Callable[[Files], list[str]], *, harms: bool = False
) -> Callable[[Callable[[Files, str], Handed]], Callable[[Files, str], Handed]]:
    """Register a transformation that removes something at one of several places."""

    def add(function: Callable[[Files, str], Handed]) -> Callable[[Files, str], Handed]:
        name = function.__name__
        TRANSFORMATIONS[name] = Transformation(name, Loss.EVIDENCE, function, choices, harms)
        return function

    return add


@lru_cache(maxsize=4)
def files_of(capture: Path) -> Files:
    """Return the files of a capture (a folder or a `.tar.gz`), by their path in it."""
    if capture.is_file():
        with tarfile.open(capture) as archive:
            members = [member for member in archive if member.isfile()]
            members.sort(key=lambda member: member.name)
            return {member.name: _member(archive, member) for member in members}
    paths = sorted(path for path in capture.rglob("*") if path.is_file())
    return {path.relative_to(capture).as_posix(): path.read_bytes() for path in paths}


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    assert file is not None
    return file.read()


def moments_of(files: Files) -> list[str]:
    """Return the folders that are moments, in order."""
    folders = {PurePosixPath(path).parent.as_posix() for path in files} - {"."}
    return sorted(folders, key=natural_key)


# Dates of files


@transformation(Loss.NOTHING)
def dates_wiped(files: Files) -> Handed:
    """As restored by some archives and object stores."""
    return Handed(files, dates=dict.fromkeys(files, WIPED))


@transformation(Loss.NOTHING)
def dates_alike(files: Files) -> Handed:
    """As in a clone."""
    return Handed(files, dates=dict.fromkeys(files, NOON))


@transformation(Loss.NOTHING)
def dates_reversed(files: Files) -> Handed:
    """Hours apart, the first file newest."""
    return Handed(files, dates=_reversed_dates(files))


@transformation(Loss.CLOCK)
def without_manifest(files: Files) -> Handed:
    """As collected by hand."""
    return _by_hand(files, files)


@transformation(Loss.CLOCK)
def without_manifest_dates_alike(files: Files) -> Handed:
    """Collected by hand, then cloned."""
    return _by_hand(files, files, dates=dict.fromkeys(files, NOON))


@transformation(Loss.CLOCK)
def without_manifest_dates_reversed(files: Files) -> Handed:
    """Collected by hand, then fetched file by file."""
    return _by_hand(files, files, dates=_reversed_dates(files))


@transformation(Loss.EVIDENCE)
def without_manifest_and_release(files: Files) -> Handed:
    """Collected by hand, by someone who does not know the release."""
    return Handed(_no_manifest(files))


# Names and packing


@transformation(Loss.NOTHING)
def in_a_folder_of_another_name(files: Files) -> Handed:
    """The capture's own name carries no information."""
    return Handed(
        {f"2020-01-01 (copy)/{path}": data for path, data in files.items()}, at="2020-01-01 (copy)"
    )


@transformation(Loss.NOTHING)
def folders_further_down(files: Files) -> Handed:
    """Unpacked into nested folders."""
    return Handed({f"tmp/api/{path}": data for path, data in files.items()})


@transformation(Loss.CLOCK)
def folders_further_down_without_manifest(files: Files) -> Handed:
    """The same, collected by hand."""
    return _by_hand({f"tmp/api/{path}": data for path, data in files.items()}, files)


@transformation(Loss.CLOCK, _untimed_names)
def moments_renamed(files: Files) -> Handed:
    """Neutral names, in the same order."""
    number = {moment: f"m{n:02}" for n, moment in enumerate(moments_of(files), start=1)}
    renamed = {_moved(path, number): data for path, data in files.items()}
    return _by_hand(renamed, files)


@transformation(Loss.NOTHING)
def zipped(files: Files) -> Handed:
    """With the folder inside, as a file manager packs it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(f"api/{path}"), data)
    return Handed({"api.zip": packed.getvalue()}, at="api.zip")


@transformation(Loss.NOTHING)
def tarred(files: Files) -> Handed:
    """`tar czf`, with the folder inside."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, data in files.items():
            member = tarfile.TarInfo(f"./api/{path}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return Handed({"api.tar.gz": packed.getvalue()}, at="api.tar.gz")


@transformation(Loss.CLOCK, _untimed_names)
def flattened(files: Files) -> Handed:
    """`smaps-0007` and `heap-0007.pb.gz`, all in one folder."""
    return _flat(files, _with_stem)


@transformation(Loss.CLOCK, _untimed_names)
def flattened_stem_first(files: Files) -> Handed:
    """`0007-smaps` and `0007-heap.pb.gz`."""
    return _flat(files, lambda name, stem: f"{stem}-{name}")


@transformation(Loss.CLOCK, _untimed_names)
def flattened_by_words(files: Files) -> Handed:
    """`before-b.smaps` and `before-b.heap.pb.gz`: no number to sort by."""
    return _flat(files, lambda name, stem: f"before-{chr(ord('a') + int(stem) - 1)}.{name}")


@transformation(Loss.CLOCK, _with_a_clock)
def flattened_by_microseconds(files: Files) -> Handed:
    """`smaps-1700000090123456`, by a script whose clock is years behind the process's."""
    return _flat_by_time(files, lambda time: str((time - _EPOCH) // timedelta(microseconds=1)))


@transformation(Loss.CLOCK, _with_a_clock)
def flattened_by_local_time(files: Files) -> Handed:
    """`smaps-20231115-071320.123456`: in an unknown time zone, hours ahead."""
    return _flat_by_time(files, lambda time: (time + LATER).strftime("%Y%m%d-%H%M%S.%f"))


@transformation(Loss.EVIDENCE, _seconds_apart)
def flattened_by_seconds(files: Files) -> Handed:
    """`smaps-1700000090`: fractions are lost, so each interval is off by up to a second."""
    return _flat_by_time(files, lambda time: str(int(time.timestamp())))


@transformation(Loss.NOTHING)
def listed(files: Files) -> Handed:
    """`gomem report capture/*/*`: each file named."""
    return Handed(files, listed=True)


@transformation(Loss.CLOCK, _untimed_names)
def flattened_and_listed(files: Files) -> Handed:
    """Loose files, each named."""
    flat = flattened(files)
    return Handed(flat.files, flat.release, listed=True)


@transformation(Loss.NOTHING)
def compressed(files: Files) -> Handed:
    """`gzip -r`, which skips files that are compressed already."""
    return Handed(
        {
            path if path.endswith(".gz") else f"{path}.gz": data
            if path.endswith(".gz")
            else gzip.compress(data, 1)
            for path, data in files.items()
        }
    )


# Text that passed through an editor, a terminal or an issue


@transformation(Loss.NOTHING)
def line_ends_of_windows(files: Files) -> Handed:
    """CRLF."""
    return _each_text(files, lambda text: text.replace(b"\n", b"\r\n"))


@transformation(Loss.NOTHING)
def byte_order_marks(files: Files) -> Handed:
    """As added by some editors."""
    return _each_text(files, lambda text: b"\xef\xbb\xbf" + text)


@transformation(Loss.NOTHING)
def in_fences(files: Files) -> Handed:
    """Pasted into Markdown."""
    return _each_text(files, lambda text: b"```\n" + _ended(text) + b"```\n", manifest=False)


@transformation(Loss.NOTHING)
def in_fences_with_words(files: Files) -> Handed:
    """Pasted into an issue after a sentence; a lone number has none, or it would not be read."""
    head, end = b"Here it is:\n\n```text\n", b"```\n\nThanks!\n"
    return _each_text(
        files,
        lambda text: text if len(text) < len(head + end) else head + _ended(text) + end,
        manifest=False,
    )


@transformation(Loss.NOTHING)
def in_quotes(files: Files) -> Handed:
    """Quoted in an answer."""
    return _each_text(files, lambda text: re.sub(rb"(?m)^(?!\Z)", b"> ", text), manifest=False)


@transformation(Loss.NOTHING)
def indented(files: Files) -> Handed:
    """As Markdown marks code without a fence."""
    return _each_text(files, lambda text: re.sub(rb"(?m)^(?!\Z)", b"    ", text), manifest=False)


# Unrelated files


@transformation(Loss.NOTHING)
def a_readme_beside(files: Files) -> Handed:
    """Notes."""
    return Handed(files | {"README.md": b"# Incident\n\nCollected on the second pod.\n"})


@transformation(Loss.NOTHING)
def an_empty_file_beside(files: Files) -> Handed:
    """From a redirection whose command failed."""
    return Handed(files | {f"{moment}/notes.txt": b"" for moment in moments_of(files)})


@transformation(Loss.NOTHING)
def a_page_beside(files: Files) -> Handed:
    """An error page of a proxy."""
    page = b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>\n"
    return Handed(files | {f"{moment}/trace": page for moment in moments_of(files)})


@transformation(Loss.NOTHING)
def a_page_of_metrics_beside(files: Files) -> Handed:
    """Prometheus metrics of the machine, not of a process."""
    page = b"""\
# HELP node_load1 1m load average.
# TYPE node_load1 gauge
node_load1 0.21
# HELP node_memory_MemAvailable_bytes Memory information field MemAvailable_bytes.
# TYPE node_memory_MemAvailable_bytes gauge
node_memory_MemAvailable_bytes 6.7108864e+09
"""
    return Handed(files | {f"{moment}/node.prom": page for moment in moments_of(files)})


# Losses


def _artefacts(files: Files) -> list[str]:
    """Return one path for each file name, in the last moment that has it."""
    return list({PurePosixPath(path).name: path for path in _in_order(files)}.values())


def _names(files: Files) -> list[str]:
    """Return the names of files that several moments have, if they have others, too."""
    names = [PurePosixPath(path).name for path in _in_order(files)]
    return sorted({name for name in names if 1 < names.count(name) < len(names)})


def _one_of_several(files: Files) -> list[str]:
    return _artefacts(files) if len(_no_manifest(files)) > 1 else []


@harm(_one_of_several)
def one_left_out(files: Files, path: str) -> Handed:
    """A file that was not collected."""
    return _by_hand({other: data for other, data in files.items() if other != path}, files)


@harm(_names)
def one_kind_left_out(files: Files, name: str) -> Handed:
    """A file that was not collected at any moment."""
    kept = {path: data for path, data in files.items() if PurePosixPath(path).name != name}
    return _by_hand(kept, files)


@harm(lambda files: moments_of(files) if len(moments_of(files)) > 1 else [])
def one_moment_left_out(files: Files, moment: str) -> Handed:
    """A moment without any files."""
    kept = {
        path: data
        for path, data in files.items()
        if PurePosixPath(path).parent.as_posix() != moment
    }
    return _by_hand(kept, files)


def _cuttable(files: Files) -> list[str]:
    return [path for path in _artefacts(files) if len(files[path]) >= MIN_CUT]


@harm(_cuttable, harms=True)
def one_cut_short(files: Files, path: str) -> Handed:
    """A full disk or a broken connection: the file ends in the middle of a line."""
    return Handed(files | {path: _cut(files[path])})


_MAPPING = re.compile(rb"(?m)^[0-9a-f]+-[0-9a-f]+ ")


def _several_smaps(files: Files) -> list[str]:
    """The last of several smaps; the others show what such a file ends with."""
    smaps = [path for path in _in_order(files) if re.split(r"[/.-]", path)[-1] == "smaps"]
    return smaps[-1:] if len(smaps) > 1 else []


@harm(_several_smaps, harms=True)
def one_cut_between_mappings(files: Files, path: str) -> Handed:
    """The same, at the boundary of one of the kernel's reads."""
    half = len(files[path]) // 2
    begins = [match.start() for match in _MAPPING.finditer(files[path])]
    return Handed(files | {path: files[path][: min(begins, key=lambda at: abs(at - half))]})


def _cut(data: bytes) -> bytes:
    """Cut a file to about its first half; text, to the middle of a line that shows the cut.

    Such a line is one with kB, or a line of a log, preferably of the GC's: the length of a
    program's own line is unknown. Between two mappings of a smaps, or after the fields read from a
    status, the file itself does not show the cut: there the kernel's other sums do, or nothing is
    lost.
    """
    half = len(data) // 2
    if not _is_text(data):
        return data[:half]
    lines = list(re.finditer(rb"[^\n]+", data))
    sizes = [line for line in lines if line[0].endswith(b" kB")]
    logged = [line for line in lines if len(line[0]) >= MIN_LINE and re.search(rb"\d", line[0])]
    collections = [line for line in logged if line[0].startswith(b"gc ")]
    telling = sizes or collections or logged
    if not telling:
        return data[:half]
    torn = min(telling, key=lambda line: abs(line.start() - half))
    return data[: (torn.start() + torn.end()) // 2]


def _in_order(files: Files) -> list[str]:
    return sorted(_no_manifest(files), key=natural_key)


def _no_manifest(files: Files) -> Files:
    return {path: data for path, data in files.items() if PurePosixPath(path).name != MANIFEST}


def _by_hand(changed: Files, files: Files, **how: Mapping[str, int]) -> Handed:
    """Remove the manifest; the sender still knows the release."""
    release = json.loads(files[MANIFEST])["go_version"] if MANIFEST in files else None
    kept = _no_manifest(changed)
    return Handed(
        kept,
        release,
        **{name: {p: d for p, d in by.items() if p in kept} for name, by in how.items()},
    )


def _reversed_dates(files: Files) -> dict[str, int]:
    return {path: NOON - number * HOUR for number, path in enumerate(files)}


def _moved(path: str, folders: Mapping[str, str]) -> str:
    parent, name = PurePosixPath(path).parent.as_posix(), PurePosixPath(path).name
    return name if parent == "." else f"{folders[parent]}/{name}"


def _flat(files: Files, rename: Callable[[str, str], str]) -> Handed:
    stems = {moment: f"{n:04}" for n, moment in enumerate(moments_of(files), start=1)}
    flat = {}
    for path, data in files.items():
        parent, name = PurePosixPath(path).parent.as_posix(), PurePosixPath(path).name
        flat[name if parent == "." else rename(name, stems[parent])] = data
    return _by_hand(flat, files)


def _flat_by_time(files: Files, stamp: Callable[[datetime], str]) -> Handed:
    times = list(_named_times(files).values())
    return _flat(files, lambda name, stem: _with_stem(name, stamp(times[int(stem) - 1])))


def _named_times(files: Files) -> dict[str, datetime]:
    """Return each moment's time by a clock years behind, with the true intervals."""
    times = _times(files)
    first = min(times.values(), default=BEGAN)
    return {moment: BEGAN + (times[moment] - first) for moment in moments_of(files)}


def _times(files: Files) -> dict[str, datetime]:
    """Return each moment's time to the microsecond, if the manifest or a profile has it."""
    if MANIFEST in files:
        moments = json.loads(files[MANIFEST])["moments"]
        entries = [entry for moment in moments for entry in moment["artefacts"].values()]
        read = [(entry["path"], datetime.fromisoformat(entry["time"])) for entry in entries]
    else:
        profiles = {path: data for path, data in files.items() if path.endswith(".pb.gz")}
        known = [(path, _time_of(data)) for path, data in profiles.items()]
        read = [(path, time) for path, time in known if time]
    times: dict[str, datetime] = {}
    for path, time in read:
        moment = PurePosixPath(path).parent.as_posix()
        times[moment] = min(time, times.get(moment, time))
    return times


@lru_cache(maxsize=256)
def _time_of(profile: bytes) -> datetime | None:
    time = read_pprof(profile).time
    return time and time.floor("us").to_pydatetime()


def _with_stem(name: str, stem: str) -> str:
    """`heap-0007.pb.gz`; the names of a cgroup's files contain dots themselves."""
    first, dot, rest = name.partition(".")
    return f"{name}-{stem}" if name.startswith("memory.") else f"{first}-{stem}{dot}{rest}"


def _each_text(files: Files, change: Callable[[bytes], bytes], *, manifest: bool = True) -> Handed:
    """Change each text file; the manifest, which nobody pastes, only if requested."""
    return Handed(
        {
            path: change(data) if _is_text(data) and (manifest or path != MANIFEST) else data
            for path, data in files.items()
        }
    )


def _is_text(data: bytes) -> bool:
    return not data.startswith(b"\x1f\x8b") and b"\0" not in data


def _ended(text: bytes) -> bytes:
    return text if text.endswith(b"\n") else text + b"\n"
