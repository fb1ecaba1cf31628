"""Settings of the runtime that differ between two sides, and what says so."""

import json
from types import SimpleNamespace

import pytest

from gomem.comparison.benchmarks import compare_bench
from gomem.comparison.comparison import compare
from gomem.comparison.settings import READERS, Setting, settings_words
from gomem.inputs.gobench.table import read_bench
from tests.builders import FIXTURES, memstats_json

NO_LIMIT, OFF = 2**63 - 1, 2**64 - 1
STEADY = FIXTURES / "what-if"


@pytest.fixture
def side(tmp_path):
    """A capture of MemStats, with runtime/metrics, a manifest or build information."""

    def made(name, metrics=None, manifest=None, godebug=None):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "memstats.json").write_bytes(memstats_json())
        if metrics is not None:
            known = {"/memory/classes/total:bytes": 9 << 20} | metrics
            (folder / "metrics.json").write_text(json.dumps(known))
        if manifest is not None:
            content = {"schema": "gomem.capture/1", "moments": []} | manifest
            (folder / "gomem.json").write_text(json.dumps(content))
        if godebug is not None:
            text = f"/app/x: go1.26.8\n\tpath\tx.org/a\n\tbuild\tDefaultGODEBUG={godebug}\n"
            (folder / "buildinfo.txt").write_text(text)
        return folder

    return made


def rows(before, after):
    settings = compare(before, after).settings
    return [tuple(row) for row in settings.itertuples(index=False)]


def gogc(value):
    return {"/gc/gogc:percent": value}


def env(**variables):
    return {"environment": variables}


@pytest.mark.at_most(5)
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            {"metrics": gogc(100)}, {"metrics": gogc(OFF)},
            [("GOGC", "100", "off", "runtime/metrics")], id="metrics",
        ),
        pytest.param(
            {"metrics": {"/gc/gomemlimit:bytes": NO_LIMIT}},
            {"metrics": {"/gc/gomemlimit:bytes": 160 << 20}},
            [("GOMEMLIMIT", "none", "160MiB", "runtime/metrics")], id="limit",
        ),
        pytest.param(
            {"metrics": {"/sched/gomaxprocs:threads": 2}}, {"manifest": {"gomaxprocs": 4}},
            [("GOMAXPROCS", "2", "4", "runtime/metrics (before); gomem.json (after)")],
            id="processors",
        ),
        pytest.param(
            {"manifest": env(GOGC="50")}, {"manifest": env()},
            [("GOGC", "50", "100", "gomem.json (before); gomem.json, not set (after)")],
            id="default",
        ),
        pytest.param(
            {"manifest": env(GOGC="50")}, {"metrics": gogc(100), "manifest": env(GOGC="50")},
            [("GOGC", "50", "100", "gomem.json (before); runtime/metrics (after)")],
            id="metrics-know-better",
        ),
        pytest.param(
            {"manifest": env(GODEBUG="gctrace=1")},
            {"manifest": env(GODEBUG="madvdontneed=1,gctrace=1")},
            [("GODEBUG", "unset", "madvdontneed=1", "gomem.json")], id="godebug",
        ),
        pytest.param(
            {"godebug": "panicnil=1"}, {"godebug": ""},
            [("GODEBUG", "panicnil=1", "unset", "build info")], id="godebug-of-the-build",
        ),
        pytest.param({"manifest": env(GODEBUG="gctrace=1")}, {"manifest": env()}, [], id="prints"),
        pytest.param({"metrics": gogc(100)}, {"metrics": gogc(100)}, [], id="the-same"),
        pytest.param({"metrics": gogc(400)}, {}, [], id="one-side-alone"),
        pytest.param({"manifest": {}}, {"manifest": env(GOGC="50")}, [], id="no-environment"),
    ],
)  # fmt: skip
def test_a_setting_differs_where_both_sides_say_it_and_not_the_same(side, before, after, expected):
    assert expected == rows(side("before", **before), side("after", **after))


def test_where_no_file_says_gogc_the_goals_of_the_log_do():
    before, after = (STEADY / f"steady-go1.22.12-gogc-{n}.log.gz" for n in (100, 400))

    compared = compare(before, after)

    assert [("GOGC", "100", "400", "inferred from the GC log")] == rows(before, after)
    assert "GOGC 100 → 400 (inferred)" == settings_words(compared.settings)
    assert compared.judgement.sentence.startswith("GOGC 100 → 400 (inferred): ")


def test_the_rate_of_sampling_is_a_setting():
    def profiled(rate):
        profile = SimpleNamespace(period=rate, period_type=SimpleNamespace(type="space"))
        return SimpleNamespace(capture=SimpleNamespace(heap_profiles={"1": profile}))

    assert [Setting("1024", "heap profile")] == list(
        dict(READERS)["MemProfileRate"](profiled(1024))
    )
    assert [] == list(dict(READERS)["MemProfileRate"](profiled(None)))


def test_a_release_is_a_setting(side):
    old, new = ({"go_version": f"go1.{n}.0"} for n in (23, 24))

    assert [("Go release", "go1.23", "go1.24", "gomem.json")] == rows(
        side("before", manifest=old), side("after", manifest=new)
    )


def test_of_several_runs_each_value_is_named_once(side):
    before = [side(f"b{n}", metrics=gogc(n)) for n in (100, 100.0, 200)][1:]
    after = [side("after", metrics=gogc(200))]

    assert [("GOGC", "100, 200", "200", "runtime/metrics")] == rows(before, after)


def test_of_benchmarks_the_machine_and_its_processors_are_settings():
    before = read_bench(b"cpu: EPYC\nBenchmarkA-2 1 5 ns/op\n")
    after = read_bench(b"cpu: Xeon\nBenchmarkA-4 1 5 ns/op\n")

    settings = compare_bench(before, after).settings

    assert "cpu EPYC → Xeon, GOMAXPROCS 2 → 4" == settings_words(settings)
    assert {"benchmark file"} == set(settings["source"])


def test_a_containers_description_says_nothing_of_a_variable_that_it_does_not_name(side):
    before, after = side("a"), side("b", manifest=env(GODEBUG="madvdontneed=1"))
    (before / "compose.yaml").write_text("services:\n  api:\n    environment:\n      GOGC: 100\n")

    assert "unset" not in [value for row in rows(before, after) for value in row]
