"""Merges, subtracts and scales profiles, with the rules of `go tool pprof`.

Samples with the same stack and labels become one; samples that are 0 in every profile are dropped.
Two stacks are the same if they have the same functions, lines and addresses relative to the binary.
Load addresses and ids do not matter.
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

PAGE = 0x1000  # bytes; sizes of mappings are rounded up to pages before they are compared
LIMIT = 2.0**63


def merged(profiles: Sequence[PprofColumns]) -> PprofColumns:
    """Add up profiles; raises ValueError if there is none, or if their sample types differ."""
    if not profiles:
        raise ValueError("no profiles to merge")
    for other in profiles[1:]:
        check_alike(profiles[0], other)
    merger = _Merger()
    for profile in profiles:
        merger.add(profile)
    return merger.columns(profiles)


def difference(own: PprofColumns, base: PprofColumns, *, normalize: bool) -> PprofColumns:
    """Subtract a baseline; with `normalize`, first scale the profile to the baseline's sums."""
    check_alike(own, base)
    if normalize:
        own = scaled(own, normalizing(own, base))
    return merged([own, scaled(base, [-1.0] * len(base.sample_types))])


def scaled(columns: PprofColumns, factors: Sequence[float]) -> PprofColumns:
    """Multiply each sample type's values by its factor; halves are rounded away from 0."""
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
    """Return the factors that scale a profile's sums to the baseline's, one per sample type."""
    sums, wanted = columns.value.sum(axis=0).tolist(), base.value.sum(axis=0).tolist()
    return [want / have if have else 0.0 for have, want in zip(sums, wanted, strict=True)]


def check_alike(first: PprofColumns, other: PprofColumns) -> None:
    """Raise ValueError if the sample types or the period types of two profiles differ."""
    for word in ("sample_types", "period_type"):
        have, want = getattr(first, word), getattr(other, word)
        if have != want:
            what = word.replace("_", " ")
            raise ValueError(f"the profiles do not count the same: {what} {have} and {want}")


@dataclass
class _Numbered:
    """Distinct values, numbered from 0 in order of arrival."""

    numbers: dict[Any, int] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)

    def of(self, key: Hashable, row: Any) -> int:
        number = self.numbers.setdefault(key, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number


@dataclass
class _Merger:
    """Everything merged so far."""

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
        """Return each mapping's number, and the shift of its addresses to the merged mapping's."""
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
    """Return each sample's labels, sorted by key: their order does not distinguish samples."""
    by_sample: dict[int, list[tuple[int, int, int, int]]] = {}
    for sample, key, text, number, unit in rows_of(labels):
        if text or number or unit:  # an empty label carries no information
            label = (strings[key], strings[text], number, strings[unit])
            by_sample.setdefault(sample, []).append(label)
    return {
        sample: tuple(sorted(own, key=lambda label: label[0])) for sample, own in by_sample.items()
    }
