"""Caches gomem's answers, so that the whole gate can run.

Most transformed captures have the same content as before, once they are read: with other dates,
from an archive, or without one file. So the cache keeps the results of readers for the same bytes
and name, of the most expensive functions for the same rows, and of the diagnosis for a capture with
the same content. The key is the pickled input, so a transformation that changes any input misses
the cache. `test_gate.py` checks that the cache changes no answer.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import gomem
from gomem.analysis.mappings.kinds import ClassifiedMappings, classify_mappings
from gomem.facts.sides import _facts as facts_of_sides
from gomem.facts.sides import _Sides
from gomem.inputs.read import read_artefact
from gomem.sources.long import LongSource
from tools.stranger.told import told_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd

    from gomem.capture.moment import Moment
    from gomem.facts.moment import MomentFacts
    from gomem.facts.sides import _Known
    from gomem.inputs.kinds import Kind
    from gomem.sources.artefact import Source
    from tools.stranger.told import Told

SIDES, FACTS = _Sides.of, facts_of_sides
MAX_ANSWERS = 5000  # enough for a few captures
NAMES = ("moment", "artefact")  # columns with a row's file, which do not affect its memory
COSTLY = (
    "gomem.capture.load.kind_of",
    "gomem.capture.moment.goroutines_of",
    "gomem.facts.moment.malloced_blocks",
    "gomem.facts.sides.heap_return",
    "gomem.facts.sides.reconcile_rss",
    "gomem.facts.collector.cost_of_collection",
    "gomem.facts.collector.gc_pauses",
    "gomem.facts.collector.gc_phases",
    "gomem.facts.collector.gc_triggers",
    "gomem.facts.collector.heap_pacing",
    "gomem.facts.collector.live_heaps",
    "gomem.facts.collector.mutator_utilization",
    "gomem.facts.profiles.find_spike",
    "gomem.facts.profiles.growth",
    "gomem.facts.profiles.series_of",
    "gomem.facts.profiles.top_sites",
)


class Memory:
    """A cache of answers, by question and input."""

    def __init__(self) -> None:
        self._answers: dict[str, Any] = {}
        # also keeps the answer alive, so that its id stays unique
        self._digests: dict[int, tuple[Any, str]] = {}

    def asked(self, question: str, answer: Callable[[], Any], *about: Any) -> Any:
        """Return the answer to a question, from the cache if the input is the same."""
        digest = self._digest(question, *about)
        if digest not in self._answers:
            if len(self._answers) >= MAX_ANSWERS:
                self._answers.clear()
                self._digests.clear()
            self._answers[digest] = answer()
        return self._answers[digest]

    def of(self, dotted: str) -> Callable[..., Any]:
        """Return one of gomem's functions with a cache."""
        module, _, name = dotted.rpartition(".")
        function = getattr(import_module(module), name)

        def remembered(*args: Any, **options: Any) -> Any:
            return self.asked(dotted, lambda: function(*args, **options), args, options)

        return remembered

    def read(self, kind: Kind, source: Source, **options: Any) -> Any:
        """Like `read_artefact`; a result's digest is that of its content, not of its bytes."""

        def parsed() -> Any:
            return read_artefact(kind, source, **options)

        if isinstance(source, LongSource):
            return parsed()
        found = self.asked("read", parsed, kind.name, source.name, source.data, source.damage)
        self._stand(found, kind.name, found)
        return found

    def classify(self, mappings: pd.DataFrame, memstats: pd.Series | None) -> ClassifiedMappings:
        """Like `classify_mappings`, ignoring the name of the rows' file."""
        names = {name: mappings[name].iloc[0] for name in NAMES}
        if any((mappings[name] != value).any() for name, value in names.items()):
            return classify_mappings(mappings, memstats)
        rows = mappings.drop(columns=list(NAMES))
        row = None if memstats is None else memstats.drop(list(NAMES), errors="ignore")
        found = self.asked("classify", lambda: classify_mappings(rows, row), rows, row)
        named = found.mappings.assign(**names)[[*mappings.columns, "kind", "rule"]]
        named = replace(found, mappings=named)
        self._stand(named, found, names)
        self._stand(named.mappings, named)
        return named

    def sides(
        self, moment: Moment, damaged: set[str], known: _Known, *, at_least: bool = False
    ) -> _Sides:
        """Like `_Sides.of`, for a cached moment."""
        files = [
            (file.source.name, file.kind.name, file.time, file.time_source, file.parsed)
            for file in moment.artefacts
        ]
        mine = sorted(damaged & {name for name, *_ in files})
        about = moment.name, moment.collections, files, mine, known, at_least
        found = self.asked(
            "sides", lambda: SIDES(moment, damaged, known, at_least=at_least), *about
        )
        self._stand(found, "sides", *about)
        return found

    def facts(
        self,
        sides: _Sides,
        ends: pd.Series | None,
        marked: Mapping[int, int],
        page_bytes: int | None,
    ) -> MomentFacts:
        """Like `_facts`; returns the same object for the same input, with its cached properties."""
        about = sides, ends, marked, page_bytes
        return self.asked("facts", lambda: FACTS(sides, ends, marked, page_bytes), *about)

    def told(self, capture: gomem.Capture, moments: Sequence[str] = ()) -> Told:
        """Like `told_by`, cached for captures with the same content."""
        files = [
            (
                file.source.name,
                file.kind.name,
                file.moment,
                file.time,
                file.time_source,
                file.parsed,
            )
            for file in capture.files
        ]
        passed_over = [source.name for source in capture.passed_over]
        about = files, list(capture.by_moment), passed_over, capture.damaged, capture.looks

        def told() -> Told:
            return told_by(gomem.diagnose(capture), moments)

        return self.asked("told", told, *about, capture.go_version, moments)

    def _stand(self, answer: Any, *about: Any) -> None:
        """Use a digest of the question for an answer that is input to a later question."""
        if id(answer) not in self._digests:
            self._digests[id(answer)] = answer, self._digest(*about)

    def _digest(self, *about: Any) -> str:
        file = io.BytesIO()
        _Pickler(file, self._digests).dump(about)
        return hashlib.sha256(file.getbuffer()).hexdigest()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, digests: Mapping[int, tuple[Any, str]]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._digests = digests

    def reducer_override(self, thing: Any) -> Any:
        known = self._digests.get(id(thing))
        return NotImplemented if known is None else (str, (known[1],))


@contextmanager
def remembering() -> Iterator[Memory]:
    """Cache gomem's answers within the context."""
    memory = Memory()
    with ExitStack() as patches:
        patches.enter_context(patch("gomem.capture.load.read_artefact", memory.read))
        patches.enter_context(patch("gomem.facts.sides.classify_mappings", memory.classify))
        patches.enter_context(patch.object(_Sides, "of", memory.sides))
        patches.enter_context(patch("gomem.facts.sides._facts", memory.facts))
        for dotted in COSTLY:
            patches.enter_context(patch(dotted, memory.of(dotted)))
        yield memory
