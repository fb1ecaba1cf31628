"""The account, for JSON: what moved between the first moment and the last, and what is so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.diagnosis.holders import MAPPED, THREADS, holders_of
from gomem.text import File, Function, MomentName

if TYPE_CHECKING:
    from gomem.analysis.memory.account import Part, Snapshot
    from gomem.diagnosis.diagnosis import Diagnosis


def account_json(diagnosis: Diagnosis) -> dict[str, Any] | None:
    """Null where no moment says how large the process is."""
    account = diagnosis.facts.account
    if account is None:
        return None
    first, last = account.first, account.last
    return {
        "quantity": account.quantity,
        "from": MomentName(first.moment),
        "to": MomentName(last.moment),
        "seconds": _seconds(first, last),
        "change_bytes": account.change_bytes,
        "parts": [_part(part, diagnosis) for part in account.parts],
        "observations": [
            {
                "sentence": observation.sentence,
                "group": observation.group,
                "change_low": round(observation.change_low),
                "change_high": round(observation.change_high),
                "shape": observation.shape or None,
                "moment": None if observation.moment is None else MomentName(observation.moment),
            }
            for observation in diagnosis.observations
        ],
    }


def _seconds(first: Snapshot, last: Snapshot) -> float | None:
    if first.seconds is None or last.seconds is None:
        return None
    return last.seconds - first.seconds


def _part(part: Part, diagnosis: Diagnosis) -> dict[str, Any]:
    account = diagnosis.facts.account
    assert account is not None
    rise = account.rise(part.groups)
    assumptions = (account.first.assumption, account.last.assumption)
    return {
        "group": "+".join(sorted(part.groups)),
        "from_low": round(part.before.low),
        "from_high": round(part.before.high),
        "to_low": round(part.after.low),
        "to_high": round(part.after.high),
        "change_low": round(part.change.low),
        "change_high": round(part.change.high),
        "change_certain_low": round(part.certain.low),
        "change_certain_high": round(part.certain.high),
        "assumption": next(filter(None, assumptions), None),
        "shape": None if rise is None else rise.shape,
        "holders": [
            {
                "name": _name(holder.name),
                "own_function": None
                if holder.own_function is None
                else Function(holder.own_function),
                "low": round(holder.low),
                "high": round(holder.high),
            }
            for holder in holders_of(part, diagnosis.case)
        ],
    }


def _name(name: str) -> str:
    """A file's name is one that a redacted report hides; a kind's and a function's are not."""
    is_file = name.startswith("/") and name not in (THREADS, MAPPED)
    return File(name) if is_file else name
