"""Files of any kind: what they are, what is peeled off them, frames, archives, whole reports."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import gomem
from gomem.errors import CaptureError, FormatError
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.read import read
from gomem.inputs.unwrap import plain_texts
from gomem.sources.artefact import open_source
from gomem.sources.listing import list_capture
from gomem.views.json.report import render_json_report
from tools.fuzz import mutations, seeds
from tools.fuzz.target import SOURCE, Target, wanted

if TYPE_CHECKING:
    from random import Random

NAMES = ("heap.pb.gz", "smaps", "memstats.json", "gctrace.log", "memory.stat", "status", "notes")
ANY = seeds.all_of(
    seeds.lines("pasted/*/*", "malformed/*/*", "loadtest/*", "escapes/*", most=2048),
    seeds.lines("captures/*/*/*", "doors/*/*", most=2048),
)
GZIP, PACKED = b"\x1f\x8b", ".tar.gz"
BETWEEN = b"\0--\0"  # the files of a capture


def check_recognise(data: bytes) -> None:
    """What a file is: an answer for each, and the same for the same bytes."""
    name = NAMES[len(data) % len(NAMES)]
    kind = kind_of(data, name)
    seen = looks_like(data, name)
    wanted(bool(str(seen.what)) and "\n" not in str(seen.what), "no words for it", seen)
    wanted(kind is kind_of(data, name), "a kind that changes", kind)


# Of a gzip header (RFC 1952): reserved bits, which a reader must refuse, and a sum of the header.
REFUSED_FLAGS = 0b1110_0010


def check_unwrap(data: bytes) -> None:
    """What is peeled off a text: each inner text has its lines' places in the file."""
    last = data.count(b"\n") + 1
    for plain in plain_texts(data):
        wanted(plain.numbers is not None, "a text without places")
        assert plain.numbers is not None
        numbers = plain.numbers.tolist()
        wanted(len(numbers) == plain.data.count(b"\n"), "lines without a place", len(numbers))
        wanted(all(1 <= number <= last for number in numbers), "a place behind the end", numbers)


def check_read(data: bytes) -> None:
    """The frames of a file of any kind; of a reader that fails, the message says so."""
    try:
        found = read(data)
    except FormatError as refused:
        wanted("unforeseen" not in str(refused), "a reader fails", str(refused))
        raise
    wanted(found.damage is not None, "no frame of damage")


def check_compressed(data: bytes) -> None:
    """Bytes as stored: decompressed within bounds, or damage."""
    source = open_source(data, name=SOURCE)
    if data.startswith(GZIP):
        whole = None
        with suppress(Exception):
            whole = gzip.decompress(data)
        if data[3:4] and data[3] & REFUSED_FLAGS:  # which Python's own reader does not look at
            wanted(bool(source.damage) or source.data == whole, "a damaged header is no damage")
        elif whole is not None and not whole.startswith((GZIP, b"\xef\xbb\xbf", b"\xff", b"\xfe")):
            wanted(source.data == whole or b"\0" in whole[:4], "another content", len(whole))
        is_filled = whole is not None or data.endswith((b"\0", b"\n", b"\r"))
        wanted(is_filled or bool(source.damage), "a cut stream is no damage")


def check_archive(data: bytes) -> None:
    """An archive: its files, or why it cannot be read."""
    suffix = ".zip" if data.startswith(b"PK") else PACKED
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"capture{suffix}"
        path.write_bytes(data)
        with suppress(CaptureError):
            for entry in list_capture(path).entries:
                wanted(not Path(entry.name).is_absolute(), "a name that leads out", entry.name)
                wanted(".." not in Path(entry.name).parts, "a name that leads out", entry.name)
                entry.open()


def check_report(data: bytes) -> None:
    """A whole capture: a report as JSON, or why there is none."""
    with TemporaryDirectory() as folder:
        for number, content in enumerate(data.split(BETWEEN)):
            name, _, body = content.partition(b"\n")
            wanted_name = Path(name.decode("ascii", "replace").replace("\0", "")).name
            path = Path(folder) / f"{number // 4}-moment" / (wanted_name or "file")[:40]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(body)
        try:
            diagnosis = gomem.diagnose(gomem.load(folder))
        except CaptureError:
            return
        report = json.loads(render_json_report(diagnosis))
        wanted(isinstance(report, dict) and bool(report), "no report")


def _capture(data: bytes, random: Random) -> bytes:
    """One file of a capture changed as its kind is."""
    files = data.split(BETWEEN)
    at = random.randrange(len(files))
    name, _, body = files[at].partition(b"\n")
    mutate = mutations.text
    if name.endswith(b".json"):
        mutate = mutations.json_text
    elif name.endswith(b".gz"):
        mutate = mutations.data_bytes
    kind = random.randrange(12)
    if kind == 0 and len(files) > 1:
        del files[at]
    elif kind == 1:
        files.append(files[at])
    else:
        files[at] = name + b"\n" + mutate(body, random)
    return BETWEEN.join(files)


def _captures() -> list[bytes]:
    """Moments of small captures, each file by its name."""
    made = []
    for moment in sorted(seeds.FIXTURES.glob("captures/*/1-*")):
        files = [
            path.name.encode() + b"\n" + path.read_bytes()
            for path in sorted(moment.iterdir())
            if path.is_file() and path.stat().st_size < seeds.MAX_WHOLE_BYTES
        ]
        made.append(BETWEEN.join(files))
    return made[:6]


def _archives() -> list[bytes]:
    files = {
        "1/smaps": b"00400000-00401000 r-xp 00000000 00:00 0 /a\n",
        "1/statm": b"1 1 1 1 0 1 0\n",
    }
    packed, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    for way in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(zipped, "w", way) as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name), data)
    return [packed.getvalue()[:4096], packed.getvalue(), zipped.getvalue()]


def _compressed() -> list[bytes]:
    text = b"gc 1 @0.010s 0%: 0.01+0.1+0.01 ms clock\n" * 9
    packed = gzip.compress(text, mtime=0)
    return [packed, packed + packed, packed[:-4], gzip.compress(packed, mtime=0), text]


TARGETS = (
    Target("recognise", ANY, check_recognise, mutations.text),
    Target("unwrap", ANY, check_unwrap, mutations.text),
    Target("read", ANY, check_read, mutations.text),
    Target("compressed", _compressed, check_compressed, mutations.data_bytes),
    Target("archive", _archives, check_archive, mutations.data_bytes),
    Target("report", _captures, check_report, _capture),
)
