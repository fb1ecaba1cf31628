"""What a report may show of the machine it was made on: reports get shared.

Always hidden are home directories (`~` stands for them) and where the capture lies. A redacted
report hides in addition the capture's name, the names of its folders and of its moments (they are
numbered instead), and the text of lines that could not be read. It keeps file names, kinds and
digests, and the names of functions: without those nobody could act on it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from gomem.capture.capture import Capture
    from gomem.causes.answers import MomentFacts
    from gomem.causes.finding import Evidence, Finding
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.errors import Damage

_HOME = re.compile(
    r"(?<![\w.~-])(?:/home/[^/\s:'\"]+|/Users/[^/\s:'\"]+|/root)(?=[/\s:'\"]|$)"
    r"|\b[A-Za-z]:\\Users\\[^\\\s:'\"]+"
)
UNNAMED = "capture"


def printable(text: str) -> str:
    """Text from an input, unable to steer a terminal: control characters become escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shareable(diagnosis: Diagnosis, *, redact: bool = False) -> Diagnosis:
    """The same answers, without what need not leave the machine; see the module's text.

    Args:
        diagnosis: The answers.
        redact: Whether to hide folder and moment names too.
    """
    baseline = None if diagnosis.baseline is None else shareable(diagnosis.baseline, redact=redact)
    words = _Words.of(diagnosis) if redact else _Words()
    return replace(
        diagnosis,
        capture=_capture(diagnosis.capture, words, redact=redact),
        moments=tuple(_facts(facts, words) for facts in diagnosis.moments),
        sites={words.moment(name): sites for name, sites in diagnosis.sites.items()},
        findings=tuple(_finding(finding, words) for finding in diagnosis.findings),
        baseline=baseline,
    )


def without_home(text: str) -> str:
    """A text with `~` for each home directory in it."""
    return _HOME.sub("~", text)


@dataclass(frozen=True)
class _Words:
    """What stands for each name that is hidden; nothing is if both are empty."""

    moments: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> _Words:
        moments: dict[str, str] = {}
        paths: dict[str, str] = {}
        for one in (diagnosis, diagnosis.baseline):
            if one is not None:
                own = _numbered(one.capture.moments)
                moments = own | moments
                paths = _file_names(one.capture.artefacts, own) | paths
        return cls(moments, paths)

    def moment(self, name: str) -> str:
        return self.moments.get(name, name)

    def text(self, text: str) -> str:
        if text in self.paths:
            return self.paths[text]
        for path in sorted(self.paths, key=len, reverse=True):
            if "/" in path:
                text = text.replace(path, self.paths[path])
        return without_home(text)


def _numbered(moments: pd.DataFrame) -> dict[str, str]:
    return {str(name): f"moment-{n}" for n, name in enumerate(moments["moment"], start=1)}


def _file_names(artefacts: pd.DataFrame, moments: Mapping[str, str]) -> dict[str, str]:
    return {
        str(path): "/".join(filter(None, (moments.get(moment, ""), PurePosixPath(path).name)))
        for path, moment in zip(artefacts["path"], artefacts["moment"], strict=True)
    }


def _capture(capture: Capture, words: _Words, *, redact: bool) -> Capture:
    artefacts = capture.artefacts.assign(
        path=[words.text(path) for path in capture.artefacts["path"]],
        moment=[words.moment(name) for name in capture.artefacts["moment"]],
    )
    last = PurePosixPath(capture.name.replace("\\", "/")).name
    return replace(
        capture,
        name=UNNAMED if redact or last in {"", ".."} else last,
        moments=capture.moments.assign(
            moment=[words.moment(name) for name in capture.moments["moment"]]
        ),
        artefacts=artefacts,
        profiles={words.moment(name): by for name, by in capture.profiles.items()},
        damaged=tuple(_damage(one, words, redact=redact) for one in capture.damaged),
        go_version=replace(capture.go_version, evidence=words.text(capture.go_version.evidence)),
    )


def _damage(damage: Damage, words: _Words, *, redact: bool) -> Damage:
    source = words.text(damage.source)
    if redact and damage.source not in words.paths:
        source = PurePosixPath(source).name
    text = "" if redact else without_home(damage.text)
    return replace(damage, source=source, what=words.text(damage.what), text=text)


def _facts(facts: MomentFacts, words: _Words) -> MomentFacts:
    ledger = facts.ledger
    if ledger is not None:
        ledger = replace(ledger, notes=tuple(words.text(note) for note in ledger.notes))
    paths = {kind: words.text(path) for kind, path in facts.paths.items()}
    return replace(facts, name=words.moment(facts.name), ledger=ledger, paths=paths)


def _finding(finding: Finding, words: _Words) -> Finding:
    return replace(
        finding,
        title=words.text(finding.title),
        moment=None if finding.moment is None else words.moment(finding.moment),
        evidence=tuple(_evidence(one, words) for one in finding.evidence),
        mechanism=words.text(finding.mechanism),
        next_step=words.text(finding.next_step),
    )


def _evidence(evidence: Evidence, words: _Words) -> Evidence:
    value = evidence.value
    if isinstance(value, str):
        value = ", ".join(words.moment(item) for item in value.split(", "))
        value = words.text(value)
    return replace(
        evidence,
        artefact=words.text(evidence.artefact),
        field=words.text(evidence.field),
        value=value,
    )
