"""`gomem compare BEFORE AFTER`: did it change, by how much, and could it be noise?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gomem.cli.config import budgets_in, configuration, failing_on
from gomem.cli.options import Force, Output  # noqa: TC001 - typer reads the annotations
from gomem.cli.output import check_writable, file_named_after, tell, tell_where, write
from gomem.cli.progress import reading_progress
from gomem.cli.terminal import terminal_text
from gomem.errors import CaptureError
from gomem.sources.globs import matching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.analysis.comparison.before_after import Comparison
    from gomem.diagnosis.budgets import Budget
    from gomem.views.document import Document


class Format(StrEnum):
    """What `--format` takes."""

    text = "text"
    html = "html"
    json = "json"
    md = "md"
    pr = "pr"
    junit = "junit"


ENDINGS = {"html": Format.html, "json": Format.json, "md": Format.md, "xml": Format.junit}


def compare(
    before: Annotated[
        str | None,
        typer.Argument(help="A capture or a benchmark file from before, or a quoted glob of runs."),
    ] = None,
    after: Annotated[str | None, typer.Argument(help="The same, from after.")] = None,
    *,
    also_before: Annotated[
        list[str] | None,
        typer.Option("--before", "--also-before", help="A run from before; can be repeated."),
    ] = None,
    also_after: Annotated[
        list[str] | None,
        typer.Option("--after", "--also-after", help="A run from after; can be repeated."),
    ] = None,
    requests: Annotated[
        int | None,
        typer.Option(
            min=1, help="Requests of each run between its moments, where no load test says so."
        ),
    ] = None,
    output: Output = None,
    output_format: Annotated[
        Format | None, typer.Option("--format", help="Default: as -o names it, else text.")
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            help="Exit with 1 if the verdict is worse or mixed (regression), or a budget is "
            "broken (rss=+10%,gc_cpu=+2pp,allocs/op=+0)."
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Budgets; default: gomem.toml in the working directory or above."),
    ] = None,
    force: Force = False,
) -> None:
    """Compare two captures or benchmark files.

    Each metric is better, worse, changed, ~ where the difference may be noise, or ? where too few
    values can tell. One capture on each side shows what changed; how much two runs differ anyway,
    only several of each side can say: a quoted glob, or --before and --after, each repeated. HTML
    goes to a file named after the two, everything else to standard output, unless -o names a file.
    A broken budget, of --fail-on or of gomem.toml, ends it with 1.
    """
    on_regression, asked = failing_on(fail_on)
    known = configuration(config)
    budgets = ({} if known is None else budgets_in(known)) | asked
    old, new = _runs(before, also_before, "before"), _runs(after, also_after, "after")
    chosen = output_format or _format_of(output)
    target = _target(old[0], new[0]) if output is None and chosen is Format.html else output
    check_writable(target, force=force, inputs=[*old, *new])
    comparison = _compare(old, new, list(budgets.values()), requests)
    if comparison.damaged:
        tell(_unread(comparison))
    names = names_apart(old, new)
    write(_rendered(comparison, chosen, target, names), target)
    if target is not None:
        tell_where(target)
    if _fails(comparison, on_regression=on_regression):
        raise typer.Exit(1)


def _fails(comparison: Comparison, *, on_regression: bool) -> bool:
    """Whether what was asked for came about; what cannot be told does not fail, and is told."""
    states = comparison.budgets.get("state", ())
    if unsure := sum(state == "?" for state in states):
        tell(f"{unsure} of {len(states)} budgets cannot be told; see Budgets for what could")
    regressed = on_regression and comparison.judgement.verdict in {"worse", "mixed"}
    return regressed or "broken" in set(states)


def _runs(first: str | None, others: Sequence[str] | None, side: str) -> list[Path]:
    """The captures of one side, in the order given; those of a glob in the order of their names.

    Raises:
        CaptureError: There are none.
    """
    named = [*([first] if first is not None else []), *(others or [])]
    if not named:
        raise CaptureError(f"nothing from {side}; wanted BEFORE AFTER, or --before and --after")
    return [Path(path) for name in named for path in matching(name)]


def names_apart(before: Sequence[Path], after: Sequence[Path]) -> tuple[str, str]:
    """What the two sides are called: the ends of their paths, just long enough to differ.

    A report is passed on, and should not say where a capture lies; but two captures may have the
    same name in different folders.
    """
    paths = [path.resolve().parts for path in (*before, *after)]
    length = 1
    while length < max(map(len, paths)) and len({path[-length:] for path in paths}) < len(
        set(paths)
    ):
        length += 1
    names = ["/".join(path[-length:]) for path in paths]
    folders = [{path.resolve().parent for path in side} for side in (before, after)]
    if min(len(before), len(after)) > 1 and list(map(len, folders)) == [1, 1]:
        (old,), (new,) = folders
        if old != new:
            ends = names_apart([old], [new])
            return f"{ends[0]} ({len(before)} runs)", f"{ends[1]} ({len(after)} runs)"
    return ", ".join(names[: len(before)]), ", ".join(names[len(before) :])


def _format_of(output: Path | None) -> Format:
    ending = "" if output is None else output.suffix.removeprefix(".").lower()
    return ENDINGS.get(ending, Format.text)


def _target(before: Path, after: Path) -> Path:
    return file_named_after(str(after), f"-against-{file_named_after(str(before), '.gomem.html')}")


def _compare(
    before: Sequence[Path],
    after: Sequence[Path],
    budgets: Sequence[Budget],
    requests: int | None,
) -> Comparison:
    from gomem.diagnosis.budgets import within_budgets
    from gomem.diagnosis.comparison import compare as compare_sides
    from gomem.diagnosis.comparison import open_side

    with reading_progress() as progress:
        old, new = ([open_side(path, progress) for path in side] for side in (before, after))
    return within_budgets(compare_sides(old, new, requests=requests), budgets)


def _unread(comparison: Comparison) -> str:
    damaged = comparison.damaged
    count = "1 place" if len(damaged) == 1 else f"{len(damaged)} places"
    more = " …" if len(damaged) > 1 else ""
    return f"{count} could not be read: {damaged[0]}{more}"


def _rendered(
    comparison: Comparison, chosen: Format, target: Path | None, names: tuple[str, str]
) -> str:
    """The comparison in the format asked for; on a terminal, as wide as it is."""
    before, after = names
    if chosen is Format.json:
        from gomem.views.json.compare import render_compare_json

        return render_compare_json(comparison, before=before, after=after)
    if chosen is Format.junit:
        from gomem.views.exports.junit import render_junit

        return render_junit(comparison, before=before, after=after)
    if chosen is Format.pr:
        from gomem.views.comparison.comment import render_comment

        return render_comment(comparison, before=before, after=after)
    from gomem.views.comparison.document import comparison_document

    document = comparison_document(comparison, before=before, after=after)
    if chosen is Format.text and target is None:
        return terminal_text(document)
    return _writer(chosen)(document)


def _writer(chosen: Format) -> Callable[[Document], str]:
    if chosen is Format.html:
        from gomem.views.writers.html import write_html

        return write_html
    if chosen is Format.md:
        from gomem.views.writers.markdown import write_markdown

        return write_markdown
    from gomem.views.writers.text import write_text

    return write_text
