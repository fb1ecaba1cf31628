"""Small inputs to begin with, cut out of fixtures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gomem.sources.artefact import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
MAX_BYTES = 2 << 10  # of a seed that is text: a reader takes a fraction of a millisecond for it
MAX_WHOLE_BYTES = 12 << 10  # of one that can only be whole
FILES = 24  # of a target, spread over all that there are


def lines(*patterns: str, most: int = MAX_BYTES) -> Callable[[], list[bytes]]:
    """The first lines of fixtures, by patterns of their paths."""
    return lambda: _apart(_first_lines(_read(path), most) for path in _spread(patterns))


def behind(mark: bytes, *patterns: str) -> Callable[[], list[bytes]]:
    """As `lines`, from the first line that has a mark on."""

    def begun(data: bytes) -> bytes:
        return data[data.rfind(b"\n", 0, data.index(mark)) + 1 :]

    return lambda: _apart(_first_lines(begun(_read(path)), MAX_BYTES) for path in _spread(patterns))


def whole(*patterns: str, most: int = MAX_WHOLE_BYTES) -> Callable[[], list[bytes]]:
    """Fixtures as they are, decompressed, that are no larger."""
    return lambda: _apart(data for path in _spread(patterns) if len(data := _read(path)) <= most)


def all_of(*makers: Callable[[], list[bytes]]) -> Callable[[], list[bytes]]:
    """The seeds of several makers."""
    return lambda: _apart(seed for maker in makers for seed in maker())


def _spread(patterns: tuple[str, ...]) -> list[Path]:
    """Files of each pattern, as many of one as of another."""
    chosen: list[Path] = []
    for pattern in patterns:
        found = sorted(path for path in FIXTURES.glob(pattern) if path.is_file())
        assert found, f"no fixture is {pattern}"
        most = max(1, FILES // len(patterns))
        chosen += found[:: -(-len(found) // most)]
    return chosen


def _read(path: Path) -> bytes:
    return open_source(path).data


def _first_lines(data: bytes, most: int) -> bytes:
    return data if len(data) <= most else data[: data.rfind(b"\n", 0, most) + 1]


def _apart(found: Iterable[bytes]) -> list[bytes]:
    return list(dict.fromkeys(filter(None, found)))
