"""MADV_FREE: given back, still resident; told where it is much, and nowhere else."""

import pytest

from gomem.causes.released_but_resident import CAUSE
from tests.builders import CAPTURES, FIXTURES, diagnosed


def test_lazy_free_memory_is_the_finding_and_its_bytes():
    diagnosis = diagnosed(FIXTURES / "captures/cache-shrink-go1.12.17")

    first = diagnosis.findings[0]

    assert (CAUSE.code, "4-freed") == (first.code, first.moment)
    assert (
        int(diagnosis.capture.smaps.query("moment == '4-freed'")["LazyFree"].sum()) == first.bytes
    )
    assert "madvdontneed=1" in first.next_step


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_only_the_releases_with_madv_free_have_it(path):
    codes = [finding.code for finding in diagnosed(path).findings]

    assert ("1.12" in path.name) == (CAUSE.code in codes)
