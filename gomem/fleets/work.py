"""Read a capture, diagnose it, and keep the results.

The same function runs in this process, in other processes, and on other machines. Its result
depends only on its argument, and has a few kilobytes per capture, whatever the capture's size.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.fleet.frames import KINDS
from gomem.fleets.answers import answers_of, failed_frame
from gomem.fleets.parquet import packed
from gomem.sources.captures import at_hand

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gomem.fleets.labels import Labelled

CHUNK = 16  # captures per chunk: a few seconds of work, and one part of the dataset
MAX_WORDS = 500  # characters of an error message


@dataclass(frozen=True)
class Chunk:
    """Captures that one worker reads, in order."""

    captures: tuple[Labelled, ...]

    @property
    def part(self) -> str:
        """The name of the results in the dataset; equal captures have equal names."""
        keys = "\n".join(capture.key for capture in self.captures)
        return hashlib.sha256(keys.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Done:
    """The result of a chunk."""

    part: str
    files: Mapping[tuple[str, str], bytes]  # Parquet files by kind and month
    keys: tuple[str, ...]  # captures that need not be read again
    read: int  # captures that were read
    failed: int  # captures that could not be read


def chunks_of(captures: Sequence[Labelled], size: int = CHUNK) -> list[Chunk]:
    """Divide captures into chunks, in order."""
    return [Chunk(tuple(captures[first : first + size])) for first in range(0, len(captures), size)]


def work(chunk: Chunk) -> Done:
    """Read and diagnose the captures of a chunk; an unreadable one becomes a row of `failed`."""
    return _done(chunk, [_answers(capture) for capture in chunk.captures])


def given_up(chunk: Chunk, what: str) -> Done:
    """Return the result for a chunk that kills its workers; the next run tries the chunk again."""
    frames = [{"failed": failed_frame(capture, what, is_final=False)} for capture in chunk.captures]
    return _done(chunk, frames)


def _answers(labelled: Labelled) -> dict[str, pd.DataFrame]:
    from gomem.capture.load import load
    from gomem.diagnosis.diagnosis import diagnose
    from gomem.errors import CaptureError, FormatError

    try:
        with at_hand(labelled.place) as path:
            return answers_of(diagnose(load(path)), labelled)
    except (CaptureError, FormatError) as error:
        return {"failed": failed_frame(labelled, _words(str(error)))}
    except MemoryError:
        return {"failed": failed_frame(labelled, "out of memory", is_final=False)}
    except OSError as error:  # such as a store that does not answer
        what = _words(f"cannot be read: {error.strerror or error}")
        return {"failed": failed_frame(labelled, what, is_final=False)}
    except Exception as error:  # noqa: BLE001 - one bad capture must not end a run over thousands
        what = f"a fault of gomem's own: {type(error).__name__}: {error}"
        return {"failed": failed_frame(labelled, _words(what))}


def _done(chunk: Chunk, answered: Iterable[Mapping[str, pd.DataFrame]]) -> Done:
    answered = list(answered)
    frames: dict[str, pd.DataFrame] = {}
    for kind in KINDS:
        found = [frames_of[kind] for frames_of in answered if kind in frames_of]
        filled = [frame for frame in found if len(frame)]
        if filled:
            frames[kind] = pd.concat(filled, ignore_index=True) if len(filled) > 1 else filled[0]
    failed = frames.get("failed")
    again = set() if failed is None else set(failed.loc[~failed["is_final"], "key"])
    keys = tuple(capture.key for capture in chunk.captures if capture.key not in again)
    failures = 0 if failed is None else len(failed)
    read = len(chunk.captures) - failures
    return Done(chunk.part, packed(frames), keys, read, failures)


def _words(text: str) -> str:
    return text if len(text) <= MAX_WORDS else text[: MAX_WORDS - 1] + "…"
