"""Sizes in a program's own JSON: `"totalAllocatedMemory": 493.16`, `After: "rss_max_kb": 45652`.

The unit is known if the key ends in it. Of a key without labels before it the last size counts.
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import quoted
from gomem.inputs.text_lines import decoded
from gomem.text import Text, joined, text

NAMED = 3  # keys
_KEY = re.compile(
    rb"(?:^[^\w\n]{0,9}([A-Za-z][\w -]{0,20}):[ \t]{0,9})?"
    rb"\"(\w{0,40}(?:[aA]lloc|[mM]emory|[hH]eap|[rR]ss)\w{0,40})\"\s{0,9}:\s{0,9}"
    rb"(\d[\d.]{0,20})[ \t]{0,9}[,}\r\n]",
    re.MULTILINE,
)
_UNIT = re.compile(rb"(?:^|[_. -])(?:bytes|[kmg]i?b|(?:kilo|mega|giga)bytes)$", re.IGNORECASE)


def sizes_in_json(head: bytes) -> tuple[Text, bool] | None:
    """Name the sizes, and say whether their units are known; None without any."""
    keys: dict[bytes, list[Text]] = {}
    for label, key, size in _KEY.findall(head):
        if label:
            keys.setdefault(key, []).append(text("{} ({})", decoded(size), quoted(label)))
        else:
            keys[key] = [text("{}", decoded(size))]
    if not keys:
        return None
    sizes = [text("{} {}", quoted(key), joined(", ", keys[key])) for key in keys]
    has_units = all(map(_UNIT.search, keys))
    unit = "" if has_units else ", whose unit is unknown"
    said = text("JSON with a program's own sizes ({}){}", joined(", ", sizes[:NAMED]), unit)
    total = next((key for key in keys if key.lower().startswith(b"total")), None)
    if total is not None:
        words = "{}; a total like {} counts since the start, so it rises without any leak"
        said = text(words, said, quoted(total))
    return said, has_units
