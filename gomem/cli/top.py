"""`gomem top PROFILE`: the largest sites as pprof counts them, with sampling intervals."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gomem.cli import redaction
from gomem.cli.options import Force, Output, Redact  # noqa: TC001 - typer reads the annotations
from gomem.cli.output import check_writable, tell_damage, write
from gomem.errors import CaptureError
from gomem.text import File, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.profiles.top_difference import TopDifference
    from gomem.inputs.pprof.columns import ValueType
    from gomem.inputs.pprof.sites import AllocationSites
    from gomem.inputs.pprof.table import Profile
    from gomem.views.share import Hidden


Format = StrEnum("Format", "text csv json folded pprof")  # values of `--format`

# Values of `--granularity`.
Granularity = StrEnum(
    "Granularity", "functions filefunctions files lines addresses packages modules"
)

SHOWN = 30  # default number of rows in text; CSV and JSON have all


Pattern = Annotated[str | None, typer.Option(metavar="RE", rich_help_panel="Filters")]
View = Annotated[bool, typer.Option(rich_help_panel="Views")]


def top(
    profiles: Annotated[list[Path], typer.Argument(metavar="PROFILE…")],
    *,
    sample_type: str | None = None,
    granularity: Granularity = Granularity.functions,
    cum: Annotated[bool, typer.Option("--cum")] = False,
    n: Annotated[
        int | None,
        typer.Option("-n", min=1, help=f"Rows to show. Default: {SHOWN} for text, else all."),
    ] = None,
    base: Path | None = None,
    diff_base: Path | None = None,
    normalize: bool = False,
    focus: Pattern = None,
    ignore: Pattern = None,
    hide: Pattern = None,
    show: Pattern = None,
    show_from: Pattern = None,
    prune_from: Pattern = None,
    tagfocus: Pattern = None,
    tagignore: Pattern = None,
    noinlines: View = False,
    tree: View = False,
    peek: Annotated[str | None, typer.Option(metavar="RE")] = None,
    traces: View = False,
    tags: View = False,
    escapes: Annotated[list[Path] | None, typer.Option(rich_help_panel="Views")] = None,
    output_format: Annotated[Format, typer.Option("--format")] = Format.text,
    output: Output = None,
    redact: Redact = False,
    force: Force = False,
) -> None:
    """Show the functions that allocate most in a profile, with 95 % intervals.

    Examples:
        gomem top heap.pb.gz -n 20
        gomem top heap.pb.gz --base before.pb.gz --sample-type alloc_space --cum

    Args:
        profiles: Profiles; several are added up.
        sample_type: One of the profile's sample types, such as alloc_space.
        granularity: What a row is.
        cum: Order by cum, not by flat.
        base: Subtract this earlier profile of the same process.
        diff_base: Subtract this profile; shares are relative to it.
        normalize: Scale to the base's total first.
        focus: Only stacks with a matching frame.
        ignore: Only stacks without a matching frame.
        hide: Leave out matching frames.
        show: Only matching frames.
        show_from: Nothing above a matching frame.
        prune_from: Nothing below a matching frame.
        tagfocus: Only samples with a matching label.
        tagignore: Only samples without a matching label.
        noinlines: Count inlined calls as part of their callers.
        tree: Show callers and callees of each row.
        peek: Show callers and callees of matching rows.
        traces: Show every stack.
        tags: Show the total for each label.
        escapes: Show why lines allocate, from the output of go build -gcflags=-m=2.
        output_format: What to write.
    """
    from gomem.views.profile.shown import names_shown, rows_shown, sites_shown
    from gomem.views.profile.top import RENDERED
    from gomem.views.share import Hidden

    hidden = redaction.hide(Hidden(redact=redact))
    read = [*profiles, *(escapes or []), *(path for path in (base, diff_base) if path is not None)]
    check_writable(output, force=force, inputs=read)
    filters = {
        "focus": focus, "ignore": ignore, "hide": hide, "show": show, "show_from": show_from,
        "prune_from": prune_from, "tagfocus": tagfocus, "tagignore": tagignore,
        "noinlines": noinlines,
    }  # fmt: skip
    view = _chosen(tree=tree, peek=peek is not None, traces=traces, tags=tags, escapes=escapes)
    if n is None and output_format is Format.text:
        n = SHOWN
    try:
        question = _Question(profiles, base, diff_base, normalize, filters)
        part = question.part
        if output_format is Format.pprof:
            if output is None:
                raise CaptureError("a profile is not text; name a file with -o FILE.pb.gz")
            write(_profile(part, hidden), output)
            return
        named = names_shown(granularity, hidden)
        if output_format is Format.folded:
            made = part.to_folded(sample_type, granularity, named)
        elif view:
            rows = {
                "traces": lambda: part.traces(sample_type, granularity),
                "tags": lambda: part.tags(sample_type),
                "tree": lambda: part.tree(sample_type, granularity, cum=cum, n=n),
                "peek": lambda: part.peek(peek or "", sample_type, granularity),
                "escapes": lambda: _reasons(part, escapes or [], sample_type, n),
            }[view]()
            shown = rows_shown(rows, named, hidden)
            made = _render_view(view, shown, part.sample_type(sample_type), output_format)
        else:
            sites = question.sites(sample_type, n, granularity, cum=cum)
            made = RENDERED[output_format](sites_shown(sites, named) if redact else sites)
    except ValueError as error:
        if type(error) is not ValueError:  # errors about a file already name the location
            raise
        raise CaptureError(text("{}: {}", File(profiles[0]), error.args[0])) from error
    write(made, output)


def _profile(part: Profile, hidden: Hidden) -> bytes:
    from gomem.views.exports.profile import render_profile

    return render_profile(part, hidden) if hidden.redact else part.to_pprof()


class _Question:
    """The question: profiles read, added up, compared and filtered."""

    def __init__(
        self, profiles: list[Path], base: Path | None, diff_base: Path | None, normalize: bool,
        filters: dict[str, Any],
    ) -> None:  # fmt: skip
        if base is not None and diff_base is not None:
            raise CaptureError("--base and --diff-base name two profiles to subtract; choose one")
        before = base if base is not None else diff_base
        if normalize and before is None:
            raise CaptureError("--normalize needs a profile to scale to; add --base or --diff-base")
        first, *others = map(_read, profiles)
        self.filters = {name: value for name, value in filters.items() if value}
        self.one_process = base is not None
        self.normalize = normalize
        self.after = first.merge(*others) if others else first
        self.before = None if before is None else _read(before)
        whole = self.after
        if self.before is not None:
            whole = whole.diff(self.before, as_diff_base=diff_base is not None, normalize=normalize)
        self.part = self._filtered(whole)

    def sites(
        self, sample_type: str | None, n: int | None, granularity: str, *, cum: bool
    ) -> AllocationSites | TopDifference:
        """Return the rows, with intervals if there are any."""
        if self.before is None:
            from gomem.inputs.pprof.sites import top_sites

            return top_sites(self.part, sample_type, n, granularity, cum=cum)
        from gomem.analysis.profiles.top_difference import top_difference

        return top_difference(
            self.part, self._filtered(self.after), self._filtered(self.before), sample_type, n=n,
            granularity=granularity, cum=cum, one_process=self.one_process,
            normalized=self.normalize,
        )  # fmt: skip

    def _filtered(self, profile: Profile) -> Profile:
        return profile.filtered(**self.filters) if self.filters else profile


def _read(path: Path) -> Profile:
    from gomem.inputs.pprof.read import read_pprof

    part = None
    if ":" in path.name and not path.exists():
        from gomem.capture.parts import part_named

        part = part_named(path)
    profile = read_pprof(part or path)
    tell_damage(profile.damaged)
    return profile


def _reasons(
    part: Profile, escapes: list[Path], sample_type: str | None, n: int | None
) -> pd.DataFrame:
    """Allocation lines, with the compiler's reasons from any of its outputs."""
    import pandas as pd

    from gomem.analysis.profiles.reasons import site_reasons
    from gomem.inputs.escapes.table import read_escapes

    told = [read_escapes(path) for path in escapes]
    tell_damage(place for analysis in told for place in analysis.damaged)
    verdicts = pd.concat([analysis.on_the_heap for analysis in told], ignore_index=True)
    return site_reasons(part, verdicts, sample_type, n)


def _chosen(**asked: Any) -> str:
    """The one requested view; empty if there is none."""
    chosen = [name for name, wanted in asked.items() if wanted]
    if len(chosen) > 1:
        options = " and ".join(f"--{name}" for name in chosen)
        raise CaptureError(f"{options} are different views; choose one")
    return chosen[0] if chosen else ""


def _render_view(view: str, rows: pd.DataFrame, chosen: ValueType, output_format: str) -> str:
    from gomem.views.profile import calls

    if output_format == "csv":
        from gomem.views.spreadsheet import render_csv

        return render_csv(rows)
    if output_format == "json":
        return calls.render_rows_json(rows, view, chosen.type, chosen.unit)
    return calls.RENDERED_TEXT[view](rows, chosen.unit)
