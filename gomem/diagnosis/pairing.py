"""Which moments are compared, and which is shown first: the one rule for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gomem.causes.finding import Finding


def counterparts(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of moments with the same name, in the order of the capture after.

    The last moment after, if none before has its name, is paired with the last one before.

    Args:
        before: Names of the moments before, in order.
        after: Names of the moments after, in order.
    """
    same = [(name, name) for name in after if name in before]
    if not before or not after or after[-1] in before:
        return same
    return [*same, (before[-1], after[-1])]


def counterpart_of(moment: str, before: Sequence[str], after: Sequence[str]) -> str | None:
    """The moment before that a moment after is compared with; None if there is none."""
    return next((old for old, new in counterparts(before, after) if new == moment), None)


def shown_first(rss_by_moment: Mapping[str, int | None], findings: Iterable[Finding]) -> str | None:
    """The moment to look at first: the first warning's, else the one with the largest RSS.

    Args:
        rss_by_moment: Resident bytes of each moment, in order.
        findings: In order; those of no moment do not count.
    """
    for finding in findings:
        if finding.moment in rss_by_moment and finding.severity >= Severity.WARNING:
            return finding.moment
    return max(rss_by_moment, key=lambda name: rss_by_moment[name] or 0, default=None)
