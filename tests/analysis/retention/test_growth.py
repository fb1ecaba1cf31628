"""Which keeper grew between two dumps."""

from gomem.analysis.retention.growth import grown
from tests.analysis.retention.test_keepers import recorded


def test_the_keeper_that_grew_comes_first():
    """
    main.cache took 300 entries of 1 KiB; what did not grow has a change of nothing.
    """
    change = grown(recorded("1.24.13"), recorded("1.24.13", "second.dump"))
    first = change.iloc[0]

    assert ("global", "main.cache") == (first["kind"], first["name"])
    assert 300 * 1024 <= first["change_bytes"] <= 1.15 * 300 * 1024
    assert first["change_objects"] >= 900
    assert 0 == change.set_index("name")["change_bytes"]["main.queue"]


def test_a_dump_compared_with_itself_has_not_changed():
    change = grown(recorded("1.24.13"), recorded("1.24.13"))

    assert 0 == change["change_bytes"].abs().sum()
    assert (change["before_bytes"] == change["after_bytes"]).all()


def test_what_one_dump_does_not_have_keeps_nothing_in_it():
    before, after = recorded("1.22.12"), recorded("1.24.13")
    change = grown(before, after).set_index(["kind", "name"])
    only_after = set(change.index) - set(
        map(tuple, before.keepers[["kind", "name"]].to_numpy().tolist())
    )

    assert only_after
    assert (change.loc[list(only_after), "before_bytes"] == 0).all()
