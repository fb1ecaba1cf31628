"""Progress of long work: on standard error, and only where a person is watching."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gomem.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHOWN_FROM_FILES = 20  # a few files are read before a person could follow


@contextmanager
def bytes_progress(name: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """A callback for reading one long file, or None if nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("reading {task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(printable(name), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def reading_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A callback for `gomem.load`, or None if nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("reading {task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, visible=False)

        def advance(name: str, number: int, total: int) -> None:
            bar.update(
                task,
                description=printable(name),
                completed=number,
                total=total,
                visible=total >= SHOWN_FROM_FILES,
            )

        yield advance
