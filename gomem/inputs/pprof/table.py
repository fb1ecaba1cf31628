"""A pprof profile: its frames, its views as in `go tool pprof`, filters and differences.

Values keep the unit that the profile declares: bytes, counts, or nanoseconds in CPU, block and
mutex profiles. They are integers, so sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import did_you_mean
from gomem.inputs.pprof import frames
from gomem.inputs.pprof.about import html_of, kind_of, release_in
from gomem.inputs.pprof.calls import filters
from gomem.inputs.pprof.calls.graph import edges_of, frames_of, stacks_of, tree_of
from gomem.inputs.pprof.calls.merge import difference, merged
from gomem.inputs.pprof.calls.nodes import Nodes, Top, nodes_of, top_of
from gomem.inputs.pprof.calls.tags import samples_with, tags_of
from gomem.inputs.pprof.folded import write_folded
from gomem.inputs.pprof.protobuf.write import write_pprof
from gomem.inputs.pprof.sites import top_sites
from gomem.inputs.schema import WithDamage, build, build_rows
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from gomem.errors import Damage
    from gomem.inputs.memstats.table import MemStats
    from gomem.inputs.pprof.columns import PprofColumns, ValueType
    from gomem.inputs.pprof.printed.tables import Printed


@dataclass(frozen=True)
class Profile(WithDamage):
    """A pprof profile.

    Attributes:
        source: Where it was read from, usually a path.
        columns: Its fields as arrays.
        damaged: The parts that could not be read.
        memstats: The MemStats at the end of a heap profile in text form.
        max_rss_bytes: The peak RSS at the end of such a text, since Go 1.15.
        header_total: The total in the header of a count profile in text form; an excerpt has less.
            Of an excerpt of heap records: live bytes by its header, not scaled.
        totals: The totals for fractions, by sample type, if not those of its own samples: a
            filtered profile keeps the totals of the whole.
        undropped: Its fields including the frames removed by its `drop_frames`, if there are any.
        is_difference: Whether it is the difference of two profiles.
        printed: What a table of `go tool pprof` has beyond its rows, if it was read from one.
    """

    source: str
    columns: PprofColumns
    damaged: tuple[Damage, ...] = ()
    memstats: MemStats | None = None
    max_rss_bytes: int | None = None
    totals: tuple[int, ...] | None = None
    undropped: PprofColumns | None = None
    is_difference: bool = False
    header_total: int | None = None
    printed: Printed | None = None

    @property
    def sample_types(self) -> tuple[ValueType, ...]:
        """The sample types of the profile's values, with their units."""
        return self.columns.sample_types

    @property
    def sample_type_names(self) -> list[str]:
        """The sample types by name, in the profile's order."""
        return [kind.type for kind in self.sample_types]

    @cached_property
    def default_sample_type(self) -> str:
        """The sample type used if none is given: the profile's own choice, else its last."""
        wanted = self.columns.default_sample_type
        return wanted if wanted in self.sample_type_names else self.sample_type_names[-1]

    @cached_property
    def time(self) -> pd.Timestamp | None:
        """The time of the profile, UTC; None if unknown."""
        import pandas as pd

        nanoseconds = self.columns.time_nanos
        return pd.Timestamp(nanoseconds, unit="ns", tz="UTC") if nanoseconds else None

    @property
    def period(self) -> int | None:
        """Events between samples; in heap profiles, allocated bytes (MemProfileRate)."""
        return self.columns.period or None

    @property
    def period_type(self) -> ValueType:
        """What the period counts, and its unit; both empty if the profile does not say."""
        return self.columns.period_type

    @property
    def has_stacks(self) -> bool:
        """Whether stacks have callers; a printed table has few or none."""
        return self.printed is None or self.printed.has_stacks

    @cached_property
    def kind(self) -> str:
        """heap, allocs, goroutine, goroutineleak, threadcreate, cpu, mutex, block or other.

        Also `references`, written by goref. For a printed table, also `difference`, or `bytes` if
        it does not say whether they are in use or allocated.
        """
        return kind_of(self)

    @cached_property
    def go_version(self) -> str | None:
        """The Go release in its file paths, such as `go1.24.2`; see `about.release_in`."""
        return release_in(self.columns)

    @cached_property
    def samples(self) -> pd.DataFrame:
        """A row per sample: a column for each sample type, and those of `frames.SAMPLES`."""
        return frames.samples_table(self.columns)

    @cached_property
    def stacks(self) -> pd.DataFrame:
        """A row per frame of each sample, innermost first; see `frames.STACKS`."""
        return frames.stacks_table(self.columns)

    @cached_property
    def functions(self) -> pd.DataFrame:
        """A row per function; see `frames.FUNCTIONS`."""
        return frames.functions_table(self.columns)

    @cached_property
    def mappings(self) -> pd.DataFrame:
        """A row per mapped file; see `frames.MAPPINGS`."""
        return frames.mappings_table(self.columns)

    @cached_property
    def labels(self) -> pd.DataFrame:
        """A row per label of a sample; see `frames.LABELS`."""
        return frames.labels_table(self.columns)

    def sample_type(self, name: str | None = None) -> ValueType:
        """Return a sample type by name, with pprof's rules: `inuse_space` also finds `space`.

        Without a name, the default one. Raises ValueError if the profile has no such sample type.
        """
        return self.sample_types[self._column(name)]

    def values(self, sample_type: str | None = None) -> NDArray[np.int64]:
        """Return each sample's value."""
        return np.ascontiguousarray(self.columns.value[:, self._column(sample_type)])

    def total(self, sample_type: str | None = None) -> int:
        """Return the total for pprof's percentages: the sum of the samples' absolute values.

        For a filtered profile, the total of the whole; for a `diff_base`, the total of the
        baseline.
        """
        if self.totals is not None:
            return self.totals[self._column(sample_type)]
        return int(np.abs(self.values(sample_type)).sum())

    def nodes(self, granularity: str = "functions") -> Nodes:
        """Return the nodes, which are the rows of `top`; cached."""
        kept: dict[str, Nodes] = self.__dict__.setdefault("_nodes", {})
        if granularity not in kept:
            kept[granularity] = nodes_of(self.columns, granularity)
        return kept[granularity]

    def leaves(self, samples: NDArray[np.int64], granularity: str = "functions") -> list[str]:
        """Return the innermost function of some samples, as pprof prints it; else empty."""
        nodes, columns = self.nodes(granularity), self.columns
        starts, ends = columns.stack_offsets[samples], columns.stack_offsets[samples + 1]
        names = [*nodes.names, ""]
        entry = np.append(columns.stack, 0)[starts]
        leaf = nodes.node_of_frame[nodes.frame_offsets[entry]] if len(nodes) else entry
        return [names[node] for node in np.where(ends > starts, leaf, len(names) - 1).tolist()]

    def top(
        self,
        sample_type: str | None = None,
        n: int | None = None,
        granularity: str = "functions",
        *,
        cum: bool = False,
    ) -> pd.DataFrame:
        """Return the rows of `go tool pprof -top`; columns as in `sites.SITES`.

        The first column is named after the granularity: `function`, `file`, `line`, `package`, ….
        Rows are in pprof's order; those with flat and cum 0 are left out. A heap profile is
        sampled, so 95 % intervals stand beside its values; in other profiles, and in a difference,
        the bounds are missing. Raises ValueError if the sample type or the granularity is unknown,
        TypeError if n is not a number.

        Args:
            sample_type: The sample type; the default one if None.
            n: The number of rows; all if None.
            granularity: What a row is: functions, filefunctions, files, lines, addresses (as pprof
                prints them) or packages (which pprof does not have).
            cum: Sort by cum instead of flat.
        """
        return top_sites(self, sample_type, n, granularity, cum=cum).top

    def top_rows(
        self,
        sample_type: str | None = None,
        granularity: str = "functions",
        *,
        cum: bool = False,
        n: int | None = None,
    ) -> Top:
        """Like `top`, but as columns, without intervals and without pandas."""
        values, nodes = self.values(sample_type), self.nodes(granularity)
        cumulative = self.with_printed(nodes.cum(values), nodes, sample_type)
        return top_of(nodes, nodes.flat(values), cumulative, by_cum=cum, n=n)

    def with_printed(
        self, cum: NDArray[np.int64], nodes: Nodes, sample_type: str | None = None
    ) -> NDArray[np.int64]:
        """Return the nodes' cum values: from the printed table, if it was read from one."""
        if self.printed is None:
            return cum
        return self.printed.cum_of(self.sample_type(sample_type).type, nodes, cum)

    def tree(
        self,
        sample_type: str | None = None,
        granularity: str = "functions",
        *,
        pattern: str | None = None,
        cum: bool = False,
        n: int | None = None,
    ) -> pd.DataFrame:
        """Return callers and callees, as `go tool pprof -tree` counts; see `frames.TREE` and `top`.

        With a pattern, only frames whose name matches, like `-peek`; at most n frames. Raises
        ValueError like `top`, or if RE2 rejects the pattern.
        """
        if not self.has_stacks:
            raise ValueError("a table of go tool pprof has no stacks; the profile itself has them")
        values, nodes = self.values(sample_type), self.nodes(granularity)
        rows = self.top_rows(sample_type, granularity, cum=cum, n=n).node
        tree = tree_of(nodes, values, rows, self.total(sample_type), pattern)
        return build(tree, frames.TREE)

    def peek(
        self, pattern: str, sample_type: str | None = None, granularity: str = "functions"
    ) -> pd.DataFrame:
        """Return the callers and callees of frames whose name matches a pattern; see `tree`."""
        return self.tree(sample_type, granularity, pattern=pattern)

    def edges(self, sample_type: str | None = None, granularity: str = "functions") -> pd.DataFrame:
        """Return every call with its weight; see `frames.EDGES`."""
        nodes = self.nodes(granularity)
        return frames.edges_table(edges_of(nodes, self.values(sample_type)), nodes.names)

    def traces(
        self, sample_type: str | None = None, granularity: str = "functions"
    ) -> pd.DataFrame:
        """Return every sample with its stack; see `frames.TRACES`."""
        nodes = self.nodes(granularity)
        found = frames_of(nodes, 0, len(self.columns.value))
        return frames.traces_table(found, nodes.names, self.values(sample_type))

    def tags(self, sample_type: str | None = None) -> pd.DataFrame:
        """Return the sum over the samples of each label; see `frames.TAGS`."""
        tags = tags_of(self.columns, self.values(sample_type), self.total(sample_type))
        return build_rows(tags, frames.TAGS)

    def filtered(
        self,
        *,
        focus: str | None = None,
        ignore: str | None = None,
        hide: str | None = None,
        show: str | None = None,
        show_from: str | None = None,
        prune_from: str | None = None,
        tagfocus: str | None = None,
        tagignore: str | None = None,
        noinlines: bool = False,
    ) -> Profile:
        """Return a filtered profile; fractions refer to the whole, as in `go tool pprof`.

        Raises ValueError if RE2 rejects a pattern.

        Args:
            focus: Keep only samples whose stack matches this pattern.
            ignore: Remove samples whose stack matches.
            hide: Remove matching frames.
            show: Keep only matching frames.
            show_from: Remove the frames outside of the outermost matching one.
            prune_from: Remove the frames inside of the innermost matching one.
            tagfocus: Keep only samples with such a label; see `calls.tags.samples_with`.
            tagignore: Remove samples with such a label.
            noinlines: Attribute inlined calls to the function that they were inlined into.
        """
        part = filters.by_name(self.columns, focus=focus, ignore=ignore, hide=hide, show=show)
        if show_from is not None:
            part = filters.show_from(part, show_from)
        if tagfocus is not None:
            part = filters.keep_samples(part, samples_with(part, tagfocus))
        if tagignore is not None:
            part = filters.keep_samples(part, ~samples_with(part, tagignore))
        if prune_from is not None:
            part = filters.prune_from(part, prune_from)
        if noinlines:
            part = filters.without_inlined(part)
        return self._part(part)

    def focus(self, pattern: str) -> Profile:
        """Keep only samples whose stack matches a pattern; see `filtered`."""
        return self.filtered(focus=pattern)

    def ignore(self, pattern: str) -> Profile:
        """Remove samples whose stack matches a pattern; see `filtered`."""
        return self.filtered(ignore=pattern)

    def diff(self, base: Profile, *, as_diff_base: bool = True, normalize: bool = False) -> Profile:
        """Subtract a baseline; raises ValueError if the sample types differ.

        Fractions refer to the baseline, as with pprof's `-diff_base`; without `as_diff_base`, to
        the difference, as with `-base`, which is for two readings of counters that only grow.
        `normalize` first scales this profile to the sums of the baseline.
        """
        if (self.printed is None) != (base.printed is None):
            raise ValueError("a table of go tool pprof against a profile: only two tables compare")
        own, other = self.undropped or self.columns, base.undropped or base.columns
        columns = filters.without_dropped(difference(own, other, normalize=normalize))
        damaged = (*self.damaged, *base.damaged)
        of_base, of_all = (np.abs(side.value).sum(axis=0).tolist() for side in (other, columns))
        totals = None
        if as_diff_base and any(of_base):
            totals = tuple(total or own for total, own in zip(of_base, of_all, strict=True))
        printed = None
        if self.printed is not None and base.printed is not None:
            printed = self.printed.less(base.printed)
        return Profile(
            self.source, columns, damaged, totals=totals, is_difference=True, printed=printed
        )

    def merge(self, *others: Profile) -> Profile:
        """Add up this profile and others; raises ValueError if the sample types differ."""
        profiles = (self, *others)
        if any(profile.printed is not None for profile in profiles):
            raise ValueError("a table of go tool pprof leaves rows out, so it cannot be added up")
        summed = merged([profile.undropped or profile.columns for profile in profiles])
        damaged = tuple(damage for profile in profiles for damage in profile.damaged)
        return Profile(self.source, filters.without_dropped(summed), damaged)

    def to_pprof(self) -> bytes:
        """Return the profile as gzipped profile.proto, which `go tool pprof` can read."""
        return write_pprof(self.undropped or self.columns)

    def to_folded(
        self, sample_type: str | None = None, granularity: str = "functions",
        shown: Callable[[str], str] = str,
    ) -> str:  # fmt: skip
        """Return the profile as folded stacks: `main.main;main.work 120`, a line per stack.

        `shown` replaces the frames' names.
        """
        stacks = stacks_of(self.nodes(granularity), self.values(sample_type))
        return write_folded((tuple(map(shown, frames)), value) for frames, value in stacks)

    def _part(self, columns: PprofColumns) -> Profile:
        """Return a profile of some of the samples or frames, with the totals of the whole."""
        totals = tuple(map(self.total, self.sample_type_names))
        return replace(self, columns=columns, totals=totals, undropped=None)

    def _column(self, name: str | None) -> int:
        names = self.sample_type_names
        wanted = self.default_sample_type if name is None else name
        for index, sample_type in enumerate(names):
            if sample_type in (wanted, str(wanted).removeprefix("inuse_")):
                return index
        near = did_you_mean(wanted, names)
        known = ", ".join(names)
        raise ValueError(
            text("sample type {}, the profile has {}{}", Quoted(repr(name)), known, near)
        )

    def __sub__(self, base: Profile) -> Profile:
        """Subtract an earlier profile; see `diff`."""
        return self.diff(base) if isinstance(base, Profile) else NotImplemented

    def __repr__(self) -> str:
        return f"<Profile {self.source}: {self.kind}, {len(self.columns.value)} samples>"

    def _repr_html_(self) -> str:
        return html_of(self)
