"""`gomem fleet prometheus|pyroscope|parca URL`: Go processes known to a server, as a fleet."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gomem.cli.access import headers_of, user_of
from gomem.cli.output import tell
from gomem.cli.progress import captures_progress, stages
from gomem.errors import CaptureError
from gomem.numbered import Address
from gomem.text import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.fleets.fleet import Fleet
    from gomem.live.endpoints import Endpoints

SERVERS = {  # with their default ports
    "prometheus": "http://127.0.0.1:9090",
    "pyroscope": "http://127.0.0.1:4040",
    "parca": "http://127.0.0.1:7070",
}
PROMETHEUS = "prometheus"
SCRAPES, PROFILES = "scrapes", "profiles"  # folders of the captures in the dataset
TIMEOUT_SECONDS = 60.0
TOLD_MISSING = 5


@dataclass(frozen=True)
class Query:
    """A query to a server, from the command line."""

    server: str  # one of `SERVERS`
    query: str
    time_range: str
    step: str
    headers: Sequence[str]  # `Name: value`, or @FILE
    user: str | None


def from_server(
    urls: Sequence[str], output: Path | None, query: Query, workers: int | None
) -> Fleet:
    """Query a server, keep its data as captures beside the dataset, and read them as a fleet.

    Raises:
        CaptureError: There is not exactly one URL, or the server is of another kind.
    """
    from gomem.fleets.fleet import fleet
    from gomem.live import prometheus, stored_profiles
    from gomem.live.endpoints import Access, open_endpoints
    from gomem.sources.dataset import Dataset

    access = Access(
        headers=headers_of(query.headers),
        user=None if query.user is None else user_of(query.user),
        timeout_seconds=TIMEOUT_SECONDS,
    )
    if len(urls) != 1:
        example = SERVERS[query.server]
        raise CaptureError(f"{query.server}: wanted one URL, such as {example}")
    is_prometheus = query.server == PROMETHEUS
    labels = prometheus.LABELS if is_prometheus else stored_profiles.LABELS
    with ExitStack() as held:
        if output is None:
            folder = Path(held.enter_context(TemporaryDirectory(prefix="gomem-")))
        else:
            Dataset.of(output).prepare({"labels": labels})
            folder = output / (SCRAPES if is_prometheus else PROFILES)
        with stages() as at, open_endpoints(urls[0], access) as server:
            at.now(text("asking {}", Address(server.base)))
            _write(server, query, folder)
        with captures_progress() as progress:
            found = fleet(folder, into=output, labels=labels, workers=workers, progress=progress)
            found.captures.size  # noqa: B018 - read before the folder goes
        return found


def _write(server: Endpoints, query: Query, folder: Path) -> None:
    """Write the captures from a server's answer, and report what could not be fetched."""
    from gomem.live import prometheus, stored_profiles
    from gomem.live.instances import selector_of
    from gomem.live.parca import Parca
    from gomem.live.pyroscope import Pyroscope
    from gomem.live.span import Span

    selector = selector_of(query.query)
    if query.server == PROMETHEUS:
        span = Span.of(query.time_range, query.step, steps=prometheus.STEPS)
        prometheus.captured(server, selector, span, folder)
        return
    span = Span.of(query.time_range, query.step, steps=stored_profiles.STEPS)
    store = (Parca if query.server == "parca" else Pyroscope)(server, selector)
    missing = stored_profiles.fetched(store, span, folder).missing
    for what in missing[:TOLD_MISSING]:
        tell(what)
    if len(missing) > TOLD_MISSING:
        tell(f"and {len(missing) - TOLD_MISSING} more profiles could not be fetched")
