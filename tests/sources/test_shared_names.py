"""Several files given as one capture are called what they have in common."""

import pytest

from gomem.sources.names import shared_name


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        (["up/heap.pb.gz"], "up/heap.pb.gz"),
        (["heap-1.pb.gz", "heap-2.pb.gz"], "heap"),
        (["logs/run10.txt", "logs/run11.txt"], "logs/run"),
        (["before.smaps", "before.status"], "before"),
        (["up/memstats.json", "up/metrics.json", "up/smaps"], "up"),
        (["memstats.json", "metrics.json", "smaps"], "3 files"),
        (["/memstats.json", "/smaps"], "2 files"),
        (["old/smaps", "new/status"], "2 files"),
        (["old/heap-1", "new/heap-2"], "heap"),
    ],
)
def test_several_files_are_named_together(paths, name):
    assert name == shared_name(paths)
