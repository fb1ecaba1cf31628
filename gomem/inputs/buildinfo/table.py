"""Build information as frames: the build, its settings, its modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gomem.inputs.buildinfo import parse
from gomem.inputs.elf import ELF
from gomem.inputs.schema import Column, Frames, build_rows
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.numbered import Digest, Module, Value
from gomem.text import Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.errors import Damage
    from gomem.inputs.buildinfo.parse import BuildInfo
    from gomem.sources.artefact import Source

BUILD = (
    Column("go_version", "str", "", "The release that built it.", Words),
    Column("path", "str", "", "The main package's path; missing without modules.", Module),
    Column("module", "str", "", "The main module's path; missing without modules.", Module),
    Column("version", "str", "", "Its version; `(devel)` of a build from a working copy.", Value),
    Column("cgo", "boolean", "", "Whether cgo was on; missing before Go 1.18."),
    Column("goos", "str", "", "The system that it was built for; missing before Go 1.18.", Words),
    Column("goarch", "str", "", "The processor; missing before Go 1.18.", Words),
    Column("revision", "str", "", "The commit it was built from, if that was recorded.", Digest),
)
SETTINGS = (
    Column("name", "str", "", "A setting of the build: `-tags`, `CGO_ENABLED`, `vcs.time`.", Words),
    Column("value", "str", "", "Its value.", Value),
)
MODULES = (
    Column(
        "kind", "str", "", "`main`, `dependency`, or `replacement` of the module before it.", Words
    ),
    Column("path", "str", "", "The module's path.", Module),
    Column("version", "str", "", "Its version.", Value),
    Column("sum", "str", "", "Its checksum, if any.", Digest),
)


@dataclass(frozen=True)
class Build(Frames):
    """Build information: `build`, one row; `settings` (Go 1.18+) and `modules`, a row each."""

    build: pd.DataFrame
    settings: pd.DataFrame
    modules: pd.DataFrame
    release_evidence: ClassVar[str] = "build information"  # the source of the release

    @property
    def go_version(self) -> str:
        """The Go release that built the program."""
        return str(self.build["go_version"].iloc[0])


def build_tables(build: BuildInfo, damaged: tuple[Damage, ...]) -> Build:
    """Convert build information to frames."""
    settings, modules = parse.settings_of(build), parse.modules_of(build)
    main = next((module for module in modules if module[0] == "main"), ("", None, None, None))
    paths = [line.split("\t")[1] for line in build.modules.splitlines() if line[:5] == "path\t"]
    cgo = settings.get("CGO_ENABLED")
    module = (build.go_version, next(iter(paths), None), main[1], main[2])
    of_settings = map(settings.get, ("GOOS", "GOARCH", "vcs.revision"))
    row = (*module, None if cgo is None else cgo == "1", *of_settings)
    tables = (build_rows(settings.items(), SETTINGS), build_rows(modules, MODULES))
    return Build(build_rows([row], BUILD), *tables, damaged=damaged)


@reads("build information, as go version -m prints it", "buildinfo")
def read_buildinfo(source: Source) -> Build:
    """Read build information: the output of `go version -m`, or an ELF executable itself.

    Raises FormatError if there is none; Go 1.12 and older wrote none.
    """
    if source.data.startswith(ELF):
        build, found = parse.parse_build_info(source.data, source=source.name)
        return build_tables(build, (*source.damage, *found))
    build, damaged, _ = read_plain(source, parse.looks_like_build_info, parse.parse_build_info)
    return build_tables(build, damaged)
