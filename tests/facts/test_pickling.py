"""What is read and known goes to other processes, and answers there as it does here."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

import gomem
from gomem.facts.collector import CollectorFacts
from gomem.inputs.kinds import KINDS
from gomem.views.json.report import render_json_report
from tests.builders import CAPTURES, FIXTURES
from tests.gc_logs import log_of, packed_cycles

BURSTS = FIXTURES / "laboratory" / "captures" / "slowqd-g.tar.gz"  # a log, profiles, metrics
STORIES = {path.name.partition("-go")[0]: path for path in CAPTURES}  # a recording of each
RECORDED = [*STORIES.values(), BURSTS]


def again(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - of our own making


def report_of(diagnosis):
    """The report, worked out wherever this runs."""
    return render_json_report(diagnosis)


@pytest.mark.at_most(2)
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_a_capture_and_its_diagnosis_answer_the_same_when_pickled(path):
    capture = gomem.load(path)
    fresh = gomem.diagnose(capture)

    untouched = again(fresh)
    report = render_json_report(fresh)

    assert report == render_json_report(gomem.diagnose(again(capture)))
    assert report == render_json_report(untouched)
    assert report == render_json_report(again(fresh))


def test_moments_can_be_handed_on_alone():
    capture = gomem.load(CAPTURES[0])
    (*_, facts) = gomem.diagnose(capture).moments
    moment = capture[facts.name]

    assert moment.paths == again(moment).paths
    assert moment.memstats.equals(again(moment).memstats)
    assert facts.ledger.parts.equals(again(facts).ledger.parts)
    assert facts.rss_bytes == again(facts).rss_bytes


def test_a_kind_is_the_same_one_afterwards():
    assert all(kind is again(kind) for kind in KINDS)


def test_a_long_log_answers_the_same():
    log = log_of(*[{"at": float(at)} for at in range(1, 30)])
    facts = CollectorFacts(replace(log, cycles=packed_cycles(log.cycles, 7)), "app.log")

    assert facts.cost.values == again(facts).cost.values


def test_another_process_works_out_what_this_one_does():
    """
    Two diagnoses, one of which has a baseline, in a process that starts with nothing.
    """
    paths = {path.name: path for path in CAPTURES}
    old = gomem.load(paths["zeroing-go1.23.4"])
    new = gomem.load(paths["zeroing-go1.24.2"])
    diagnoses = [gomem.diagnose(new), gomem.diagnose(new, old)]

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = list(pool.map(report_of, diagnoses))

    assert [render_json_report(diagnosis) for diagnosis in diagnoses] == there
