"""Which program is it, and are both sides the same? By build information, else by the binary."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.diagnosis.diagnosis import Diagnosis

DELETED = " (deleted)"  # what the kernel adds to the path of a file that was replaced
OF_FILES = "command-line-arguments"  # Go's word for a package made of files


def program_of(diagnosis: Diagnosis) -> str:
    """The program's name: that of its main package, else its binary's; empty if nothing says.

    A package that was built by the names of its files has none of its own.
    """
    packages = {_name(path) for path in _main_packages(diagnosis) - {OF_FILES}}
    for names in (packages, _binaries(diagnosis), _profiled(diagnosis)):
        if len(names) == 1:
            return names.pop()
    return ""


def different_programs(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> str:
    """One sentence where the sides are of different programs; empty where nothing says so.

    Main packages are compared where build information gives them on both sides, else the names of
    the binaries. A binary's name is a weaker word: somebody may have renamed it.
    """
    for told_by, words in ((_main_packages, "main packages"), (_binaries, "binaries")):
        old, new = ({name for one in side for name in told_by(one)} for side in (before, after))
        if old and new:
            if old & new:
                return ""
            return (
                f"These are different programs, by their {words}: "
                f"{', '.join(sorted(old))} before, {', '.join(sorted(new))} after."
            )
    return ""


def _main_packages(diagnosis: Diagnosis) -> set[str]:
    builds = [build.build for build in diagnosis.capture.builds.values()]
    paths = (path for build in builds for path in build["path"])
    return {str(path) for path in paths if path and not is_unknown(path)}


def _binaries(diagnosis: Diagnosis) -> set[str]:
    """The executable's name, by the manifest, else by smaps."""
    told = diagnosis.capture.manifest.fact("program")
    if isinstance(told, str) and told.strip():
        return {_name(told)}
    mappings = [facts.mappings for facts in diagnosis.moments if facts.mappings is not None]
    paths = {
        str(path) for one in mappings for path in one.loc[one["kind"] == "binary", "path"].dropna()
    }
    return {_name(path) for path in paths if path.startswith("/")}


def _name(path: str) -> str:
    return PurePosixPath(path.strip().removesuffix(DELETED)).name


def _profiled(diagnosis: Diagnosis) -> set[str]:
    """The executable by the heap profiles: what they map first."""
    first = (one.mappings["file"].head(1) for one in diagnosis.capture.heap_profiles.values())
    return {_name(str(path)) for paths in first for path in paths if str(path).startswith("/")}
