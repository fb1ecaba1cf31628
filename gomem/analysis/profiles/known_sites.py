"""Allocation sites in Go's library with a known meaning of their memory in use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST_SHARE = 0.05  # of the total: a smaller site is not worth a sentence

# What allocates there, as a clause behind its name; each is so in every release from Go 1.5 on,
# unless it says from which.
_SITES = (
    (
        r"runtime\.malg",
        (
            "makes goroutines' descriptors, which are reused but never freed: they are as many as "
            "ever ran at one time"
        ),
    ),
    (
        r"time\.(?:NewTicker|Tick|newTicker)",
        (
            "makes tickers: before Go 1.23 one that is not stopped is never freed, and since then "
            "one that something still refers to"
        ),
    ),
    (
        r"bufio\.New(?:Reader|Writer)(?:Size)?",
        (
            "makes buffers, of 4 KiB unless a size is asked for; net/http has one of each for "
            "every open connection"
        ),
    ),
    (
        (
            r"context\.(?:WithCancel(?:Cause)?|withCancel|WithTimeout(?:Cause)?|WithDeadline(?:Cause)?"
            r"|propagateCancel|\(\*cancelCtx\)\.propagateCancel|newCancelCtx)"
        ),
        "makes contexts that can be cancelled: a parent that can be, too, holds each until then",
    ),
)


@dataclass(frozen=True)
class KnownSite:
    """A site that is known."""

    function: str
    what: str  # a clause behind its name


def known_sites(in_use: Mapping[str, int], total: int) -> list[KnownSite]:
    """Of the functions of a heap profile with what each has in use, those that are known.

    In use by them or by what they called, such as the allocator. One of a kind, the largest first.
    """
    found: dict[str, KnownSite] = {}
    for name, value in sorted(in_use.items(), key=lambda pair: -pair[1]):
        what = next((what for form, what in _SITES if re.fullmatch(form, name)), "")
        if what and value >= LEAST_SHARE * total:
            found.setdefault(what, KnownSite(name, what))
    return list(found.values())
