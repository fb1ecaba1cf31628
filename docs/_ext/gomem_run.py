"""Runs a `gomem` command of the manual in a folder with the captures that the manual names."""

import io
import os
import shlex
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from unittest.mock import patch

# Recorded captures, renamed as people would name theirs.
FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
CAPTURES = FIXTURES / "captures"
PLACES = {
    "captures/api": CAPTURES / "zeroing-go1.24.2",
    "captures/api-before": CAPTURES / "zeroing-go1.23.4",
    "captures/cache": CAPTURES / "cache-shrink-go1.12.17",
    "captures/uploads": CAPTURES / "spiky-go1.27.3",
    "captures/before": CAPTURES / "alloc-pressure-before-go1.27.3",
    "captures/after": CAPTURES / "alloc-pressure-after-go1.27.3",
    "captures/healthy": CAPTURES / "healthy-go1.27.3",
    "captures/incident.tar.gz": FIXTURES / "laboratory" / "captures" / "kvd-i.tar.gz",
    "runs/go1.23.4": FIXTURES / "changes" / "releases" / "go1.23.4",
    "runs/go1.24.2": FIXTURES / "changes" / "releases" / "go1.24.2",
    "runs/go1.24.6": FIXTURES / "changes" / "releases" / "go1.24.6",
    "gctrace.log": CAPTURES / "healthy-go1.27.3" / "gctrace.log",
    "before.txt": CAPTURES / "alloc-pressure-before-go1.27.3" / "bench.txt",
    "after.txt": CAPTURES / "alloc-pressure-after-go1.27.3" / "bench.txt",
    "heap.pb.gz": CAPTURES / "healthy-go1.27.3" / "2-steady" / "heap.pb.gz",
    "heap.dump": FIXTURES / "heapdumps" / "keepers-go1.24.13.dump.gz",
    "nm.txt": FIXTURES / "heapdumps" / "keepers-go1.24.13.nm.txt.gz",
    "pods": FIXTURES / "pods",
    **{
        f"releases/{build}": FIXTURES / "changes" / "matrix" / build
        for build in ("go1.23.4", "go1.24.0", "go1.24.5", "go1.24.6")
    },
    "fixtures": FIXTURES,
}


def lay_out(folder: Path) -> None:
    """Copy all captures into a folder."""
    for name, target in PLACES.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)


TERMINAL = {"COLUMNS": "80", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb"}


class _Terminal(io.StringIO):
    def isatty(self):
        return True


@cache
def answer_of(command: str) -> tuple[int, str]:
    """Return the exit code of `gomem COMMAND`, and its output on a terminal of 80 columns."""
    from gomem.cli.main import run

    shown = _Terminal()
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        patch.dict(os.environ, TERMINAL),
        redirect_stdout(shown),
        redirect_stderr(io.StringIO()),
    ):
        lay_out(Path(folder))
        code = run(shlex.split(command))
    return code, shown.getvalue().rstrip()
