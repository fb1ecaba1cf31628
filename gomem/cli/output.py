"""Write all output of a command: to standard output, to a file, or as a message.

A new file is written beside the old one, which it replaces only when complete. An error, a full
disk or Ctrl-C leaves the old file intact. An output never replaces an input.
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
from gomem.errors import CaptureError, Damage, printable
from gomem.numbered import Collected
from gomem.sources.names import readable_name
from gomem.text import File, Quoted, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


T = TypeVar("T")
TOLD_PLACES = 20
STANDARD_OUTPUT = Path("/dev/stdout")
STANDARD_INPUT = Path("/dev/stdin")
STANDARD_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")


class ReaderGone(Exception):  # noqa: N818 - nothing went wrong
    """The reader of the output, such as `head`, has read enough."""


def tell(message: str) -> None:
    """Print one line on standard error, without terminal control characters."""
    with suppress(OSError):  # standard error is closed
        print(f"gomem: {printable(' '.join(shown(message).split()))}", file=sys.stderr)


def tell_about(name: str, what: str) -> None:
    """Print one line about a capture on standard error, with the capture's name."""
    is_named = name in what and not is_redacting()
    tell(what if is_named else text("{}: {}", Collected(name), Quoted(what)))


@dataclass
class DamageReport:
    """Prints damage on standard error: the first places, and how many more there are."""

    places: int = 0  # number of places so far

    def tell(self, damaged: Iterable[Damage]) -> None:
        """Print damage, unless enough has been printed."""
        for damage in damaged:
            self.places += 1
            if self.places <= TOLD_PLACES:
                tell(damage.message)

    def end(self) -> None:
        """Print how many places were left out."""
        if self.places > TOLD_PLACES:
            tell(f"and {self.places - TOLD_PLACES} more places")


def tell_damage(damaged: Iterable[Damage]) -> None:
    """Print damage on standard error; if there is a lot, only the first places."""
    report = DamageReport()
    report.tell(damaged)
    report.end()


def output_path(named: Path | None) -> Path | None:
    """Return the path of an output named on the command line; None for `-`, standard output."""
    return STANDARD_OUTPUT if named == Path("-") else named


def input_paths(named: Sequence[Path], *, again: bool = False) -> list[Path]:
    """Return the paths of inputs named on the command line; `-` is standard input.

    Raises CaptureError if standard input is combined with files, or if the command must read its
    inputs `again`.
    """
    if Path("-") not in named:
        return list(named)
    if again:
        raise CaptureError("-: a notebook reads its capture again; save the input to a file first")
    if len(named) > 1:
        raise CaptureError("-: standard input is a whole capture; do not name files as well")
    return [STANDARD_INPUT]


def check_writable(path: Path | None, *, force: bool, inputs: Iterable[Path]) -> None:
    """Check the output before the work is done; standard output (None) is always allowed.

    Raises:
        CaptureError: The file is an input, which is never overwritten; the file exists, gomem did
            not write it, and `force` is not set; or the file's folder does not exist.
    """
    if path is None or is_device(path):
        return
    named = file_part(path)
    if path.is_dir():
        raise CaptureError(text("{}: is a folder; name a file in it", Quoted(named)))
    if path.exists() and any(_is_read_from(path, read) for read in inputs):
        raise CaptureError(text("{}: is an input, which is never overwritten", named))
    if path.exists() and not force:
        # imported late; only this case needs its pattern
        from gomem.cli.own_outputs import is_own_output

        if not is_own_output(path):
            why = "exists, and does not say that gomem wrote it; --force overwrites it"
            raise CaptureError(text("{}: {}", named, why))
    if not path.parent.is_dir():
        folder = Quoted(readable_name(str(path.parent)))
        raise CaptureError(
            text("{}: there is no folder {}; create the folder first", named, folder)
        )


def is_device(path: Path) -> bool:
    """Return whether a target is a device, a pipe, or standard output by name.

    Such a target is written directly.
    """
    if str(path.absolute()).startswith(STANDARD_STREAMS):
        return True
    return path.exists() and not (path.is_file() or path.is_dir() or path.is_block_device())


def is_standard_output(path: Path | None) -> bool:
    """Return whether a target is written directly: then there is no file to show or name."""
    return path is not None and is_device(path)


def _is_read_from(path: Path, read: Path) -> bool:
    """Whether a file is an input, or is inside an input folder, under any name."""
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
    """Choose the format: by --format, or else by the suffix of -o; None if neither is given."""
    if output is None or is_device(output):
        return chosen
    if chosen is None or output.suffix.lower() == ".pdf":
        return format_of(output, endings)
    return chosen


def format_of(output: Path, endings: Mapping[str, T]) -> T | None:
    """Return the format for a file's suffix; None if the name has no suffix.

    Raises CaptureError for an unknown suffix; for PDF, it says how a browser prints a page to PDF.
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
    """Return a path as a file name for a message."""
    return File(readable_name(str(path)))


def write(made: str | bytes, path: Path | None) -> None:
    """Write to a file, or print if `path` is None; raises CaptureError if that fails."""
    if isinstance(made, bytes):
        assert path is not None
        with written(path) as file:
            file.write(made)
        return
    is_whole = path is not None or made.endswith("\n")
    write_pieces([made if is_whole else f"{made}\n"], path)


def write_pieces(pieces: Iterable[str], path: Path | None) -> None:
    """Write pieces to a file, or print them if `path` is None."""
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
    """Convert write errors to gomem's exceptions, because typer handles some itself."""
    try:
        yield
    except BrokenPipeError as error:
        drop_standard_output()
        raise ReaderGone from error
    except OSError as error:
        drop_standard_output()
        raise CaptureError(f"standard output: cannot be written: {error.strerror}") from error


def tell_where(path: Path) -> None:
    """Print the path of an output, on a terminal as a link; nothing for a device or a pipe."""
    if not is_device(path):
        is_link = sys.stdout.isatty() and not is_redacting()
        where = path.resolve().as_uri() if is_link else shown(file_part(path))
        write(printable(where), None)


def open_page(path: Path) -> None:
    """Show a page in the user's browser, or say that no browser was found."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        tell(text("{}: no browser found; open the file yourself", file_part(path)))


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new binary file, which replaces the old one at `path` once it is complete.

    On an error, the new file is removed, the old one stays, and CaptureError gives the reason.
    """
    try:
        if is_device(path):
            with path.open("ab") as file:  # standard output can be a non-empty file
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
    """Make standard output and error accept any text, even if they are closed.

    Characters that the encoding cannot represent are replaced.
    """
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def flush_standard_output() -> None:
    """Flush standard output; raises ReaderGone if nobody reads, CaptureError on other errors."""
    with _standard_output():
        sys.stdout.flush()


def drop_standard_output() -> None:
    """Discard buffered output, so that exiting cannot fail."""
    with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def file_named_after(capture: str, suffix: str) -> Path:
    """Return the path in the current folder for a page or notebook about a capture.

    With redaction, the file's name does not contain the capture's name.
    """
    if is_redacting():
        from gomem.views.share import UNNAMED

        return Path(f"{UNNAMED}{suffix}")
    path = Path(capture)
    name = path.name if path == STANDARD_INPUT else path.resolve().name
    for ending in (".gz", ".zst", ".tar", ".tgz", ".zip"):
        name = name.removesuffix(ending)
    return Path(f"{name}{suffix}")
