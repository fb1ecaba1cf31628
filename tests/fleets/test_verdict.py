"""What a fleet comes down to, in words."""

from types import SimpleNamespace

from gomem.analysis.fleet.builds import by_build
from gomem.analysis.fleet.drift import drift
from gomem.analysis.fleet.frames import CAPTURES, FAILED
from gomem.analysis.fleet.limits import near_limit
from gomem.analysis.fleet.outliers import outliers
from gomem.analysis.fleet.population import current
from gomem.fleets.verdict import outlier_sentence, verdict_of
from gomem.inputs.schema import build_rows, rows_of
from gomem.units import MIB
from tests.analysis.fleet.fleets import findings, level, levels, setting, settings, sites


def fleet_of(rows, *, told=(), finds=(), places=(), failed=()):
    """What a verdict looks at, of levels alone."""
    frame = levels(*rows)
    values = current(frame)
    keys = frame[["capture", "instance", "service", "build", "time"]].drop_duplicates()
    captures = [
        (*row, "k", f"/c/{row[0]}", None, 1, None, None, None, None, None, "", 0, "1")
        for row in keys.itertuples(index=False, name=None)
    ]
    lost = [(name, name, "", "", None, "k", f"/c/{name}", "cut", True) for name in failed]
    return SimpleNamespace(
        captures=build_rows(captures, CAPTURES), failed=build_rows(lost, FAILED), current=values,
        outliers=outliers(values, settings(*told), findings(*finds), sites(*places)),
        near_limit=near_limit(values), builds=by_build(values), drift=drift(frame),
    )  # fmt: skip


def many(name, values, **more):
    return [level(f"pod-{n}", name, value, **more) for n, value in enumerate(values)]


def test_the_verdict_names_each_with_its_part():
    rows = many("goroutines", [1] * 37 + [4201, 1, 1])
    rows += many("heap_idle", [2 * MIB] * 38 + [62 * MIB, 2 * MIB])
    rows += many("gc_cpu_fraction", [0.01] * 39 + [0.24])
    told = [setting(f"pod-{n}", "GOGC", "4" if n == 39 else "100") for n in range(40)]
    fleet = fleet_of(rows, told=told, finds=[("pod-37", "goroutine-leak")])

    found = verdict_of(fleet)

    assert "37 of 40 instances are alike; pod-39 spends 24 % of the CPU in" in found.sentence
    assert "pod-38 keeps 62 MiB of idle heap" in found.sentence
    assert "pod-37 leaks goroutines" in found.sentence
    assert (37, 40, 40) == (found.alike, found.instances, found.compared)
    assert "gomem report /c/pod-39/0" == found.next_step
    sentences = [outlier_sentence(row) for row in rows_of(fleet.outliers)]
    assert "; it runs with GOGC 4, not 100." in sentences[0]


def test_a_leak_is_one_where_its_own_findings_say_so():
    (row,) = rows_of(fleet_of(many("goroutines", [1] * 5 + [4201])).outliers)

    said = outlier_sentence(row)

    assert "pod-5 has 4\u202f201 goroutines, where the median of the others is 1." == said


def test_a_fleet_with_none_is_all_alike():
    found = verdict_of(fleet_of(many("goroutines", [5, 6, 5, 7])))

    assert "All 4 instances are alike." == found.sentence
    assert "" == found.next_step


def test_a_few_instances_are_too_few_to_compare():
    found = verdict_of(fleet_of(many("goroutines", [5, 6, 900])))

    assert "3 instances are too few to compare: wanted 4 of a service." == found.sentence
    assert found.alike is None


def test_what_could_not_be_read_or_compared_is_not_called_alike():
    rows = many("goroutines", [5] * 6)
    rows += [level("pod-9", "rss_bytes", 5 * MIB)]

    found = verdict_of(fleet_of(rows, failed=["pod-10"]))

    assert "All 6 instances are alike." == found.sentence
    assert (8, 6) == (found.instances, found.compared)
    assert "2 instances could not be compared." in found.details
    assert "1 capture could not be read." in found.details


def test_a_release_that_needs_more_is_said_of_the_release():
    rows = [level(f"a{n}", "rss_bytes", (60 + n) * MIB, build="go1.23.4") for n in range(8)]
    rows += [level(f"b{n}", "rss_bytes", (90 + n) * MIB, build="go1.24.2") for n in range(8)]

    found = verdict_of(fleet_of(rows))

    assert "All 16 instances are alike." == found.sentence
    assert "RSS differs by build: 94 MiB at go1.24.2 (+47.2 %)." in found.details


def test_a_drift_and_a_limit_are_said():
    rows = [level("pod-1", "live_heap", (20 + 10 * h) * MIB, hours=h) for h in range(8)]
    rows += many("of_limit_fraction", [0.95, 0.2, 0.3, 0.1])

    found = verdict_of(fleet_of(rows))

    assert "1 of 4 use more than 90 % of their memory limit." in found.details
    assert "the most pod-1: its live heap grows by 10 MiB an hour." in found.details[-1]
