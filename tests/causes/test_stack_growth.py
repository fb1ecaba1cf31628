"""Large stacks, told from many."""

from gomem.causes.finding import Severity
from gomem.causes.stack_growth import find
from gomem.units import MIB
from tests.causes.situations import answers, facts, goroutines

STACKS = {"heap_mib": 60, "HeapAlloc": 10, "HeapInuse": 10, "HeapSys": 24, "StackInuse": 40}


def test_few_goroutines_with_large_stacks_are_deep():
    (found,) = find(answers(facts(**STACKS, goroutines=goroutines(20))))

    assert ("stack-growth", Severity.WARNING, 40 * MIB) == (
        found.code,
        found.severity,
        found.bytes,
    )
    assert "2.00 MiB each" in found.title


def test_many_goroutines_with_small_stacks_are_many():
    assert [] == find(answers(facts(**STACKS, goroutines=goroutines(20_000))))


def test_without_a_count_it_says_what_to_collect():
    (found,) = find(answers(facts(**STACKS)))

    assert "nothing says" in found.title
    assert "goroutine?debug=1" in found.next_step
    assert ("possible", Severity.INFO) == (found.confidence, found.severity)


def test_stacks_of_a_tenth_are_a_note():
    (found,) = find(answers(facts(heap_mib=64, HeapAlloc=50, HeapInuse=50, HeapSys=55,
                                    StackInuse=9, goroutines=goroutines(10))))  # fmt: skip

    assert Severity.INFO == found.severity
