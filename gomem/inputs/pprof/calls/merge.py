"""Merges, subtracts and scales profiles, with the rules of `go tool pprof`.

Samples with the same stack and the same labels become one, and samples that are 0 in every profile
are dropped. Two stacks are the same if they have the same functions, lines and addresses relative
to the binary. The load address and the numbering of ids do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.pprof.columns import (
    Functions,
    Labels,
    Locations,
    Mappings,
    PprofColumns,
    matrix,
    offsets_of,
    rows_of,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

PAGE = 0x1000  # the sizes of mappings are compared to this many bytes
LIMIT = 2.0**63


def merged(profiles: Sequence[PprofColumns]) -> PprofColumns:
    """The sum of some profiles; ValueError without one, or where they do not count the same."""
    if not profiles:
        raise ValueError("no profiles to merge")
    for other in profiles[1:]:
        check_alike(profiles[0], other)
    merger = _Merger()
    for profile in profiles:
        merger.add(profile)
    return merger.columns(profiles)


def difference(own: PprofColumns, base: PprofColumns, *, normalize: bool) -> PprofColumns:
    """What a profile has more than a base; scaled first, if asked, to have the same sums."""
    check_alike(own, base)
    if normalize:
        own = scaled(own, normalizing(own, base))
    return merged([own, scaled(base, [-1.0] * len(base.sample_types))])


def scaled(columns: PprofColumns, factors: Sequence[float]) -> PprofColumns:
    """Values times a factor for each sample type, rounded, halves away from 0, within 64 bits."""
    value = columns.value.copy()
    for index, factor in enumerate(factors):
        if factor == -1:
            value[:, index] = -value[:, index]
        elif factor != 1:
            exact = value[:, index].astype(np.float64) * factor
            if (np.abs(exact) >= LIMIT).any():
                raise ValueError(f"values times {factor} do not fit in 64 bits")
            value[:, index] = np.trunc(exact + np.copysign(0.5, exact)).astype(np.int64)
    return replace(columns, value=value)


def normalizing(columns: PprofColumns, base: PprofColumns) -> list[float]:
    """By which factors a profile's sums become those of another."""
    sums, wanted = columns.value.sum(axis=0).tolist(), base.value.sum(axis=0).tolist()
    return [want / have if have else 0.0 for have, want in zip(sums, wanted, strict=True)]


def check_alike(first: PprofColumns, other: PprofColumns) -> None:
    """Raise a ValueError over profiles whose sample types or period types differ."""
    for word in ("sample_types", "period_type"):
        have, want = getattr(first, word), getattr(other, word)
        if have != want:
            what = word.replace("_", " ")
            raise ValueError(f"the profiles do not count the same: {what} {have} and {want}")


@dataclass
class _Numbered:
    """Things numbered from 0 as they come; equal ones have one number."""

    numbers: dict[Any, int] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)

    def of(self, key: Hashable, row: Any) -> int:
        number = self.numbers.setdefault(key, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number


@dataclass
class _Merger:
    """What has been merged so far."""

    strings: _Numbered = field(default_factory=_Numbered)
    functions: _Numbered = field(default_factory=_Numbered)
    mappings: _Numbered = field(default_factory=_Numbered)
    locations: _Numbered = field(default_factory=_Numbered)
    samples: _Numbered = field(default_factory=_Numbered)

    def __post_init__(self) -> None:
        self.strings.of("", "")

    def add(self, profile: PprofColumns) -> None:
        strings = [self.strings.of(text, text) for text in profile.strings]
        functions = self._functions(profile.functions, strings)
        mappings, moved = self._mappings(profile.mappings, strings)
        locations = self._locations(profile.locations, functions, mappings, moved)
        stack = np.array(locations, np.int32)[profile.stack]
        labels = _labels_by_sample(profile.labels, strings)
        offsets = profile.stack_offsets.tolist()
        for row in np.flatnonzero(profile.value.any(axis=1)).tolist():
            key = (stack[offsets[row] : offsets[row + 1]].tobytes(), labels.get(row, ()))
            number = self.samples.of(key, None)
            before = self.samples.rows[number]
            value = profile.value[row]
            self.samples.rows[number] = value if before is None else before + value

    def _functions(self, functions: Functions, strings: list[int]) -> list[int]:
        keys = [
            (strings[name], strings[system], strings[file], start)
            for _, name, system, file, start in rows_of(functions)
        ]
        return [self.functions.of(key, key) for key in keys]

    def _mappings(self, mappings: Mappings, strings: list[int]) -> tuple[list[int], list[int]]:
        """The number of each mapping, and how far its addresses move to lie in the merged one."""
        numbers, moved = [], []
        for _, start, limit, offset, file_name, build_id, *flags in rows_of(mappings):
            file, build = strings[file_name], strings[build_id]
            size = -(-((limit - start) & (2**64 - 1)) // PAGE)
            known = (start, limit, offset, file, build, *flags)
            number = self.mappings.of((size, offset, build or -file), known)
            numbers.append(number)
            moved.append(self.mappings.rows[number][0] - start)
        return numbers, moved

    def _locations(
        self, locations: Locations, functions: list[int], mappings: list[int], moved: list[int]
    ) -> list[int]:
        numbers = []
        for mapping, address, folded, lines in locations.entries():
            own = (
                (functions[function] if function >= 0 else -1, number, column)
                for function, number, column in lines
            )
            number, shift = (mappings[mapping], moved[mapping]) if mapping >= 0 else (-1, 0)
            key = (number, (address + shift) & (2**64 - 1), folded, tuple(own))
            numbers.append(self.locations.of(key, key))
        return numbers

    def columns(self, profiles: Sequence[PprofColumns]) -> PprofColumns:
        first = profiles[0]
        kept = [
            (key, value)
            for key, value in zip(self.samples.numbers, self.samples.rows, strict=True)
            if value.any()
        ]
        stacks = [np.frombuffer(stack, np.int32) for (stack, _), _ in kept]
        labels = [(row, *label) for row, ((_, own), _) in enumerate(kept) for label in own]
        times = [profile.time_nanos for profile in profiles if profile.time_nanos]
        return PprofColumns(
            sample_types=first.sample_types,
            value=matrix([value for _, value in kept], len(first.sample_types)),
            stack_offsets=offsets_of([len(stack) for stack in stacks]),
            stack=np.concatenate([np.zeros(0, np.int32), *stacks]),
            labels=Labels.of(labels),
            locations=Locations.of(self.locations.rows),
            functions=Functions.of(self.functions.rows),
            mappings=Mappings.of(self.mappings.rows),
            strings=self.strings.rows,
            time_nanos=min(times, default=0),
            duration_nanos=sum(profile.duration_nanos for profile in profiles),
            period_type=first.period_type,
            period=max(profile.period for profile in profiles),
            default_sample_type=next(
                filter(None, (profile.default_sample_type for profile in profiles)), ""
            ),
            comments=tuple(
                dict.fromkeys(text for profile in profiles for text in profile.comments)
            ),
            doc_url=next(filter(None, (profile.doc_url for profile in profiles)), ""),
            drop_frames=first.drop_frames,
            keep_frames=first.keep_frames,
        )


def _labels_by_sample(
    labels: Labels, strings: list[int]
) -> dict[int, tuple[tuple[int, int, int, int], ...]]:
    """Labels of each sample in an order of their own: whose they are does not depend on it."""
    by_sample: dict[int, list[tuple[int, int, int, int]]] = {}
    for sample, key, text, number, unit in rows_of(labels):
        if text or number or unit:  # others say nothing
            label = (strings[key], strings[text], number, strings[unit])
            by_sample.setdefault(sample, []).append(label)
    return {
        sample: tuple(sorted(own, key=lambda label: label[0])) for sample, own in by_sample.items()
    }
