"""Read an artefact by its content, or say what a file of no known kind looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.json_text import is_json, what_json_holds
from gomem.inputs.kinds import WANTED, kind_of
from gomem.sources.artefact import open_source

if TYPE_CHECKING:
    from gomem.inputs.kinds import Kind
    from gomem.inputs.schema import WithDamage
    from gomem.sources.artefact import Readable, Source

EXECUTABLE_MAGIC = b"\x7fELF"


def read(readable: Readable) -> WithDamage:
    """Read an artefact of any kind; what it is, its content says.

    Args:
        readable: A path, bytes, or a binary file object.

    Returns:
        What the kind's own reader gives, such as `Profile` or `Smaps`.

    Raises:
        FormatError: It is of no kind that gomem reads, or cannot be read at all.
    """
    source = open_source(readable)
    kind = kind_of(source.data, source.name)
    if kind is None:
        found = not_an_artefact(source.data, source.name)
        raise FormatError(found.source, found.where, found.what, found.text)
    return read_artefact(kind, source)


def read_artefact(kind: Kind, source: Source, **options: Any) -> WithDamage:
    """Read one artefact of a known kind.

    Args:
        kind: What it is.
        source: Where it is read from.
        options: What the kind's reader takes besides, such as a long log's `progress`.

    Raises:
        FormatError: It cannot be read at all; also where its reader fails unforeseen, so that one
            file never takes the others with it.
    """
    try:
        return kind.read(source, **options)
    except (FormatError, MemoryError):
        raise
    except Exception as error:
        what = (
            f"gomem's reader of {kind.wanted} failed unforeseen: {type(error).__name__}: {error}; "
            "please report it, with the file if it can be shared"
        )
        raise FormatError(source.name, "", what) from error


def not_an_artefact(data: bytes, source: str) -> Damage:
    """Why a file of no kind was passed over: what was found, and what is wanted."""
    if not data:
        return Damage(source, "", f"empty file; wanted {WANTED}")
    if is_json(data):
        return Damage(source, "", f"{what_json_holds(data)}; wanted MemStats or runtime/metrics")
    if data.startswith(EXECUTABLE_MAGIC):
        return Damage(source, "", f"an executable, not a capture's artefact; wanted {WANTED}")
    text = data[:512]
    if b"\0" in text or sum(byte > 126 for byte in text) * 4 > len(text):
        found = f"{len(data)} bytes of an unknown binary beginning {text[:8].hex(' ')}"
        return Damage(source, "", f"{found}; wanted {WANTED}")
    return Damage(source, "", f"text of no known kind; wanted {WANTED}", _first_line(data))


def _first_line(data: bytes) -> str:
    return excerpt(data.strip().split(b"\n", 1)[0][:200])
