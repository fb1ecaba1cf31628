"""Where does the first sentence of a text end? Its names can have stops and capitals, too."""

from __future__ import annotations

import re

from gomem.text import Text, Words


def first_and_rest(whole: str) -> tuple[Text, Text]:
    """Split a text after its first sentence: at a stop in gomem's own words, before a capital."""
    parts = Text(whole).parts
    for place, part in enumerate(parts):
        end = re.search(r"[.?!](?= [A-Z])", part) if type(part) is Words else None
        if end is not None:
            before, after = part[: end.end()], part[end.end() + 1 :]
            return Text(*parts[:place], before), Text(after, *parts[place + 1 :])
    return Text(whole), Text()
