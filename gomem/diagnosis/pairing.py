"""Which snapshots of two captures are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def counterparts(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of moments with the same name, in the order of `after`.

    If the last moment of `after` has no namesake, it is paired with the last of `before`.
    """
    same = [(name, name) for name in after if name in before]
    if not before or not after or after[-1] in before:
        return same
    return [*same, (before[-1], after[-1])]


def first_pair(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    """Return the first pair of moments, where the compared period begins on both sides.

    Moments named by time have no names in common; then it is the first moment of each side.
    """
    pairs = counterparts(before, after)
    if not pairs:
        return None
    return pairs[0] if set(before) & set(after) else (before[0], after[0])


def counterpart_of(moment: str, before: Sequence[str], after: Sequence[str]) -> str | None:
    """The moment in `before` that a moment of `after` is compared with; None if there is none."""
    return next((old for old, new in counterparts(before, after) if new == moment), None)
