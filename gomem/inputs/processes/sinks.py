"""Sizes of a task's memory as a metrics sink prints them; gomem only reports them.

statsd       'nomad.client.allocs.memory.rss.JOB.GROUP.ALLOC.TASK': 876544.000   also `name:1|g`
Prometheus   nomad_client_allocs_memory_usage{job="api",task="t"} 1.467e+10
`memory.allocated` is what the scheduler reserved: the task's limit unless it has a larger one.
"""

from __future__ import annotations

import re
from collections import defaultdict

from gomem.inputs.resemblance import ASK_CAPTURE, Resemblance
from gomem.inputs.text_lines import decoded
from gomem.text import Bytes, Count, joined, text

_GAUGE = re.compile(
    rb"^[ \t>]*(?:\[[^\]\n]{1,60}\])*[ \t]*['\"]?[a-z][\w-]{0,60}(?:[._][\w-]{1,60}){0,8}?"
    rb"[._]memory[._](?P<name>allocated|max_allocated|usage|max_usage|rss|cache|swap|mapped_file"
    rb"|kernel_usage|kernel_max_usage)(?P<of>(?:\.[^\s'\":|{]{1,100}|\{[^}\n]{0,400}\})?)['\"]?"
    rb"(?:[ \t]*[:=][ \t]*|[ \t]+)(?P<value>\d{1,18}(?:\.\d{1,9})?(?:[eE]\+?\d{1,2})?)(?:\|g)?\b",
    re.MULTILINE,
)
_ORDER = ("rss", "cache", "usage", "max_usage", "swap", "allocated")


def gauges_of_memory(head: bytes, _: str) -> Resemblance | None:
    """Describe gauges of a task's memory: the sizes of the task with the most of them."""
    tasks: defaultdict[bytes, dict[str, float]] = defaultdict(dict)
    gauges = list(_GAUGE.finditer(head))
    for gauge in gauges:
        tasks[gauge["of"].removesuffix(b".bytes")][gauge["name"].decode()] = float(gauge["value"])
    if not tasks:
        return None
    task, sizes = max(tasks.items(), key=lambda each: (len(each[1]), max(each[1].values())))
    said = [text("{} {}", name, Bytes(round(sizes[name]))) for name in _ORDER if sizes.get(name)]
    if not said:
        return None
    of = text(" of {}", decoded(task.strip(b"."))) * bool(task)
    more = text(", and {}", Count(len(tasks) - 1, "other task")) * (len(tasks) > 1)
    whose = "process" if all(b"process" in gauge[0] for gauge in gauges) else "container"
    prefix = text("gauges of a {}'s memory, from a metrics sink", whose)
    return Resemblance(
        text("{}{}{}: {}", prefix, of, more, joined(", ", said)), ASK_CAPTURE, is_evidence=True
    )
