"""What accompanying texts say about the process: its container's settings, and how it ended.

`docker inspect` and `kubectl describe` print a container's settings, its memory limit, and whether
it was OOM-killed. GNU time, systemd and Docker print how the program ended. Its own log can show
that it read all its input: `read 150000/150000`. If it ended with success, the memory that it held
then is its work, not a leak.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.capture.pasted import PastedPart
from gomem.inputs.environ.parse import MAX_TEXT_BYTES
from gomem.inputs.kubernetes import OomKilled, oom_killed

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts

# Kinds whose text can have more than the log or the table.
WITH_TEXT = frozenset({"gctrace", "processes", "status"})


def texts_beside(capture: Capture) -> dict[str, bytes]:
    """Return the texts that can describe a container, by name: not read, or with pastes.

    A longer one is a log, or no text.
    """
    files = ((file.source, file.kind.name) for file in capture.files)
    pasted = (text for text, kind in files if isinstance(text, PastedPart) or kind in WITH_TEXT)
    sources = (*capture.passed_over, *pasted)
    texts = {source.text_name: source.whole_text for source in sources}
    return {name: data for name, data in texts.items() if len(data) <= MAX_TEXT_BYTES}


@dataclass(frozen=True)
class KillDescribed:
    """A container's kill, and the file that describes it."""

    source: str
    kill: OomKilled


def kill_described(facts: CaptureFacts) -> KillDescribed | None:
    """Return the only kill that a description has, and its file; None without one."""
    texts = texts_beside(facts.capture)
    found = [
        KillDescribed(name, kill)
        for name, text in texts.items()
        if (kill := oom_killed(text)) is not None
    ]
    return found[0] if len(found) == 1 else None


_CGO = re.compile(rb"\bCGO_ENABLED=([01])\b")
_FORCES = re.compile(rb"\bruntime\.GC\b|\bFreeOSMemory\b")
LAST_BYTES = 1 << 16  # of each text, in which its end is said
_ENDED = re.compile(
    rb"(?P<well>\bExit status: 0\b|\bexited with code 0\b|\bExited \(0\)"
    rb"|\.service: (?:Succeeded|Deactivated successfully)\b)"
    rb"|\bExit status: \d|\bexited with code \d|\bExited \(\d"
    rb"|\.service: (?:Failed with result|Main process exited)"
)


# A count of a whole in a line of the program's own log; a date is none.
_PROGRESS = re.compile(
    rb"^(?!gc |scvg|scav|pacer)[^\n]{0,200}?(?<![\w./])(\d{1,12})/(\d{1,12})(?![\w./])",
    re.MULTILINE,
)
_COLLECTED = re.compile(rb"^gc \d+ @", re.MULTILINE)
MIN_PROGRESS = 3  # lines of one whole


def _has_done_its_input(text: bytes) -> bool:
    """Whether a log counts up to a whole, reaches it, and has no collection after that."""
    lines = list(_PROGRESS.finditer(text))
    if not lines or lines[-1][1] != lines[-1][2] or _COLLECTED.search(text, lines[-1].end()):
        return False
    counts = [int(line[1]) for line in lines if line[2] == lines[-1][2]]
    return len(counts) >= MIN_PROGRESS and counts == sorted(set(counts))


def ended_well(capture: Capture) -> str:
    """Return the file that says that the program ended with success, or did all its work."""
    sources = [file.source for file in capture.files if file.kind.name not in {"pprof", "smaps"}]
    found = ""
    for source in (*sources, *capture.passed_over):
        said = [match["well"] for match in _ENDED.finditer(source.data[-LAST_BYTES:])]
        if said and said[-1] is None:
            return ""
        is_done = bool(said) or _has_done_its_input(source.data[-LAST_BYTES:])
        found = source.name if is_done else found
    return found


def asks_for_gc(capture: Capture) -> bool:
    """Whether a text names a call that forces a GC."""
    return any(_FORCES.search(data) for data in texts_beside(capture).values())


def has_no_cgo(capture: Capture) -> bool:
    """Whether build information or a text says that the program was built without cgo."""
    builds = capture.of_kind("buildinfo").values()
    built = [cgo for known in builds for cgo in known.build["cgo"].dropna().tolist()]
    if built:
        return not any(built)
    said = {value for data in texts_beside(capture).values() for value in _CGO.findall(data)}
    return said == {b"0"}


def is_at_its_limit(moment: MomentFacts) -> bool:
    """Whether an OOM report without the killed process has the cgroup's use."""
    use = moment.cgroup_use
    is_report = bool(moment.cgroup.get("oom")) and "processes" in moment.paths
    return is_report and use is not None and not use.oom_kills
