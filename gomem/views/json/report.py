"""The report as JSON, key by key; `schemas.report` describes it."""

from __future__ import annotations

import json
import math
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gomem.causes import CAUSES
from gomem.inputs.schema import rows_of
from gomem.text import CaptureName, File, Function, MomentName
from gomem.units import is_unknown
from gomem.views.json.account import account_json
from gomem.views.json.allocations import growth_json, object_sizes_json, reasons_json, turnover_json
from gomem.views.json.changes import changes_json
from gomem.views.json.collector import collector_json
from gomem.views.json.limits import limits_json
from gomem.views.json.rows import rows_json
from gomem.views.json.scavenger import scavenger_json
from gomem.views.json.what_if import what_if_json
from gomem.views.names import hidden, typed, typed_paths, typed_value
from gomem.views.share import share

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.sites import AllocationSites

SCHEMA = "gomem.report/1"
SITE = (
    "function", "flat", "flat_low", "flat_high", "flat_fraction",
    "cum", "cum_low", "cum_high", "cum_fraction",
)  # fmt: skip


def report_json(diagnosis: Diagnosis, *, redact: bool = False) -> dict[str, Any]:
    """Lay a diagnosis out for JSON: base units, and null for what is unknown.

    Args:
        diagnosis: The answers.
        redact: Whether to hide folder and moment names; see `share`.
    """
    return share(_laid_out(diagnosis), hidden(diagnosis, redact=redact))


def _laid_out(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "gomem_version": version("gomem"),
        "verdict": _verdict(diagnosis),
        "capture": _capture(diagnosis.capture),
        "baseline": None if diagnosis.baseline is None else _capture(diagnosis.baseline.capture),
        "account": account_json(diagnosis),
        "ledger": [_ledger(facts) for facts in diagnosis.moments if facts.ledger],
        "mappings": [
            row | {"moment": MomentName(row["moment"])} for row in rows_json(diagnosis.kinds)
        ],
        "changes": changes_json(diagnosis),
        "levels": rows_json(diagnosis.facts.level_quantiles),
        "limits": limits_json(diagnosis),
        "scavenger": scavenger_json(diagnosis),
        "gc": diagnosis.collection_cost,
        "collector": collector_json(diagnosis.collector),
        "what_if": None if diagnosis.what_if is None else what_if_json(diagnosis.what_if),
        "allocations": [
            _sites(moment, sites)
            for moment, by_type in diagnosis.sites.items()
            for sites in by_type.values()
        ],
        "reasons": reasons_json(diagnosis),
        "turnover": turnover_json(diagnosis),
        "object_sizes": object_sizes_json(diagnosis),
        "growth": growth_json(diagnosis),
        "findings": [_finding(finding, diagnosis) for finding in diagnosis.findings],
        "checked": [cause.code for cause in CAUSES],
        "damage": [
            {
                "source": one.source,
                "where": one.where,
                "what": one.what,
                "text": one.text,
            }
            for one in diagnosis.capture.damaged
        ],
    }


def render_json_report(diagnosis: Diagnosis, *, redact: bool = False) -> str:
    """The same as text, ending in a line break."""
    laid_out = report_json(diagnosis, redact=redact)
    return json.dumps(laid_out, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _verdict(diagnosis: Diagnosis) -> dict[str, Any]:
    said = diagnosis.verdict
    return {
        "sentence": typed(said.sentence, diagnosis),
        "code": said.code,
        "severity": None if said.severity is None else str(said.severity),
        "moment": None if said.moment is None else MomentName(said.moment),
        "rss_bytes": said.rss_bytes,
        "whose": [typed(sentence, diagnosis) for sentence in said.whose],
        "next_step": typed(said.next_step, diagnosis),
        "further": said.further,
    }


def _capture(capture: Capture) -> dict[str, Any]:
    release = capture.go_version
    return {
        "name": CaptureName(capture.name),
        "go_version": release.text,
        "go_version_range": {
            "low": None if release.low is None else str(release.low),
            "high": None if release.high is None else str(release.high),
        },
        "go_version_evidence": release.evidence,
        "moments": [
            {
                "name": MomentName(row["moment"]),
                "time": _time(row["time"]),
                "artefacts": _artefacts(capture, row["moment"]),
            }
            for row in rows_of(capture.moments)
        ],
        "artefacts": _artefacts(capture, ""),
    }


def _artefacts(capture: Capture, moment: str) -> list[dict[str, Any]]:
    """Those of one moment, or, without one, those of the whole capture."""
    frame = capture.artefacts
    return [
        {
            "path": File(row["path"]),
            "kind": row["kind"] or None,
            "bytes": row["bytes"],
            "sha256": row["sha256"],
            "time": _time(row["time"]),
            "time_source": row["time_source"] or None,
            "looks_like": capture.looks.get(row["path"]) or None,
        }
        for row in rows_of(frame[frame["moment"] == moment])
    ]


def _ledger(facts: MomentFacts) -> dict[str, Any]:
    ledger = facts.ledger
    assert ledger is not None
    return {
        "moment": MomentName(facts.name),
        "rss_bytes": ledger.rss_bytes,
        "parts": rows_json(ledger.parts),
        "groups": _groups(facts),
        "checks": rows_json(ledger.checks),
        "skew_seconds": facts.skew.seconds,
        "notes": list(ledger.notes),
        "sides": rows_json(ledger.sides),
        "next_file": ledger.next_file or None,
    }


def _groups(facts: MomentFacts) -> list[dict[str, Any]]:
    """The groups; the Go heap as one has the division of what the runtime claims of it."""
    groups = facts.groups
    assert groups is not None
    return [
        row | {"claims": rows_json(groups.claims_within(row["group"]))}
        for row in rows_json(groups.rows)
    ]


def _sites(moment: str, sites: AllocationSites) -> dict[str, Any]:
    return {
        "moment": MomentName(moment),
        "sample_type": sites.sample_type,
        "unit": sites.unit,
        "total": sites.total,
        "top": [{name: row[name] for name in SITE} for row in rows_json(sites.top)],
        "note": sites.note,
    }


def _finding(finding: Finding, diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "confidence": finding.confidence,
        "moment": None if finding.moment is None else MomentName(finding.moment),
        "moments": [MomentName(moment) for moment in finding.moments],
        "now": finding.now,
        "over": finding.over,
        "bytes": finding.bytes,
        "cpu_fraction": finding.cpu_fraction,
        "title": typed(finding.title, diagnosis),
        "evidence": [
            {
                "artefact": typed_paths(one.artefact),
                "field": one.field,
                "value": typed_value(one.value, diagnosis)
                if isinstance(one.value, str)
                else one.value,
                "unit": one.unit,
            }
            for one in finding.evidence
        ],
        "sites": [
            {
                "function": Function(site.function),
                "own_function": Function(site.own_function),
                "file": File(site.file) if site.file else None,
                "line": site.line,
                "low": _whole(site.low),
                "high": _whole(site.high),
            }
            for site in finding.sites
        ],
        "mechanism": finding.mechanism,
        "next_step": typed(finding.next_step, diagnosis),
        "references": list(finding.references),
    }


def _whole(size: float) -> int | None:
    return None if math.isnan(size) else round(size)


def _time(time: Any) -> str | None:
    return None if is_unknown(time) else time.isoformat()
