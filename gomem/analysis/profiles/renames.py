"""The same site under two names: what was renamed or moved between two builds.

A rename is literal, `OLD=NEW`: a function, a type or a package path, and all that is in it. The
name of a function is renamed where it is OLD, or begins with OLD and goes on with something that is
no part of an identifier: `main.handle` takes `main.handle.func1` with it, and not `main.handleAll`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.inputs.pprof.columns import PprofColumns, RowArray
    from gomem.inputs.pprof.table import Profile


@dataclass(frozen=True, slots=True)
class Rename:
    """What was called `old` is called `new`."""

    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.old}={self.new}"

    def applied(self, name: str) -> str:
        """The new name of a function; the same where it is none of those renamed."""
        rest = name.removeprefix(self.old)
        if not name.startswith(self.old) or (_is_word(self.old[-1]) and _is_word(rest[:1])):
            return name
        return self.new + rest


def rename_of(text: str) -> Rename:
    """A rename as it is written; CaptureError, with an example, if it is none."""
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise CaptureError(f"rename {text}: wanted OLD=NEW, such as main.handle=main.serve")
    return Rename(old, new)


def renamed(profile: Profile, renames: Sequence[Rename]) -> Profile:
    """The profile with its functions renamed, each by the first rename that it falls under."""
    if not renames:
        return profile
    undropped = profile.undropped
    return replace(
        profile,
        columns=_renamed(profile.columns, renames),
        undropped=None if undropped is None else _renamed(undropped, renames),
    )


def _renamed(columns: PprofColumns, renames: Sequence[Rename]) -> PprofColumns:
    strings = list(columns.strings)
    place = {text: number for number, text in reversed(list(enumerate(strings)))}

    def moved(names: RowArray) -> RowArray:
        changed = names.copy()
        for number in np.unique(names).tolist():
            old = strings[number]
            new = next((one for r in renames if (one := r.applied(old)) != old), old)
            if new != old:
                if new not in place:
                    place[new] = len(strings)
                    strings.append(new)
                changed[names == number] = place[new]
        return changed

    functions = columns.functions
    functions = replace(
        functions, name=moved(functions.name), system_name=moved(functions.system_name)
    )
    return replace(columns, functions=functions, strings=strings)


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()
