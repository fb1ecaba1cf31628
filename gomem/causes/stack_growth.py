"""Few goroutines with large stacks: deep recursion, or large values on the stack.

A stack doubles when it is full (to 1 GiB at most) and is halved by a collection that finds less
than a quarter of it in use. Stacks lie in the arenas, and are in no heap profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import KIB, MIB, format_bytes, format_count

if TYPE_CHECKING:
    from gomem.causes.answers import MomentFacts, Situation

CODE = "stack-growth"
LEAST_BYTES = 8 * MIB
NOTABLE_SHARE = 0.10  # below a tenth of RSS nobody's limit or bill turns on it
LARGE_SHARE = 0.25  # a quarter of RSS that no heap profile shows
# A stack that starts with 2 KiB has doubled five times to reach this, as an average of them all.
LARGE_STACK = 64 * KIB


def find(situation: Situation) -> list[Finding]:
    """One finding per moment whose stacks are large, or whose many stacks nobody counted."""
    return [_finding(moment) for moment in situation.moments if _much(moment)]


def stack_bytes(moment: MomentFacts) -> int:
    """What goroutines' stacks take, by the runtime's count; 0 if it does not say."""
    return 0 if moment.memstats is None else int(moment.memstats["StackInuse"])


def _much(moment: MomentFacts) -> bool:
    size, count = stack_bytes(moment), moment.goroutine_count
    if size < max(LEAST_BYTES, NOTABLE_SHARE * (moment.rss_bytes or 0)):
        return False
    return count is None or size >= LARGE_STACK * count


def _finding(moment: MomentFacts) -> Finding:
    size, count = stack_bytes(moment), moment.goroutine_count
    evidence = [Evidence(moment.path("memstats"), "StackInuse", size, "B")]
    if moment.rss_bytes is not None:
        evidence.append(Evidence(moment.path("smaps"), "Rss", moment.rss_bytes, "B"))
    if count is not None:
        evidence.append(Evidence(moment.goroutine_path, "goroutines", count, "count"))
    large = size >= LARGE_SHARE * (moment.rss_bytes or 0)
    return Finding(
        code=CODE,
        severity=Severity.WARNING if large else Severity.INFO,
        title=_title(size, count),
        moment=moment.name,
        bytes=size,
        evidence=tuple(evidence),
        mechanism=(
            "Deep recursion, or large values on the stack, make a stack double until it fits. It "
            "shrinks by half at each collection that finds less than a quarter of it in use. "
            "Stacks are in no heap profile; since Go 1.18 they raise the heap goal."
            if count is not None
            else "Stacks are many, or large: without a count of goroutines nobody can tell which. "
            "They are in no heap profile; since Go 1.18 they raise the heap goal."
        ),
        next_step=(
            "Take a goroutine profile (/debug/pprof/goroutine?debug=2) and look for deep stacks; "
            "bound the recursion, or keep large arrays off the stack."
            if count is not None
            else "Take a goroutine profile (/debug/pprof/goroutine?debug=1): it counts them and "
            "says where they wait."
        ),
        references=("golang/go#44167", "runtime/debug.SetMaxStack"),
        confidence="likely" if count is not None else "possible",
    )


def _title(size: int, count: int | None) -> str:
    if count is None:
        return f"stacks take {format_bytes(size)}; how many goroutines there are, nothing says"
    each = format_bytes(size / max(1, count))
    return f"{format_count(count)} goroutines have {format_bytes(size)} of stacks: {each} each"
