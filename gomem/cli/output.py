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

from gomem.errors import CaptureError, printable
from gomem.sources.names import readable_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gomem.errors import Damage
    from gomem.text import Text

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
        print(f"gomem: {printable(' '.join(message.split()))}", file=sys.stderr)


def tell_about(name: str, what: str) -> None:
    """Print one line that names a capture."""
    tell(what if name in what else f"{name}: {what}")


@dataclass
class DamageReport:
    """Prints what could not be read on standard error: the first places, and how many more."""

    places: int = 0  # how many it was given
    shown: Callable[[Text], str] = str  # what may be printed of a message

    def tell(self, damaged: Iterable[Damage]) -> None:
        """Print some, unless enough were printed."""
        for damage in damaged:
            self.places += 1
            if self.places <= TOLD_PLACES:
                tell(self.shown(damage.message))

    def end(self) -> None:
        """Print how many were left out."""
        if self.places > TOLD_PLACES:
            tell(f"and {self.places - TOLD_PLACES} more places")


def tell_damage(damaged: Iterable[Damage], shown: Callable[[Text], str] = str) -> None:
    """Print on standard error what could not be read; if that is a lot, the first places."""
    report = DamageReport(shown=shown)
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
    shown = readable_name(str(path))
    if path.is_dir():
        raise CaptureError(f"{shown}: is a folder; name a file in it")
    if path.exists() and any(_is_read_from(path, read) for read in inputs):
        raise CaptureError(f"{shown}: is an input, which is never overwritten")
    if path.exists() and not force:
        from gomem.cli.own_outputs import is_own_output  # whose pattern nobody else waits for

        if not is_own_output(path):
            why = "exists, and nothing in it says that gomem wrote it; --force overwrites it"
            raise CaptureError(f"{shown}: {why}")
    if not path.parent.is_dir():
        folder = readable_name(str(path.parent))
        raise CaptureError(f"{shown}: there is no folder {folder}; create it first")


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
    shown = readable_name(str(output))
    if ending == "pdf":
        import shlex

        page = shlex.quote(str(Path(shown).with_suffix(".html")))
        print_it = f"chromium --headless --print-to-pdf={shlex.quote(shown)} {page}"
        raise CaptureError(f"{shown}: gomem writes no PDF; write {page}, then: {print_it}")
    known = ", ".join(f".{ending}" for ending in endings)
    raise CaptureError(f"{shown}: unknown ending; wanted one of {known}, or --format")


def write(made: str | bytes, path: Path | None) -> None:
    """Write to the file, or print where there is none; a CaptureError if it cannot be written."""
    if isinstance(made, bytes):
        assert path is not None
        with written(path) as file:
            file.write(made)
        return
    text = made
    write_pieces([text if path is not None or text.endswith("\n") else f"{text}\n"], path)


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
        shown = path.resolve().as_uri() if sys.stdout.isatty() else readable_name(str(path))
        write(printable(shown), None)


def open_page(path: Path) -> None:
    """Show a page in the user's browser; where there is none, say so."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        tell(f"{readable_name(str(path))}: no browser found; open the file yourself")


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
        shown = readable_name(str(path))
        raise CaptureError(f"{shown}: cannot be written: {error.strerror or error}") from error


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
    """The file that a capture's HTML or notebook goes to, in the current folder."""
    path = Path(capture)
    name = path.name if path == STANDARD_INPUT else path.resolve().name
    for ending in (".gz", ".zst", ".tar", ".tgz", ".zip"):
        name = name.removesuffix(ending)
    return Path(f"{name}{suffix}")
