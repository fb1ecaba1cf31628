"""URLs of references: Go issues, documentation of Go or the kernel, man pages.

A report fetches nothing; these are links for the reader.
"""

from __future__ import annotations

import re

# The first match counts.
_ADDRESSES = tuple(
    (re.compile(pattern), address)
    for pattern, address in (
        (r"(https://\S+)", r"\1"),
        (r"golang/go#([0-9]+)", r"https://github.com/golang/go/issues/\1"),
        (r"golang\.org(/doc/[\w./-]+(?:#\w+)?)", r"https://go.dev\1"),
        (r"Go GC guide\b.*", "https://go.dev/doc/gc-guide"),
        (r"([a-z_]\w*)\(([0-9])\)(?::.*)?", r"https://man7.org/linux/man-pages/man\2/\1.\2.html"),
        (r"kernel: ([\w-]+)\b.*", r"https://docs.kernel.org/admin-guide/\1.html"),
        (r"([a-z0-9]+(?:/[a-z0-9]+)*)(?::.*)?", r"https://pkg.go.dev/\1"),
        (r"([a-z0-9]+(?:/[a-z0-9]+)*)\.([A-Z]\w*)(?::.*)?", r"https://pkg.go.dev/\1#\2"),
    )
)


def address_of(reference: str) -> str:
    """Return the URL of a reference; empty if it has none."""
    fits = ((pattern.fullmatch(reference), address) for pattern, address in _ADDRESSES)
    return next((found.expand(address) for found, address in fits if found), "")
