"""process-exporter counts the memory of groups of processes, by their name."""

import pytest

from gomem.inputs.looks_like import looks_like
from gomem.text import Bytes, Text
from gomem.units import MIB

NAME = "namedprocess_namegroup_memory_bytes"


def seen(*samples: tuple[str, str, int]):
    """What a page with these samples is."""
    lines = (f'{NAME}{{groupname="{of}",memtype="{kind}"}} {size}\n' for of, kind, size in samples)
    return looks_like("".join(lines).encode(), "")


def test_a_group_has_its_rss():
    found = seen(("api", "resident", 40 * MIB), ("api", "virtual", 900 * MIB))

    assert "api has 40 MiB of RSS" in found.what
    assert [40 * MIB] == [size.value for size in Text(found.what).of(Bytes)]
    assert found.is_evidence


def test_the_largest_group_is_first():
    found = seen(("tiny", "resident", MIB), ("api", "resident", 40 * MIB))

    assert "api has 40 MiB of RSS; tiny has 1 MiB of RSS" in found.what


@pytest.mark.parametrize(("share", "is_said"), [(39 * MIB, False), (41 * MIB, True)])
def test_a_pss_above_the_rss_is_explained(share, is_said):
    found = seen(("api", "resident", 40 * MIB), ("api", "proportionalResident", share))

    assert is_said == ("counts in batches" in str(found.way_out))


def test_address_space_alone_is_none():
    assert "process-exporter" not in seen(("api", "virtual", 900 * MIB)).what
