"""What other settings would do, as JSON, key by key; `schemas.what_if` describes it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gomem.views.json.rows import rows_json
from gomem.views.names import hidden
from gomem.views.share import share

if TYPE_CHECKING:
    from gomem.analysis.what_if.advice import PodAdvice
    from gomem.analysis.what_if.present import Present
    from gomem.analysis.what_if.what_if import WhatIf
    from gomem.diagnosis.diagnosis import Diagnosis

SCHEMA = "gomem.what-if/1"


def what_if_json(answer: WhatIf) -> dict[str, Any]:
    """Lay an answer out for JSON: base units, and null for what is unknown."""
    return {
        "schema": SCHEMA,
        "present": _present(answer.present),
        "grid": rows_json(answer.grid),
        "backtest": asdict(answer.backtest),
        "advice": _advice(answer.advice),
        "assumptions": list(answer.assumptions),
        "refused": answer.refused,
    }


def render_what_if_json(diagnosis: Diagnosis, answer: WhatIf) -> str:
    """The same as text, ending in a line break."""
    laid_out = share(what_if_json(answer), hidden(diagnosis))
    return json.dumps(laid_out, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _present(present: Present) -> dict[str, Any]:
    limit = present.memory_limit_bytes
    unlimited = limit is None or math.isinf(limit)
    return asdict(present) | {"memory_limit_bytes": None if unlimited else limit}


def _advice(advice: PodAdvice | None) -> dict[str, Any] | None:
    if advice is None:
        return None
    expected = advice.expected
    names = ("steps", "expected")
    plain = {name: value for name, value in vars(advice).items() if name not in names}
    return plain | {
        "steps": rows_json(advice.steps),
        "expected": None if expected is None else rows_json(expected.to_frame().T)[0],
    }
