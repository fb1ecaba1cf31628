"""Progress of long work: on standard error, and only where a person is watching."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gomem.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

SHOWN_FROM_FILES = 20  # a few files are read before a person could follow


@contextmanager
def _bar(words: str, *columns: str) -> Iterator[Any]:
    """A bar between words and rich's columns of these names, or None if nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    shown: list[progress.ProgressColumn] = [progress.TextColumn(words, markup=False)]
    shown += [getattr(progress, name)() for name in ("BarColumn", *columns)]
    with progress.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        yield bar


@contextmanager
def _counted(words: str, name: str, *columns: str) -> Iterator[Callable[[int, Any], None] | None]:
    """A callback for how much is done of how much, or None if nobody is watching."""
    with _bar(words, *columns) as bar:
        task = bar and bar.add_task(name, total=None)
        yield bar and (lambda done, total: bar.update(task, completed=done, total=total))


def bytes_progress(name: str) -> AbstractContextManager[Callable[[int, int | None], None] | None]:
    """A callback for reading one long file, or None if nobody is watching."""
    columns = ("DownloadColumn", "TimeRemainingColumn")
    return _counted("reading {task.description}", printable(name), *columns)


def cells_progress() -> AbstractContextManager[Callable[[int, int], None] | None]:
    """A callback for how many cells of a notebook are done, or None if nobody is watching."""
    return _counted("running the notebook", "", "MofNCompleteColumn")


@contextmanager
def reading_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A callback for `gomem.load`, or None if nobody is watching."""
    with _bar("reading {task.description}", "MofNCompleteColumn") as bar:
        task = bar and bar.add_task("", total=None, visible=False)

        def advance(name: str, number: int, total: int) -> None:
            shown = {"description": printable(name), "visible": total >= SHOWN_FROM_FILES}
            bar.update(task, completed=number, total=total, **shown)

        yield bar and advance
