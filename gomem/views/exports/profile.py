"""Write a profile to a file for `go tool pprof` and other readers of profile.proto."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.numbered import Digest, Label
from gomem.text import File, Function, Mapped, Quoted, Text

if TYPE_CHECKING:
    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.inputs.pprof.table import Profile
    from gomem.views.share import Hidden

# The meaning of each string field.
HOLDS: dict[str, dict[str, type[Text]]] = {
    "functions": {"name": Function, "system_name": Function, "file": File},
    "mappings": {"file": Mapped, "build_id": Digest},
    "labels": {"key": Label, "text": Label, "unit": Label},
}


def render_profile(profile: Profile, hidden: Hidden) -> bytes:
    """Write the profile as gzipped profile.proto, with hidden names replaced.

    With redaction, paths of files lose their folders, labels are numbered, and comments from files
    are dropped. Otherwise source paths stay as they are, so that `-list` works.
    """
    if not hidden.redact:
        comments = tuple(map(hidden.text, profile.columns.comments))
        return replace(profile, columns=replace(profile.columns, comments=comments)).to_pprof()
    return replace(profile, columns=redacted(profile.columns, hidden), undropped=None).to_pprof()


def redacted(columns: PprofColumns, hidden: Hidden) -> PprofColumns:
    """Return the profile with redacted strings; unreferenced strings are dropped."""
    strings, tables = _Strings(columns.strings, hidden), dict[str, Any]()
    for name, kinds in HOLDS.items():
        table = getattr(columns, name)
        told = {field: strings.of(getattr(table, field), kind) for field, kind in kinds.items()}
        tables[name] = replace(table, **told)
    said = (text if isinstance(text, Text) else Quoted(text) for text in columns.comments)
    # drop_frames and keep_frames were already applied, and are text from a file.
    tables |= dict.fromkeys(("doc_url", "drop_frames", "keep_frames"), "")
    tables["comments"] = tuple(filter(None, map(hidden.text, said)))
    return replace(columns, **tables, strings=strings.shown)


class _Strings:
    """The redacted strings of a profile, numbered in order of use."""

    def __init__(self, strings: list[str], hidden: Hidden) -> None:
        self._strings, self._hidden = strings, hidden
        self._numbers = {"": 0}

    @property
    def shown(self) -> list[str]:
        return list(self._numbers)

    def of(self, indices: np.ndarray, kind: type[Text]) -> Any:
        """Return the new indices of strings of the given kind."""
        numbers = np.zeros(len(self._strings) or 1, indices.dtype)
        for place in np.unique(indices).tolist():
            shown = self._hidden.text(Text(kind(self._strings[place])))
            numbers[place] = self._numbers.setdefault(shown, len(self._numbers))
        return numbers[indices]
