"""Compare several builds of one program: a row per build, and the first build that differs.

Each capture is a run of a build. Its label `build` names the build; without the label, the module
version or the Go release does. The runs of a build are its sample.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from gomem.analysis.fleet.builds import by_build, differing
from gomem.analysis.fleet.population import current
from gomem.analysis.fleet.quantities import BY_NAME
from gomem.comparison.steps import steps_words
from gomem.errors import CaptureError, did_you_mean
from gomem.numbered import Build
from gomem.releases import build_order
from gomem.text import joined, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.fleets.fleet import Fleet
    from gomem.text import Text


@dataclass(frozen=True)
class Matrix:
    """The values of each build, compared with the previous build.

    Attributes:
        fleet: The runs.
        order: The requested order of the builds; empty to sort by release.
    """

    fleet: Fleet
    order: tuple[str, ...] = field(default=())

    @cached_property
    def builds(self) -> tuple[str, ...]:
        """All builds in order."""
        known = build_order(self._runs["build"])
        return (*self.order, *(build for build in known if build not in self.order))

    @cached_property
    def compared(self) -> pd.DataFrame:
        """A row per build and quantity, compared with the previous build; see `BUILDS`."""
        return by_build(self._runs, self.builds)

    @cached_property
    def differing(self) -> pd.DataFrame:
        """The rows of `compared` that differ from the previous build."""
        return differing(self.compared)

    @property
    def failed(self) -> pd.DataFrame:
        """Captures that could not be read."""
        return self.fleet.failed

    @property
    def wide(self) -> pd.DataFrame:
        """The medians in base units: a row per build, a column per quantity."""
        wide = self.compared.pivot_table(
            index="build", columns="name", values="median", aggfunc="first"
        )
        names = [name for name in BY_NAME if name in wide.columns]
        return wide.reindex(index=list(self.builds), columns=names)

    @cached_property
    def sentence(self) -> Text:
        """The build that first differs in RSS, and the build where RSS changes back.

        Other values that differ follow.
        """
        return steps_words(self.compared) or text(
            "{} builds show no difference from one to the next.", str(len(self.builds))
        )

    @cached_property
    def _runs(self) -> pd.DataFrame:
        """Each capture as a separate run."""
        levels = self.fleet.levels
        return current(levels.assign(instance=levels["capture"], service=""))

    def __repr__(self) -> str:
        return f"<Matrix of {', '.join(self.builds)}>"


def matrix_of(fleet: Fleet, order: Sequence[str] = ()) -> Matrix:
    """Compare the builds to which a fleet's captures belong.

    Raises:
        CaptureError: There are fewer than two builds, or `order` has an unknown build.
    """
    matrix = Matrix(fleet, tuple(order))
    known = set(fleet.levels["build"])
    for build in order:
        if build not in known:
            near = did_you_mean(build, known, Build)
            raise CaptureError(text("{}: no capture of this build{}", Build(build), near))
    if len(known) < 2:
        found = joined(", ", map(Build, sorted(known))) or "none"
        how = "name them with --labels '{build}/{}'"
        raise CaptureError(text("one build found ({}); a matrix needs two: {}", found, how))
    return matrix
