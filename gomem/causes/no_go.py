"""What to do about a program or a container that is not Go, whose memory gomem cannot see into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.commands import sentences
from gomem.inputs.processes.docker_releases import CACHELESS_DOCKER
from gomem.inputs.processes.metrics_api import METRICS_API
from gomem.inputs.processes.parse import CRICTL_STATS, DOCKER_STATS, KUBECTL_TOP, OLD_DOCKER
from gomem.text import Command, Program, Quoted, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.memory.listed import Listed

FOLLOWED_BY = {
    **dict.fromkeys((KUBECTL_TOP, METRICS_API), "kubectl top pod NAME --containers"),
    CRICTL_STATS: "crictl stats",
    **dict.fromkeys((DOCKER_STATS, CACHELESS_DOCKER, OLD_DOCKER), "docker stats --no-stream NAME"),
}


def no_go_words(listed: Listed, settings: Sequence[str] = ()) -> Text:
    """Say what to do about a program or a container that is not Go."""
    words = "{} is not a Go program, so gomem cannot break down its memory. Follow its {}: {}."
    what = "RSS" if listed.rss_bytes is not None else "working set"
    how = FOLLOWED_BY.get(listed.tool, "ps -o pid,rss,etime,args -C NAME")
    command = Command(f"while sleep 60; do {how}; done")
    said = text(words, Program(listed.name), what, command)
    if not settings:
        return said
    have = "has" if len(settings) == 1 else "have"
    unheard = text("{} {} no effect on this program.", joined(", ", map(Quoted, settings)), have)
    return sentences(unheard, said)
