"""Which release of Docker's CLI a text states, because docker stats counts page cache by it.

Before 17.06  the whole usage of the cgroup
Up to 19.03   minus all page cache (`cache` of cgroup v1, which includes shared memory and tmpfs)
Since 20.10   minus `total_inactive_file` of cgroup v1, or `inactive_file` of cgroup v2

Sources: docker/cli#80, docker/cli#2415, moby/moby#40727; the reference of `docker stats`.
"""

from __future__ import annotations

import re

CACHELESS_DOCKER = "docker stats before 20.10"
_WITHOUT_CACHE = ((17, 6), (20, 10))  # from, and up to but without
_STATED = re.compile(
    rb"\bdocker(?:[ -](?:version|engine|ce|ee|cli|client|desktop))?,?(?: version)?[: ]{1,3}v?"
    rb"(\d{1,2})\.(\d{1,2})\.\d{1,3}(?![.\d])", re.IGNORECASE,
)  # fmt: skip


def excludes_all_cache(text: bytes) -> bool:
    """Whether a text states a release of Docker whose docker stats leaves out all page cache."""
    stated = _STATED.search(text)
    begin, end = _WITHOUT_CACHE
    return stated is not None and begin <= (int(stated[1]), int(stated[2])) < end
