"""What was renamed between two builds is one site."""

import pytest

from gomem.analysis.profiles.changes import rename_of, renamed
from gomem.comparison.sites import compare_profiles
from gomem.errors import CaptureError
from tests.heap_profiles import heap, seen


@pytest.mark.parametrize(
    ("rename", "name", "new"),
    [
        ("main.handle=main.serve", "main.handle", "main.serve"),
        ("main.handle=main.serve", "main.handle.func1", "main.serve.func1"),
        ("main.handle=main.serve", "main.handle[...]", "main.serve[...]"),
        ("main.handle=main.serve", "main.handleAll", "main.handleAll"),
        ("main.handle=main.serve", "other/main.handle", "other/main.handle"),
        ("a.com/x=b.com/y", "a.com/x/cache.(*T).get", "b.com/y/cache.(*T).get"),
        ("a.com/x=b.com/y", "a.com/x.F", "b.com/y.F"),
        ("a.com/x=b.com/y", "a.com/x2.F", "a.com/x2.F"),
        ("a.com/=b.com/", "a.com/x.F", "b.com/x.F"),
        ("main.(*T)=main.(*U)", "main.(*T).run", "main.(*U).run"),
    ],
)
def test_a_rename_takes_all_that_is_in_it_and_no_more(rename, name, new):
    assert new == rename_of(rename).applied(name)


@pytest.mark.parametrize("text", ["main.a", "=main.b", "main.a=", ""])
def test_a_rename_has_two_names(text):
    with pytest.raises(CaptureError, match="wanted OLD=NEW"):
        rename_of(text)


def test_a_renamed_site_is_neither_gone_nor_new():
    before = heap(seen(900, 4096, leaf=1, root=2), names=("main.old", "main.main"))
    after = heap(seen(900, 4096, leaf=1, root=2), names=("main.new", "main.main"))

    told = compare_profiles(renamed(before, [rename_of("main.old=main.new")]), after, "inuse_space")
    untold = compare_profiles(before, after, "inuse_space")

    assert ["~"] == told["state"].tolist()
    assert {"main.old": "gone", "main.new": "new"} == untold.set_index("function")[
        "state"
    ].to_dict()


def test_what_is_renamed_to_a_function_that_is_there_is_added_to_it():
    both = heap(
        seen(900, 4096, leaf=1, root=3),
        seen(900, 4096, leaf=2, root=3),
        names=("main.old", "main.new", "main.main"),
    )

    merged = renamed(both, [rename_of("main.old=main.new")])

    assert {"main.new"} == set(merged.top("inuse_space").query("flat > 0")["function"])
    assert both.total("inuse_space") == merged.total("inuse_space")
