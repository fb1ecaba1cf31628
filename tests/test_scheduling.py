"""Which cases of a test run, and which tests share a process."""

from types import SimpleNamespace

import pytest

from tests.builders import FIXTURES
from tests.scheduling import A_FEW, LONG, MOST, beyond_most, shared_by

FILE = "tests/views/test_share.py"


@pytest.mark.parametrize(
    ("named", "shared"),
    [
        ("test_a", FILE),
        ("test_a[healthy-go1.27.3]", "healthy"),
        ("test_a[alloc-pressure-after-go1.27.3]", "alloc-pressure"),
        ("test_a[zeroing-go1.24.2-80]", "zeroing"),
        ("test_a[cache-shrink-go1.12.17-cache-shrink-go1.16.15]", "cache-shrink"),
        ("test_a[zeroing-go1.24.2/2-loaded]", FILE),
        ("test_a[zeroing]", FILE),
    ],
)
def test_what_is_asked_of_a_storys_captures_shares_a_process_and_else_a_file_does(named, shared):
    """
    Of a single moment it is not: who reads these keeps them by himself.
    """
    assert shared == shared_by(f"{FILE}::{named}")


def test_files_that_compare_share_a_process():
    files = ("tests/comparison/test_load.py", "tests/views/comparison/test_comment.py")

    assert {"comparison"} == {shared_by(f"{file}::test_a") for file in files}
    assert "healthy" == shared_by(f"{files[0]}::test_a[healthy-go1.27.3]")


def test_the_files_that_begin_are_there():
    assert [] == [name for name in LONG if not (FIXTURES.parent / name).is_file()]


@pytest.mark.parametrize(
    ("count", "mark", "run"),
    [
        pytest.param(MOST, None, list(range(MOST)), id="few"),
        pytest.param(4 * A_FEW, None, list(range(0, 4 * A_FEW, 4)), id="many"),
        pytest.param(2 * MOST, 4, [0, 3, 6, 9], id="as marked"),
        pytest.param(2 * MOST, 2 * MOST, list(range(2 * MOST)), id="all, as marked"),
        pytest.param(3, 0, [], id="none"),
    ],
)
def test_so_many_of_its_cases_run_spread_evenly(count, mark, run):
    marked = None if mark is None else SimpleNamespace(args=(mark,))
    items = [Item(f"{FILE}::test_a[{number}]", marked) for number in range(count)]

    left = beyond_most([*items, Item(f"{FILE}::test_b", None)])

    assert [items[number] for number in run] == [item for item in items if item not in left]
    assert not left - set(items)


class Item:
    """A test, as far as the choice needs it."""

    def __init__(self, nodeid, marked):
        self.nodeid = nodeid
        self.get_closest_marker = lambda _: marked
