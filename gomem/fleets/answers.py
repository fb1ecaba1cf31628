"""The results about one capture as small tidy frames, one per kind of result, with labels."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gomem.analysis.fleet.frames import KEYS, KINDS
from gomem.diagnosis.levels import level_rows
from gomem.inputs.schema import DAMAGE, build_rows, rows_of
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.fleets.labels import Labelled

SITES_KEPT = 20  # per sample type; sites below these are a small share of any profile
SAMPLE_TYPES = ("inuse_space", "alloc_space")
GOROUTINE = "goroutine"
RELEASE = "Go release"
_DAMAGE = [column.name for column in DAMAGE]


def answers_of(diagnosis: Diagnosis, labelled: Labelled) -> dict[str, pd.DataFrame]:
    """Return all results about a capture: a frame per kind in `KINDS`, except `failed`."""
    keys = labelled.keys(diagnosis)
    frames = {
        kind: build_rows(((*keys, *row) for row in rows(diagnosis)), KINDS[kind])
        for kind, rows in ROWS.items()
    }
    damaged = len(frames["damage"])
    row = (*keys, labelled.key, labelled.path, *_of_capture(diagnosis), damaged, version("gomem"))
    return frames | {"captures": build_rows([row], KINDS["captures"])}


def failed_frame(labelled: Labelled, what: str, *, is_final: bool = True) -> pd.DataFrame:
    """Return the row of `failed` for a capture that cannot be read."""
    row = (*labelled.keys(), labelled.key, labelled.path, what, is_final)
    return build_rows([row], KINDS["failed"])


def _of_capture(diagnosis: Diagnosis) -> tuple[Any, ...]:
    """The columns of `captures`, from `go_version` to the sentence."""
    capture, verdict = diagnosis.capture, diagnosis.verdict
    times = capture.moments["time"].dropna()
    seconds = (times.max() - times.min()).total_seconds() if len(times) > 1 else None
    sizes = [moment.rss_bytes for moment in diagnosis.moments if moment.rss_bytes is not None]
    uses = [use for moment in diagnosis.moments if (use := moment.cgroup_use) is not None]
    severity = None if verdict.severity is None else str(verdict.severity)
    return (
        capture.go_version.text,
        len(capture.by_moment),
        seconds,
        sizes[-1] if sizes else None,
        uses[-1].limit_bytes if uses else None,
        severity,
        verdict.code,
        str(verdict.sentence),
    )


def _account(diagnosis: Diagnosis) -> Iterator[tuple[Any, ...]]:
    account = diagnosis.facts.account
    if account is None:
        return
    for part in account.parts:
        rise = account.rise(part.groups)
        yield (
            account.quantity,
            "+".join(sorted(part.groups)),
            part.after.low,
            part.after.high,
            part.change.low,
            part.change.high,
            None if rise is None else rise.shape,
        )


def _gc(diagnosis: Diagnosis) -> Iterator[tuple[Any, ...]]:
    if diagnosis.collector is not None:
        cost = diagnosis.collection_cost
        known = [column.name for column in KINDS["gc"][len(KEYS) :]]
        yield tuple(None if is_unknown(cost[name]) else cost[name] for name in known)


def _sites(diagnosis: Diagnosis) -> Iterator[tuple[Any, ...]]:
    """The top sites of the snapshot whose sites are shown first, and goroutine wait locations."""
    moment = diagnosis.sites_first
    known = {} if moment is None else diagnosis.facts.profiles.sites[moment]
    for sample_type, sites in known.items():
        for row in rows_of(sites.top.head(SITES_KEPT)) if sample_type in SAMPLE_TYPES else ():
            yield (moment, sample_type, row["function"], row["flat"], row["flat_low"],
                   row["flat_high"], row["flat_fraction"])  # fmt: skip
    waiting = diagnosis.facts.goroutine_counts
    at = next((count.moment for count in reversed(waiting) if count.frame is not None), "")
    for row in rows_of(diagnosis.facts.goroutine_groups.head(SITES_KEPT)):
        count = row["goroutines"]
        yield at, GOROUTINE, row["function"], count, count, count, row["share"]


def _findings(diagnosis: Diagnosis) -> Iterator[tuple[Any, ...]]:
    for finding in diagnosis.findings:
        cpu = math.nan if finding.cpu_fraction is None else finding.cpu_fraction
        yield (
            finding.code,
            str(finding.severity),
            finding.confidence,
            finding.now,
            finding.bytes,
            cpu,
            str(finding.title),
            str(finding.next_step),
        )


def _settings(diagnosis: Diagnosis) -> Iterator[tuple[Any, ...]]:
    if (release := diagnosis.capture.go_version.text) is not None:
        yield RELEASE, release, "release"
    for setting in diagnosis.facts.settings.known:
        yield setting.name, setting.text, setting.known_by


def _damage(diagnosis: Diagnosis) -> Iterator[tuple[Any, ...]]:
    for row in rows_of(diagnosis.capture.damage):
        yield tuple(row[name] for name in _DAMAGE)


ROWS: dict[str, Callable[[Diagnosis], Iterable[tuple[Any, ...]]]] = {
    "account": _account,
    "levels": level_rows,
    "gc": _gc,
    "sites": _sites,
    "findings": _findings,
    "settings": _settings,
    "damage": _damage,
}
