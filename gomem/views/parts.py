"""What a kind of document can have: its sections in order, and what to say where one is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gomem.views.document import Section

About = TypeVar("About")


@dataclass(frozen=True, slots=True)
class Part(Generic[About]):
    """A section that a document can have."""

    name: str  # by which a notebook asks for it
    # The section about something; None where there is nothing to say.
    make: Callable[[About], Section | None]
    absent: str  # what to say then, and what to collect; without a full stop


def sections_of(parts: Iterable[Part[About]], about: About) -> tuple[Section, ...]:
    """Every section that there is."""
    made = (part.make(about) for part in parts)
    return tuple(section for section in made if section is not None)
