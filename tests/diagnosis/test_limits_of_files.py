"""The limit that a container's file sets, and its GOMEMLIMIT, stand beside what a table shows."""

import pytest

import gomem

STATS = (
    "CONTAINER ID   NAME    CPU %   MEM USAGE / LIMIT     MEM %    NET I/O     BLOCK I/O   PIDS\n"
    "0a1b2c3d4e5f   {}   0.10%   {}MiB / 500MiB   20.00%   31kB / 1MB   92MB / 0B   4\n"
)
COMPOSE = "services:\n  relay:\n    environment:\n      - GOMEMLIMIT=150MiB\n    mem_limit: 500m\n"
DEPLOYMENT = "      resources:\n        limits:\n          memory: 500Mi\n"
PS = "  PID USER     %CPU %MEM    VSZ   RSS COMMAND\n 2537 api   3.2  2.4 2163376 409600 /srv/api\n"


def diagnosed(folder, *pieces):
    path = folder / "ticket.md"
    path.write_text("Our setup:\n\n" + "".join(f"```\n{piece}```\n\n" for piece in pieces))
    return gomem.diagnose(path)


def words(diagnosis):
    return " ".join(map(str, diagnosis.verdict.whose)) + str(diagnosis.verdict.second)


@pytest.mark.parametrize("file", [COMPOSE, DEPLOYMENT])
def test_a_limit_that_a_file_sets_is_no_machines_memory(tmp_path, file):
    assert "machine" not in words(diagnosed(tmp_path, file, STATS.format("relay", 400)))


@pytest.mark.parametrize("file", ["", COMPOSE.replace("500m", "600m")])
def test_another_limit_can_be_the_machines_memory(tmp_path, file):
    assert "machine" in words(diagnosed(tmp_path, file or "-\n", STATS.format("relay", 400)))


def test_rss_is_compared_with_the_limit_of_a_file(tmp_path):
    assert "RSS is 80 % of 500Mi" in words(diagnosed(tmp_path, DEPLOYMENT, PS))


@pytest.mark.parametrize(("size", "is_above"), [(400, True), (100, False)])
def test_a_container_above_its_gomemlimit(tmp_path, size, is_above):
    found = words(diagnosed(tmp_path, COMPOSE, STATS.format("relay", size)))

    assert is_above == ("250 MiB more than GOMEMLIMIT (150 MiB)" in found)


def test_a_log_says_itself_what_is_above_gomemlimit(tmp_path):
    log = "".join(
        f"gc {n} @{n}.847s 26%: 0.56+10+0.035 ms clock, 1.1+0.07/5.3/1.8+0.07 ms cpu, "
        "160->170->155 MB, 150 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
        for n in range(1, 9)
    )
    found = diagnosed(tmp_path, COMPOSE, STATS.format("relay", 400), log)

    assert "more than GOMEMLIMIT" not in words(found)


def test_a_setting_of_go_has_no_effect_on_another_program(tmp_path):
    found = diagnosed(tmp_path, COMPOSE, STATS.format("redis", 400))

    assert "GOMEMLIMIT=150MiB has no effect" in str(found.verdict.next_step)
    assert "more than GOMEMLIMIT" not in words(found)
