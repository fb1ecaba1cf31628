"""Each reference of a cause has an address, unless it is words alone."""

import pytest

from gomem.causes import CAUSES
from gomem.views.references import address_of

WORDS = {"fixed in Go 1.24.6 and 1.25"}


@pytest.mark.parametrize(
    ("reference", "address"),
    [
        ("golang/go#73800", "https://github.com/golang/go/issues/73800"),
        ("golang.org/doc/gc-guide", "https://go.dev/doc/gc-guide"),
        ("golang.org/doc/gc-guide#GOGC", "https://go.dev/doc/gc-guide#GOGC"),
        ("Go GC guide: memory limit", "https://go.dev/doc/gc-guide"),
        ("madvise(2)", "https://man7.org/linux/man-pages/man2/madvise.2.html"),
        (
            "proc_pid_status(5): RssAnon, RssFile",
            "https://man7.org/linux/man-pages/man5/proc_pid_status.5.html",
        ),
        ("kernel: cgroup-v2, memory.max", "https://docs.kernel.org/admin-guide/cgroup-v2.html"),
        ("net/http/pprof", "https://pkg.go.dev/net/http/pprof"),
        ("runtime/pprof: goroutine", "https://pkg.go.dev/runtime/pprof"),
        ("runtime/debug.FreeOSMemory", "https://pkg.go.dev/runtime/debug#FreeOSMemory"),
        ("sync.Pool", "https://pkg.go.dev/sync#Pool"),
        ("runtime.MemStats: HeapInuse", "https://pkg.go.dev/runtime#MemStats"),
        ("fixed in Go 1.24.6 and 1.25", ""),
        ("javascript:alert(1)", "https://pkg.go.dev/javascript"),
    ],
)
def test_a_reference_is_found_where_its_form_says(reference, address):
    assert address == address_of(reference)


def test_every_reference_of_a_cause_has_an_address_or_is_known_to_be_words():
    references = {reference for cause in CAUSES for reference in cause.references}

    assert WORDS >= {reference for reference in references if not address_of(reference)}
