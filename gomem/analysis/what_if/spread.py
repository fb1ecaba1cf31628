"""How far may the log's own numbers be off, for a run as long as the log?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.collector.steps import ROUNDING_BYTES

if TYPE_CHECKING:
    from gomem.analysis.what_if.replay import Load

MOST_STRETCHES = 10
# Student's t at 97.5 %, from one degree of freedom: loading SciPy for it takes half a second.
STUDENT = (12.706, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)


@dataclass(frozen=True)
class Spread:
    """How far the log's own numbers may be off, as shares of them: half of a 95 % interval."""

    rate: float  # of the rate of allocation
    survival: float  # of what survives a collection
    cost: float  # of the CPU of a collection
    peak: float  # by how much the highest heap stands above nine in ten of the others: chance

    @classmethod
    def of(cls, load: Load, peaks: np.ndarray) -> Spread:
        """By the means of stretches of the load; for a further run, so times the root of two."""
        highest = float(peaks.max())
        stretches = int(min(MOST_STRETCHES, max(2, len(load.begin) // 2)))
        edges = np.linspace(0, load.seconds * (1 - 1e-9), stretches + 1)
        rates = np.diff(load.allocated(edges)) / np.diff(edges)
        parts = np.array_split(np.arange(len(load.begin)), stretches)
        survived = np.array([load.survived[part].mean() for part in parts])
        cost = np.array([load.cpu_seconds[part].mean() for part in parts])
        rounding = ROUNDING_BYTES / 2 / max(float(survived.mean()), 1.0)
        return cls(
            _half_width(rates),
            math.hypot(_half_width(survived), rounding),
            _half_width(cost),
            1 - float(np.quantile(peaks, 0.9)) / highest if highest > 0 else 0.0,
        )


def _half_width(means: np.ndarray) -> float:
    mean = float(means.mean())
    if not mean > 0:
        return 0.0
    student = STUDENT[len(means) - 2]
    return student * float(means.std(ddof=1)) / math.sqrt(len(means)) * math.sqrt(2) / mean
