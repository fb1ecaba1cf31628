"""The runtime's variables in a process's environment, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.environ.parse import looks_like_environ, parse_environ
from gomem.inputs.schema import TEXT, Column, Frames, build_rows
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.numbered import Value
from gomem.text import Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.sources.artefact import Source

ENVIRON = (
    Column("name", "str", "", "GOGC, GOMEMLIMIT, GOMAXPROCS, GODEBUG or GOTRACEBACK.", Words),
    Column(
        "value",
        *TEXT,
        "As the process was started with it; a variable not set has no row.",
        Value,
    ),
)


@dataclass(frozen=True)
class Environ(Frames):
    """The Go runtime's variables at process start: `environ`, a row each; see `ENVIRON`."""

    environ: pd.DataFrame

    @property
    def variables(self) -> dict[str, str]:
        """The variables as a dict, by name."""
        return dict(zip(self.environ["name"], self.environ["value"], strict=True))


@reads("a process's environment", "environ")
def read_environ(source: Source) -> Environ:
    """Read only the runtime's variables of /proc/PID/environ or `env`; or raise FormatError."""
    looks_like = partial(looks_like_environ, name=source.name)
    variables, damaged, text = read_plain(source, looks_like, parse_environ)
    if not looks_like(text.data):
        raise FormatError(source.name, "", "no environment; wanted NAME=VALUE, entry by entry")
    return Environ(build_rows(variables.items(), ENVIRON), damaged=damaged)
