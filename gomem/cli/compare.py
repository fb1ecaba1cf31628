"""`gomem compare BEFORE AFTER`: did memory change, by how much, and could it be noise?"""

from __future__ import annotations

import re
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gomem.cli.config import budgets_in, configuration, failing_on
from gomem.cli.options import Force, Output, Redact  # noqa: TC001 - typer reads the annotations
from gomem.cli.output import (
    check_writable,
    chosen_format,
    file_named_after,
    tell,
    tell_where,
    write,
)
from gomem.cli.progress import stages
from gomem.cli.redaction import hide, is_redacting
from gomem.cli.terminal import written_as
from gomem.errors import CaptureError, counted_places
from gomem.sources.paths import matching
from gomem.text import Quoted, joined, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.comparison.budgets import Budget
    from gomem.comparison.builds import BuildComparison
    from gomem.comparison.samples import Comparison
    from gomem.views.share import Hidden


Format = StrEnum("Format", "text html json md pr junit")  # values of `--format`

# For each format: the module of views, its function for two sides, and for several builds.
VIEWS = {
    "json": ("json.compare", "render_compare_json", "render_builds_json"),
    "junit": ("exports.junit", "render_junit", "render_builds_junit"),
    "pr": ("comparison.comment", "render_comment", "render_builds_comment"),
}
ENDINGS = {
    "html": Format.html, "htm": Format.html, "json": Format.json, "md": Format.md,
    "txt": Format.text, "text": Format.text, "xml": Format.junit,
}  # fmt: skip


def compare(
    sides: Annotated[list[str] | None, typer.Argument(metavar="BEFORE AFTER…")] = None,
    *,
    also_before: Annotated[list[str] | None, typer.Option("--before", "--also-before")] = None,
    also_after: Annotated[list[str] | None, typer.Option("--after", "--also-after")] = None,
    requests: Annotated[int | None, typer.Option(min=1)] = None,
    rename: Annotated[list[str] | None, typer.Option(metavar="OLD=NEW")] = None,
    min_change: str | None = None,
    margin: str | None = None,
    output: Output = None,
    output_format: Annotated[Format | None, typer.Option("--format")] = None,
    fail_on: str | None = None,
    config: Path | None = None,
    redact: Redact = False,
    force: Force = False,
) -> None:
    """Compare captures or benchmark files: two sides, or several builds with the first.

    Each metric is better, worse or changed, ~ if the difference could be noise, or ? if there are
    too few values to decide. One capture per side shows what changed, but not how much two runs of
    the same build differ. For that, give several per side: a quoted glob, or repeated --before and
    --after. More than two sides are builds, releases, settings or pods, each compared with the
    first. HTML goes to a file named after the sides, every other format to standard output, unless
    -o names a file. A broken budget, from --fail-on or gomem.toml, makes the exit code 1.

    Examples:
        gomem compare before.txt after.txt
        gomem compare 'old/*' 'new/*' --fail-on rss=+10%,allocs/op=+0

    Args:
        sides: Each is a capture, a benchmark file, or a quoted glob of runs. With more than two,
            the first is the baseline of the others.
        also_before: A run from before; can be repeated.
        also_after: A run from after; can be repeated.
        requests: Requests of each run between its snapshots, if the captures have no load test.
        rename: A function, type or package path before and after. It is literal and includes
            everything inside; can be repeated.
        min_change: A smaller change is neither better nor worse. Default: 0.5%.
        margin: Test which metrics are no worse than by this much, such as 2%.
        output_format: Default: by the ending of -o, else text.
        fail_on: Exit with 1 if the verdict is worse or mixed (regression), or a budget is broken
            (rss=+10%,gc_cpu=+2pp,allocs/op=+0).
        config: Budgets; default: gomem.toml in the working directory or above.
    """
    on_regression, set_here = failing_on(fail_on)
    known = configuration(config)
    budgets = ({} if known is None else budgets_in(known)) | set_here
    runs = _sides(sides or [], also_before or [], also_after or [])
    chosen = chosen_format(output, output_format, ENDINGS) or Format.text
    target = _target(*runs) if output is None and chosen is Format.html else output
    inputs = [path for side in runs for path in side]
    check_writable(target, force=force, inputs=[*inputs, *([] if known is None else [known])])
    names = _unnamed(runs) if redact else names_apart(*runs)
    asked: dict[str, Any] = {"requests": requests, "margin": _share(margin, "--margin")}
    asked["renames"] = rename or []
    if (least := _share(min_change, "--min-change")) is not None:
        asked["least_change"] = least
    comparison, hidden = _compare(runs, names, list(budgets.values()), asked, redact=redact)
    if damaged := comparison.damaged:
        more, places = " …" if len(damaged) > 1 else "", joined(", ", counted_places(damaged))
        tell(text("{}: {}{}", places, damaged[0].message, more))
    write(_rendered(comparison, chosen, target, _with_runs(names, runs), hidden), target)
    if target is not None:
        tell_where(target)
    if _fails(comparison, on_regression=on_regression):
        raise typer.Exit(1)


def _share(given: str | None, option: str) -> float | None:
    """Convert a percentage to a fraction; raises CaptureError if invalid, or 100 % or more."""
    if given is None:
        return None
    found = re.fullmatch(r"([0-9]{1,2}(?:\.[0-9]{1,9})?) ?%", given.strip())
    if found is None:
        raise CaptureError(text("{} {}: wanted per cent, such as 2%", option, Quoted(given)))
    return float(found[1]) / 100


def _fails(comparison: Comparison | BuildComparison, *, on_regression: bool) -> bool:
    """Whether the command fails; undecided budgets are only reported."""
    states = comparison.budgets.get("state", ())
    if unsure := sum(state == "?" for state in states):
        tell(f"{unsure} of {len(states)} budgets need more runs to decide; see Budgets")
    regressed = on_regression and comparison.judgement.verdict in {"worse", "mixed"}
    return regressed or "broken" in set(states)


def _sides(named: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[list[Path]]:
    """The captures of each side, `before` or the baseline first; no side may be empty."""
    if len(named) > 2 and (before or after):
        raise CaptureError(
            f"{len(named)} sides and --before or --after, which need two sides; give each side as "
            "a quoted glob of its runs"
        )
    globs = [[glob] for glob in named]
    if before or after or len(named) < 2:
        globs += [[]] * (2 - len(named))
        globs = [[*globs[0], *before], [*globs[1], *after]]
    sides = [[Path(path) for name in side for path in matching(name)] for side in globs]
    if not all(sides):
        given = "one capture given" if any(sides) else "no capture given"
        raise CaptureError(f"{given}; compare needs two: BEFORE AFTER, or --before and --after")
    return sides


def names_apart(*sides: Sequence[Path]) -> tuple[str, ...]:
    """Return names of the sides: the ends of their paths, just long enough to differ.

    If each side's runs have a separate folder, the folder names the side. A report is passed on and
    should not contain paths; but two captures can have the same name in different folders.
    """
    if min(map(len, sides)) > 1 and len(folders := _folders(sides)) == len(sides):
        return names_apart(*([folder] for folder in folders))
    paths = [path.resolve().parts for side in sides for path in side]
    length, longest, different = 1, max(map(len, paths)), len(set(paths))
    while length < longest and len({path[-length:] for path in paths}) < different:
        length += 1
    ends = [["/".join(path.resolve().parts[-length:]) for path in side] for side in sides]
    return tuple(map(", ".join, ends))


def _unnamed(sides: Sequence[Sequence[Path]]) -> tuple[str, ...]:
    """Names of the sides in redacted output."""
    if len(sides) == 2:
        return "before", "after"
    return ("baseline", *(f"build-{number}" for number in range(1, len(sides))))


def _folders(sides: Sequence[Sequence[Path]]) -> list[Path]:
    """The folder of each side's runs, if each side has a separate folder; else empty."""
    folders = [{path.resolve().parent for path in side} for side in sides]
    alone = [folder for of_side in folders for folder in of_side]
    return alone if set(map(len, folders)) == {1} and len(set(alone)) == len(alone) else []


def _with_runs(names: Sequence[str], sides: Sequence[Sequence[Path]]) -> list[str]:
    """Add the number of runs to names that do not name them."""
    of_folders = min(map(len, sides)) > 1 and _folders(sides)
    counts = [f" ({len(side)} runs)" if of_folders else "" for side in sides]
    return [name + count for name, count in zip(names, counts, strict=True)]


def _target(before: Sequence[Path], *after: Sequence[Path]) -> Path:
    if is_redacting():
        return Path("comparison.gomem.html")
    against = f"-against-{file_named_after(str(before[0]), '.gomem.html')}"
    more = f"-and-{len(after) - 1}-more" if len(after) > 1 else ""
    return file_named_after(str(after[0][0]), f"{more}{against}")


def _compare(
    runs: Sequence[Sequence[Path]], names: Sequence[str], budgets: Sequence[Budget],
    asked: Mapping[str, Any], *, redact: bool,
) -> tuple[Comparison | BuildComparison, Hidden]:  # fmt: skip
    """Compare, and return the result with what to hide."""
    from gomem.comparison.budgets import within_budgets
    from gomem.comparison.builds import compare_many
    from gomem.comparison.comparison import compare as compare_sides
    from gomem.comparison.comparison import open_side
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.numbered import Build
    from gomem.views.share import Hidden

    with stages() as at:
        sides = [[open_side(path, at.reading) for path in side] for side in runs]
        opened = (run for side in sides for run in side)
        captures = (run.capture for run in opened if isinstance(run, Diagnosis))
        hidden = hide(Hidden.of(*captures, redact=redact).keeping(Build, names))
        at.now("analysing")
        if len(sides) == 2:
            return within_budgets(compare_sides(*sides, **asked), budgets), hidden
    # The same capture can be given twice; repeated names get a number.
    apart = {
        name if names.count(name) == 1 else f"{name} #{names[: n + 1].count(name)}": side
        for n, (name, side) in enumerate(zip(names, sides, strict=True))
    }
    return compare_many(apart, **asked).within(budgets), hidden


def _rendered(
    comparison: Comparison | BuildComparison, chosen: str, target: Path | None,
    names: Sequence[str], hidden: Hidden,
) -> str:  # fmt: skip
    """Write the comparison in the requested format; builds keep their own names."""
    from gomem.comparison.builds import BuildComparison

    is_of_builds = isinstance(comparison, BuildComparison)
    sides = {} if is_of_builds else dict(zip(("before", "after"), names, strict=True))
    if chosen in VIEWS:
        module, *renderers = VIEWS[chosen]
        render = getattr(import_module(f"gomem.views.{module}"), renderers[is_of_builds])
        return render(comparison, **sides, hidden=hidden)
    from gomem.views.comparison.builds import builds_document
    from gomem.views.comparison.document import comparison_document

    document: Any = builds_document if is_of_builds else comparison_document
    return written_as(chosen, document(comparison, **sides, hidden=hidden), target)
