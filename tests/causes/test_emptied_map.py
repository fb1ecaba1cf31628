"""A map or slice that was emptied and keeps its memory."""

import pandas as pd
import pytest

import gomem
from gomem.causes import emptied_map
from gomem.causes.finding import Severity
from gomem.facts.moment import MomentFacts
from gomem.text import Bytes, Count
from gomem.units import MIB
from tests.builders import FIXTURES, case_of

RECORDED = FIXTURES / "emptied" / "emptied-go1.24.2"
BASE = {"NumGC": 4, "HeapAlloc": 200 * MIB, "HeapObjects": 900_000, "TotalAlloc": 400 * MIB}


def moment(name, **changed):
    stats = pd.Series(BASE | changed, dtype=object)
    return MomentFacts(name, memstats=stats, paths={"memstats": f"{name}/memstats.json"})


def found(*moments):
    return emptied_map.find(case_of(moments))


def test_a_table_of_600_000_sessions_of_which_300_are_left():
    diagnosis = gomem.diagnose(RECORDED)

    finding = diagnosis.findings[0]

    assert ("emptied-map", "likely") == (finding.code, finding.confidence)
    assert Severity.WARNING == finding.severity
    assert [28_095_728] == [size.value for size in finding.title.of(Bytes)]
    assert [3_525, 1_802_346] == [count.value for count in finding.title.of(Count)]
    assert ["main.(*table).login"] == [site.own_function for site in finding.sites]


NIGHT = {"NumGC": 9, "HeapAlloc": 150 * MIB, "HeapObjects": 600, "TotalAlloc": 420 * MIB}


@pytest.mark.parametrize(
    ("changed", "confidence"),
    [
        pytest.param({}, "likely", id="it allocated 20 MiB since"),
        pytest.param({"TotalAlloc": 800 * MIB}, None, id="it packed the objects, perhaps"),
        pytest.param({"TotalAlloc": pd.NA}, "possible", id="TotalAlloc is unknown"),
        pytest.param({"NumGC": 4}, None, id="no collection since"),
        pytest.param({"HeapObjects": 400_000}, None, id="half of the objects are left"),
        pytest.param({"HeapAlloc": 20 * MIB}, None, id="the heap fell, too"),
        pytest.param({"HeapAlloc": pd.NA}, None, id="the heap is unknown"),
    ],
)
def test_what_was_allocated_since_decides_how_sure_it_is(changed, confidence):
    findings = found(moment("peak"), moment("night", **NIGHT | changed))

    assert ([] if confidence is None else [confidence]) == [one.confidence for one in findings]


def test_one_snapshot_cannot_show_it():
    assert [] == found(moment("night", **NIGHT))
