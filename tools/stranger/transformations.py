"""What happens to a capture on its way to whoever reads it: copied, packed, pasted, cut.

A transformation takes the files of a capture, bytes by path, and gives what is handed on. Each says
what of it is lost; where a capture can be harmed in several places, its choices name them.
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
LATER = timedelta(hours=9)  # of a zone ahead of UTC
_EPOCH = datetime.fromtimestamp(0, UTC)
MIN_LINE = 28  # of a file's lines, the shorter are the program's own and mark a moment
MIN_CUT = 64  # bytes: the half of a single number is a number, and nobody can tell


class Loss(Enum):
    """What a transformation takes from a capture."""

    NOTHING = "nothing"
    CLOCK = "when each file was read, which the manifest alone says"
    EVIDENCE = "an artefact, a part of one, or the release"


@dataclass(frozen=True)
class Handed:
    """What is handed on.

    Attributes:
        files: Content by path.
        release: What its owner says of the Go release, where the capture no longer does.
        dates: Unix seconds by path; of the others, as they fall.
        listed: Whether the files are named one by one, and not their folder.
        at: The path to read, below where the files lie; empty for where they lie.
    """

    files: Files
    release: str | None = None
    dates: Mapping[str, int] = field(default_factory=dict)
    listed: bool = False
    at: str = ""


@dataclass(frozen=True)
class Transformation:
    """One thing that happens to captures.

    Attributes:
        name: What it is called.
        lost: What it takes away.
        apply: The files and a choice to what is handed on.
        choices: Where it can be applied to these files; one without a name if it is to all.
        harms: Whether what is left of a file is damage.
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
    """Where no name says when it was, nor which kind it is: else another name takes that away."""
    folders = moments_of(files)
    is_of_kinds = any(not any(map(stem_of, PurePosixPath(folder).parts)) for folder in folders)
    return [""] if not is_of_kinds and not any(map(time_in_name, folders)) else []


def _with_a_clock(files: Files) -> list[str]:
    """Where each moment says when it was: else a time in a name says what nothing else does."""
    return _untimed_names(files) if _times(files).keys() >= set(moments_of(files)) else []


def _seconds_apart(files: Files) -> list[str]:
    """The same, where no two moments are of one second."""
    if not _with_a_clock(files):
        return []
    seconds = [time.replace(microsecond=0) for time in _named_times(files).values()]
    return [""] if len(set(seconds)) == len(seconds) else []


def transformation(
    lost: Loss, choices: Callable[[Files], list[str]] = _always
) -> Callable[[Callable[[Files], Handed]], Callable[[Files], Handed]]:
    """Add a transformation of whole captures to the list."""

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
    """Add a transformation that takes something away, at one of several places."""

    def add(function: Callable[[Files, str], Handed]) -> Callable[[Files, str], Handed]:
        name = function.__name__
        TRANSFORMATIONS[name] = Transformation(name, Loss.EVIDENCE, function, choices, harms)
        return function

    return add


@lru_cache(maxsize=4)
def files_of(capture: Path) -> Files:
    """The files of a capture, a folder or a `.tar.gz`, by their paths in it."""
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
    """The folders that are moments, in order."""
    folders = {PurePosixPath(path).parent.as_posix() for path in files} - {"."}
    return sorted(folders, key=natural_key)


# Dates of files


@transformation(Loss.NOTHING)
def dates_wiped(files: Files) -> Handed:
    """As some archives and object stores give them back."""
    return Handed(files, dates=dict.fromkeys(files, WIPED))


@transformation(Loss.NOTHING)
def dates_alike(files: Files) -> Handed:
    """As a clone has them."""
    return Handed(files, dates=dict.fromkeys(files, NOON))


@transformation(Loss.NOTHING)
def dates_reversed(files: Files) -> Handed:
    """Hours apart, the first file the newest."""
    return Handed(files, dates=_reversed_dates(files))


@transformation(Loss.CLOCK)
def without_manifest(files: Files) -> Handed:
    """As people collect by hand."""
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
    """Collected by hand by somebody who does not know the release."""
    return Handed(_no_manifest(files))


# Names and packing


@transformation(Loss.NOTHING)
def in_a_folder_of_another_name(files: Files) -> Handed:
    """The capture's own name means nothing."""
    return Handed(
        {f"2020-01-01 (copy)/{path}": data for path, data in files.items()}, at="2020-01-01 (copy)"
    )


@transformation(Loss.NOTHING)
def folders_further_down(files: Files) -> Handed:
    """Unpacked into a folder, into a folder."""
    return Handed({f"tmp/api/{path}": data for path, data in files.items()})


@transformation(Loss.CLOCK)
def folders_further_down_without_manifest(files: Files) -> Handed:
    """The same, collected by hand."""
    return _by_hand({f"tmp/api/{path}": data for path, data in files.items()}, files)


@transformation(Loss.CLOCK, _untimed_names)
def moments_renamed(files: Files) -> Handed:
    """Names that say nothing, in the same order."""
    number = {moment: f"m{n:02}" for n, moment in enumerate(moments_of(files), start=1)}
    renamed = {_moved(path, number): data for path, data in files.items()}
    return _by_hand(renamed, files)


@transformation(Loss.NOTHING)
def zipped(files: Files) -> Handed:
    """With the folder in it, as a file manager packs."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(f"api/{path}"), data)
    return Handed({"api.zip": packed.getvalue()}, at="api.zip")


@transformation(Loss.NOTHING)
def tarred(files: Files) -> Handed:
    """`tar czf`, with the folder in it."""
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
    """`smaps-20231115-071320.123456`: of a zone that nothing names, hours ahead."""
    return _flat_by_time(files, lambda time: (time + LATER).strftime("%Y%m%d-%H%M%S.%f"))


@transformation(Loss.EVIDENCE, _seconds_apart)
def flattened_by_seconds(files: Files) -> Handed:
    """`smaps-1700000090`: what was finer is gone, and with it up to a second of each interval."""
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
    """`gzip -r`, which leaves what is compressed already."""
    return Handed(
        {
            path if path.endswith(".gz") else f"{path}.gz": data
            if path.endswith(".gz")
            else gzip.compress(data, 1)
            for path, data in files.items()
        }
    )


# Text that went through an editor, a terminal or an issue


@transformation(Loss.NOTHING)
def line_ends_of_windows(files: Files) -> Handed:
    """CRLF."""
    return _each_text(files, lambda text: text.replace(b"\n", b"\r\n"))


@transformation(Loss.NOTHING)
def byte_order_marks(files: Files) -> Handed:
    """As some editors put before UTF-8."""
    return _each_text(files, lambda text: b"\xef\xbb\xbf" + text)


@transformation(Loss.NOTHING)
def in_fences(files: Files) -> Handed:
    """Pasted into Markdown."""
    return _each_text(files, lambda text: b"```\n" + _ended(text) + b"```\n", manifest=False)


@transformation(Loss.NOTHING)
def in_fences_with_words(files: Files) -> Handed:
    """Pasted into an issue, with a sentence before it; a lone number has none, or is not read."""
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


# Files that do not belong


@transformation(Loss.NOTHING)
def a_readme_beside(files: Files) -> Handed:
    """Notes."""
    return Handed(files | {"README.md": b"# Incident\n\nCollected on the second pod.\n"})


@transformation(Loss.NOTHING)
def an_empty_file_beside(files: Files) -> Handed:
    """A redirection whose command failed."""
    return Handed(files | {f"{moment}/notes.txt": b"" for moment in moments_of(files)})


@transformation(Loss.NOTHING)
def a_page_beside(files: Files) -> Handed:
    """What a proxy answered."""
    page = b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>\n"
    return Handed(files | {f"{moment}/trace": page for moment in moments_of(files)})


@transformation(Loss.NOTHING)
def a_page_of_metrics_beside(files: Files) -> Handed:
    """What is scraped of the machine: in Prometheus text, and of no process."""
    page = b"""\
# HELP node_load1 1m load average.
# TYPE node_load1 gauge
node_load1 0.21
# HELP node_memory_MemAvailable_bytes Memory information field MemAvailable_bytes.
# TYPE node_memory_MemAvailable_bytes gauge
node_memory_MemAvailable_bytes 6.7108864e+09
"""
    return Handed(files | {f"{moment}/node.prom": page for moment in moments_of(files)})


# What is lost


def _artefacts(files: Files) -> list[str]:
    """One path of each file name, in the last moment that has it."""
    return list({PurePosixPath(path).name: path for path in _in_order(files)}.values())


def _names(files: Files) -> list[str]:
    """The names of the files that several moments have, beside others."""
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
    """A file that was collected at no moment."""
    kept = {path: data for path, data in files.items() if PurePosixPath(path).name != name}
    return _by_hand(kept, files)


@harm(lambda files: moments_of(files) if len(moments_of(files)) > 1 else [])
def one_moment_left_out(files: Files, moment: str) -> Handed:
    """A moment at which nobody looked."""
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
    """A disk that was full, a connection that broke: in the middle of a line."""
    return Handed(files | {path: _cut(files[path])})


_MAPPING = re.compile(rb"(?m)^[0-9a-f]+-[0-9a-f]+ ")


def _several_smaps(files: Files) -> list[str]:
    """The last of several smaps: the others show what such a file ends with."""
    smaps = [path for path in _in_order(files) if re.split(r"[/.-]", path)[-1] == "smaps"]
    return smaps[-1:] if len(smaps) > 1 else []


@harm(_several_smaps, harms=True)
def one_cut_between_mappings(files: Files, path: str) -> Handed:
    """The same, where the kernel's pieces of a file end."""
    half = len(files[path]) // 2
    begins = [match.start() for match in _MAPPING.finditer(files[path])]
    return Handed(files | {path: files[path][: min(begins, key=lambda at: abs(at - half))]})


def _cut(data: bytes) -> bytes:
    """About its first half; of text, to the middle of a line that shows that it is cut.

    That is one with kB, or one of a log, the collector's where it has any: of a line of the
    program's own nobody knows how long it was. Between two mappings of a smaps, or behind what is
    read of a status, nothing in the file tells: there the kernel's other sums do, or nothing is
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
    """Without a manifest; its owner still knows the release."""
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
    """What a clock years behind says of each moment, as far apart as they were."""
    times = _times(files)
    first = min(times.values(), default=BEGAN)
    return {moment: BEGAN + (times[moment] - first) for moment in moments_of(files)}


def _times(files: Files) -> dict[str, datetime]:
    """When each moment was, where the manifest or a profile says so, to the microsecond."""
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
    """`heap-0007.pb.gz`; the names of a cgroup's files have dots of their own."""
    first, dot, rest = name.partition(".")
    return f"{name}-{stem}" if name.startswith("memory.") else f"{first}-{stem}{dot}{rest}"


def _each_text(files: Files, change: Callable[[bytes], bytes], *, manifest: bool = True) -> Handed:
    """Each file that is text, changed; the manifest, which nobody pastes, only if it is meant."""
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
