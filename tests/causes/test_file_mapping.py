"""Mapped files are a note; what of them the kernel cannot take back is a warning."""

from gomem.causes.file_mapping import find
from gomem.causes.finding import Severity
from gomem.units import MIB
from tests.builders import smaps_entry
from tests.causes.situations import HIGH, answers, facts


def mapped(path: str, rss_mib: int, perms: str = "r--s") -> str:
    return smaps_entry(HIGH, HIGH + rss_mib * MIB, perms, path, rss_kib=rss_mib * 1024)


def test_clean_pages_of_a_file_are_no_warning():
    (found,) = find(answers(facts(mapped("/data/index.db", 40))))

    assert ("file-mapping", Severity.INFO) == (found.code, found.severity)
    assert 40 * MIB == found.bytes
    assert "0 B of it cannot be reclaimed" in found.title


def test_shared_memory_stays_and_is_a_warning():
    (found,) = find(answers(facts(mapped("/memfd:ring (deleted)", 40, "rw-s"))))

    assert Severity.WARNING == found.severity
    assert "40.0 MiB of it cannot be reclaimed" in found.title


def test_written_pages_of_a_private_mapping_stay():
    written = mapped("/data/index.db", 40, "rw-p")
    written = written.replace("LazyFree:", "Private_Dirty: 30720 kB\nLazyFree:")

    (found,) = find(answers(facts(written)))

    assert "30.0 MiB of it cannot be reclaimed" in found.title


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
