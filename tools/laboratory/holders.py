"""Whether findings name the program's own function that allocates, or runs, what stays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tools.laboratory.captures import truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.laboratory.captures import Answer

HEAP, GOROUTINES, CPU = (
    {"heap", "heap1", "allocs"},
    {"goroutine", "goroutine1", "goroutine2"},
    {"cpu"},
)
# The kinds of profiles that can show the function to fix.
PROFILES = {
    "heap-growth": HEAP,
    "allocation-spike": HEAP,
    "gc-pressure": HEAP | CPU,
    "finalizer-backlog": HEAP | GOROUTINES,
    "goroutine-leak": GOROUTINES,
    "stack-growth": GOROUTINES,
    "thread-growth": GOROUTINES,
    "forced-gc": CPU,
    "native-memory": CPU | GOROUTINES,
    "anonymous-mapping": CPU | GOROUTINES,
}


@dataclass(frozen=True)
class Holder:
    """A cause for which the truth has the program's own functions.

    Attributes:
        code: The cause.
        own_functions: The functions; each of them is right.
        is_named: Whether a finding of the cause names one of them.
    """

    code: str
    own_functions: tuple[str, ...]
    is_named: bool


def holders(answer: Answer) -> list[Holder]:
    """Return a capture's causes with own functions in the truth and a profile that shows them."""
    recorded = truth()[answer.name]
    return [
        Holder(
            cause["code"],
            own_functions(cause),
            any(
                names(finding, own_functions(cause))
                for finding in answer.mechanisms
                if finding["code"] in {cause["code"], *answer.also_right}
            ),
        )
        for cause in recorded["causes"]
        if own_functions(cause) and PROFILES.get(cause["code"], set()) & set(recorded["artefacts"])
    ]


def own_functions(cause: dict[str, Any]) -> tuple[str, ...]:
    """Return the functions that are right for a cause; none if the truth does not say."""
    holder = cause.get("holder", {})
    functions = holder.get("own_functions") or cause.get("mended_at")
    return tuple(functions or filter(None, [holder.get("own_function")]))


def names(finding: dict[str, Any], functions: Sequence[str]) -> bool:
    """Whether a finding's title, evidence or sites name a function, or a closure of it."""
    said = " ".join(
        [
            finding["title"],
            *(f"{proof['artefact']} {proof['field']}" for proof in finding["evidence"]),
            json.dumps(finding.get("sites", [])),
        ]
    )
    return any(re.search(_pattern(function), said) for function in functions)


def _pattern(function: str) -> str:
    """Return a pattern for a function's name, with or without its package's path."""
    return rf"(?<![\w.]){re.escape(function.rsplit('/', 1)[-1])}(?!\w)"
