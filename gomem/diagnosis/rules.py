"""Run the rules of all causes. If one rule fails unexpectedly, the others still run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from gomem.causes import CAUSES
from gomem.causes.data_damaged import unchecked
from gomem.errors import is_out_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gomem.causes.cause import Case, Cause
    from gomem.causes.finding import Finding, Lack

_Answer = TypeVar("_Answer")


def found_by_rules(case: Case) -> Iterator[Finding]:
    """Yield every finding of every cause, and a finding for each rule that failed."""
    lacks: list[Lack] = []
    for cause in CAUSES:
        if cause.lack is not None:
            lack, failed = _asked(cause, cause.lack, case)
            lacks += [] if lack is None else [lack]
            yield from failed
    for cause in CAUSES:
        found, failed = _asked(cause, cause.rule, replace(case, lacks=tuple(lacks)))
        yield from found or failed


def _asked(
    cause: Cause, ask: Callable[[Case], _Answer], case: Case
) -> tuple[_Answer | None, list[Finding]]:
    """The rule's result; or None with a finding that the rule failed."""
    try:
        return ask(case), []
    except Exception as error:
        if is_out_of_memory(error):
            raise
        return None, [unchecked(cause.code, error)]
