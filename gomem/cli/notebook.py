"""`gomem notebook NAME CAPTURE…`: a packaged notebook, run on a capture, as one file."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from gomem.cli.output import check_writable, file_named_after, output_path, tell_where, write
from gomem.errors import CaptureError, did_you_mean
from gomem.sources.missing import no_such_path
from gomem.sources.packaged import packaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SUFFIXES = (".html", ".ipynb")


def notebook(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="rss-vs-heap, scavenger or before-after.")
    ],
    captures: Annotated[
        list[Path],
        typer.Argument(metavar="CAPTURE…", help="Folder, archive or file; before-after takes two."),
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", callback=output_path, help="Write to this file, .html or .ipynb."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
) -> None:
    """Run a packaged notebook on a capture and write it as one file, for a postmortem.

    Without -o it is one HTML file named after the capture; the last line printed is its path. The
    file loads nothing from the network and names no folder of this machine.
    """
    text = _packaged_notebook(name)
    for path in captures:
        if not path.exists():
            raise no_such_path(path)
    target = output or file_named_after(str(captures[-1]), f".{name}.html")
    if target.suffix not in SUFFIXES:
        raise CaptureError(f"{target}: wanted a file that ends in {' or '.join(SUFFIXES)}")
    check_writable(target, force=force, inputs=captures)
    executed = _execute(text, name, captures)
    write(_rendered(executed, name, captures, target.suffix), target)
    tell_where(target)


def _packaged_notebook(name: str) -> str:
    """The text of `notebooks/NN_name.ipynb`; the number only orders them."""
    files = sorted(packaged("notebooks").glob("[0-9]*_*.ipynb"))
    by_name = {path.stem.partition("_")[2].replace("_", "-"): path for path in files}
    if name not in by_name:
        wanted = f"{', '.join(by_name)}{did_you_mean(name, by_name)}"
        raise CaptureError(f"{name}: no such notebook; wanted one of {wanted}")
    return by_name[name].read_text(encoding="utf-8")


def _execute(text: str, name: str, captures: Sequence[Path]) -> str:
    """Run it in a folder of its own, in which the captures have their names and no path."""
    from gomem.views.writers.notebook import execute_notebook, notebook_for, parameters_of

    asked = parameters_of(text)
    if len(captures) != len(asked):
        raise CaptureError(
            f"{name}: wanted {len(asked)} captures ({', '.join(asked)}), got {len(captures)}"
        )
    with TemporaryDirectory(prefix="gomem-") as scratch, _progress() as progress:
        folder, sockets = Path(scratch, "run"), Path(scratch)
        parameters = {
            parameter: _link(path, folder, parameter.lower())
            for parameter, path in zip(asked, captures, strict=True)
        }
        ready = notebook_for(text, parameters)
        return execute_notebook(ready, folder=folder, sockets=sockets, progress=progress)


def _link(capture: Path, folder: Path, role: str) -> str:
    """Link a capture into a folder named after its role; two can have the same name."""
    link = folder / role / capture.resolve().name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(capture.resolve())
    return link.relative_to(folder).as_posix()


def _rendered(executed: str, name: str, captures: Sequence[Path], suffix: str) -> str:
    if suffix == ".ipynb":
        return executed
    from gomem.views.writers.notebook import render_notebook_html

    names = ", ".join(path.resolve().name for path in captures)
    return render_notebook_html(executed, title=f"{name}: {names}")


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A callback for how many cells are done, or None if nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("running the notebook"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
