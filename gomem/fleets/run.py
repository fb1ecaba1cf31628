"""Read new captures into a dataset: find and label them, skip known ones, distribute the rest."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.fleets.labels import Labelled, Labels
from gomem.fleets.local import here, in_processes
from gomem.fleets.work import Chunk, Done, chunks_of
from gomem.sources.captures import ONLY_HERE, captures_below, digest_of, named_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike
    from typing import TypeAlias

    from gomem.sources.dataset import Dataset

    Progress: TypeAlias = Callable[[int, int], None]

LOCAL, DASK = "local", "dask"
ENGINES = (LOCAL, DASK)


@dataclass(frozen=True)
class Engine:
    """Where chunks are read: in processes of this machine, or by dask."""

    name: str = LOCAL  # one of `ENGINES`
    # processes on this machine; None for one per CPU, 0 for this process
    workers: int | None = None
    scheduler: str | None = None  # address of the dask scheduler

    def run(self, chunks: Sequence[Chunk], *, only_here: bool) -> Iterator[Done]:
        """Yield the results of the chunks as they complete.

        Raises:
            CaptureError: There is no such engine, or the engine cannot be reached.
        """
        if self.name not in ENGINES:
            raise CaptureError(f"engine {self.name}: wanted one of {', '.join(ENGINES)}")
        if self.name == DASK:
            found: Iterator[Done] = import_module("gomem.fleets.on_dask").on_dask(
                chunks, self.scheduler
            )
            return found
        if self.workers == 0 or only_here:
            return here(chunks)
        return in_processes(chunks, self.workers)


@dataclass(frozen=True)
class Run:
    """The number of captures that a run found, skipped and read."""

    found: int  # captures found
    skipped: int  # of these, done by an earlier run
    read: int  # of these, read by this run
    failed: int  # of these, unreadable


def add_to(
    dataset: Dataset,
    where: Sequence[str | PathLike[str]],
    labels: Labels,
    engine: Engine,
    progress: Progress | None = None,
) -> Run:
    """Read every capture that is not yet in the dataset, and add the results.

    `progress` is called with the number of captures done and the total.

    Raises:
        CaptureError: There is no capture; or the dataset was made with other labels, or cannot be
            written.
    """
    places = named_apart(captures_below(path, labels.depth) for path in where)
    dataset.prepare({"labels": labels.pattern})
    done_before, left = dataset.keys, []
    for place in places:
        labelled = Labelled(place, labels.of(place), digest_of(place))
        if labelled.key not in done_before:
            left.append(labelled)
    distinct = list({labelled.key: labelled for labelled in left}.values())
    only_here = any(place.path.startswith(ONLY_HERE) for place in places)
    read = failed = 0
    for done in engine.run(chunks_of(distinct), only_here=only_here):
        dataset.add(done.part, done.files, done.keys)
        read, failed = read + done.read, failed + done.failed
        if progress is not None:
            progress(read + failed, len(distinct))
    return Run(len(places), len(places) - len(distinct), read, failed)
