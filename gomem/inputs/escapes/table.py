"""The compiler's escape analysis as a frame: what is allocated on the heap, where, and why."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.escapes.parse import looks_like_escapes, parse_escapes
from gomem.inputs.schema import Column, Frames, build_rows
from gomem.inputs.unwrap import plain_characters, read_plain
from gomem.inputs.wrong_file import reads
from gomem.numbered import Module
from gomem.text import File, Function, Quoted, Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.sources.artefact import Source

VERDICTS = (
    Column(
        "package", "str", "", "Import path of the package; empty if the output has none.", Module
    ),
    Column("file", "str", "", "Source file, relative to where the build ran, or absolute.", File),
    Column("line", "int64", "", "Line of the file."),
    Column("column", "Int64", "", "Column of the line, in bytes from 1."),
    Column("kind", "str", "", "moved, escapes, leaks, stays or other.", Words),
    Column("subject", "str", "", "The variable or expression; of other, the message.", Quoted),
    Column("function", "str", "", "Enclosing function, where the compiler names it.", Function),
    Column(
        "reason", "str", "", "Why, in words; empty where the compiler does not say (-m=2).", Words
    ),
    Column(
        "flow", "str", "", "The compiler's explanation, a step a line; empty without -m=2.", Quoted
    ),
)
ON_THE_HEAP = ("moved", "escapes")


@dataclass(frozen=True)
class EscapeAnalysis(Frames):
    """The compiler's verdicts: `verdicts`, a row each; see `VERDICTS`."""

    verdicts: pd.DataFrame

    @property
    def on_the_heap(self) -> pd.DataFrame:
        """The verdicts that cause a heap allocation."""
        return self.verdicts[self.verdicts["kind"].isin(ON_THE_HEAP)]

    def _repr_html_(self) -> str:
        shown = self.on_the_heap[["file", "line", "kind", "subject", "reason"]]
        head = f"<p>{len(shown)} places where something is allocated on the heap</p>"
        return head + shown.to_html(escape=True, index=False)


@reads("the output of go build -gcflags=-m", "escapes")
def read_escapes(source: Source) -> EscapeAnalysis:
    """Read the output of `go build -gcflags=-m` or `-m=2`: what escapes to the heap, and why.

    Raises FormatError if it has no verdict.
    """
    # `&amp;u` in HTML is the address `&u`, not a name
    plain = replace(source, data=plain_characters(source.data))
    verdicts, damaged, _ = read_plain(plain, looks_like_escapes, parse_escapes)
    if not verdicts:
        raise FormatError(source.name, "", "no verdict; wanted the output of go build -gcflags=-m")
    return EscapeAnalysis(build_rows(map(astuple, verdicts), VERDICTS), damaged=damaged)
