"""Fit the causes' scores to the laboratory's captures, and validate them on held-out programs.

python -m tools.laboratory.fit            print their accuracy, each program by a fit without it
python -m tools.laboratory.fit --write    also write the weights into gomem/causes/weights.toml

Each capture is used whole and with half of its files, because people's captures are rarely
complete. Only whole captures count for the validation.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

import gomem
from gomem.causes import allocation_spike, checks, goroutines, outside_go
from gomem.causes.scores import Feature, Score, scores
from gomem.errors import CaptureError
from tools.laboratory.captures import half_of, names_of, path_of, truth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gomem.causes import cause as causes

WEIGHTS = Path(gomem.__file__).parent / "causes" / "weights.toml"
PENALTY = 0.5  # on squared weights, against overfitting to few captures
WHOLE, HALVED = 1.0, 0.5  # weight of a case
HEADER = "# Written by python -m tools.laboratory.fit --write; see gomem/causes/scores.py.\n"


@dataclass(frozen=True)
class Scored:
    """A cause with a score.

    Attributes:
        code: The cause.
        features: Its features; None if a case is not considered.
        sentences: The description of each feature.
        true_codes: The true causes for which a case is positive.
    """

    code: str
    features: Callable[[causes.Case], dict[str, float] | None]
    sentences: dict[str, str]
    true_codes: frozenset[str]


SCORED = (
    Scored(
        "heap-growth",
        checks.growth_features,
        {
            "linear_share": "The share of the rise that is a line, not a fill that saturates.",
            "beyond_ceiling": "By how much the rise, if it went on, would pass HeapAlloc.",
            "coverage": "The share of the watch that the readings cover, as a logarithm.",
            "seconds": "How long it was watched, as a logarithm of seconds.",
            "readings": "The number of readings, as a logarithm; ten at most.",
            "kinds": "How many kinds of evidence show it: log, goals and marks, profiles.",
        },
        frozenset({"heap-growth", "goroutine-leak", "finalizer-backlog"}),
    ),
    Scored(
        "goroutine-leak",
        goroutines.features,
        {
            "linear_share": "The share of the rise that is a line, not a fill that saturates.",
            "late_share": "The share of the rise that came in the last third of the time.",
            "ratio": "The last count over the first, as a logarithm.",
            "readings": "How often they were counted, as a logarithm.",
            "seconds": "How long they were watched, as a logarithm of seconds.",
        },
        frozenset({"goroutine-leak"}),
    ),
    Scored(
        allocation_spike.CODE,
        allocation_spike.features,
        {
            "extra": "By how much the level rose, as a logarithm of MiB.",
            "climb_fraction": "How long most of a rise took, as a share of the time between two.",
            "spread_fraction": "How far apart readings at the base are, as a share of the rise.",
            "times": "How often it left its base, as a logarithm; three at most.",
            "kinds": "How many kinds of evidence saw it: profiles, marks, HeapAlloc, RSS.",
            "in_profiles": "Whether heap profiles saw it.",
        },
        frozenset({allocation_spike.CODE}),
    ),
    Scored(
        outside_go.CODE,
        outside_go.features,
        {
            "linear_share": "The share of the rise that is a line, not a fill that saturates.",
            "late_share": "The share of the rise that came in the last third of the time.",
            "seconds": "How long it was watched, as a logarithm of seconds.",
        },
        frozenset({"native-memory", "anonymous-mapping", "thread-growth"}),
    ),
)


@dataclass(frozen=True)
class Case:
    """One capture, as seen by one score.

    Attributes:
        name: The capture.
        program: Its program.
        is_true: Whether the cause is the true one.
        is_healthy: Whether nothing was wrong.
        is_whole: Whether all files are present.
        values: The features.
    """

    name: str
    program: str
    is_true: bool
    is_healthy: bool
    is_whole: bool
    values: tuple[float, ...]


def cases_of(name: str) -> list[tuple[str, Case]]:
    """Return each score's cases from a capture, whole and with half of its files."""
    found = []
    with TemporaryDirectory() as folder:
        for whole in (True, False):
            path = path_of(name) if whole else half_of(name, Path(folder))
            try:
                judged = gomem.diagnose(path).case
            except CaptureError:
                continue  # half of its files can be none at all
            found += [
                (scored.code, case)
                for scored in SCORED
                if (case := _case(name, scored, judged, is_whole=whole)) is not None
            ]
    return found


def _case(name: str, scored: Scored, judged: causes.Case, *, is_whole: bool) -> Case | None:
    values = scored.features(judged)
    if values is None:
        return None
    told = truth()[name]
    codes = {cause["code"] for cause in told["causes"]} | set(told.get("also_right", ()))
    return Case(
        name,
        told["program"],
        bool(codes & scored.true_codes),
        told["healthy"],
        is_whole,
        tuple(values[feature] for feature in scored.sentences),
    )


@dataclass(frozen=True)
class Fit:
    """The weights of standardised features; the bias is last."""

    centers: NDArray[np.float64]
    scales: NDArray[np.float64]
    weights: NDArray[np.float64]

    def probability(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each row."""
        odds = (rows - self.centers) / self.scales @ self.weights[:-1] + self.weights[-1]
        return np.asarray(1 / (1 + np.exp(-odds)))


def fit(cases: Sequence[Case]) -> Fit:
    """Fit the weights by maximum likelihood with a penalty."""
    rows = np.array([case.values for case in cases])
    is_true = np.array([case.is_true for case in cases], np.float64)
    weight = np.array([WHOLE if case.is_whole else HALVED for case in cases])
    centers, scales = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    columns = np.column_stack([(rows - centers) / scales, np.ones(len(rows))])

    def loss(weights: NDArray[np.float64]) -> float:
        odds = columns @ weights
        misfit = (weight * (np.logaddexp(0, odds) - is_true * odds)).sum()
        return float(misfit + PENALTY * (weights[:-1] ** 2).sum())

    found = minimize(loss, np.zeros(columns.shape[1]), method="BFGS")
    return Fit(centers, scales, np.asarray(found.x))


def left_out(cases: Sequence[Case]) -> NDArray[np.float64]:
    """Return each case's probability by a fit without its program."""
    probability = np.zeros(len(cases))
    for program in {case.program for case in cases}:
        inside = np.array([case.program == program for case in cases])
        others = [case for case in cases if case.program != program]
        rows = np.array([case.values for case in cases])
        probability[inside] = fit(others).probability(rows[inside])
    return probability


def cases_of_all(names: Sequence[str]) -> list[tuple[str, Case]]:
    """Return the cases of all captures, each with the code of its score."""
    with ProcessPoolExecutor(2) as pool:
        return [pair for pairs in pool.map(cases_of, names, chunksize=4) for pair in pairs]


def scores_without(program: str, every: Sequence[tuple[str, Case]]) -> dict[str, Score]:
    """Return all scores, fitted without a program's captures."""
    return {
        scored.code: _score(scored, fit(_seen_by(scored, every, but=program))) for scored in SCORED
    }


def _seen_by(scored: Scored, every: Sequence[tuple[str, Case]], but: str = "") -> list[Case]:
    """Return a score's cases, except those of one program."""
    return [case for code, case in every if code == scored.code and case.program != but]


def _score(scored: Scored, found: Fit) -> Score:
    columns = zip(
        scored.sentences.items(), found.weights[:-1], found.centers, found.scales, strict=True
    )
    return Score(
        scored.code,
        float(found.weights[-1]),
        tuple(
            Feature(name, float(weight), float(center), float(scale), sentence)
            for (name, sentence), weight, center, scale in columns
        ),
    )


@contextmanager
def using(others: Mapping[str, Score]) -> Iterator[None]:
    """Replace the package's scores with others, in this process, within the context."""
    own = dict(scores())
    scores().update(others)
    try:
        yield
    finally:
        scores().update(own)


def main() -> None:
    """Fit every score, print its accuracy, and write the weights if requested."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the weights")
    options = parser.parse_args()
    every = cases_of_all(names_of())
    texts = [HEADER]
    for scored in SCORED:
        cases = _seen_by(scored, every)
        _print_judgement(scored.code, cases, left_out(cases))
        texts.append(_toml(_score(scored, fit(cases))))
    if options.write:
        WEIGHTS.write_text("\n".join(texts))


def _print_judgement(code: str, cases: Sequence[Case], probability: NDArray[np.float64]) -> None:
    for is_whole in (True, False):
        chosen = np.array([case.is_whole == is_whole for case in cases])
        print(f"{code}, {'whole captures' if is_whole else 'half of their files'}:")
        is_true = np.array([case.is_true for case in cases])
        is_healthy = np.array([case.is_healthy for case in cases])
        for least in (0.5, 0.7, 0.9):
            called = chosen & (probability >= least)
            print(
                f"  called from {least:.0%}: {(called & is_true).sum()} of "
                f"{(chosen & is_true).sum()} that are, {(called & is_healthy).sum()} healthy, "
                f"{(called & ~is_true & ~is_healthy).sum()} of another cause"
            )
        for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
            inside = chosen & (probability >= low) & (probability < high)
            if inside.any():
                right = is_true[inside].mean()
                print(f"  {low:.1f} to {min(high, 1):.1f}: {right:.0%} of {inside.sum()}")


def _toml(score: Score) -> str:
    lines = [f"[{score.code}]", f"bias = {score.bias:.4f}"]
    for feature in score.features:
        lines += [
            "",
            f"[[{score.code}.feature]]",
            f'name = "{feature.name}"',
            f'sentence = "{feature.sentence}"',
            f"weight = {feature.weight:.4f}",
            f"center = {feature.center:.6g}",
            f"scale = {feature.scale:.6g}",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
