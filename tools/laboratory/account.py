"""Check the account's bounds against smaps and MemStats of every recorded moment.

python -m tools.laboratory.account                 how often bounds hold, and how wide they are
python -m tools.laboratory.account --picture FILE  the widths as a picture, too

Each moment with smaps and MemStats is read again without smaps, without MemStats, and without both,
each time with the capture's other moments and alone. The true breakdown must always be within the
certain bounds, and in 95 % of the cases within the likely ones.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

import gomem
from gomem.analysis.memory.account import Account, account_of
from gomem.analysis.memory.groups import NATIVE
from gomem.analysis.memory.readings import GO, NOT_GO, Reading
from gomem.errors import CaptureError
from gomem.facts.account import reading_of
from tests.builders import FIXTURES
from tools.laboratory.captures import names_of, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAGES = 64 << 10  # VmRSS is counted per CPU, so totals agree only to within this many bytes
PARTS = {"Go": GO, "outside Go": NOT_GO, "C and mappings": frozenset({NATIVE})}


def _without_smaps(reading: Reading) -> Reading:
    resident = reading.resident or {}
    program = resident.get("program", 0) - (reading.program_data_bytes or 0)
    files = resident.get("files", 0) + max(0, program)
    return replace(reading, resident=None, file_bytes=files, program_data_bytes=None)


def _without_files(reading: Reading) -> Reading:
    return replace(_without_smaps(reading), file_bytes=None)


TAKEN: dict[str, Callable[[Reading], Reading]] = {
    "nothing": lambda reading: reading,
    "smaps": _without_smaps,
    "smaps and status": _without_files,
    "MemStats": lambda reading: replace(reading, reserved={}, live_bytes=None),
    "smaps and MemStats": lambda reading: replace(
        _without_smaps(reading), reserved={}, live_bytes=None
    ),
}


@dataclass(frozen=True)
class Held:
    """An interval compared with the truth.

    Attributes:
        taken: The files withheld.
        alone: Whether there were no other moments.
        part: The part of RSS.
        is_certain: Whether the interval is the certain one.
        holds: Whether it contains the truth.
        width: Its width, as a share of RSS.
    """

    taken: str
    alone: bool
    part: str
    is_certain: bool
    holds: bool
    width: float


def held(path: str) -> tuple[int, list[Held]]:
    """Return how many accounts of a capture do not add up, and all intervals."""
    try:
        facts = gomem.diagnose(path).facts
    except CaptureError:
        return 0, []
    begin = next((moment.time for moment in facts.moments if moment.time is not None), None)
    readings = [reading_of(moment, begin) for moment in facts.moments]
    found = [
        interval
        for place, reading in enumerate(readings)
        if reading.divides and reading.rss_bytes
        for taken in TAKEN
        for alone in (False, True)
        for interval in _held(readings, place, taken, alone=alone)
    ]
    return _open_accounts(facts.account), found


def _open_accounts(account: object) -> int:
    """Return 1 if the parts of a change cannot add up to it, else 0."""
    if not isinstance(account, Account):
        return 0
    low = sum(part.change.low for part in account.parts)
    high = sum(part.change.high for part in account.parts)
    return int(not low - 1 <= account.change_bytes <= high + 1)


def _held(readings: Sequence[Reading], place: int, taken: str, *, alone: bool) -> list[Held]:
    truth = readings[place]
    others = [] if alone else list(readings)
    less = TAKEN[taken](truth)
    if alone:
        others = [less]
    else:
        others[place] = less
    account = account_of([other for other in others if other.rss_bytes is not None])
    snapshot = None if account is None else account.of(truth.moment)
    if snapshot is None or truth.resident is None:
        return []
    sizes = {"native": truth.resident.get(NATIVE, 0)}
    go = truth.resident.get("heap", 0) + truth.resident.get("go_runtime", 0)
    rss = truth.rss_bytes or 0
    real = {"Go": go, "outside Go": rss - go, "C and mappings": sizes["native"]}
    found = []
    for part, groups in PARTS.items():
        for is_certain, bounds in ((True, snapshot.certain), (False, snapshot.likely)):
            interval = bounds.together(groups)
            holds = interval.holds(real[part], PAGES)
            found.append(Held(taken, alone, part, is_certain, holds, interval.width / rss))
    return found


def main() -> None:
    """Read every recorded capture, and print how often its bounds hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--picture", type=Path, help="draw the widths into this file")
    options = parser.parse_args()
    paths = [str(path_of(name)) for name in names_of()]
    paths += [str(path) for path in sorted((FIXTURES / "captures").iterdir()) if path.is_dir()]
    with ProcessPoolExecutor(2) as pool:
        answers = list(pool.map(held, paths, chunksize=4))
    print(f"{len(paths)} captures, {sum(is_open for is_open, _ in answers)} that do not close")
    by_kind: dict[tuple[str, bool, str, bool], list[Held]] = defaultdict(list)
    for _, intervals in answers:
        for row in intervals:
            by_kind[row.taken, row.alone, row.part, row.is_certain].append(row)
    for (taken, alone, part, is_certain), rows in by_kind.items():
        widths = np.quantile([row.width for row in rows], (0.5, 0.9))
        print(
            f"{'certain' if is_certain else 'likely':<8} without {taken:<19} "
            f"{'alone' if alone else 'beside others':<14} {part:<15} holds in "
            f"{np.mean([row.holds for row in rows]):7.2%} of {len(rows)}; width "
            f"{widths[0]:.1%} of RSS at the median, {widths[1]:.1%} at p90"
        )
    if options.picture is not None:
        _draw(by_kind, options.picture)


def _draw(by_kind: dict[tuple[str, bool, str, bool], list[Held]], file: Path) -> None:
    """Draw the median and p90 width of the non-Go part, by missing files."""
    rows = [key for key in by_kind if key[2] == "outside Go" and key[0] != "nothing"]
    figure, ax = plt.subplots(figsize=(8, 0.4 * len(rows) + 1.2))
    for place, key in enumerate(reversed(rows)):
        is_certain = key[3]
        widths = [interval.width for interval in by_kind[key]]
        median, most = np.quantile(widths, (0.5, 0.9))
        ax.barh(place, most, color="#cccccc" if is_certain else "#9ecae1", height=0.6)
        ax.barh(place, median, color="#666666" if is_certain else "#2171b5", height=0.6)
    names = [
        f"without {taken}, {'alone' if alone else 'beside others'}: "
        f"{'certain' if is_certain else 'likely'}"
        for taken, alone, _, is_certain in reversed(rows)
    ]
    ax.set_yticks(range(len(rows)), names, fontsize=8)
    ax.set_xlim(0, 1)
    ax.set_xlabel("width of the interval of what is outside Go, share of RSS: median, p90")
    figure.tight_layout()
    figure.savefig(file)


if __name__ == "__main__":
    main()
