"""The settings of the runtime as a page says them: once, with what says each."""

import math

import pytest

import gomem
from gomem.facts.settings import Setting, Settings
from gomem.text import File, Quoted
from gomem.views.json.report import report_json
from gomem.views.report.report import report_document
from gomem.views.settings import settings_words
from tests.builders import FIXTURES
from tools.laboratory.captures import path_of

HEALTHY = FIXTURES / "captures/healthy-go1.27.3"


def gogc(value, known_by, low=math.nan, high=math.nan, **about):
    return Setting("GOGC", value, known_by, "f", low, high, **about)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (gogc(0.4, "environment"), "GOGC 40 (f)"),
        (gogc(1.0, "environment", is_set=False), "GOGC 100 (default; not set in f)"),
        (gogc(math.inf, "metrics"), "GOGC off (runtime/metrics)"),
        (gogc(0.5, "metrics", others=(("100", "metrics"), ("40", "e"))),
         "GOGC 50 (runtime/metrics) (before: 100) (e says 40)"),
        (gogc(1.0, "assumed", 0.5, 2.0), "GOGC 100, assumed"),
        (gogc(1.0, "assumed", 0.5, math.inf), ""),
        (gogc(1.0, "assumed"), ""),
        (gogc(0.4, "goals", 0.35, 0.46), "GOGC about 40 (35 to 46, inferred from heap goals)"),
        (gogc(0.3, "log", 0.3, 0.3), "GOGC 30 (inferred from heap goals in the GC log)"),
        (gogc(0.03, "goals", 0.0, 0.03), ""),
        (gogc(34.0, "goals", 33.9, 492.9), "GOGC at least 3390 (inferred from heap goals)"),
    ],
)  # fmt: skip
def test_a_setting_and_how_it_is_known(setting, words):
    assert words == settings_words(Settings(setting))


def test_several_stand_in_a_row_and_what_a_user_chose_keeps_its_type():
    limit = Setting("GOMEMLIMIT", 160.0 * (1 << 20), "environment", "environ")
    procs = Setting("GOMAXPROCS", 2.0, "log", "gc.log")
    godebug = Setting("GODEBUG", "gctrace=1", "environment", "environ")
    words = settings_words(Settings(gogc(1.0, "assumed"), limit, procs, godebug))

    assert (
        "GOMEMLIMIT 160MiB (environ); GOMAXPROCS 2 (GC log); GODEBUG gctrace=1 (environ)" == words
    )
    assert Quoted("gctrace=1") in words.parts
    assert File("environ") in words.parts


def test_a_page_says_them_once():
    document = report_document(gomem.diagnose(HEALTHY))

    assert "GOGC 100 (runtime/metrics); GOMEMLIMIT none (runtime/metrics)" in str(
        dict(document.facts)["Settings"]
    )
    assert "GOGC is" not in " ".join(document.verdict.lines)


def test_json_has_each_with_its_interval_and_file():
    said = report_json(gomem.diagnose(path_of("voterolld-a")))["capture"]["settings"]
    (bounded,) = report_json(gomem.diagnose(path_of("studyd-a")))["capture"]["settings"]

    assert [("GOGC", "off", None), ("GOMEMLIMIT", "1GiB", 1 << 30)] == [
        (one["name"], one["value"], one["high"]) for one in said
    ]
    assert {"environ"} == {one["source"] for one in said}
    assert ("40", "goals", 33.8, 49.2) == tuple(
        bounded[name] for name in ("value", "known_by", "low", "high")
    )
