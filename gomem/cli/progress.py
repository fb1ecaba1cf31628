"""Show the progress of long work: on standard error, and only on a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any

from gomem.cli.redaction import shown
from gomem.errors import printable
from gomem.text import File, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from rich.status import Status

MIB = " (MiB)"
SHOWN_AFTER_SECONDS = 0.7  # shorter work needs no progress


@contextmanager
def _bar(words: str, *columns: str) -> Iterator[Any]:
    """Yield a bar with text and rich's columns of these names, or None without a terminal."""
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
    """Yield a callback for the amount done and the total, or None without a terminal."""
    with _bar(words, *columns) as bar:
        task = bar and bar.add_task(name, total=None)
        yield bar and (lambda done, total: bar.update(task, completed=done, total=total))


def bytes_progress(name: str) -> AbstractContextManager[Callable[[int, int | None], None] | None]:
    """Yield a callback for reading one long file, or None without a terminal."""
    columns = ("DownloadColumn", "TimeRemainingColumn")
    return _counted("reading {task.description}", printable(shown(File(name))), *columns)


def cells_progress() -> AbstractContextManager[Callable[[int, int], None] | None]:
    """Yield a callback for the number of notebook cells done, or None without a terminal."""
    return _counted("running the notebook", "", "MofNCompleteColumn")


def captures_progress() -> AbstractContextManager[Callable[[int, int], None] | None]:
    """Yield a callback for the number of captures done; None without a terminal."""
    return _counted("reading captures", "", "MofNCompleteColumn", "TimeRemainingColumn")


class Stages:
    """Shows the stage of a command, on one line: reading, then analysing, then writing."""

    def __init__(self, status: Status | None) -> None:
        self._status = status

    @property
    def reading(self) -> Callable[[str, int, int], None] | None:
        """A callback for `gomem.load`, or None without a terminal."""
        if self._status is None:
            return None
        return self._reading

    def _reading(self, name: str, number: int, total: int) -> None:
        name, unit, _ = name.partition(MIB)  # a long file's name ends in it
        count = f"{number} of {total}{unit and ' MiB'}"
        self.now(text("reading {}: {}", File(name), count))

    def now(self, words: str) -> None:
        """Show that another stage has begun."""
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(printable(shown(words))))


@contextmanager
def stages() -> Iterator[Stages]:
    """Show the current stage until the block ends.

    Nothing is shown for short work, or if standard error is not a terminal.
    """
    if not sys.stderr.isatty():
        yield Stages(None)
        return
    from rich.console import Console
    from rich.status import Status

    status = Status("reading", console=Console(stderr=True))
    late = Timer(SHOWN_AFTER_SECONDS, status.start)
    late.daemon = True
    late.start()
    try:
        yield Stages(status)
    finally:
        late.cancel()
        late.join()  # it may be about to start
        status.stop()
