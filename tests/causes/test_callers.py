"""Findings name the program's own function that calls what they are about, where a file says it."""

import math
from types import SimpleNamespace

import pytest

import gomem
from gomem.causes import anonymous_mapping, file_mapping, native_memory, stack_growth
from gomem.facts.callers import Caller, Callers
from gomem.text import Count, Function
from gomem.units import KIB, MIB
from tests.builders import FIXTURES, but, smaps_entry
from tests.causes.situations import HIGH, answers, facts, goroutines

LABORATORY = FIXTURES / "laboratory" / "captures"


def caller(function, called, **about):
    return Caller(function, called, "/app/m.go", 7, **{"share": 1.0, "path": "cpu.pb.gz"} | about)


def callers(**found):
    """Facts about callers of which these are given."""
    made = Callers(SimpleNamespace(by_moment={}, heap_profiles={}))
    names = ("collecting", "calling_c", "copying_from_c", "mapping", "recursing")
    nobody = dict.fromkeys(names, ())
    vars(made).update(nobody | {name: (one,) for name, one in found.items()})
    return made


BRK = smaps_entry(0x1000000, 0x1000000 + 40 * MIB, "rw-p", "[heap]", rss_kib=40 * 1024)
OWN = smaps_entry(HIGH, HIGH + 80 * MIB + 4 * KIB, rss_kib=80 * 1024)
SHARED = smaps_entry(HIGH, HIGH + 40 * MIB, "rw-s", "/dev/shm/index", rss_kib=40 * 1024)
CASES = {
    "C": (native_memory.find, facts(BRK), callers(calling_c=caller("main.look", "m._Cfunc_k"))),
    "mmap": (anonymous_mapping.find, facts(OWN), callers(mapping=caller("main.map", "s.Mmap"))),
    "mmap of a file": (file_mapping.find, facts(SHARED), callers(mapping=caller("main.open", ""))),
}


@pytest.mark.parametrize("name", CASES)
def test_memory_outside_go_names_who_calls(name):
    find, moment, found = CASES[name]

    (finding,) = find(but(answers(moment), callers=found))

    (site,) = finding.sites
    function = (found.calling_c or found.mapping)[0].function
    assert (function, "/app/m.go", 7, 0.0, finding.bytes) == (
        site.own_function, site.file, site.line, site.low, site.high,
    )  # fmt: skip
    assert f"{function}, m.go:7, calls {name.split()[0]} (cpu.pb.gz)." in finding.next_step


@pytest.mark.parametrize("name", CASES)
def test_where_no_file_says_it_none_is_named(name):
    find, moment, _ = CASES[name]

    (finding,) = find(but(answers(moment), callers=callers()))

    assert () == finding.sites
    assert ", calls " not in finding.next_step


def test_who_copies_from_c_calls_it_though_not_most():
    copies = callers(copying_from_c=caller("main.look", "m._Cfunc_GoBytes", path="heap.pb.gz"))

    (finding,) = native_memory.find(but(answers(facts(BRK)), callers=copies))

    assert () == finding.sites
    assert "main.look, m.go:7, calls C (heap.pb.gz)." in finding.next_step
    assert "A CPU profile shows" in finding.next_step


@pytest.mark.parametrize(("depth", "named"), [(9, ("main.wait",)), (10, ("main.visit",))])
def test_stacks_name_who_recurses(depth, named):
    """
    Else where the goroutines wait.
    """
    stacks = {"heap_mib": 60, "HeapAlloc": 10, "HeapInuse": 10, "HeapSys": 24, "StackInuse": 40}
    moment = facts(**stacks, goroutines=goroutines(20))
    deep = callers(recursing=caller("main.visit", "", depth=depth))

    (finding,) = stack_growth.find(but(answers(moment), callers=deep))

    assert named == tuple(site.own_function for site in finding.sites)
    assert named == finding.title.of(Function)
    counts = [one.value for one in finding.title.of(Count)]
    assert [20 if depth == 9 else 10] == counts[:1]


@pytest.mark.parametrize(
    ("name", "code", "function"),
    [
        ("brochured-f", "forced-gc", "main.main.func1"),
        ("sheetd-e", "forced-gc", "main.main.func4"),
        ("crawl-a", "stack-growth", "main.(*visitor).visit"),
        ("quizd-c", "stack-growth", "example.org/quizd/room.(*Question).Solve"),
    ],
)
def test_recorded_processes_name_them(name, code, function):
    """
    As `fixtures/laboratory/programs` have it.
    """
    found = gomem.diagnose(LABORATORY / f"{name}.tar.gz").findings

    (finding,) = [one for one in found if one.code == code]

    assert function == finding.sites[0].own_function
    assert finding.sites[0].line is not None
    assert math.isnan(finding.sites[0].high) == (code == "forced-gc")


def test_who_copies_into_go_memory_is_no_caller_of_c():
    """The heap profiles of patentd-b have C.GoBytes, and no call into C."""
    (finding,) = (
        found
        for found in gomem.diagnose(LABORATORY / "patentd-b.tar.gz").findings
        if found.code == "native-memory"
    )

    assert () == finding.sites
    assert "calls into C" not in finding.title
    assert "--peek" not in finding.next_step


def test_cs_memory_that_comes_with_goroutines_of_a_library_names_who_calls_it():
    found = gomem.diagnose(LABORATORY / "almanacd-b.tar.gz").findings[0]

    assert "native-memory" == found.code
    assert found.sites[0].own_function.endswith("tenant.(*Reconciler).Reconcile")
    assert "calls database/sql " in found.next_step


def test_goroutines_that_wait_in_go_can_hold_c_memory_and_need_not():
    found = gomem.diagnose(LABORATORY / "sonarlogd-c.tar.gz").findings[0]

    assert "native-memory" == found.code
    assert "first" not in found.next_step
    assert "survey.(*Log).runLine hold C memory until they end" in found.next_step


@pytest.mark.parametrize("capture", ["foundryd-b", "regattad-a"])
def test_goroutines_of_a_library_alone_are_named_by_who_asked_it(capture):
    found = gomem.diagnose(LABORATORY / f"{capture}.tar.gz").findings[0]

    assert "goroutine-leak" == found.code
    assert f"{found.sites[0].own_function} calls net/http" in found.title
    assert found.sites[0].own_function.endswith(("alloy.(*Lab).Ask", "wind.(*Client).Poll"))
