"""What a reader was given instead of the expected file, and what to do: one answer for all readers.

Captures contain error pages from a proxy, pointer files, or one /proc file under another's name. A
parser's own message about such a file, that some field is missing, helps nobody.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar

from gomem.errors import FormatError
from gomem.inputs.elf import ELF
from gomem.inputs.json_text import is_json
from gomem.sources.artefact import open_source
from gomem.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.sources.artefact import Readable, Source

Read = TypeVar("Read")
ON_JSON = frozenset({"memstats", "metrics"})  # whose own words on other JSON say what is in it
ON_ELF = frozenset({"buildinfo", "symbols"})  # which an executable may lack


def reads(
    wanted: str, *kinds: str
) -> Callable[[Callable[[Source], Read]], Callable[[Readable], Read]]:
    """Let a reader of `wanted`, of these kinds, take anything readable, and name a wrong file."""
    # Whether it is one is asked where the reader refuses a file, or finds damage in it. So a text
    # of another kind is not taken for a damaged one of this kind.

    def with_names(read: Callable[[Source], Read]) -> Callable[[Readable], Read]:
        @wraps(read)
        def read_or_name(readable: Readable) -> Read:
            source = open_source(readable)
            try:
                found = read(source)
            except FormatError:
                name_another(source, wanted, kinds, refused=True)
                raise
            if len(getattr(found, "damaged", ())) > len(source.damage):
                name_another(source, wanted, kinds, refused=False)
            return found

        del read_or_name.__wrapped__  # whose signature help() would show in place of this one
        return read_or_name

    return with_names


def name_another(source: Source, wanted: str, kinds: Sequence[str], *, refused: bool) -> None:
    """Raise a FormatError that says what a file is, if it is recognised and of none of these kinds.

    Where the reader `refused` it, that is also said of some text that nobody knows.
    """
    from gomem.inputs.kinds import kind_of  # which names this reader's kinds among the others
    from gomem.inputs.looks_like import looks_like  # whose patterns nobody else waits for

    if source.data.startswith(ELF) and not ON_ELF.isdisjoint(kinds):
        return
    kind = kind_of(source.data, source.name)
    if kind is not None:
        if kind.name not in kinds:
            what = f"{kind.wanted}, wanted {wanted}; gomem report and gomem table read it"
            raise FormatError(source.name, "", what)
        return
    seen = looks_like(source.data, source.name)
    if not (seen.known or refused) or (seen.is_unknown_binary and "pprof" in kinds):
        return
    if is_json(source.data) and not ON_JSON.isdisjoint(kinds):
        return
    way_out = text("; {}", seen.way_out) * bool(seen.way_out)
    what = text("{}, wanted {}{}", seen.what, wanted, way_out)
    raise FormatError(source.name, "", what, seen.text)
