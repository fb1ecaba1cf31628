"""Resolve a path or a quoted pattern; if nothing matches, the error suggests what to do."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from gomem.errors import CaptureError, nearest
from gomem.numbered import Address, Collected
from gomem.sources.names import natural_key, readable_name
from gomem.text import File, Text, text
from gomem.units import is_digits

if TYPE_CHECKING:
    from os import PathLike

URLS = ("http:/", "https:/")  # a path has one slash where the URL had two
ARCHIVE_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".zip")
OPENED = ("/dev/stdin", "/dev/fd/", "/proc/")  # what a shell opens for a command, by name
_PPROF_QUERY = re.compile(r"(?:&?(?:debug|gc|seconds)=[0-9]{1,6})+")
LOOKED_AT = 1000  # names in the folder that are compared
_URL = re.compile(r"(https?):/+(?=[^/])", re.IGNORECASE)


def is_archive(path: str | PathLike[str]) -> bool:
    """Whether a path is named as an archive."""
    return os.fspath(path).lower().endswith(ARCHIVE_SUFFIXES)


def is_capture(path: str | PathLike[str]) -> bool:
    """Whether a path is a folder or is named as an archive, so that it is a capture by itself."""
    return Path(path).is_dir() or is_archive(path)


def place_of(path: str | PathLike[str]) -> Text:
    """Mark a path in a message as a file, or as a capture if it is a folder or an archive."""
    name = readable_name(os.fspath(path))
    is_whole = Path(path).is_dir() or not Path(path).suffix
    return (Collected if is_whole or is_archive(name) else File)(name)


def matching(path: str | PathLike[str]) -> list[str]:
    """Return the path itself, or the matches of a pattern such as `run-*` in natural order.

    An existing path is used as it is, even if it looks like a pattern; a `?` in a URL is not a
    pattern. Raises CaptureError if nothing matches.
    """
    name = os.fspath(path)
    if not has_magic(name) or name.startswith(URLS) or os.path.lexists(name):
        return [name]
    found = sorted(glob(name), key=natural_key)  # noqa: PTH207 - it may begin at the root
    if not found:
        raise CaptureError(text("{}: no file or folder matches", place_of(name)))
    return found


def no_such_path(path: str | PathLike[str]) -> CaptureError:
    """Return the error for a path that does not exist."""
    name = readable_name(str(path))
    url = as_url(name)
    if url is not None:
        shown = without_secrets(url)
        file = shown.partition("?")[0].rstrip("/").rpartition("/")[2]
        fetched = Address(shlex.quote(url)) if shown == url else "URL"
        fetch = text("curl -f -o {} {}", File(shlex.quote(file)), fetched)
        what = text("is a URL, wanted a file; fetch it first: {}", fetch)
        return CaptureError(text("{}: {}, then name {} to gomem", Address(shown), what, File(file)))
    if is_digits(name):
        way = f"for the process with that PID: gomem report {name}"
        return CaptureError(f"{name}: no such file or folder; {way}")
    return CaptureError(text("{}: no such file or folder{}", place_of(path), _near(Path(path))))


def as_url(path: str | PathLike[str]) -> str | None:
    """Return a path that is a URL, with slashes restored; None if it is not a URL."""
    text = os.fspath(path)
    if not _URL.match(text):
        return None
    return _URL.sub(lambda found: f"{found[1].lower()}://", text, count=1)


def without_secrets(url: str) -> str:
    """Remove from a URL what can be secret: user, password, and any query that is not pprof's."""
    place, _, query = re.sub(r"(?<=://)[^/?#]*@", "", url).partition("#")[0].partition("?")
    return f"{place}?{query}" if _PPROF_QUERY.fullmatch(query) else place


def check_no_named_pipe(path: Path) -> None:
    """Raise CaptureError for a named pipe: without a writer, reading would wait forever.

    A pipe opened by the shell, as `<(...)` and standard input, has a writer and is allowed.
    """
    is_open_already = str(path.absolute()).startswith(OPENED)
    if not is_open_already and path.is_fifo():
        what = "{}: is a named pipe, which may never be written to; wanted a file: {}"
        saved = text("cat {} > FILE", File(shlex.quote(readable_name(str(path)))))
        raise CaptureError(text(what, place_of(path), saved))


def _near(path: Path) -> Text:
    """The most similar name in the same folder; empty if there is none."""
    near = None
    with suppress(OSError, ValueError):
        names = sorted(entry.name for entry in path.parent.iterdir())
        near = nearest(path.name, names[:LOOKED_AT])
    if near is None:
        return Text()
    return text("; did you mean {}?", place_of(path.with_name(near)))
