"""Read many captures: the results of each as frames, and conclusions over all captures."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from gomem.analysis.fleet.builds import by_build
from gomem.analysis.fleet.drift import drift
from gomem.analysis.fleet.frames import KINDS
from gomem.analysis.fleet.instances import instances
from gomem.analysis.fleet.limits import near_limit, rss_quantiles
from gomem.analysis.fleet.outliers import outliers
from gomem.analysis.fleet.population import current, distributions
from gomem.errors import CaptureError, did_you_mean
from gomem.fleets.labels import labels_of
from gomem.fleets.parquet import frame_of, schema_of
from gomem.fleets.run import LOCAL, Engine, Run, add_to
from gomem.fleets.verdict import Verdict, verdict_of
from gomem.sources.artefact import open_source
from gomem.sources.dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    import pandas as pd
    import pyarrow.dataset as ds

    from gomem.fleets.run import Progress

    Path = str | PathLike[str]


@dataclass(frozen=True)
class Fleet:
    """The results of many captures.

    Each kind of result is a frame over all captures, whose first columns are `capture`, `instance`,
    `service`, `build` and `time`: `captures`, `account`, `levels`, `gc`, `sites`, `findings`,
    `settings`, `damage` and `failed`. To read only some columns or rows of a kind, use `lazily`,
    which returns a pyarrow dataset.
    """

    dataset: Dataset
    run: Run | None = None  # what this run read; None if the dataset was only opened
    _held: ExitStack | None = field(default=None, repr=False)

    def lazily(self, kind: str) -> ds.Dataset:
        """Return a kind of result as a pyarrow dataset; raises KeyError for an unknown kind."""
        if kind not in KINDS:
            raise KeyError(f"{kind}: wanted one of {', '.join(KINDS)}{did_you_mean(kind, KINDS)}")
        return self.dataset.lazily(kind, schema_of(kind))

    def frame(self, kind: str) -> pd.DataFrame:
        """Return a kind of result as a frame, with the captures in order."""
        return frame_of(self.lazily(kind).to_table(), kind)

    def _of(self, kind: str, captures: Iterable[str]) -> pd.DataFrame:
        """Return a kind of answer for the given captures only."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array(sorted(captures), pa.string())  # an empty array would have no type
        table = self.lazily(kind).to_table(filter=pc.field("capture").isin(wanted))
        return frame_of(table, kind)

    @cached_property
    def captures(self) -> pd.DataFrame:
        """A row per capture: path, release, RSS and verdict."""
        return self.frame("captures")

    @cached_property
    def account(self) -> pd.DataFrame:
        """Memory by owner, and how it changed; a row per capture and group."""
        return self.frame("account")

    @cached_property
    def levels(self) -> pd.DataFrame:
        """A row per capture and quantity: parts of RSS, counts, rates."""
        return self.frame("levels")

    @cached_property
    def gc(self) -> pd.DataFrame:
        """Cost of the GC; a row per capture with a gctrace log."""
        return self.frame("gc")

    @cached_property
    def sites(self) -> pd.DataFrame:
        """Top allocation sites, and goroutine wait locations, with intervals."""
        return self.frame("sites")

    @cached_property
    def findings(self) -> pd.DataFrame:
        """Findings; a row per capture and cause."""
        return self.frame("findings")

    @cached_property
    def settings(self) -> pd.DataFrame:
        """Settings of the runtime; a row per capture and setting."""
        return self.frame("settings")

    @cached_property
    def damage(self) -> pd.DataFrame:
        """Parts of captures that could not be read."""
        return self.frame("damage")

    @cached_property
    def failed(self) -> pd.DataFrame:
        """Captures that no run could read, with the reason."""
        every = self.frame("failed")
        last = every.drop_duplicates("key", keep="last")
        return last[~last["key"].isin(set(self.captures["key"]))].reset_index(drop=True)

    # Results over all captures

    @cached_property
    def current(self) -> pd.DataFrame:
        """The current values: a row per instance and quantity; see `population.CURRENT`."""
        return current(self.levels)

    @cached_property
    def outliers(self) -> pd.DataFrame:
        """The instances that are unlike the others, the costliest first; see `OUTLIERS`."""
        last = set(self.current["capture"])
        findings, sites = (self._of(kind, last) for kind in ("findings", "sites"))
        return outliers(self.current, self.settings, findings, sites)

    @cached_property
    def distributions(self) -> pd.DataFrame:
        """Quantiles of each quantity over the instances of a service; nothing is summed."""
        return distributions(self.current)

    @cached_property
    def drift(self) -> pd.DataFrame:
        """Quantities that rise over an instance's captures, with their slope; see `drift.DRIFT`."""
        return drift(self.levels)

    @cached_property
    def builds(self) -> pd.DataFrame:
        """Each quantity by build, compared with the previous build; see `builds.BUILDS`."""
        return by_build(self.current)

    @cached_property
    def near_limit(self) -> pd.DataFrame:
        """Instances near their memory limit."""
        return near_limit(self.current)

    @cached_property
    def rss(self) -> pd.DataFrame:
        """RSS over all captures, by service: p50, p99 and maximum."""
        return rss_quantiles(self.levels)

    @cached_property
    def instances(self) -> pd.DataFrame:
        """A row per instance: its last capture, its current values, and which are unusual."""
        return instances(self.captures, self.current, self.outliers)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the fleet, in one or two sentences."""
        return verdict_of(self)

    def __repr__(self) -> str:
        return f"<Fleet of {len(self.captures)} captures>"


def fleet(
    *where: Path,
    into: Path | None = None,
    labels: str = "",
    label_table: Path | None = None,
    engine: str = LOCAL,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Fleet:
    """Read many captures one by one; return the results of each, and conclusions over all.

    In a script, call this function below `if __name__ == "__main__":`, because each worker process
    imports the script.

    Args:
        where: Folders of captures, archives, quoted patterns, or URLs that fsspec supports. If
            empty, the dataset at `into` is opened.
        into: Folder of the dataset to add to; captures that it has are not read again. A temporary
            folder if None.
        labels: The pattern of capture paths, such as `{service}/{pod}/{time}`.
        label_table: A CSV with a column `capture`, and any of `instance`, `service`, `build` and
            `time`.
        engine: `local` for processes on this machine, or `dask`.
        workers: Number of worker processes; None is one per CPU, 0 reads in this process.
        scheduler: Address of dask's scheduler.
        progress: Called with the number of captures done and the total.

    Raises:
        CaptureError: There is no capture, or `into` was made with other labels.
    """
    held = ExitStack()
    dataset = held.enter_context(Dataset.temporary()) if into is None else Dataset.of(into)
    if not where:
        if into is None:
            raise CaptureError("no captures named; wanted folders, archives, patterns or URLs")
        return Fleet(Dataset.at(into))
    table = None if label_table is None else open_source(label_table).data
    how = labels_of(labels, table, str(label_table))
    run = add_to(dataset, where, how, Engine(engine, workers, scheduler), progress)
    return Fleet(dataset, run, held)
