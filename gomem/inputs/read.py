"""Reads an artefact according to its content, or describes a file of an unknown kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.errors import Damage, FormatError, is_out_of_memory
from gomem.inputs.kinds import WANTED, kind_of
from gomem.inputs.looks_like import looks_like
from gomem.sources.artefact import open_source
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from gomem.inputs.kinds import Kind
    from gomem.inputs.schema import WithDamage
    from gomem.sources.artefact import Readable, Source


def read(readable: Readable) -> WithDamage:
    """Read an artefact of any kind: a path, bytes, or a binary file object.

    Its content decides the kind; the result is that of the kind's reader, such as `Profile` or
    `Smaps`. Raises FormatError if gomem does not read this kind, or cannot read the file at all.
    """
    source = open_source(readable)
    kind = kind_of(source.data, source.name)
    if kind is None:
        found = not_an_artefact(source.data, source.name)
        raise FormatError(found.source, found.where, found.what, found.text)
    return read_artefact(kind, source)


def read_artefact(kind: Kind, source: Source, **options: Any) -> WithDamage:
    """Read one artefact of a known kind, with its reader's own options, such as `progress`.

    Raises FormatError if it cannot be read at all, or if the reader fails unexpectedly, so that one
    file never stops the reading of others.
    """
    try:
        return kind.read(source, **options)
    except FormatError:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        what = "gomem's reader of {} failed unforeseen: {}: {}; please report it, with the file if"
        said = (kind.wanted, type(error).__name__, Quoted(error))
        raise FormatError(source.name, "", text(f"{what} it can be shared", *said)) from error


def not_an_artefact(data: bytes, source: str) -> Damage:
    """Return why a file of unknown kind was skipped: what it looks like, and what to do instead."""
    seen = looks_like(data, source)
    if not seen.known:
        return Damage(source, "", text("{}; wanted {}", seen.what, WANTED), seen.text)
    return Damage(source, "", seen.sentence, seen.text)
