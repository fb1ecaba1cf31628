"""`gomem fleet prometheus URL`: the Go processes that a Prometheus server scrapes, as a fleet."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gomem.cli.progress import captures_progress, stages
from gomem.errors import CaptureError
from gomem.numbered import Address
from gomem.text import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.fleets.fleet import Fleet

SCRAPES = "scrapes"  # folder of the archives, in the dataset's


def from_prometheus(
    urls: Sequence[str], output: Path | None, query: str, time_range: str, step: str
) -> Fleet:
    """Ask a server, keep what it said beside the dataset, and read it as captures.

    Raises:
        CaptureError: Not one URL is named, or the server does not answer as one.
    """
    from gomem.fleets.fleet import fleet
    from gomem.live.prometheus import LABELS, Span, captured
    from gomem.sources.dataset import Dataset

    if len(urls) != 1:
        raise CaptureError("prometheus: wanted one URL, such as http://127.0.0.1:9090")
    span = Span.of(time_range, step)
    with ExitStack() as held:
        if output is None:
            folder = Path(held.enter_context(TemporaryDirectory(prefix="gomem-")))
        else:
            Dataset.of(output).prepare({"labels": LABELS})
            folder = output / SCRAPES
        with stages() as at:
            at.now(text("asking {}", Address(urls[0])))
            captured(urls[0], query, span, folder)
        with captures_progress() as progress:
            found = fleet(folder, into=output, labels=LABELS, progress=progress)
            found.captures.size  # noqa: B018 - read before the folder goes
        return found
