"""What a notebook shows beside figures and frames of its own: the report, piece by piece.

    from gomem.notebook import section, show, verdict

    verdict(diagnosis)
    section(diagnosis, "ledger")
    show(plot.waterfall, diagnosis)

A page that is made for one capture is run on another. Where that one lacks what a cell asks for, a
line says so, and what to collect; the page goes on.
"""

from __future__ import annotations

from dataclasses import replace
from glob import has_magic
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.analysis.comparison.before_after import Comparison
from gomem.diagnosis.comparison import compare
from gomem.diagnosis.diagnosis import Diagnosis, diagnose
from gomem.errors import CaptureError, did_you_mean
from gomem.plot import PAGE, flame
from gomem.sources.packaged import recorded
from gomem.views.comparison.document import SECTIONS as OF_A_COMPARISON
from gomem.views.document import Figure, Paragraph, unchosen
from gomem.views.figures.figure import Drawing
from gomem.views.report.report import SECTIONS as OF_A_REPORT
from gomem.views.report.report import hidden
from gomem.views.report.verdict import verdict as verdict_of_report
from gomem.views.share import share
from gomem.views.writers.notebook_cells import Shown, sentences

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import TypeAlias

    from gomem.views.document import Section

    Named: TypeAlias = str | PathLike[str]
    Asked: TypeAlias = Diagnosis | Comparison

_NUMBERS = count(1)

__all__ = ["open_capture", "open_sides", "recorded", "section", "show", "verdict"]

# What a section is made of, where a capture has none of it.
WANTED = {
    "ledger": "No file here says where memory is; add /proc/PID/smaps and runtime.MemStats as JSON",
    "moments": "One moment alone; a second one shows what moves",
    "levels": "Too few moments for percentiles of RSS; gomem capture --every takes a series",
    "changes": "Nothing here to compare the moment with; add a second one, or a baseline",
    "mappings": "No smaps here; add cat /proc/PID/smaps > smaps",
    "limits": "No limit is known here; add the files of the process's cgroup, such as memory.max",
    "scavenger": "No MemStats here; write runtime.ReadMemStats as JSON at two moments or more",
    "what_if": "No gctrace log here; run the program with GODEBUG=gctrace=1 and keep its stderr",
    "allocations": "No heap profile here; add curl …/debug/pprof/heap > heap.pb.gz",
    "growth": "Too few heap profiles that have a time; take ten, some seconds apart",
    "collector": "No gctrace log here; run the program with GODEBUG=gctrace=1 and keep its stderr",
    "unread": "Everything in the capture was read",
    "findings": "No known cause of trouble fits this capture",
    "benchmarks": "Neither side has a benchmark; run go test -bench=. -count=10 on both",
    "sites": "There are no two heap profiles to compare",
    "damage": "Everything on both sides was read",
}


def open_capture(capture: Named, baseline: Named | None = None) -> Diagnosis:
    """Diagnose the capture that a notebook is about.

    Args:
        capture: Its path; one of the captures recorded for the notebooks is also found by its name.
        baseline: Likewise what it is compared with.

    Raises:
        CaptureError: There is nothing at a path that gomem can read.
    """
    return diagnose(_found(capture), None if baseline is None else _found(baseline))


def open_sides(before: Named | list[Named], after: Named | list[Named]) -> Comparison:
    """Compare two sides, each a path, a pattern of runs, or a list.

    Raises:
        CaptureError: There is nothing on a side that gomem can read.
    """
    return compare(_found(before), _found(after))


def _found(path: Any) -> Any:
    """A path as it was given; a capture's bare name is the recorded one, if nothing else has it."""
    bare = isinstance(path, str) and Path(path).name == path and not Path(path).exists()
    return recorded(path) if bare and not has_magic(path) else path


def verdict(asked: Asked) -> Shown:
    """What it comes down to, in a few sentences."""
    if isinstance(asked, Comparison):
        return sentences(asked.judgement.sentence, *asked.judgement.details)
    said = verdict_of_report(asked)
    return Shown(share(tuple(map(Paragraph, (said.sentence, *said.lines))), hidden(asked)))


def section(asked: Asked, name: str, *, figures: bool = True) -> Shown:
    """A section of the report, or of a comparison; one line where there is nothing to say.

    Args:
        asked: A diagnosis or a comparison.
        name: Such as `ledger`, `collector` or `findings`.
        figures: Whether with its figures, or the tables and words alone.

    Raises:
        ValueError: There is no such section.
    """
    sections = _sections(OF_A_COMPARISON if isinstance(asked, Comparison) else OF_A_REPORT)
    if name not in sections:
        near = did_you_mean(name, sections)
        raise ValueError(f"{name}: wanted one of {', '.join(sections)}{near}")
    found = sections[name](asked)
    if found is None:
        return sentences(f"{WANTED.get(name, f'Nothing here for {name}')}.")
    blocks = unchosen(found.blocks)
    return Shown(tuple(one for one in blocks if figures or not isinstance(one, Figure)))


def show(draw: Callable[..., Any], *data: Any, **options: Any) -> Any:
    """Call something, and show what it returns; one line where the capture lacks what it needs.

    A figure of `gomem.plot` is shown as it stands in a report, and has light and dark paper's ink.

    Args:
        draw: A figure of `gomem.plot`, or any function that raises `CaptureError`.
        data: What it is called with.
        options: Likewise.
    """
    if getattr(draw, "__module__", "") == flame.__module__ and draw is not flame:
        options = {"ax": PAGE, **options}
    try:
        found = draw(*data, **options)
    except (CaptureError, KeyError) as error:
        words = str(error.args[0])
        return sentences(f"{words[0].upper()}{words[1:]}.")
    if isinstance(found, pd.DataFrame) and found.empty:
        return sentences("Nothing of this in the capture.")
    return _apart(found) if isinstance(found, Drawing) else found


def _apart(drawing: Drawing) -> Drawing:
    """With a name of its own: a page may show one figure several times."""
    return replace(drawing, name=f"{drawing.name}-{next(_NUMBERS)}")


def _sections(known: Any) -> dict[str, Callable[[Any], Section | None]]:
    return {one.__name__.strip("_").removesuffix("_section"): one for one in known}
