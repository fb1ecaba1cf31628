"""Mapped files are a note; what of them the kernel cannot take back is a warning."""

import pytest

import gomem
from gomem.analysis.mappings.kinds import classify_mappings
from gomem.causes.file_mapping import dirty_bytes, find
from gomem.causes.finding import Severity
from gomem.text import Count
from gomem.units import MIB
from tests.builders import smaps_entry
from tests.causes.situations import HIGH, answers, facts


def mapped(path: str, rss_mib: int, perms: str = "r--s") -> str:
    return smaps_entry(HIGH, HIGH + rss_mib * MIB, perms, path, rss_kib=rss_mib * 1024)


def test_clean_pages_of_a_file_are_no_warning():
    (found,) = find(answers(facts(mapped("/data/index.db", 40))))

    assert ("file-mapping", Severity.INFO) == (found.code, found.severity)
    assert 40 * MIB == found.bytes
    assert (
        "Mapped file index.db takes 40 MiB (82 % of RSS); the kernel can reclaim all of it"
        == found.title
    )
    assert found.next_step.startswith("Nothing to do: ")


def segments(deleted: int, others: int = 0, device: str = "fe:00", perms: str = "rw-s") -> str:
    """Mappings of 4 MiB each."""
    names = [f"/data/{n}.seg (deleted)" for n in range(deleted)]
    names += [f"/data/{n}.seg" for n in range(others)]
    entries = (
        smaps_entry(HIGH + n * 8 * MIB, HIGH + (2 * n + 1) * 4 * MIB, perms, name, rss_kib=4096)
        for n, name in enumerate(names)
    )
    return "".join(entries).replace("00:00 7", f"{device} 7")


@pytest.mark.parametrize(
    ("deleted", "others", "found"),
    [
        pytest.param(12, 1, 12, id="nothing unmaps them"),
        pytest.param(3, 10, None, id="a few are still read"),
        pytest.param(12, 30, None, id="most are there"),
    ],
)
def test_many_deleted_files_that_are_mapped_are_never_unmapped(deleted, others, found):
    (finding,) = find(answers(facts(segments(deleted, others))))

    said = [count.value for count in finding.title.of(Count)]
    assert (found in said) == ("munmap" in finding.next_step)
    assert found is None or (Severity.WARNING, "possible") == (finding.severity, finding.confidence)


@pytest.mark.parametrize(("device", "dirty"), [("fe:00", 0), ("103:2", 0), ("00:2a", 40 * MIB)])
def test_dirty_pages_of_a_deleted_file_on_a_device_of_its_own_are_written_back(device, dirty):
    entry = mapped("/data/gone (deleted)", 40).replace("00:00 7", f"{device} 7")
    kib = f"Private_Dirty:  {40 << 10} kB\nShared_Dirty:   0 kB\nAnonymous:"
    moment = facts(entry.replace("Anonymous:", kib))

    assert dirty == dirty_bytes(moment.mappings[moment.mappings["kind"] == "mapped-file"])


STATUS = (
    "Name:\tapp\nPid:\t7\nVmRSS:\t231684 kB\nRssAnon:\t1352 kB\nRssFile:\t{} kB\n"
    "RssShmem:\t0 kB\nVmExe:\t{} kB\nVmLib:\t1528 kB\n"
)


@pytest.mark.parametrize(
    ("files", "program", "size"),
    [(230332, 2584, 230332 - 3 * (2584 + 1528)), (9000, 2584, None), (230332, 72584, None)],
)
def test_pages_of_files_far_above_the_programs_text_are_mapped_files(
    tmp_path, files, program, size
):
    (tmp_path / "status").write_text(STATUS.format(files, program))
    found = [each for each in gomem.diagnose(tmp_path).findings if each.code == "file-mapping"]

    assert ([] if size is None else [size * 1024]) == [each.bytes for each in found]
    for finding in found:
        assert (Severity.INFO, "likely") == (finding.severity, finding.confidence)
        assert "the kernel can reclaim all of it" in finding.title


def test_shared_memory_stays_and_is_a_warning():
    (found,) = find(answers(facts(mapped("/memfd:ring (deleted)", 40, "rw-s"))))

    assert Severity.WARNING == found.severity
    assert found.title.startswith("Shared memory memfd:ring (deleted) takes 40 MiB")
    assert found.title.endswith("; the kernel cannot reclaim it without swap")
    assert "Nothing to do" not in found.next_step


def test_shared_memory_is_freed_by_deleting_its_files_and_clean_pages_need_no_advice():
    """
    madvise and munmap free no page of a tmpfs: a file there keeps them until it is deleted.
    """
    rings = (mapped(f"/dev/shm/spool-{n}.ring", 40, "rw-s") for n in range(2))
    (held,) = find(answers(facts(*rings)))
    (clean,) = find(answers(facts(mapped("/data/index.db", 40))))

    assert held.title.startswith("Shared memory takes ")
    assert "until it is deleted" in held.next_step
    assert clean.next_step.endswith("to drop them.")
    assert "shared memory" not in clean.next_step


def test_written_pages_of_a_private_mapping_stay():
    written = mapped("/data/index.db", 40, "rw-p")
    written = written.replace(f"{'Anonymous:':<16}{0:>8} kB", f"{'Anonymous:':<16}{30720:>8} kB")

    (found,) = find(answers(facts(written)))

    assert found.title.endswith("; 30 MiB is not reclaimable without swap")


def test_pages_that_whoever_wrote_the_file_left_in_the_page_cache_are_taken_back():
    """
    Private_Dirty, and not Anonymous: the file's own pages, not copies.
    """
    fresh = mapped("/data/index.db", 40, "r--p")
    fresh = fresh.replace("LazyFree:", "Private_Dirty: 40960 kB\nLazyFree:")

    (found,) = find(answers(facts(fresh)))

    assert Severity.INFO == found.severity
    assert found.title.endswith("; the kernel can reclaim all of it")


def test_a_file_is_named_without_its_folders():
    """
    A report gets shared.
    """
    (found,) = find(answers(facts(mapped("/data/customer-7/index.db", 40))))

    fields = [one.field for one in found.evidence]
    assert "Rss of index.db" in fields
    assert not any("customer" in field for field in fields)


def test_the_program_itself_is_no_mapped_file():
    assert [] == find(answers(facts()))


def test_of_several_files_the_largest_is_named():
    other = smaps_entry(HIGH + 80 * MIB, HIGH + 90 * MIB, "r--s", "/data/b.db", rss_kib=8 * 1024)

    (found,) = find(answers(facts(mapped("/data/a.db", 40), other)))

    assert found.title.startswith("Mapped files take 48 MiB (")
    assert "in 2 files; the largest is a.db; the kernel can reclaim all of it" in found.title


def test_how_many_files_there_were_at_first_is_said_where_they_are_more():
    other = smaps_entry(HIGH + 80 * MIB, HIGH + 90 * MIB, "r--s", "/data/b.db", rss_kib=8 * 1024)
    one = facts(mapped("/data/a.db", 40))

    first, last = find(answers(one, facts(mapped("/data/a.db", 40), other, name="2")))

    assert " (1 at snapshot 1)" not in first.title
    assert last.title.startswith("Mapped files take 48 MiB in 2 files (1 at snapshot 1); ")


def sheet(path: str, perms: str, dirty_mib: int) -> str:
    """A mapping of 40 MiB, of which some is dirty."""
    return mapped(path, 40, perms).replace(
        "LazyFree:", f"Shared_Dirty: {dirty_mib << 10} kB\nLazyFree:"
    )


def test_dirty_pages_of_a_deleted_file_are_not_called_reclaimable():
    """
    The mapping alone keeps the file: on tmpfs the pages stay until munmap.
    """
    (found,) = find(answers(facts(sheet("/spool/a.sheet (deleted)", "rw-s", 40))))

    assert (Severity.WARNING, "likely") == (found.severity, found.confidence)
    assert found.title.endswith(
        "; the pages are dirty: if the files are on tmpfs, the kernel cannot reclaim it"
    )
    assert "Nothing to do" not in found.next_step
    assert "/dev/shm" in found.next_step


@pytest.mark.parametrize(
    ("path", "perms", "dirty_kib"),
    [("a.sheet", "rw-s-", 20480), ("a.sheet", "rw---", 20480), ("a.sheet", "r--s-", 0)],
)
def test_pmap_shows_no_folder_so_dirty_pages_are_unknown(path, perms, dirty_kib, tmp_path):
    file = tmp_path / "pmap.txt"
    file.write_text(
        "9:   ./api\nAddress           Kbytes     RSS   Dirty Mode  Mapping\n"
        f"00007fe34e4c0000   40960   40960 {dirty_kib:7} {perms} {path}\n"
    )
    rows = classify_mappings(gomem.load(file).smaps).mappings

    assert dirty_kib * 1024 == dirty_bytes(rows)


def test_some_dirty_pages_are_said_with_their_size():
    (found,) = find(answers(facts(sheet("/spool/a.sheet (deleted)", "rw-s", 20))))

    assert Severity.WARNING == found.severity
    assert found.title.endswith("; 20 MiB is dirty, not reclaimable if on tmpfs")


def test_dirty_pages_of_a_file_with_a_place_are_written_back():
    (found,) = find(answers(facts(sheet("/data/a.db", "rw-s", 40))))

    assert Severity.INFO == found.severity
    assert found.title.endswith("; the kernel can reclaim all of it")


def test_clean_pages_of_a_deleted_file_are_no_warning():
    (found,) = find(answers(facts(sheet("/spool/a.sheet (deleted)", "r--s", 0))))

    assert Severity.INFO == found.severity
    assert found.next_step.startswith("Nothing to do: ")


def again(times: int, offset_step: int = 0, pss: bool = True) -> str:
    """Mappings of 2 MiB of one file, each with all its pages resident."""
    rows = []
    for number in range(times):
        start = HIGH + number * 2 * MIB
        entry = smaps_entry(start, start + 2 * MIB, "r--s", "/data/world.mbt", rss_kib=2048)
        entry = entry.replace(" 00000000 ", f" {number * offset_step:08x} ", 1)
        rows.append(entry.replace("LazyFree:", "Pss: 8 kB\nLazyFree:") if pss else entry)
    return "".join(rows)


def test_the_same_part_of_a_file_mapped_again_and_again_is_a_leak_of_mappings():
    """
    Its pages are in memory once, whatever RSS says: nothing can be reclaimed 300 times.
    """
    (found,) = find(answers(facts(again(300))))

    assert Severity.WARNING == found.severity
    assert "world.mbt is mapped 300 times; RSS counts 600 MiB" in found.title
    assert "Pss" in found.title
    assert "reclaim" not in found.title
    assert "Unmap" in found.next_step


@pytest.mark.parametrize(
    "mappings",
    [
        pytest.param(again(300, offset_step=2 * MIB), id="each a part of its own"),
        pytest.param(again(10), id="a few times"),
    ],
)
def test_a_large_file_in_many_windows_is_no_leak(mappings):
    (found,) = find(answers(facts(mappings)))

    assert Severity.INFO == found.severity
