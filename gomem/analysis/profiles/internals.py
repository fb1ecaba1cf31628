"""Attributes internal frames of Go's standard library to the functions that a program can call.

Internal functions come and go between releases: `strings.(*Builder).grow` allocates by itself in Go
1.24, but in Go 1.26 `internal/bytealg.MakeNoZero` does it. To a developer, both are the same site.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.pprof.calls.filters import any_of, keep_entries, keep_lines
from gomem.inputs.pprof.calls.names import can_be_called
from gomem.inputs.pprof.calls.nodes import function_names

if TYPE_CHECKING:
    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.inputs.pprof.table import Profile


def without_internals(profile: Profile) -> Profile:
    """Return the profile without internal frames; a stack with only such frames keeps them."""
    return replace(profile, columns=_folded(profile.columns), undropped=None)


def _folded(columns: PprofColumns) -> PprofColumns:
    internal = [bool(name) and not can_be_called(name) for name in function_names(columns)]
    lines = ~np.append(internal, False).astype(np.bool_)[columns.locations.line_function]
    offsets = columns.locations.line_offsets
    shown = any_of(lines, offsets) | (np.diff(offsets) == 0)  # an address alone is shown
    kept = shown[columns.stack]
    counts = np.diff(columns.stack_offsets)
    kept |= np.repeat(~any_of(kept, columns.stack_offsets), counts)
    used = np.zeros(len(offsets) - 1, np.bool_)
    used[columns.stack[kept]] = True
    whole = np.repeat(used & ~shown, np.diff(offsets))
    return keep_entries(keep_lines(columns, lines | whole), kept)
