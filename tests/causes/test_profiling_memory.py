"""The profilers' own table of stacks, as the runtime counts it."""

from types import SimpleNamespace

import pytest

import gomem
from gomem.causes import profiling_memory
from gomem.causes.finding import Severity
from gomem.facts.callers import RuntimeCpu
from gomem.text import Bytes
from gomem.units import MIB
from tests.builders import FIXTURES, case_of
from tests.causes.situations import facts

RECORDED = FIXTURES / "profiled" / "profiled-go1.27.1"


def found(*moments, **thresholds):
    return profiling_memory.find(case_of(moments, **thresholds))


def test_a_table_that_grew_is_a_warning_and_is_the_runtimes_own_number():
    """
    The program walked 40 000 shapes of a tree under a block profile, and did nothing else.
    """
    diagnosis = gomem.diagnose(RECORDED)

    (finding,) = profiling_memory.find(diagnosis.case)

    assert (Severity.WARNING, "certain") == (finding.severity, finding.confidence)
    assert 44_632_255 == finding.bytes
    assert [44_632_255, 1_444_047] == [size.value for size in finding.title.of(Bytes)]
    assert "3-later" == finding.moment
    assert "profiling-memory" == diagnosis.findings[0].code


@pytest.mark.parametrize(
    ("sizes", "severity"),
    [
        pytest.param([16], "info", id="large, and of a small part of RSS"),
        pytest.param([15], None, id="as a large program has it"),
        pytest.param([40], "warning", id="a good part of RSS"),
        pytest.param([4, 16], "info", id="it hardly grew"),
        pytest.param([4, 20], "warning", id="it grew"),
        pytest.param([20, 4], None, id="another process"),
    ],
)
def test_how_severe_it_is(sizes, severity):
    """
    Of 101 MiB of RSS.
    """
    moments = [facts(name=str(n), heap_mib=100, BuckHashSys=size) for n, size in enumerate(sizes)]

    assert [severity] * (severity is not None) == [str(one.severity) for one in found(*moments)]


def test_a_share_of_a_large_process_is_none():
    assert [] == found(facts(heap_mib=4000, BuckHashSys=40))
    assert [40 * MIB] == [one.bytes for one in found(facts(heap_mib=100, BuckHashSys=40))]


def test_nothing_is_said_where_nothing_counts_it():
    assert [] == found(facts(heap_mib=100))


@pytest.mark.parametrize(
    ("fraction", "seconds", "rate", "confidence"),
    [
        pytest.param(0.8, 2.0, 1, "certain", id="each allocation is recorded"),
        pytest.param(0.8, 2.0, 512 * 1024, "likely", id="the rate of the profile is another"),
        pytest.param(0.05, 2.0, 1, None, id="little"),
        pytest.param(0.8, 0.5, 1, None, id="too little CPU to tell"),
    ],
)
def test_the_profiler_itself_can_take_the_cpu(fraction, seconds, rate, confidence):
    callers = SimpleNamespace(profiler_cpu=RuntimeCpu(fraction, seconds, "cpu.pb.gz"))
    heap = SimpleNamespace(columns=SimpleNamespace(period=rate))
    capture = SimpleNamespace(heap_profiles={"1": heap}, by_moment={})

    findings = profiling_memory.find(case_of(callers=callers, capture=capture))

    assert [confidence] * (confidence is not None) == [one.confidence for one in findings]
    for one in findings:
        assert fraction == one.cpu_fraction
        assert ("every allocation" in one.title) is (rate == 1)
        assert "MemProfileRate" in one.next_step
