"""Progress of long work: on standard error, and only where a person is watching."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gomem.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
def bytes_progress(name: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """A callback for reading one long file, or None if nobody is watching."""
    with _bar("reading {task.description}", "DownloadColumn", "TimeRemainingColumn") as bar:
        task = bar and bar.add_task(printable(name), total=None)
        yield bar and (lambda done, total: bar.update(task, completed=done, total=total))


@contextmanager
def reading_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A callback for `gomem.load`, or None if nobody is watching."""
    with _bar("reading {task.description}", "MofNCompleteColumn") as bar:
        task = bar and bar.add_task("", total=None, visible=False)

        def advance(name: str, number: int, total: int) -> None:
            shown = {"description": printable(name), "visible": total >= SHOWN_FROM_FILES}
            bar.update(task, completed=number, total=total, **shown)

        yield bar and advance


@contextmanager
def cells_progress() -> Iterator[Callable[[int, int], None] | None]:
    """A callback for how many cells of a notebook are done, or None if nobody is watching."""
    with _bar("running the notebook", "MofNCompleteColumn") as bar:
        task = bar and bar.add_task("", total=None)
        yield bar and (lambda done, total: bar.update(task, completed=done, total=total))
