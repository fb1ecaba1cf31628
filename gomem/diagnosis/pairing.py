"""The rule for which snapshots are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def counterparts(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of moments with the same name, in the order of the capture after.

    The last moment after, if none before has its name, is paired with the last one before.
    """
    same = [(name, name) for name in after if name in before]
    if not before or not after or after[-1] in before:
        return same
    return [*same, (before[-1], after[-1])]


def first_pair(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    """Where what lies between two moments begins on both sides: at the first that are paired.

    Captures whose moments are called by the time have no name in common; then it is the first
    moment of each.
    """
    pairs = counterparts(before, after)
    if not pairs:
        return None
    return pairs[0] if set(before) & set(after) else (before[0], after[0])


def counterpart_of(moment: str, before: Sequence[str], after: Sequence[str]) -> str | None:
    """The moment before that a moment after is compared with; None if there is none."""
    return next((old for old, new in counterparts(before, after) if new == moment), None)
