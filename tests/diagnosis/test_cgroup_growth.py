"""A cgroup's usage over time: the limit counts it, and not the RSS of a process."""

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose
from gomem.diagnosis.healthy import can_be_healthy
from gomem.units import MIB

AT = ("11:16:47", "11:16:56", "11:17:05", "11:17:14")
GROWN = (10, 72, 134, 196)  # MiB


def _stat(version, *, anon=2, shmem=0, cache=1):
    file = (shmem + cache) * MIB
    if version == 1:
        return (
            f"usage_in_bytes {anon * MIB + file}\ncache {file}\nrss {anon * MIB}\n"
            f"shmem {shmem * MIB}\nmapped_file 729088\ninactive_file {cache * MIB}\n"
            "active_file 0\ninactive_anon 4096\nactive_anon 0\n"
        )
    return (
        f"anon {anon * MIB}\nfile {file}\nkernel_stack 0\nshmem {shmem * MIB}\nfile_mapped 729088\n"
        f"file_dirty 0\ninactive_file {cache * MIB}\nactive_file 0\n"
    )


def _loop(version, name):
    readings = (f"Fri Nov 27 {at} UTC 2026\n" for at in AT)
    return "".join(
        at + _stat(version, **{name: size}) for at, size in zip(readings, GROWN, strict=True)
    )


def _diagnosed(folder, text, **others):
    (folder / "cgroup.txt").write_text(text)
    for name, content in others.items():
        (folder / f"{name}.txt").write_text(content)
    return diagnose(load(folder))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("shmem", "186 MiB is shared memory and files in tmpfs"),
        ("anon", "186 MiB is anonymous memory"),
    ],
)
def test_growth_that_the_kernel_cannot_reclaim_is_a_note(version, name, words, tmp_path):
    found = _diagnosed(tmp_path, _loop(version, name))

    assert found.verdict.headline.startswith("The cgroup's usage grew from")
    assert words in found.verdict.headline
    assert "in 27 s" in found.verdict.headline
    assert found.verdict.severity is not None


@pytest.mark.parametrize("version", [1, 2])
def test_growth_of_page_cache_is_said_to_be_reclaimable(version, tmp_path):
    found = _diagnosed(tmp_path, _loop(version, "cache"))

    assert None is found.verdict.severity
    assert can_be_healthy(found)
    assert "The kernel reclaims page cache" in found.verdict.sentence


@pytest.mark.parametrize("name", ["shmem", "cache", "anon"])
def test_no_rss_is_said_of_a_cgroup(name, tmp_path):
    verdict = _diagnosed(tmp_path, _loop(1, name)).verdict

    assert "RSS" not in verdict.headline + verdict.where + verdict.moved


def test_what_df_says_of_tmpfs_is_evidence(tmp_path):
    head = "Filesystem      Size  Used Avail Use% Mounted on\n"
    df = "".join(f"{head}tmpfs            24G  {size}M   24G   1% /dev/shm\n" for size in GROWN)
    status = "Name:\tapi\nVmRSS:\t    2900 kB\nRssAnon:\t1700 kB\n"
    found = _diagnosed(tmp_path, _loop(1, "shmem"), df=df, status=status)

    assert "df.txt is what df printed" in found.verdict.headline
    assert "df.txt" not in found.verdict.further
    assert "find /dev/shm" in found.verdict.next_step


def test_rss_that_grows_alike_is_said_once(tmp_path):
    (tmp_path / "cgroup.txt").write_text(_loop(1, "anon"))
    status = "".join(
        f"Fri Nov 27 {at} UTC 2026\nName:\tapi\n"
        f"VmRSS:\t{size << 10} kB\nRssAnon:\t{size << 10} kB\n"
        for at, size in zip(AT, GROWN, strict=True)
    )
    (tmp_path / "status.txt").write_text(status)
    found = diagnose(load(tmp_path))

    assert found.verdict.headline.startswith("RSS grew")
    assert "usage grew" not in found.verdict.sentence


PS = "  PID USER      RSS NLWP CMD\n 4711 shop   {rss} 5 /srv/till\n"


def _beside_ps(folder, rss, **parts):
    text = f"The process is small:\n\n{PS.format(rss=rss)}\nThe cgroup:\n\n{_stat(1, **parts)}"
    return _diagnosed(folder, text).verdict


def test_shared_memory_that_rss_lacks_is_said_first(tmp_path):
    verdict = _beside_ps(tmp_path, 7240, shmem=300)

    assert verdict.headline.startswith(
        "The cgroup uses at least 303 MiB: 300 MiB shared memory and files"
    )
    assert "RSS is 7.1 MiB (till, PID 4711, by ps)" in verdict.headline
    assert "find /dev/shm" in verdict.next_step


@pytest.mark.parametrize(("rss", "parts"), [(310_000, {"shmem": 300}), (7240, {"shmem": 1})])
def test_shared_memory_that_can_be_in_rss_is_not_said_first(rss, parts, tmp_path):
    assert _beside_ps(tmp_path, rss, **parts).headline.startswith("RSS is")


def test_shared_memory_that_rss_lacks_leads_where_rss_is_stable(tmp_path):
    rows = "".join(f"{4711:>5} shop 2900 00:{seconds} /srv/till\n" for seconds in (10, 40))
    text = f"ps:\n\n  PID USER RSS ELAPSED CMD\n{rows}\nThe cgroup:\n\n{_stat(1, shmem=200)}"
    verdict = _diagnosed(tmp_path, text).verdict

    assert verdict.headline.startswith("The cgroup uses")
    assert "shared memory" in verdict.headline
    assert verdict.moved.startswith("RSS was stable")
    assert "find /dev/shm" in verdict.next_step
