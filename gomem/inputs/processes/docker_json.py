"""Rows of `docker stats --format json`, an object a line, and of `podman stats --format json`.

docker        {…,"MemUsage":"1.838GiB / 2GiB","Name":"api",…}
podman        {…, "mem_usage": "1.973GB / 2.147GB", "name": "api", …}
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import ProcessRow, rounded_size
from gomem.inputs.text_lines import LineNumbers

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = (b'"MemUsage"', b'"mem_usage"')
_OBJECT = re.compile(rb"\{[^{}]{1,4000}\}")
_SIZE = rb"\d[\d.]{0,12} ?[kKMGT]?i?B"
_USAGE = re.compile(
    rb'"(?:MemUsage|mem_usage)" ?: ?"(?P<used>' + _SIZE + rb") / (?P<limit>" + _SIZE + rb')"'
)
_NAME = re.compile(rb'"(?:Name|name)" ?: ?"([^"\n]{1,200})"')


def rows_of_json(data: bytes, tool: str) -> tuple[ProcessRow, ...]:
    """Return the containers, as `tool` printed them; empty if there are none."""
    return tuple(_rows(data, tool)) if any(word in data for word in WORDS) else ()


def _rows(data: bytes, tool: str) -> Iterator[ProcessRow]:
    lines = LineNumbers(data)
    for found in _OBJECT.finditer(data):
        usage, name = _USAGE.search(found[0]), _NAME.search(found[0])
        if usage is None:
            continue
        used, limit = rounded_size(usage["used"]), rounded_size(usage["limit"])
        yield ProcessRow(
            tool,
            name[1].decode("utf-8", "backslashreplace") if name else "container",
            working_set=used,
            limit_bytes=limit.bytes if limit and limit.bytes else None,
            line=lines.at(found.start()),
        )
