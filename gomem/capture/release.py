"""Which Go release built the process of a capture, and which file says so?"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.capture.manifest import MANIFEST
from gomem.errors import CaptureError
from gomem.inputs.kinds import BY_NAME
from gomem.releases import GoVersion, known_version
from gomem.text import File, Quoted, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.capture.capture import Capture
    from gomem.capture.manifest import Manifest
    from gomem.capture.moment import Artefact

# Kinds that exist for programs in any language.
ANY_PROGRAM_HAS = frozenset(
    {"cgroup", "smaps", "pmap", "maps", "smaps_rollup", "status", "statm", "limits", "loadtest"}
    | {"processes", "environ", "symbols"}
)
UNKNOWN = GoVersion()
LOG = BY_NAME["gctrace"]
GO_LINE = re.compile(rb"\b[Gg]o [Vv]ersion:? (go1\.\d{1,2}(?:\.\d{1,3})?)\b")  # in a program's log
PATH = "a path"
RELEASE_IS_SAID_BY = ("heap dump", "build information", "go_info", PATH)  # in order of preference


def shows_go(capture: Capture) -> bool:
    """Return whether any file says that the process is a Go program."""
    kinds = {file.kind.name for file in capture.files}
    return capture.go_version.exact is not None or not kinds <= ANY_PROGRAM_HAS


def are_no_gos(names: Iterable[str]) -> bool:
    """Return whether function names are those of C++, Rust or PHP, such as `Array::Literal`.

    No name in Go has `::`, and a dot separates each Go function from its package.
    """
    named = set(names)
    scoped = {name for name in named if "::" in name}
    return bool(scoped) and not any("." in name for name in named - scoped)


def release_of(
    given: str | None,
    manifest: Manifest,
    artefacts: Sequence[Artefact],
    in_prose: GoVersion = UNKNOWN,
) -> GoVersion:
    """Return the release that the user gives, or else the one that the capture names.

    A sentence beside the pasted artefacts states `in_prose`; any artefact says more.

    Raises:
        CaptureError: The user's value is not a release.
    """
    said = _said_version(manifest, artefacts)
    said = in_prose if said.exact is None and in_prose.exact is not None else said
    return said if given is None else _given_version(given, said)


def _given_version(given: str, said: GoVersion) -> GoVersion:
    """The user's release, with a note if the capture contradicts it."""
    version = known_version(given, "--go-version")
    if version is None or version.low is None:
        what = "{}: not a Go release; wanted the form go1.24.2"
        raise CaptureError(text(what, Quoted(given)))
    is_older = said.low is not None and version.low < said.low
    is_newer = said.high is not None and version.low > said.high
    if not is_older and not is_newer:
        return version
    against = text("{} says {}", said.evidence, str(said))
    return replace(version, evidence=text("--go-version; {}", against), against=against)


def _said_version(manifest: Manifest, artefacts: Sequence[Artefact]) -> GoVersion:
    """The release according to the capture."""
    version = known_version(str(manifest.fact("go_version")), f"{MANIFEST} go_version")
    if version is not None:
        return version
    for artefact in sorted(artefacts, key=_says_release_by):
        release = getattr(artefact.parsed, "go_version", None)
        if isinstance(release, str):
            said_by = RELEASE_IS_SAID_BY[_says_release_by(artefact)]
            how = "inferred from " if said_by == PATH else ""
            evidence = text("{}{} in {}", how, said_by, File(artefact.source.name))
            version = known_version(release, evidence)
        if version is None and artefact.kind is LOG:
            version = _said_in_log(artefact)
        if version is not None:
            return version
    ranges = [artefact.parsed.go_version_range for artefact in artefacts if artefact.kind is LOG]
    return ranges[0] if ranges else GoVersion()


def _said_in_log(log: Artefact) -> GoVersion | None:
    """The release in a line of the program's log; only the beginning of a long log is searched."""
    line = GO_LINE.search(log.source.data)
    if line is None:
        return None
    return known_version(line[1].decode(), text("{}", File(log.source.name)))


def _says_release_by(artefact: Artefact) -> int:
    """The rank of an artefact among the sources of the release."""
    return RELEASE_IS_SAID_BY.index(getattr(artefact.parsed, "release_evidence", PATH))
