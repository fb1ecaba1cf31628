"""What is said beside a comparison, and how files of benchmarks are joined."""

from gomem.comparison.comparison import _compare_benches, _damage, _joined, _notes
from gomem.errors import Damage
from gomem.inputs.gobench.table import read_bench
from tests.comparison.runs import moment, run, side


def test_notes_of_the_ledgers_are_those_of_the_first_run():
    old = side(run(moment("1", 3, notes=("old one",))))
    new = side(
        run(moment("2", 3, notes=("new one",))),
        run(moment("2", 3, notes=("of another run",))),
        word="after",
    )

    assert [
        "the before side has no “snapshot 2”: its last, “snapshot 1”, is compared with it",
        "before, snapshot 1: old one",
        "after, snapshot 2: new one",
    ] == list(_notes(old, new, [("1", "2"), ("1", "2")]))


def test_without_notes_nothing_is_said():
    assert [] == list(_notes(side(run(moment("1", 3))), side(run(moment("1", 3))), [("1", "1")]))
    assert [] == list(_notes(side(run(moment("1"))), side(run()), [("1", "1")]))


def test_what_could_not_be_read_says_in_which_capture():
    found = run(damaged=(Damage("x.json", "line 1", "cut", ""), Damage("a", "", "cut", "")))

    assert ["runs/a/x.json", "a"] == [damage.source for damage in _damage(found)]


def test_files_of_one_side_are_one_and_their_configurations_stay_apart():
    one, other, third = (
        read_bench(f"goos: {name}\nBenchmarkA-2 1 5 ns/op\n".encode()) for name in ("a", "b", "c")
    )

    joined = _joined([one, other, third])

    assert 3 == len(joined.results) == joined.results["config"].nunique()
    said = joined.config[joined.config["key"] == "goos"].set_index("config")["value"]
    assert ["a", "b", "c"] == [said[number] for number in joined.results["config"]]


def test_benchmarks_of_one_side_alone_are_shown():
    bench = read_bench(b"BenchmarkA-2 1 5 ns/op\n")
    none, one = run(), run()
    one.capture.bench = {"a": bench}

    assert 1 == len(_compare_benches(side(one), side(none), {}).metrics)
    assert 1 == len(_compare_benches(side(none), side(one), {}).metrics)
    assert 0 == len(_compare_benches(side(none), side(none), {}).metrics)
