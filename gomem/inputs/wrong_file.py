"""What a reader got instead of the expected file, and what to do: one answer for all readers.

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
ON_JSON = frozenset({"memstats", "metrics"})  # their own errors for other JSON describe it
ON_ELF = frozenset({"buildinfo", "symbols"})  # executables can lack this data


def reads(
    wanted: str, *kinds: str
) -> Callable[[Callable[[Source], Read]], Callable[[Readable], Read]]:
    """Make a reader of `wanted` and of these kinds accept any readable, and name a wrong file."""
    # The file is identified only if the reader refuses it or finds damage. So a text of another
    # kind does not count as a damaged one of this kind.

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

        # otherwise help() would show its signature instead of this one
        del read_or_name.__wrapped__
        return read_or_name

    return with_names


def name_another(source: Source, wanted: str, kinds: Sequence[str], *, refused: bool) -> None:
    """Raise a FormatError that identifies a file of another kind, if it is recognised.

    If the reader `refused` it, unrecognised text raises the error, too.
    """
    from gomem.inputs.kinds import kind_of  # circular: it imports this reader's kinds
    from gomem.inputs.looks_like import looks_like  # its patterns are slow to compile

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
