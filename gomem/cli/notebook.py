"""`gomem notebook NAME CAPTURE…`: run a packaged notebook on a capture, written as one file."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gomem.cli.options import Force, Redact  # noqa: TC001 - typer reads the annotations
from gomem.cli.output import (
    check_writable,
    file_named_after,
    file_part,
    output_path,
    tell_where,
    write,
)
from gomem.cli.progress import cells_progress
from gomem.cli.redaction import called
from gomem.errors import CaptureError, did_you_mean
from gomem.sources.packaged import packaged
from gomem.sources.paths import no_such_path
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

SUFFIXES = (".html", ".ipynb")


def notebook(
    name: Annotated[str | None, typer.Argument(metavar="NAME")] = None,
    captures: Annotated[list[Path] | None, typer.Argument(metavar="CAPTURE…")] = None,
    *,
    listed: Annotated[bool, typer.Option("--list")] = False,
    copy: Annotated[Path | None, typer.Option("--copy", metavar="DIR")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("-p", "--parameter", metavar="NAME=VALUE")
    ] = None,
    title: Annotated[str, typer.Option("--title")] = "",
    note: Annotated[str, typer.Option("--note")] = "",
    hide_code: Annotated[bool, typer.Option("--hide-code")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", callback=output_path)] = None,
    redact: Redact = False,
    force: Force = False,
) -> None:
    """Run a packaged notebook on a capture and write it as one file, for a postmortem.

    Without -o, the file is HTML and named after the capture; the last line printed is its path. The
    HTML loads nothing from the network and names no folder of this machine. An .ipynb can be run
    again in its folder. Without a capture, the notebook explains the recorded one.

    Examples:
        gomem notebook --list
        gomem notebook rss-vs-heap captures/api -o postmortem.html
        gomem notebook --copy notebooks

    Args:
        name: The notebook; --list shows all names.
        captures: Folder, archive or file; before-after takes two, many-builds any number.
        listed: List the notebooks.
        copy: Copy NAME, or all notebooks, to this folder for editing.
        parameters: Set a parameter; can be repeated.
        title: A title to replace the notebook's own.
        note: A sentence below the title: what happened, and when.
        hide_code: Leave the code out.
        output: Write to this file, .html or .ipynb.
    """
    from gomem.views.writers.notebook import headed, render_notebook_html

    if listed:
        _list()
        return
    if copy is not None:
        _copy(copy, name, force=force)
        return
    if name is None:
        raise CaptureError("no notebook named; gomem notebook --list lists all notebooks")
    (_, source), given = _notebooks(name)[name], captures or []
    for path in given:
        if not path.exists():
            raise no_such_path(path)
    ending = f".{name}.html" if given else ".html"
    target = output or file_named_after(str(given[-1] if given else name), ending)
    if target.suffix not in SUFFIXES:
        what = "{}: wanted a file that ends in {}"
        raise CaptureError(text(what, file_part(target), " or ".join(SUFFIXES)))
    check_writable(target, force=force, inputs=given)
    asked = _asked(name, source, given, parameters or [])
    executed = _execute(headed(source, title, note), asked, target, redact=redact)
    names = "" if redact else ", ".join(path.resolve().name for path in given)
    named = title or (f"{name}: {names}" if names else name)
    if target.suffix == ".html":
        executed = render_notebook_html(executed, title=named, hide_code=hide_code)
    write(executed, target)
    tell_where(target)


def _notebooks(name: str | None = None) -> dict[str, tuple[str, str]]:
    """Packaged notebooks by name, one or all: file and text, sorted by the file's number."""
    files = sorted(packaged("notebooks").glob("[0-9]*_*.ipynb"))
    by_name = {path.stem.partition("_")[2].replace("_", "-"): path for path in files}
    if name is not None and name not in by_name:
        known, near = ", ".join(by_name), did_you_mean(name, by_name)
        what = "{}: no such notebook; wanted one of {}{}"
        raise CaptureError(text(what, Quoted(name), known, near))
    return {
        known: (path.name, path.read_text(encoding="utf-8"))
        for known, path in by_name.items()
        if name in (known, None)
    }


def _list() -> None:
    """Print a line per notebook: its name, and its question."""
    from gomem.views.writers.notebook import heading_of

    known = _notebooks().items()
    width = max(len(name) for name, _ in known)
    write("".join(f"{name:<{width}}  {heading_of(text)}\n" for name, (_, text) in known), None)


def _copy(folder: Path, name: str | None, *, force: bool) -> None:
    """Copy packaged notebooks; they find the recorded captures by name."""
    targets = {folder / file: source for file, source in _notebooks(name).values()}
    folder.mkdir(parents=True, exist_ok=True)
    for target in targets:
        check_writable(target, force=force, inputs=())
    for target, source in targets.items():
        write(source, target)
        tell_where(target)


def _asked(
    name: str, source: str, captures: Sequence[Path], settings: Sequence[str]
) -> dict[str, object] | None:
    """Parameter values from the captures, in order, and from settings; None if there are none."""
    from gomem.views.writers.notebook import parameters_of, taking_several

    if not captures and not settings:
        return None
    known, several = parameters_of(source), taking_several(source)
    needed = [name for name, optional in known.items() if not optional]
    if captures and several is not None:
        if len(captures) < 2:
            raise CaptureError(f"{name}: wanted two captures or more ({several}), got 1")
        return {several: list(captures), **_set(settings, known)}
    if captures and not len(needed) <= len(captures) <= len(known):
        optional = [f"[{name}]" for name in known if name not in needed]
        wanted = ", ".join([*needed, *optional])
        raise CaptureError(f"{name}: wanted {len(needed)} captures ({wanted}), got {len(captures)}")
    return {**dict(zip(known, captures, strict=False)), **_set(settings, known)}


def _set(settings: Sequence[str], known: Collection[str]) -> dict[str, object]:
    """Parse `NAME=VALUE` to values by parameter; an existing file becomes a path."""
    asked: dict[str, object] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in known:
            near = did_you_mean(key, known)
            what = "{}: wanted NAME=VALUE, NAME one of {}{}"
            raise CaptureError(text(what, Quoted(setting), ", ".join(known), near))
        asked[key] = Path(value) if Path(value).exists() else value
    return asked


def _execute(source: str, asked: Mapping[str, object] | None, target: Path, *, redact: bool) -> str:
    """Run it in a separate folder, where captures have names without a path.

    With redaction, folders and archives are named by their role, and lists of them by numbers.
    """
    from gomem.views.writers.notebook import execute_notebook, notebook_for, with_parameters

    with TemporaryDirectory(prefix="gomem-") as scratch, cells_progress() as progress:
        folder, sockets = Path(scratch, "run"), Path(scratch)
        folder.mkdir()
        if asked is not None:
            linked = {
                key: _linked(value, folder, key.lower(), redact=redact)
                for key, value in asked.items()
            }
            source = notebook_for(source, linked)
        executed = execute_notebook(
            source, folder=folder, sockets=sockets, progress=progress, redact=redact
        )
    if asked is None or target.suffix != ".ipynb":
        return executed
    told = linked if redact else asked
    beside = {key: _from(target.parent, told[key], asked[key]) for key in asked}
    return with_parameters(executed, beside)


def _linked(value: Any, folder: Path, role: str, *, redact: bool) -> Any:
    """The value for the notebook; paths become links."""
    if isinstance(value, list):
        single = role.removesuffix("s")
        return [
            _link(path, folder, f"{role}/{n}", f"{single}-{n}" if redact else "")
            for n, path in enumerate(value, start=1)
        ]
    if not isinstance(value, Path):
        return value
    return _link(value, folder, role, role if redact else "")


def _from(folder: Path, value: Any, asked: Any) -> Any:
    """Convert values for the written notebook: paths relative to it, links by their names.

    `asked` says which values are paths.
    """
    if isinstance(asked, list):
        return [_from(folder, *each) for each in zip(value, asked, strict=True)]
    if not isinstance(asked, Path):
        return value
    return os.path.relpath(value, folder) if value is asked else Path(value).name


def _link(capture: Path, folder: Path, role: str, unnamed: str) -> str:
    """Link a capture into a folder named by its role, because two can have the same name."""
    real = capture.resolve()
    link = folder / role / (called(real, unnamed) if unnamed else real.name)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(real)
    return link.relative_to(folder).as_posix()
