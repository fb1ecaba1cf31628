"""A summary for a chat keeps a function's name, however long it is."""

from gomem.views.writers.chat import WIDTH, _wrapped

LONG = f"github.com/{'company/' * 9}service/internal/pool.(*worker).next"


def test_the_end_of_a_long_name_stays():
    lines = _wrapped(f"1 goroutine; 1 waits in {LONG} (chan receive).", 2)

    assert ".(*worker).next" in " ".join(lines)
    assert all(len(line) <= WIDTH for line in lines)


def test_short_names_are_as_they_are():
    assert ["12 goroutines wait in main.fill."] == _wrapped("12 goroutines wait in main.fill.", 2)
