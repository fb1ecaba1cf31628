"""The report's section on the containers of pasted tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.processes.containers import OLD_DOCKER
from gomem.inputs.processes.docker_releases import CACHELESS_DOCKER
from gomem.text import Quoted, text
from gomem.units import format_bytes
from gomem.views.document import Cell, Section
from gomem.views.tables import Column, count, shown_by, size, table

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

name = shown_by(lambda shown: Cell(Quoted(shown), code=True), "<")
NAME = name("container", lambda row: row.name)
LIMIT = size("limit", lambda row: row.limit_bytes)
COLUMNS = (NAME, size("working set", lambda row: row.last), LIMIT)
USED = (NAME, size("memory", lambda row: row.last), LIMIT)
MOVING = (
    NAME,
    size("first", lambda row: row.first),
    size("last", lambda row: row.last),
    size("highest", lambda row: max(row.sizes)),
    count("readings", lambda row: len(row.sizes)),
    LIMIT,
)


def containers_section(diagnosis: Diagnosis) -> Section | None:
    """The working set or usage of each container; None for a single number."""
    containers = diagnosis.facts.containers
    if sum(len(container.sizes) for container in containers) < 2:
        return None
    is_series = any(len(container.sizes) > 1 for container in containers)
    # These count the cgroup's usage otherwise, so it is no working set.
    is_of_older_docker = any(row.tool in (OLD_DOCKER, CACHELESS_DOCKER) for row in containers)
    columns: tuple[Column, ...] = USED if is_of_older_docker else COLUMNS
    columns = MOVING if is_series else columns
    if not any(container.limit_bytes for container in containers):
        columns = columns[:-1]
    largest = containers[0]
    gist = text("{} {}", Quoted(largest.name), format_bytes(largest.last))
    caption = "Memory by container" if is_of_older_docker else "Working set by container"
    return Section("containers", "Containers", (table(caption, columns, containers),), gist=gist)
