"""What the library's function below the program's own is known for is said with the growth."""

import pytest

import gomem
from gomem.units import MIB
from tests.heap_profiles import heap_bytes, seen

TABLE = """We asked ps three times, and pprof at the end. It is Go 1.20.14 here.

{ps}Type: inuse_space
Showing nodes accounting for 40960kB, 100% of 40960kB total
      flat  flat%   sum%        cum   cum%
   40960kB   100%   100%    40960kB   100%  {leaf}
         0     0%   100%    40960kB   100%  {between}
         0     0%   100%    40960kB   100%  main.(*station).listen
"""


def growth(path):
    found = gomem.diagnose(path).findings
    (finding,) = [each for each in found if each.code == "heap-growth"]
    return finding


def of_table(folder, leaf, between):
    rows = (f"4711 {kib} 1696976 stationd" for kib in (18000, 50000, 82000))
    ps = "  PID   RSS    VSZ COMMAND\n" + "\n".join(rows) + "\n\n"
    path = folder / "ticket.txt"
    path.write_text(TABLE.format(ps=ps, leaf=leaf, between=between))
    return growth(path)


@pytest.mark.parametrize(
    ("leaf", "between", "call", "word"),
    [
        ("time.NewTimer", "time.After (inline)", "timer.Stop()", "time.After"),
        ("time.NewTimer", "main.(*station).wait", "timer.Stop()", "stopped"),
        ("container/list.(*List).insertValue", "main.x", "l.Remove(l.Back())", "list"),
    ],
)
def test_a_table_names_the_call_that_is_missing(tmp_path, leaf, between, call, word):
    found = of_table(tmp_path, leaf, between)

    assert (call, True) == (found.missing_call.call, word in found.missing_call.why)
    assert found.sites[0].own_function == found.missing_call.function


@pytest.mark.parametrize(
    ("leaf", "word"), [("strings.(*Builder).grow", "strings.Clone"), ("io.ReadAll", "bytes.Clone")]
)
def test_a_table_says_what_keeps_strings_and_inputs(tmp_path, leaf, word):
    found = of_table(tmp_path, leaf, "main.x")

    assert found.missing_call is None
    assert word in found.next_step


def two_profiles(folder, names, *buckets):
    """A MiB of each, in objects of 128 KiB, and a minute later so many more; the last is the root.

    `buckets` are leaves, counted from 1, and the MiB.
    """
    for when in (0, 1):
        held = (
            seen(8 + 8 * when * mib, MIB // 8, leaf=leaf, root=len(names)) for leaf, mib in buckets
        )
        data = heap_bytes(*held, names=names, seconds=1_800_000_000 + 60 * when)
        (folder / f"heap-{when}.pb").write_bytes(data)
    return growth(folder)


def test_a_call_that_explains_one_of_two_functions_is_named(tmp_path):
    """
    A third of the growth is of contexts, the rest of the program's own objects.
    """
    names = ("main.newLease", "context.(*cancelCtx).propagateCancel", "main.lease")
    found = two_profiles(tmp_path, names, (1, 40), (2, 20))

    assert ["main.newLease", "main.lease"] == [site.own_function for site in found.sites]
    assert "cancel()" == found.missing_call.call


@pytest.mark.parametrize(
    ("leaf", "is_part", "said"),
    [
        pytest.param("main.page", True, False, id="the program's own"),
        pytest.param("bufio.NewReaderSize", False, True, id="a buffer of bufio's"),
        pytest.param("image.NewRGBA", False, False, id="of a library"),
    ],
)
def test_only_what_the_program_allocates_itself_can_be_cut(tmp_path, leaf, is_part, said):
    found = two_profiles(tmp_path, (leaf, "main.root"), (1, 60))

    assert is_part is ("bytes.Clone" in found.mechanism)
    assert said is ("defer" in found.next_step)
