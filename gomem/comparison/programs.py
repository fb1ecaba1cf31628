"""Which program was measured, and is it the same on both sides? By build info or binary."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.facts.known_process import profiled_executables
from gomem.text import Program, joined, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.diagnosis.diagnosis import Diagnosis

DELETED = " (deleted)"  # the kernel's suffix for the path of a replaced file
PACKAGE_OF_FILES = "command-line-arguments"  # Go's name for a package built from listed files
DIFFERENT = "different programs"
MAIN = "main."
EVERY_MAIN = ("main.main", "main.init")  # with their closures
MIN_FUNCTIONS = 3  # of package main per side, to identify programs by them
MIN_IN_COMMON = 0.75  # of the smaller side; measured for one program: 0.75 to 1
_MAJOR = re.compile(r"v[0-9]+")
_VERSION = re.compile(r"[-_.]?v?[0-9]+(\.[0-9]+)*$")


def program_of(diagnosis: Diagnosis) -> str:
    """The program's name: of its main package, else of its binary; empty if unknown.

    A package built from listed files has no name.
    """
    packages = {_package(path) for path in _main_packages(diagnosis) - {PACKAGE_OF_FILES}}
    for names in (packages, _binaries(diagnosis), _profiled(diagnosis)):
        if len(names) == 1:
            return names.pop()
    return ""


def different_programs(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> str:
    """Say in a sentence that the sides are different programs; empty if nothing shows that.

    Main packages are compared if both sides have build information, else names of binaries, else
    functions of package main. A binary can be renamed or have its version in the name, so different
    names count only if the functions differ too.
    """
    packages = _apart(_main_packages, "main packages", before, after)
    if packages is not None:
        return packages
    old, new = ({name for run in side for name in _main_functions(run)} for side in (before, after))
    few = min(len(old), len(new))
    if few >= MIN_FUNCTIONS and len(old & new) >= MIN_IN_COMMON * few:
        return ""  # nearly all are on both sides; single names such as helpers often are
    binaries = _apart(_binaries, "binaries", before, after)
    if binaries is not None:
        return binaries
    if few >= MIN_FUNCTIONS and not old & new:
        return "The two sides are different programs: they share no function of package main."
    return ""


def _apart(
    names_of: Callable[[Diagnosis], set[str]],
    words: str,
    before: Sequence[Diagnosis],
    after: Sequence[Diagnosis],
) -> str | None:
    """The sentence if the sides share no name; empty if they do, None if a side has no names."""
    old, new = ({name for run in side for name in names_of(run)} for side in (before, after))
    if not old or not new:
        return None
    if {_VERSION.sub("", name) for name in old} & {_VERSION.sub("", name) for name in new}:
        return ""
    sides = (joined(", ", map(Program, sorted(side))) for side in (old, new))
    said = "The two sides are different programs, by their {}: {} before, {} after."
    return text(said, words, *sides)


def _main_functions(diagnosis: Diagnosis) -> set[str]:
    """Functions of package main in the profiles, without those that every program has."""
    names = {
        str(name)
        for profiles in diagnosis.capture.profiles.values()
        for profile in profiles.values()
        for name in profile.nodes().names
    }
    return {name for name in names if name.startswith(MAIN) and not name.startswith(EVERY_MAIN)}


def _main_packages(diagnosis: Diagnosis) -> set[str]:
    builds = [build.build for build in diagnosis.capture.builds.values()]
    paths = (path for build in builds for path in build["path"])
    return {str(path) for path in paths if path and not is_unknown(path)}


def _binaries(diagnosis: Diagnosis) -> set[str]:
    """The executable's name, from the manifest, else from smaps."""
    told = diagnosis.capture.manifest.fact("program")
    if isinstance(told, str) and told.strip():
        return {_name(told)}
    mappings = [facts.mappings for facts in diagnosis.moments if facts.mappings is not None]
    paths = {
        str(path)
        for frame in mappings
        for path in frame.loc[frame["kind"] == "binary", "path"].dropna()
    }
    return {_name(path) for path in paths if path.startswith("/")}


def _package(path: str) -> str:
    """The last element of a package's path; of a module's later major version, the one before."""
    named = PurePosixPath(path)
    return named.parent.name if _MAJOR.fullmatch(named.name) and named.parent.name else named.name


def _name(path: str) -> str:
    return PurePosixPath(path.strip().removesuffix(DELETED)).name


def _profiled(diagnosis: Diagnosis) -> set[str]:
    """The executable's name in the heap profiles."""
    paths = profiled_executables(diagnosis.capture)
    return {_name(path) for path in paths if path.startswith("/")}
