"""Where does the first sentence of a text end? Its names can have stops and capitals, too."""

from __future__ import annotations

import re

from gomem.text import Text, Words, joined


def first_and_rest(whole: str) -> tuple[Text, Text]:
    """Split a text after its first sentence: at a stop in gomem's own words, before a capital."""
    parts = Text(whole).parts
    for place, part in enumerate(parts):
        end = re.search(r"[.?!](?= [A-Z])", part) if type(part) is Words else None
        if end is not None:
            before, after = part[: end.end()], part[end.end() + 1 :]
            return Text(*parts[:place], before), Text(after, *parts[place + 1 :])
    return Text(whole), Text()


def sentences_within(whole: str, room: int) -> tuple[Text, Text]:
    """Split a text after the sentences that fit into `room` characters, at least the first."""
    said, rest = first_and_rest(whole)
    while rest:
        following, others = first_and_rest(rest)
        if len(said) + 1 + len(following) > room:
            break
        said, rest = joined(" ", (said, following)), others
    return said, rest
