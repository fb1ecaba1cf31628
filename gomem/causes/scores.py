"""The confidence of a cause, from a few measured features: a logistic score, fitted to recordings.

`weights.toml` has the weights, with a sentence for each. `python -m tools.laboratory.fit` writes
that file: it fits the weights to recorded processes with a known cause, and validates them on
held-out programs. Do not edit the weights by hand. A probability is a frequency: of the cases
scored 0.9, nine in ten were right.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gomem.sources.packaged import text_beside

if TYPE_CHECKING:
    from collections.abc import Mapping

WEIGHTS = "weights.toml"
MIN_VALUE, MAX_VALUE = 0.05, 1e4  # beyond these, a logarithm adds no information
MAX_ODDS = 500.0  # beyond, the exponential overflows a float


@dataclass(frozen=True)
class Feature:
    """A measured feature, and its weight.

    Attributes:
        name: The name of the feature.
        weight: The rise of the log-odds per standard deviation above the mean.
        center: The mean over the recordings.
        scale: The standard deviation over the recordings.
        sentence: The description of the feature.
    """

    name: str
    weight: float
    center: float
    scale: float
    sentence: str


@dataclass(frozen=True)
class Score:
    """The probability of a cause by its features.

    Attributes:
        code: The cause.
        bias: The log-odds if every feature is at its mean.
        features: The features of the score.
    """

    code: str
    bias: float
    features: tuple[Feature, ...]

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability that a case has this cause, by the values of its features.

        Raises:
            KeyError: A feature is missing.
        """
        odds = self.bias + sum(
            feature.weight * (values[feature.name] - feature.center) / feature.scale
            for feature in self.features
        )
        return 1 / (1 + math.exp(-odds)) if odds > -MAX_ODDS else 0.0


def probability_of(code: str, values: Mapping[str, float] | None) -> float:
    """Return the probability of a cause, by the values of its features; 0 without any."""
    return 0.0 if values is None else scores()[code].probability(values)


def bounded_log(value: float) -> float:
    """Return the logarithm of a feature that spans decades, within bounds."""
    return math.log(min(max(value, MIN_VALUE), MAX_VALUE))


@cache
def scores() -> dict[str, Score]:
    """Return every score by its cause."""
    tables = tomllib.loads(text_beside("gomem.causes", WEIGHTS))
    return {
        code: Score(code, table["bias"], tuple(Feature(**row) for row in table["feature"]))
        for code, table in tables.items()
    }
