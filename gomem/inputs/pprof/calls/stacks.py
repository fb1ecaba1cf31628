"""Identifies stacks across profiles by hash, without writing out each of them.

Two profiles of one process number their functions and locations differently; only names are the
same. As text, the stacks of a large profile take hundreds of megabytes, and a series has many
profiles. So each stack gets a 64-bit hash of its functions' names, and only the stacks that are
shown become text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gomem.inputs.pprof.calls.names import of_others, own_function
from gomem.inputs.pprof.calls.nodes import function_files, function_names
from gomem.inputs.pprof.columns import offsets_of

if TYPE_CHECKING:
    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.inputs.pprof.table import Profile

IntArray = NDArray[np.int64]
KeyArray = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)  # odd, and its powers differ in all bits
MAX_FRAMES = 128  # innermost frames of a stack as text; Go writes at most as many
MAX_NAME = 300  # characters of a function's name in a stack as text
CUT = "…"
MAX_LOOKED_AT = 2000  # the largest stacks; they include the largest allocator


@dataclass(frozen=True)
class Stacks:
    """The stacks of one profile."""

    columns: PprofColumns  # the profile

    @cached_property
    def keys(self) -> KeyArray:
        """A hash per sample; equal for the same functions in the same order."""
        if not len(self.columns.stack):
            return np.zeros(len(self.columns.value), np.uint64)
        texts, offsets = self._frames
        stack = self.columns.stack
        counts = np.diff(offsets)[stack]
        starts = offsets_of(counts)
        entry = np.repeat(np.arange(len(stack)), counts)
        within = np.arange(len(entry)) - starts[entry]
        named = (text.encode("utf-8", "surrogatepass") for text in texts)
        digests = b"".join(blake2b(name, digest_size=8).digest() for name in named)
        numbers = np.frombuffer(digests, "<u8").astype(np.uint64)
        frame = numbers[offsets[stack[entry]] + within]
        of_sample = starts[self.columns.stack_offsets]
        depth = np.arange(len(frame)) - np.repeat(of_sample[:-1], np.diff(of_sample))
        powers = np.cumprod(np.full(int(depth.max()) + 1, STEP, np.uint64))
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(frame * powers[depth])))
        return np.asarray(sums[of_sample[1:]] - sums[of_sample[:-1]], np.uint64)

    def text(self, sample: int) -> str:
        """Return a sample's functions, outermost first, joined by `;` as in a folded stack."""
        texts, offsets = self._frames
        first, last = self.columns.stack_offsets[sample : sample + 2].tolist()
        names: list[str] = []
        for place in self.columns.stack[first:last].tolist():
            names += texts[offsets[place] : offsets[place + 1]]
            if len(names) > MAX_FRAMES:
                names[MAX_FRAMES:] = [CUT]
                break
        most = MAX_NAME - 1
        shown = (
            name if len(name) <= MAX_NAME else f"{name[:most]}{CUT}" for name in reversed(names)
        )
        return ";".join(shown)

    @cached_property
    def others(self) -> frozenset[str]:
        """The functions of third-party modules."""
        return of_others(function_names(self.columns), function_files(self.columns))

    @cached_property
    def _frames(self) -> tuple[list[str], IntArray]:
        """Function names of all locations, innermost first, or the address; and the offsets."""
        locations, names = self.columns.locations, function_names(self.columns)
        functions = locations.line_function.tolist()
        ends = locations.line_offsets.tolist()
        texts: list[str] = []
        offsets = [0]
        for place, address in enumerate(locations.address.tolist()):
            known = functions[ends[place] : ends[place + 1]] or [-1]
            texts += [names[function] if function >= 0 else f"{address:#x}" for function in known]
            offsets.append(len(texts))
        return texts, np.array(offsets, np.int64)


def caller_of(profile: Profile, function: str, sample_type: str) -> str:
    """Return the program's own function on whose behalf a function allocates most; else empty."""
    # `function` is the innermost frame of the stacks looked at, as `top` names it.
    stacks = Stacks(profile.columns)
    for sample in np.argsort(-profile.values(sample_type), kind="stable")[:MAX_LOOKED_AT].tolist():
        names = stacks.text(sample).split(";")[::-1]
        if names[0] == function:
            return own_function(names, stacks.others)
    return ""
