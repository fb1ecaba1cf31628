"""Who holds the lock that others wait for: a method of the same type that has passed it."""

import pytest

from gomem.causes.lock_holder import lock_holder
from gomem.causes.thresholds import Thresholds

LOCK = "sync.(*Mutex).Lock"
SERVE = "net/http.(*conn).serve"
WAITERS = (f"{LOCK};shop.(*Cart).Add;shop.handle;{SERVE}", True, 40)


def holder(*others, waiting_in="shop.(*Cart).Add"):
    return lock_holder(waiting_in, [WAITERS, *others], Thresholds().waiters_per_holder)


def test_it_is_the_method_of_the_type_that_waits_for_something_else():
    assert "shop.(*Cart).save" == holder(
        (f"shop.(*Cart).save;shop.(*Cart).Close;shop.handle;{SERVE}", False, 1),
        (f"shop.(*Index).save;shop.handle;{SERVE}", False, 3),
    )
    # The same method, past the lock, in a goroutine of its own.
    assert "shop.(*Cart).Add" == holder(("shop.(*Cart).Add;shop.handle.func1", False, 1))


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([], id="nobody"),
        pytest.param([("shop.(*Cart).run", False, 1)], id="its own goroutine"),
        pytest.param([("shop.(*Cart).run;shop.New.func1", False, 1)], id="a closure's goroutine"),
        pytest.param([("shop.(*Cart).run;main.main;runtime.main", False, 1)], id="main"),
        pytest.param([("time.Sleep;shop.(*Cart).tick;shop.a;shop.b", False, 1)], id="it sleeps"),
        pytest.param([(f"shop.(*Cart).save;shop.a;{SERVE}", False, 5)], id="they are at work"),
        pytest.param(
            [(f"shop.(*Cart).{name};shop.a;{SERVE}", False, 1) for name in ("save", "load")],
            id="two places",
        ),
    ],
)
def test_else_nothing_shows_it(others):
    assert "" == holder(*others)


def test_a_function_without_a_type_says_nothing_of_its_lock():
    assert "" == holder((f"shop.save;shop.a;{SERVE}", False, 1), waiting_in="shop.add")


def test_ten_waiters_for_one_holder_are_enough():
    passed = (f"shop.(*Cart).save;shop.a;{SERVE}", False, 4)

    assert ["shop.(*Cart).save", ""] == [holder(passed), holder(passed, (*passed[:2], 1))]
