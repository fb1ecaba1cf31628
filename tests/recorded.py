"""What is recorded is read once in a process, and so is what is asked about it.

A fixture does not change while tests run; a `Capture`, a `Diagnosis`, a `Comparison` and a document
are frozen and keep their answers. So whoever loads a recorded capture by the name by which it was
loaded before gets that one, with all that was asked about it. The first one to ask gets gomem's own
answer, and what a test lays out for itself is read and asked each time; so is all that is asked
after a test replaced something by `monkeypatch.setattr`.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from gomem.capture import load
from gomem.comparison import comparison
from gomem.diagnosis import diagnosis
from gomem.views.json import report as json_report
from gomem.views.report import report
from tests.builders import FIXTURES

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

MOST = 250  # captures and answers


class Recorded:
    """What was read of the fixtures, and answered about it, by what was asked of what."""

    def __init__(self) -> None:
        self.is_aside = False  # while something of gomem is replaced: that answer is of one test
        self._known: dict[Hashable, tuple[Any, Any]] = {}  # what was asked about, and the answer
        self._load, self._diagnose = load.load, diagnosis.diagnose
        self._compare = comparison.compare_diagnoses
        self._document, self._json = report.report_document, json_report.report_json

    def load(self, *paths: Any, **options: Any) -> Any:
        """As `gomem.load`; with somebody who is told of its progress, each time."""

        def loaded() -> Any:
            return self._load(*paths, **options)

        is_watched = options.get("progress") is not None
        if self.is_aside or is_watched or not paths or not all(map(_is_recorded, paths)):
            return loaded()
        named = tuple((str(path), Path(path).resolve()) for path in paths)
        return self._once((load, named, _key(options)), (), loaded)

    def diagnose(self, capture: Any, baseline: Any = None, **options: Any) -> Any:
        """As `gomem.diagnose`."""
        sides = [self.load(one) if _is_recorded(one) else one for one in (capture, baseline)]
        return self._once_of(sides, "diagnosis", options, lambda: self._diagnose(*sides, **options))

    def compare_diagnoses(self, before: Any, after: Any, **options: Any) -> Any:
        """As `gomem.comparison.comparison.compare_diagnoses`."""
        sides = [[*one] if isinstance(one, list | tuple) else [one] for one in (before, after)]
        about = [*sides[0], None, *sides[1]]
        return self._once_of(
            about, "comparison", options, lambda: self._compare(before, after, **options)
        )

    def report_document(self, about: Any, **options: Any) -> Any:
        """As `gomem.views.report.report.report_document`."""
        return self._once_of([about], "document", options, lambda: self._document(about, **options))

    def report_json(self, about: Any, **options: Any) -> Any:
        """As `gomem.views.json.report.report_json`: a copy, for a dict can be changed."""
        made = self._once_of([about], "json", options, lambda: self._json(about, **options))
        return deepcopy(made)

    def _once(self, key: Hashable, about: Any, make: Callable[[], Any]) -> Any:
        """The answer; what it is about is kept with it, so that no other object has its id."""
        known = self._known.pop(key, None) or (about, make())
        self._known[key] = known  # the last that was asked
        if len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        return known[1]

    def _once_of(
        self, about: list[Any], asked: str, options: dict[str, Any], make: Callable[[], Any]
    ) -> Any:
        """The answer about what is known itself; about anything else it is asked anew."""
        known = {id(answer) for _, answer in self._known.values()}
        if self.is_aside or not all(one is None or id(one) in known for one in about):
            return make()
        return self._once((asked, *map(id, about), _key(options)), about, make)


def _key(options: dict[str, Any]) -> Hashable:
    return repr(sorted(options.items()))


def _is_recorded(path: Any) -> bool:
    if not isinstance(path, (str, Path)) or not Path(path).exists():
        return False
    return Path(path).resolve().is_relative_to(FIXTURES)


@contextmanager
def read_once() -> Iterator[Recorded]:
    """Let gomem's modules and the tests' own share what is recorded."""
    recorded = Recorded()
    shared = {
        load.load: recorded.load,
        diagnosis.diagnose: recorded.diagnose,
        comparison.compare_diagnoses: recorded.compare_diagnoses,
        report.report_document: recorded.report_document,
        json_report.report_json: recorded.report_json,
    }
    with ExitStack() as patches:
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] in {"gomem", "tests"}:
                for real, instead in shared.items():
                    if module.__dict__.get(real.__name__) is real:
                        patches.enter_context(patch.object(module, real.__name__, instead))
        yield recorded
