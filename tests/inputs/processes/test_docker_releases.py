"""A stated release of Docker decides which page cache docker stats leaves out."""

import pytest

import gomem
from gomem.inputs.processes.docker_releases import excludes_all_cache
from gomem.views.report.containers import containers_section

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
        ("", "and before counted all of it"),
    ],
)
def test_what_is_counted_is_said(tmp_path, stated, said):
    path = tmp_path / "stats.txt"
    path.write_text(TABLE + stated)
    verdict = gomem.diagnose(path).verdict

    assert said in f"{verdict.headline} {verdict.sentence}"
    assert "shared memory and tmpfs" in f"{verdict.headline} {verdict.sentence}"


OLD_TABLE = (
    "CONTAINER   CPU %   MEM USAGE / LIMIT     MEM %   NET I/O        BLOCK I/O\n"
    "shop-api    0.10%   210.4 MB / 4.186 GB   5.03%   9.1 MB / 7 MB  3 MB / 0 B\n"
    "shop-db     0.20%   90.1 MB / 4.186 GB    2.15%   9.1 MB / 7 MB  3 MB / 0 B\n"
)
NEW_TABLE = TABLE + TABLE.splitlines()[1].replace("api", "job").replace("310", "210") + "\n"


@pytest.mark.parametrize(
    ("table", "is_working_set"),
    [(OLD_TABLE, False), (NEW_TABLE, True), (f"Docker version 18.09.1\n\n{NEW_TABLE}", False)],
    ids=["before 1.13", "now", "without all cache"],
)
def test_a_table_of_another_count_is_called_no_working_set(tmp_path, table, is_working_set):
    path = tmp_path / "stats.txt"
    path.write_text(table)
    section = containers_section(gomem.diagnose(path))

    assert is_working_set == ("Working set" in section.blocks[0].caption)
    assert is_working_set == any("working set" in name for name in section.blocks[0].columns)
