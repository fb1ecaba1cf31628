"""A stated release of Docker decides which page cache docker stats leaves out."""

import pytest

import gomem
from gomem.inputs.processes.docker_releases import excludes_all_cache

TABLE = (
    "CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %   NET I/O   BLOCK I/O   PIDS\n"
    "7e1f2a9b0c3d   api    0.20%   310MiB / 2GiB       15.1%   2kB / 1kB   0B / 0B   9\n"
)


@pytest.mark.parametrize(
    ("stated", "is_without"),
    [
        ("Docker version 18.09.1, build 4c52b90", True),
        ("docker 17.06.0", True),
        ("Docker version 17.03.2-ce", False),
        ("Docker version 20.10.5, build 55c4c88", False),
        ("docker-compose version 1.29.2", False),
        ("", False),
    ],
)
def test_the_release_is_read(stated, is_without):
    assert is_without == excludes_all_cache(stated.encode())


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("\nDocker version 18.09.1, build 4c52b90\n", "minus all page cache"),
        ("", "excluded all page cache"),
    ],
)
def test_what_is_counted_is_said(tmp_path, stated, said):
    path = tmp_path / "stats.txt"
    path.write_text(TABLE + stated)
    verdict = gomem.diagnose(path).verdict

    assert said in f"{verdict.headline} {verdict.sentence}"
    assert "shared memory and tmpfs" in f"{verdict.headline} {verdict.sentence}"
