"""A container's memory as a sentence quotes a tool: `docker stats` shows **554.1MiB**.

docker stats             the cgroup's usage, without page cache before 20.10, and since
                         without inactive_file, see `processes.docker_releases`
kubectl top              the working set: usage without inactive_file
container_memory_…       cAdvisor's metrics of the same cgroup, also divided to MiB
The kernel moves pages that a program freed with MADV_FREE to inactive_file until it needs them
(mm/swap.c, lru_lazyfree), so that the working set leaves them out; page cache does not count them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import bytes_of
from gomem.text import Quoted, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator

WITHOUT_CACHE = "container_memory_usage_bytes - container_memory_cache"
WORKING_SETS = ("kubectl top", "container_memory_working_set_bytes")
WHOLE = ("docker stats", WITHOUT_CACHE, "container_memory_usage_bytes")
FAR_ABOVE = 2  # times: age and rounding explain less
_TOOLS = {
    WITHOUT_CACHE: rb"container_memory_usage_bytes[^\n]{0,160}? - container_memory_cache\b",
    "docker stats": rb"\bdocker (?:container )?stats\b",
    "kubectl top": rb"\bkubectl top\b",
    "container_memory_working_set_bytes": rb"\bcontainer_memory_working_set_bytes\b",
    "container_memory_usage_bytes": rb"\bcontainer_memory_usage_bytes\b",
    "container_memory_rss": rb"\bcontainer_memory_rss\b",
}
_TOOL = re.compile(b"|".join(b"(" + form + b")" for form in _TOOLS.values()))
_SHOWS = re.compile(
    rb"[^\n]{0,200}?\b(?:show(?:s|ed|ing)?|say(?:s|ing)?|said|reports?|reported|displays?|gives?|is"
    rb"|was|at)\b[^\n\w]{0,6}(?:(?:only|just|about|around|roughly|that|usage|memory|of|it) ){0,3}"
    rb"[`*~\"'\xe2\x89\x88 ]{0,6}(?P<size>\d{1,9}(?:\.\d{1,3})? ?(?:[KMG]i?[Bb]|[KMG]i))(?![\w/])"
)
_LAZILY = (
    "the working set leaves out inactive_file, which has page cache and what Go freed with "
    "GODEBUG=madvdontneed=0, the default from Go 1.12 to 1.15: GODEBUG=madvdontneed=1 returns that "
    "at once"
)


def sizes_by_tools(head: bytes) -> Text:
    """Return what several tools show, by the last sentence on each; empty with fewer than two."""
    shown = dict(pair for line in head.split(b"\n") for pair in _shown_in(line))
    if len(shown) < 2:
        return Text()
    said = joined(", ", (text("{} shows {}", tool, Quoted(size)) for tool, size in shown.items()))
    whole, working_set = (
        max((_bytes(shown[tool]) for tool in tools if tool in shown), default=0)
        for tools in (WHOLE, WORKING_SETS)
    )
    is_far = 0 < FAR_ABOVE * working_set <= whole
    return text("{}; {}", said, _LAZILY) if is_far else said


def _shown_in(line: bytes) -> Iterator[tuple[str, str]]:
    """Yield each tool of a line whose size stands between it and the next tool."""
    tools = list(_TOOL.finditer(line))
    ends = [*(tool.start() for tool in tools[1:]), len(line)]
    for tool, end in zip(tools, ends, strict=False):
        shown = _SHOWS.match(line[tool.end() : end])
        if shown is not None:
            yield list(_TOOLS)[(tool.lastindex or 1) - 1], shown["size"].decode("ascii")


def _bytes(size: str) -> int:
    return bytes_of(size.replace("b", "B").encode("ascii"))
