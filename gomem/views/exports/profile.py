"""A profile in a file, for `go tool pprof` and other readers of profile.proto."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.numbered import Label
from gomem.text import File, Function, Mapped, Quoted, Text, Words

if TYPE_CHECKING:
    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.inputs.pprof.table import Profile
    from gomem.views.share import Hidden

# What the strings of a profile are, by what refers to them.
HOLDS: dict[str, dict[str, type[Text]]] = {
    "functions": {"name": Function, "system_name": Function, "file": File},
    "mappings": {"file": Mapped, "build_id": Words},
    "labels": {"key": Label, "text": Label, "unit": Label},
}


def render_profile(profile: Profile, hidden: Hidden) -> bytes:
    """The profile as gzipped profile.proto, with what it says as it may be shown.

    Redacted, files lose their folders, labels are numbered, and comments out of a file are left
    out, as everywhere; else the paths of source files are as the profile has them, so that `-list`
    finds them.
    """
    if not hidden.redact:
        comments = tuple(map(hidden.text, profile.columns.comments))
        return replace(profile, columns=replace(profile.columns, comments=comments)).to_pprof()
    return replace(profile, columns=redacted(profile.columns, hidden), undropped=None).to_pprof()


def redacted(columns: PprofColumns, hidden: Hidden) -> PprofColumns:
    """The same profile with other strings; none that nothing refers to."""
    strings, tables = _Strings(columns.strings, hidden), dict[str, Any]()
    for name, kinds in HOLDS.items():
        table = getattr(columns, name)
        told = {field: strings.of(getattr(table, field), kind) for field, kind in kinds.items()}
        tables[name] = replace(table, **told)
    said = (text if isinstance(text, Text) else Quoted(text) for text in columns.comments)
    # Which frames to leave out was asked before; a pattern of them is text out of a file, too.
    tables |= dict.fromkeys(("doc_url", "drop_frames", "keep_frames"), "")
    tables["comments"] = tuple(filter(None, map(hidden.text, said)))
    return replace(columns, **tables, strings=strings.shown)


class _Strings:
    """A profile's strings as they may be shown, numbered as they are met."""

    def __init__(self, strings: list[str], hidden: Hidden) -> None:
        self._strings, self._hidden = strings, hidden
        self._numbers = {"": 0}

    @property
    def shown(self) -> list[str]:
        return list(self._numbers)

    def of(self, indices: np.ndarray, kind: type[Text]) -> Any:
        """The indices of the same strings, which are of a kind."""
        numbers = np.zeros(len(self._strings) or 1, indices.dtype)
        for place in np.unique(indices).tolist():
            shown = self._hidden.text(Text(kind(self._strings[place])))
            numbers[place] = self._numbers.setdefault(shown, len(self._numbers))
        return numbers[indices]
