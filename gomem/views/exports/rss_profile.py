"""RSS as a pprof profile in a file, for `go tool pprof` and other readers of profile.proto."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.text import File, Text

if TYPE_CHECKING:
    from gomem.inputs.pprof.table import Profile
    from gomem.views.share import Hidden


def render_rss_profile(profile: Profile, hidden: Hidden) -> bytes:
    """The profile as gzipped profile.proto, with its comments as they may be shown.

    Redacted, files lose their folders, as everywhere; else the paths of source files are as the
    heap profile has them, so that `-list` finds them.
    """
    columns = profile.columns
    strings = list(columns.strings)
    if hidden.redact:
        for place in {*columns.functions.file.tolist(), *columns.mappings.file.tolist()}:
            strings[place] = hidden.text(Text(File(strings[place])))
    comments = tuple(str(hidden.text(comment)) for comment in columns.comments)
    return replace(profile, columns=replace(columns, strings=strings, comments=comments)).to_pprof()
