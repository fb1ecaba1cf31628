"""Which cases run, which tests share a process, and which files begin.

Those of a file do, and those about a recorded capture, in whatever file: what is asked of it is
then asked in one process, and not in each. So do captures of one story, which are compared, and
files that compare the same runs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    import pytest

_CAPTURES = Path(__file__).parent.parent / "fixtures" / "captures"
_OF_A_CAPTURE = re.compile(  # by the name that a parameter begins with
    rf"\[({'|'.join(re.escape(path.name) for path in _CAPTURES.iterdir())})(?:-|\]$)"
)
_RECORDING = re.compile("(-before|-after)?-go.*")  # which one it is of its story
# Few tests, many seconds: one that came last would keep one process busy and the others waiting.
LONG = (
    "tests/test_docs.py",
    "tests/test_notebooks.py",
    "tests/cli/test_notebook.py",
    "tests/inputs/pprof/test_parity.py",
    "tests/capture/test_damaged_captures.py",
    "tests/cli/test_output.py",
    "tests/inputs/test_hostile_numbers.py",
    "tests/tools/stranger/test_gate.py",
    "tests/test_papermill.py",
)


# Files that compare the same runs.
_COMPARING = ("tests/comparison/", "tests/views/comparison/")


def shared_by(nodeid: str) -> str:
    """What tests of one process have in common: the story of a capture, or their file."""
    if of_a_capture := _OF_A_CAPTURE.search(nodeid):
        return _RECORDING.sub("", of_a_capture[1])
    return "comparison" if nodeid.startswith(_COMPARING) else nodeid.partition("::")[0]


def long_first(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; all else stays in its order."""
    place = {file: number for number, file in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


# A test with so many cases runs them all. Of one with more, a few run, unless it is marked or
# --every-case asks for all.
MOST = 6
A_FEW = 3


def beyond_most(items: list[pytest.Item]) -> set[pytest.Item]:
    """The cases that are left out: of a test with many a few run, or as many as it is marked with.

    They are spread evenly.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left = set()
    for those in cases.values():
        marked = those[0].get_closest_marker("at_most")
        usual = MOST if len(those) <= MOST else A_FEW
        (count,) = (usual,) if marked is None else marked.args
        step = max(1.0, len(those) / count) if count else 0
        run = {int(number * step) for number in range(count)}
        left |= {item for number, item in enumerate(those) if number not in run}
    return left


class ByCapture(LoadFileScheduling):
    """Gives each process the tests that share something."""

    def _split_scope(self, nodeid: str) -> str:
        return shared_by(nodeid)
