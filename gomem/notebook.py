"""What a notebook shows in addition to figures and DataFrames: the report, piece by piece.

    from gomem.notebook import section, show, verdict

    verdict(diagnosis)
    section(diagnosis, "ledger")
    show(plot.waterfall, diagnosis)

A notebook made for one capture can run on another. If that capture lacks the data of a cell, a line
says so, with what to collect, and the notebook continues.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from glob import has_magic
from importlib.metadata import version
from itertools import count
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.charts.figure import Drawing
from gomem.comparison.builds import BuildComparison
from gomem.comparison.comparison import compare, opened
from gomem.comparison.samples import Comparison
from gomem.diagnosis.diagnosis import Diagnosis, diagnose
from gomem.errors import CaptureError, did_you_mean
from gomem.fleets.fleet import Fleet, fleet
from gomem.numbered import Collected
from gomem.plot import PAGE, flame
from gomem.sources.listing import digests_of
from gomem.sources.packaged import recorded
from gomem.sources.paths import is_archive, matching
from gomem.text import File, Text, text
from gomem.units import format_bytes
from gomem.views.comparison.builds import SECTIONS as OF_BUILDS
from gomem.views.comparison.document import SECTIONS as OF_A_COMPARISON
from gomem.views.document import Cell, Figure, Folded, Notes, Paragraph, Table, unchosen
from gomem.views.fleet.document import SECTIONS as OF_A_FLEET
from gomem.views.fleet.hidden import number_names
from gomem.views.here import frame_here, hidden_here
from gomem.views.names import typed
from gomem.views.report.report import SECTIONS as OF_A_REPORT
from gomem.views.report.shown import NUMBERS
from gomem.views.report.verdict import verdict as verdict_of_report
from gomem.views.share import Hidden, share
from gomem.views.values import bytes_cell
from gomem.views.words import minus_signs
from gomem.views.writers.notebook_cells import Shown, sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import TypeAlias

    from gomem.views.document import Block, Part

    Named: TypeAlias = str | PathLike[str]
    Side: TypeAlias = Named | list[Named]
    Asked: TypeAlias = Diagnosis | Comparison | BuildComparison | Fleet

_NUMBERS = count(1)
_PARTS: dict[type, Sequence[Part[Any]]] = {
    BuildComparison: OF_BUILDS, Comparison: OF_A_COMPARISON, Fleet: OF_A_FLEET,
}  # fmt: skip
FIGURES = "gomem.plot."  # functions there return Axes
MAX_UNFOLDED = 12  # files; more are folded
LISTED = 100  # files in a provenance table; the rest is summed up
MADE_WITH = ("gomem", "pandas", "numpy")

__all__ = [
    "findings", "open_builds", "open_capture", "open_first", "open_fleet", "open_sides",
    "provenance", "questions", "recorded", "section", "show", "verdict",
]  # fmt: skip


def open_capture(capture: Named, baseline: Named | None = None) -> Diagnosis:
    """Diagnose the capture of a notebook, and compare it with a baseline if one is given.

    Each is a path, or the name of a capture recorded for the notebooks. Like every function that
    reads a capture, it raises CaptureError if gomem can read nothing at a path.
    """
    diagnosis = diagnose(_found(capture), None if baseline is None else _found(baseline))
    hidden_in(diagnosis)
    return diagnosis


def open_sides(before: Side, after: Side) -> Comparison:
    """Compare two sides; each is a path, a pattern of runs, or a list of paths."""
    sides = [opened(_found(side)) for side in (before, after)]
    for run in (run for side in sides for run in side):
        if isinstance(run, Diagnosis):
            hidden_in(run)
    return compare(*sides)


def open_first(side: Side) -> Diagnosis:
    """Diagnose the first capture of a side, which can have several runs."""
    return open_capture(matching(_found(_several(side)[0]))[0])


def open_builds(builds: Mapping[str, Named] | Sequence[Named]) -> dict[str, Diagnosis]:
    """Diagnose two or more builds, releases or pods; names default to the ends of their paths."""
    named = {**builds} if isinstance(builds, Mapping) else _by_name(builds)
    if len(named) < 2:
        raise CaptureError(text("wanted at least two builds, got {}", str(len(named))))
    return {name: open_capture(path) for name, path in named.items()}


def open_fleet(captures: Sequence[Named], *, labels: str = "", workers: int | None = 0) -> Fleet:
    """Read many captures: folders, archives and patterns; see `gomem.fleet`.

    `workers` is the number of worker processes: 0 reads in this process, None starts one per CPU.
    """
    found = fleet(*map(_found, captures), labels=labels, workers=workers)
    if hidden_here().redact:
        number_names(hidden_here(), found)
    return found


def _by_name(paths: Sequence[Named]) -> dict[str, Named]:
    """Name paths by the shortest endings that differ: `heap.pb.gz`, or `pod-1/heap.pb.gz`."""
    parts = [Path(path).parts for path in paths]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return dict(zip(names, paths, strict=True))
    if not parts:
        return {}
    twice = next(path for path in paths if list(paths).count(path) > 1)
    raise CaptureError(text("{}: named twice; wanted each build once", File(twice)))


def _found(path: Any) -> Any:
    """Return a path as given; a bare name that does not exist means the recorded capture."""
    if isinstance(path, list):
        return [_found(each) for each in path]
    is_bare = isinstance(path, str) and Path(path).name == path and not Path(path).exists()
    return recorded(path) if is_bare and not has_magic(path) else path


def verdict(asked: Asked) -> Shown:
    """Return the conclusion of a diagnosis or comparison, in a few sentences."""
    if isinstance(asked, (Comparison, BuildComparison)):
        judged = asked.judgement
        return sentences(*map(minus_signs, (judged.sentence, *judged.details)))
    if isinstance(asked, Fleet):
        return sentences(asked.verdict.sentence, *asked.verdict.details)
    said = verdict_of_report(asked)
    return Shown(share(tuple(map(Paragraph, said.paragraphs)), hidden_in(asked)))


def findings(diagnosis: Diagnosis, *codes: str) -> Shown:
    """Return the findings with these codes, a sentence each, or a sentence that there are none."""
    found = [finding for finding in diagnosis.findings if finding.code in codes]
    said = (
        text("{}: {}.", str(finding.severity).capitalize(), typed(finding.title, diagnosis))
        for finding in found
    )
    if not found:
        return sentences(f"No finding of {' or '.join(codes)}.")
    return Shown(share(tuple(map(Paragraph, said)), hidden_in(diagnosis)))


def questions(asked: Asked, by_heading: Mapping[str, str | Callable[..., Any]]) -> Shown:
    """Say how many of a page's questions can be answered, and what the others need.

    `by_heading` maps each question to what answers it: the name of a section, or a function, such
    as a figure, that raises CaptureError if it cannot.
    """
    lacking = {heading: _lacking(asked, answer) for heading, answer in by_heading.items()}
    without = tuple(
        f"{heading}{':' * (not heading.endswith('?'))} {words}"
        for heading, words in lacking.items()
        if words
    )
    answered = f"{len(lacking) - len(without)} of {len(lacking)}" if without else "All"
    said = f"{answered} questions of this page can be answered from these files."
    return Shown((Paragraph(said), *([Notes(without)] if without else ())))


def _lacking(asked: Asked, answer: str | Callable[..., Any]) -> str:
    """Return what a question needs and the capture lacks, in a sentence; empty if answered."""
    if isinstance(answer, str):
        part = _part(asked, answer)
        return "" if part.make(asked) is not None else f"{part.absent}."
    shown = show(answer, *(() if hasattr(answer, "__self__") else (asked,)))
    return shown.text if isinstance(shown, Shown) else ""


def section(asked: Asked, name: str, *, figures: bool = True) -> Shown:
    """Return a section of the report or of a comparison; one line if the section would be empty.

    `name` is `ledger`, `collector`, `findings` and so on; an unknown name raises ValueError.
    Without `figures`, the section has only tables and text.
    """
    part = _part(asked, name)
    found = part.make(asked)
    if found is None:
        return sentences(f"{part.absent}.")

    def is_of_figure(block: Block) -> bool:
        """Return whether a part is a figure, or the fold with a figure's numbers."""
        is_folded = isinstance(block, Folded) and block.summary == NUMBERS
        return is_folded or isinstance(block, Figure)

    blocks = unchosen(found.blocks)
    return Shown(tuple(block for block in blocks if figures or not is_of_figure(block)))


def _part(asked: Asked, name: str) -> Part[Any]:
    parts: Sequence[Part[Any]] = next(
        (parts for kind, parts in _PARTS.items() if isinstance(asked, kind)), OF_A_REPORT
    )
    by_name = {part.name: part for part in parts}
    if name not in by_name:
        near = did_you_mean(name, by_name)
        raise ValueError(f"{name}: wanted one of {', '.join(by_name)}{near}")
    return by_name[name]


def show(
    draw: Callable[..., Any] | pd.DataFrame | pd.Series, *data: Any,
    only: Sequence[str] | None = None, **options: Any,
) -> Any:  # fmt: skip
    """Return the result of a function for display; one line if the capture lacks the data for it.

    `draw` can be a function of `gomem.plot`, whose figure is shown as in a report, with ink for
    light and dark paper; any other function that raises CaptureError without its data; or a frame.
    `only` names the columns of a frame to show.
    """
    if getattr(draw, "__module__", "").startswith(FIGURES) and draw is not flame:
        options = {"ax": PAGE, **options}
    try:
        found = draw(*data, **options) if callable(draw) else draw
    except (CaptureError, KeyError) as error:
        words = Text(str(error.args[0])) if isinstance(error, KeyError) else error.message
        is_column = "_" in words.partition(":")[0]  # column names keep their case
        return sentences(text("{}.", words if is_column else words.capitalised()))
    if only is not None and isinstance(found, pd.DataFrame):
        found = found.filter(list(only))
    if isinstance(found, (pd.DataFrame, pd.Series)) and not found.size:
        return sentences("Nothing of this in the capture.")
    if isinstance(found, Drawing):  # a page can show the same figure several times
        return replace(found, name=f"{found.name}-{next(_NUMBERS)}")
    return found


def provenance(*captures: Side | Mapping[str, Named] | None) -> Shown:
    """Return what a page was made from: files with their digests, and versions.

    Paths are shown as given; a capture that is None is left out.
    """
    paths = [path for capture in captures if capture is not None for path in _several(capture)]
    files = [digest for path in paths for digest in digests_of(_found(path))]
    shown = files if len(files) <= LISTED else files[: LISTED - 1]
    rows = [
        (
            Cell(_file(file.name), code=True),
            bytes_cell(file.stored_bytes),
            Cell(file.sha256, code=True),
        )
        for file in shown
    ]
    if rest := files[len(shown) :]:
        words = f"and {len(rest)} more files"
        rows.append((Cell(words), bytes_cell(sum(file.stored_bytes for file in rest)), Cell("–")))
    size = format_bytes(sum(file.stored_bytes for file in files))
    read = Table("Made from", ("file", "size", "SHA-256"), "<><", tuple(rows))
    listed: Block = Folded(f"Made from {len(files)} files, {size}", (read,))
    used = ", ".join(f"{name} {version(name)}" for name in MADE_WITH)
    words = f"Made with {used} and Python {python_version()}."
    return Shown((listed if len(files) > MAX_UNFOLDED else read, Paragraph(words)))


def hidden_in(diagnosis: Diagnosis) -> Hidden:
    """Return what redaction hides of a capture and its baseline."""
    sides = (diagnosis, diagnosis.baseline)
    return hidden_here(*(side.capture for side in sides if side is not None))


def _hide_in_frames() -> None:
    """Redact the frames in the cells of a redacted notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not hidden_here().redact:
        return
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(pd.DataFrame, lambda frame: frame_here(frame)._repr_html_())
    for kind in (pd.DataFrame, pd.Series):
        formatters["text/plain"].for_type(
            kind, lambda frame, printer, _: printer.text(repr(frame_here(frame)))
        )


def _file(name: str) -> Text:
    """Return the row of a file that was read; an archive is called a capture."""
    return Collected(name) if is_archive(name) else File(name)


def _several(given: Any) -> list[Named]:
    if isinstance(given, Mapping):
        return list(given.values())
    return list(given) if isinstance(given, (list, tuple)) else [given]


_hide_in_frames()
