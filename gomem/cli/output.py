"""All output of a command: to standard output, to a file, or as a message.

A file is written beside its target and replaces it only when it is complete. An error, a full disk
or Ctrl-C leaves the old file intact. An output never replaces an input.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from gomem.cli.redaction import is_redacting, shown
from gomem.errors import CaptureError, printable
from gomem.numbered import Collected
from gomem.sources.names import readable_name
from gomem.text import File, Quoted, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gomem.errors import Damage

T = TypeVar("T")
TOLD_PLACES = 20
STANDARD_OUTPUT = Path("/dev/stdout")
STANDARD_INPUT = Path("/dev/stdin")
STANDARD_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")


class ReaderGone(Exception):  # noqa: N818 - nothing went wrong
    """Whoever read the output, such as `head`, has read enough."""


def tell(message: str) -> None:
    """Print one line on standard error, with nothing in it that could control a terminal."""
    with suppress(OSError):  # nobody is listening any more
        print(f"gomem: {printable(' '.join(shown(message).split()))}", file=sys.stderr)


def tell_about(name: str, what: str) -> None:
    """Print one line that names a capture."""
    is_named = name in what and not is_redacting()
    tell(what if is_named else text("{}: {}", Collected(name), Quoted(what)))


@dataclass
class DamageReport:
    """Prints what could not be read on standard error: the first places, and how many more."""

    places: int = 0  # how many it was given

    def tell(self, damaged: Iterable[Damage]) -> None:
        """Print some, unless enough were printed."""
        for damage in damaged:
            self.places += 1
            if self.places <= TOLD_PLACES:
                tell(damage.message)

    def end(self) -> None:
        """Print how many were left out."""
        if self.places > TOLD_PLACES:
            tell(f"and {self.places - TOLD_PLACES} more places")


def tell_damage(damaged: Iterable[Damage]) -> None:
    """Print on standard error what could not be read; if that is a lot, the first places."""
    report = DamageReport()
    report.tell(damaged)
    report.end()


def output_path(named: Path | None) -> Path | None:
    """Where an output goes that was named on the command line, on which `-` is standard output."""
    return STANDARD_OUTPUT if named == Path("-") else named


def input_paths(named: Sequence[Path], *, again: bool = False) -> list[Path]:
    """What is read of what was named on the command line, on which `-` is standard input.

    CaptureError where that has files beside it, or what is written reads its inputs `again`.
    """
    if Path("-") not in named:
        return list(named)
    if again:
        raise CaptureError("-: a notebook reads its capture again; save it to a file first")
    if len(named) > 1:
        raise CaptureError("-: standard input is a capture of its own; name no file beside it")
    return [STANDARD_INPUT]


def check_writable(path: Path | None, *, force: bool, inputs: Iterable[Path]) -> None:
    """Refuse an output before the work is done, not after; standard output (None) is always fine.

    Raises:
        CaptureError: The file is one of the inputs, which are never overwritten; or exists, gomem
            did not write it, and `force` does not allow it; or its folder does not exist.
    """
    if path is None or is_device(path):
        return
    named = file_part(path)
    if path.is_dir():
        raise CaptureError(text("{}: is a folder; name a file in it", Quoted(named)))
    if path.exists() and any(_is_read_from(path, read) for read in inputs):
        raise CaptureError(text("{}: is an input, which is never overwritten", named))
    if path.exists() and not force:
        from gomem.cli.own_outputs import is_own_output  # whose pattern nobody else waits for

        if not is_own_output(path):
            why = "exists, and nothing in it says that gomem wrote it; --force overwrites it"
            raise CaptureError(text("{}: {}", named, why))
    if not path.parent.is_dir():
        folder = Quoted(readable_name(str(path.parent)))
        raise CaptureError(text("{}: there is no folder {}; create it first", named, folder))


def is_device(path: Path) -> bool:
    """Whether the target is written to directly: a device, a pipe, or standard output by name."""
    if str(path.absolute()).startswith(STANDARD_STREAMS):
        return True
    return path.exists() and not (path.is_file() or path.is_dir() or path.is_block_device())


def is_standard_output(path: Path | None) -> bool:
    """Whether a target is written to directly, and is no file that could be shown or named."""
    return path is not None and is_device(path)


def _is_read_from(path: Path, read: Path) -> bool:
    """Whether a file is an input, or lies in a folder that is one, whatever it is called."""
    if not read.exists():
        return False
    if not read.is_dir():
        return path.samefile(read)
    from gomem.inputs.kinds import kind_of
    from gomem.sources.listing import list_capture

    return any(
        kind_of(entry.open().data, entry.name) is not None
        for entry in list_capture(read).entries
        if entry.path is not None and path.samefile(entry.path)
    )


def chosen_format(output: Path | None, chosen: T | None, endings: Mapping[str, T]) -> T | None:
    """What to write: as --format says, else as the ending of -o does; None if neither says."""
    if output is None or is_device(output):
        return chosen
    if chosen is None or output.suffix.lower() == ".pdf":
        return format_of(output, endings)
    return chosen


def format_of(output: Path, endings: Mapping[str, T]) -> T | None:
    """The format that a file's ending asks for; None of a name without an ending.

    CaptureError of an ending that is none of them; a page is printed to PDF by a browser.
    """
    ending = output.suffix.removeprefix(".").lower()
    if not ending or ending in endings:
        return endings.get(ending)
    named = readable_name(str(output))
    if ending == "pdf":
        import shlex

        page = File(shlex.quote(str(Path(named).with_suffix(".html"))))
        sheet = File(shlex.quote(named))
        print_it = text("chromium --headless --print-to-pdf={} {}", sheet, page)
        what = text("gomem writes no PDF; write {}, then: {}", page, print_it)
        raise CaptureError(text("{}: {}", File(named), what))
    known = ", ".join(f".{ending}" for ending in endings)
    what = text("unknown ending; wanted one of {}, or --format", known)
    raise CaptureError(text("{}: {}", File(named), what))


def file_part(path: Path) -> File:
    """A path as a part of a message."""
    return File(readable_name(str(path)))


def write(made: str | bytes, path: Path | None) -> None:
    """Write to the file, or print where there is none; a CaptureError if it cannot be written."""
    if isinstance(made, bytes):
        assert path is not None
        with written(path) as file:
            file.write(made)
        return
    is_whole = path is not None or made.endswith("\n")
    write_pieces([made if is_whole else f"{made}\n"], path)


def write_pieces(pieces: Iterable[str], path: Path | None) -> None:
    """The same, a piece at a time."""
    if path is None:
        for piece in pieces:
            with _standard_output():
                sys.stdout.write(piece)
        return
    with written(path) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "replace"))


@contextmanager
def _standard_output() -> Iterator[None]:
    """Turn write errors into our own exceptions: typer would handle those it knows itself."""
    try:
        yield
    except BrokenPipeError as error:
        drop_standard_output()
        raise ReaderGone from error
    except OSError as error:
        drop_standard_output()
        raise CaptureError(f"standard output: cannot be written: {error.strerror}") from error


def tell_where(path: Path) -> None:
    """Print where the output is, unless it went to a device or a pipe; a link on a terminal."""
    if not is_device(path):
        is_link = sys.stdout.isatty() and not is_redacting()
        where = path.resolve().as_uri() if is_link else shown(file_part(path))
        write(printable(where), None)


def open_page(path: Path) -> None:
    """Show a page in the user's browser; where there is none, say so."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        tell(text("{}: no browser found; open the file yourself", file_part(path)))


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that replaces the one at the path once it is complete.

    On any error it is removed, whatever was at the path stays, and a CaptureError says why.
    """
    try:
        if is_device(path):
            with path.open("ab") as file:  # standard output may be a file that is not empty
                yield file
        else:
            with _replacing(path.resolve()) as file:
                yield file
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        why = error.strerror or Quoted(error)
        raise CaptureError(text("{}: cannot be written: {}", file_part(path), why)) from error


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    beside = target.with_name(f".gomem-{os.urandom(8).hex()}.tmp")
    try:
        with beside.open("xb") as file:
            if target.exists():
                beside.chmod(stat.S_IMODE(target.stat().st_mode))
            yield file
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def open_standard_streams() -> None:
    """Make standard output and error accept whatever is printed, even if they are closed.

    Characters that the encoding lacks, as ASCII lacks most, are replaced.
    """
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def flush_standard_output() -> None:
    """Write out what was printed: ReaderGone if nobody reads it, a CaptureError if it cannot be."""
    with _standard_output():
        sys.stdout.flush()


def drop_standard_output() -> None:
    """Discard what is still to be printed, so that exiting cannot fail over it."""
    with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def file_named_after(capture: str, suffix: str) -> Path:
    """The file that a capture's HTML or notebook goes to, in the current folder.

    It goes with what it is called: redacted, it does not name the capture.
    """
    if is_redacting():
        from gomem.views.share import UNNAMED

        return Path(f"{UNNAMED}{suffix}")
    path = Path(capture)
    name = path.name if path == STANDARD_INPUT else path.resolve().name
    for ending in (".gz", ".zst", ".tar", ".tgz", ".zip"):
        name = name.removesuffix(ending)
    return Path(f"{name}{suffix}")
