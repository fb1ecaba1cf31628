"""A pprof profile: its frames, its views as in `go tool pprof`, its parts and differences.

Values keep the unit that the profile declares: bytes, counts, or nanoseconds in CPU, block and
mutex profiles. They are whole numbers and add up exactly.
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
        source: What it was read from: as a rule, a path.
        columns: Its fields as arrays.
        damaged: What of it could not be read.
        memstats: The MemStats that a heap profile in text ends with.
        max_rss_bytes: The peak RSS that such a text ends with, since Go 1.15.
        header_total: How many the header of a text of counts says there are; an excerpt has fewer.
            Of an excerpt of heap records, live bytes by its header, not scaled.
        totals: What fractions are of, by sample type, if not of its own samples: a part of a
            profile keeps the total of the whole.
        undropped: Its fields with the frames that its `drop_frames` leaves out, if there are any.
        is_difference: Whether it is what one profile has more than another.
        printed: What a table of `go tool pprof` says beside its rows, where it was read from one.
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
        """What the profile's numbers count, and their units."""
        return self.columns.sample_types

    @property
    def sample_type_names(self) -> list[str]:
        """The sample types by name, in the profile's order."""
        return [kind.type for kind in self.sample_types]

    @cached_property
    def default_sample_type(self) -> str:
        """The sample type meant when none is named: the profile's own choice, or its last."""
        wanted = self.columns.default_sample_type
        return wanted if wanted in self.sample_type_names else self.sample_type_names[-1]

    @cached_property
    def time(self) -> pd.Timestamp | None:
        """When it was taken, UTC."""
        import pandas as pd

        nanoseconds = self.columns.time_nanos
        return pd.Timestamp(nanoseconds, unit="ns", tz="UTC") if nanoseconds else None

    @property
    def period(self) -> int | None:
        """Events between samples: in heap profiles, allocated bytes (MemProfileRate)."""
        return self.columns.period or None

    @property
    def period_type(self) -> ValueType:
        """What the period counts, and its unit; both empty if the profile does not say."""
        return self.columns.period_type

    @property
    def has_stacks(self) -> bool:
        """Whether its stacks say who called whom; a table has few or none."""
        return self.printed is None or self.printed.has_stacks

    @cached_property
    def kind(self) -> str:
        """heap, allocs, goroutine, goroutineleak, threadcreate, cpu, mutex, block or other.

        `references` says who holds what, as goref writes it. Of a table that was printed, it may
        also be `difference`, or `bytes` where it does not say whether they are in use.
        """
        return kind_of(self)

    @cached_property
    def go_version(self) -> str | None:
        """The Go release that its paths name, such as `go1.24.2`; see `about.release_in`."""
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
        """The sample type of a name, by pprof's rules: `inuse_space` also finds `space`.

        The default one without a name; ValueError if the profile has no such sample type.
        """
        return self.sample_types[self._column(name)]

    def values(self, sample_type: str | None = None) -> NDArray[np.int64]:
        """Each sample's value of a sample type."""
        return np.ascontiguousarray(self.columns.value[:, self._column(sample_type)])

    def total(self, sample_type: str | None = None) -> int:
        """What pprof's percentages are of: the sum of the samples' magnitudes.

        Of a part of a profile it is that of the whole; of a `diff_base`, that of the base.
        """
        if self.totals is not None:
            return self.totals[self._column(sample_type)]
        return int(np.abs(self.values(sample_type)).sum())

    def nodes(self, granularity: str = "functions") -> Nodes:
        """What `top` has rows for; kept for the next call."""
        kept: dict[str, Nodes] = self.__dict__.setdefault("_nodes", {})
        if granularity not in kept:
            kept[granularity] = nodes_of(self.columns, granularity)
        return kept[granularity]

    def leaves(self, samples: NDArray[np.int64], granularity: str = "functions") -> list[str]:
        """The innermost function of these samples, as pprof prints it; empty without a stack."""
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
        """Who has the most, as `go tool pprof -top` counts: rows as in `sites.SITES`.

        The first column is named for what a row is: `function`, `file`, `line`, `package`, ….
        They are in pprof's order, without those that are 0 in both. A heap profile is sampled, so
        its numbers have their 95 % intervals beside them; elsewhere, and in a difference, the
        bounds are missing. ValueError where there is no such sample type or granularity, TypeError
        where n is no number.

        Args:
            sample_type: Which of the profile's values; the default one if None.
            n: How many rows; all if None.
            granularity: What a row stands for: functions, filefunctions, files, lines, addresses
                (as pprof prints them) or packages (which pprof does not have).
            cum: Order by cum rather than by flat.
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
        """The same as columns, without intervals or a frame; see `top`."""
        values, nodes = self.values(sample_type), self.nodes(granularity)
        cumulative = self.with_printed(nodes.cum(values), nodes, sample_type)
        return top_of(nodes, nodes.flat(values), cumulative, by_cum=cum, n=n)

    def with_printed(
        self, cum: NDArray[np.int64], nodes: Nodes, sample_type: str | None = None
    ) -> NDArray[np.int64]:
        """The cum of nodes: what a table says, if this was read from one; else as its stacks do."""
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
        """Who calls whom, as `go tool pprof -tree` counts; see `frames.TREE`, and `top`.

        With a pattern, only frames in whose name it is found, as `-peek` has it; of n frames, or
        all. ValueError as of `top`, or where RE2 refuses the pattern.
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
        """The callers and callees of the frames in whose name a pattern is found; see `tree`."""
        return self.tree(sample_type, granularity, pattern=pattern)

    def edges(self, sample_type: str | None = None, granularity: str = "functions") -> pd.DataFrame:
        """Every call with what passes through it; see `frames.EDGES`."""
        nodes = self.nodes(granularity)
        return frames.edges_table(edges_of(nodes, self.values(sample_type)), nodes.names)

    def traces(
        self, sample_type: str | None = None, granularity: str = "functions"
    ) -> pd.DataFrame:
        """Every sample with its stack; see `frames.TRACES`."""
        nodes = self.nodes(granularity)
        found = frames_of(nodes, 0, len(self.columns.value))
        return frames.traces_table(found, nodes.names, self.values(sample_type))

    def tags(self, sample_type: str | None = None) -> pd.DataFrame:
        """What the samples of each label add up to; see `frames.TAGS`."""
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
        """A part of the profile; fractions stay those of the whole, as in `go tool pprof`.

        ValueError where RE2 refuses a pattern.

        Args:
            focus: Only samples in whose stack this pattern is found.
            ignore: Only samples in whose stack it is not found.
            hide: Without the frames in which it is found.
            show: With no frames but those in which it is found.
            show_from: Without the frames outside of the outermost one in which it is found.
            prune_from: Without the frames inside of the innermost one in which it is found.
            tagfocus: Only samples with such a label; see `calls.tags.samples_with`.
            tagignore: Only samples without one.
            noinlines: Inlined calls count to the function that they were inlined into.
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
        """Only samples in whose stack a pattern is found; see `filtered`."""
        return self.filtered(focus=pattern)

    def ignore(self, pattern: str) -> Profile:
        """Only samples in whose stack a pattern is not found; see `filtered`."""
        return self.filtered(ignore=pattern)

    def diff(self, base: Profile, *, as_diff_base: bool = True, normalize: bool = False) -> Profile:
        """What this profile has more than a base; ValueError if the two do not count the same.

        Fractions are of the base, as with pprof's `-diff_base`; else of the difference, as with
        `-base`, which is for two readings of counts that only grow. If asked to `normalize`, this
        profile is scaled first, so that both have the same sums.
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
        """This profile and others as one, samples of one stack and labels added; or ValueError."""
        profiles = (self, *others)
        if any(profile.printed is not None for profile in profiles):
            raise ValueError("a table of go tool pprof leaves rows out, so it cannot be added up")
        summed = merged([profile.undropped or profile.columns for profile in profiles])
        damaged = tuple(damage for profile in profiles for damage in profile.damaged)
        return Profile(self.source, filters.without_dropped(summed), damaged)

    def to_pprof(self) -> bytes:
        """The profile as gzipped profile.proto, which `go tool pprof` and others read."""
        return write_pprof(self.undropped or self.columns)

    def to_folded(
        self, sample_type: str | None = None, granularity: str = "functions",
        shown: Callable[[str], str] = str,
    ) -> str:  # fmt: skip
        """The profile as folded stacks: `main.main;main.work 120`, a line per stack.

        `shown` says what stands in the place of a frame's name.
        """
        stacks = stacks_of(self.nodes(granularity), self.values(sample_type))
        return write_folded((tuple(map(shown, frames)), value) for frames, value in stacks)

    def _part(self, columns: PprofColumns) -> Profile:
        """A profile of some of the samples or frames, with the totals of the whole."""
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
        """What changed since an earlier one; see `diff`."""
        return self.diff(base) if isinstance(base, Profile) else NotImplemented

    def __repr__(self) -> str:
        return f"<Profile {self.source}: {self.kind}, {len(self.columns.value)} samples>"

    def _repr_html_(self) -> str:
        return html_of(self)
