"""Go releases: read from text and compared. What changed in which release stands with its rule."""

from __future__ import annotations

import re
from dataclasses import dataclass

# `go1.24.2`, `1.9`, `go1.27rc1`, `devel go1.26-abcdef`; not the 1.24.2 of `v1.24.2`.
_RELEASE = re.compile(r"(?<![\w.])(?:go)?1\.(\d{1,2})(?:\.(\d{1,3}))?(?:rc\d+|beta\d+)?(?![\w])")


@dataclass(frozen=True, order=True, slots=True)
class GoRelease:
    """Go 1.`minor`.`patch`."""

    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"go1.{self.minor}.{self.patch}" if self.patch else f"go1.{self.minor}"


@dataclass(frozen=True, slots=True)
class GoVersion:
    """What is known of the release that made a capture.

    Attributes:
        low: The oldest it can be, if known.
        high: The newest it can be, if known.
        text: As the evidence writes it, when the release is known exactly.
        evidence: How it is known, or what narrows it.
    """

    low: GoRelease | None = None
    high: GoRelease | None = None
    text: str | None = None
    evidence: str = "nothing in the capture names it"

    @property
    def exact(self) -> GoRelease | None:
        """The release, if it is known and not just narrowed."""
        return self.low if self.text is not None else None

    def certainly(self, low: GoRelease, below: GoRelease) -> bool:
        """Whether every release that it can be lies in `low` ≤ release < `below`."""
        if self.low is None or self.high is None:
            return False
        return low <= self.low and self.high < below

    def possibly(self, low: GoRelease, below: GoRelease | None = None) -> bool:
        """Whether some release that it can be lies in `low` ≤ release < `below`, if that is set."""
        before_the_end = below is None or self.low is None or self.low < below
        return before_the_end and (self.high is None or self.high >= low)

    def __str__(self) -> str:
        if self.text is not None:
            return self.text
        if self.low is None and self.high is None:
            return "unknown"
        if self.high is None:
            return f"{self.low} or later"
        if self.low is None:
            return f"{self.high} or earlier"
        return f"{self.low} to {self.high}"


def parse_release(text: str) -> GoRelease | None:
    """The first Go release that a text names, if any."""
    match = _RELEASE.search(text)
    if match is None:
        return None
    return GoRelease(int(match[1]), int(match[2] or 0))


def known_version(text: str, evidence: str) -> GoVersion | None:
    """An exactly known version, from a text such as `go1.24.2`; None if it names no release."""
    release = parse_release(text)
    if release is None:
        return None
    return GoVersion(release, release, str(release), evidence)
