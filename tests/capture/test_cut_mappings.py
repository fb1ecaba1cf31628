"""An smaps that ends between two mappings looks whole; other files tell that it is cut."""

import re
import shutil
from types import SimpleNamespace

import pandas as pd
import pytest

import gomem
from gomem.capture.cut_mappings import cut_mappings
from tests.builders import FIXTURES

CAPTURE = FIXTURES / "captures/healthy-go1.27.3"
LAST, OTHER = "2-steady", "1-start"
HEADER = re.compile(rb"(?m)^[0-9a-f]+-[0-9a-f]+ .*$")


def cut_before(path, name):
    """Cut it right before the mapping of a name."""
    data = path.read_bytes()
    (header,) = [one for one in HEADER.finditer(data) if one[0].endswith(name)]
    path.write_bytes(data[: header.start()])


@pytest.fixture
def capture(tmp_path):
    """Two moments of smaps alone, by hand."""
    for moment in (OTHER, LAST):
        (tmp_path / moment).mkdir()
        shutil.copy(CAPTURE / moment / "smaps", tmp_path / moment)
    return tmp_path


def damage_of(capture):
    return {(one.source, one.what.partition(":")[0]) for one in gomem.load(capture).damaged}


def test_whole_files_are_whole(capture):
    assert set() == damage_of(capture)


@pytest.mark.parametrize("missing", [b"[vsyscall]", b"[stack]"])
def test_what_another_moment_ends_with_is_missing(capture, missing):
    cut_before(capture / LAST / "smaps", missing)

    ((source, what),) = damage_of(capture)

    assert f"{LAST}/smaps" == source
    assert missing.decode() in what
    assert f"which {OTHER}/smaps has, " in what


def test_alone_it_is_cut_where_the_kernels_sum_is_larger(capture):
    """
    Before the program's first mapping of libraries or the stack: hardly anything is counted.
    """
    shutil.rmtree(capture / OTHER)
    shutil.copy(CAPTURE / LAST / "smaps_rollup", capture / LAST)
    path = capture / LAST / "smaps"
    headers = list(HEADER.finditer(path.read_bytes()))
    path.write_bytes(path.read_bytes()[: headers[3].start()])

    ((source, what),) = damage_of(capture)

    assert f"{LAST}/smaps" == source
    assert f"where {LAST}/smaps_rollup says" in what


def test_alone_and_without_any_sum_nobody_can_tell(capture):
    shutil.rmtree(capture / OTHER)
    cut_before(capture / LAST / "smaps", b"[stack]")

    assert set() == damage_of(capture)


def test_a_sum_that_is_larger_than_a_whole_file_is_another_moments(capture):
    """
    With [stack] in it, it is whole: the process has grown between two readings.
    """
    shutil.rmtree(capture / OTHER)
    rollup = (CAPTURE / LAST / "smaps_rollup").read_bytes()
    (capture / LAST / "smaps_rollup").write_bytes(
        re.sub(rb"(?m)^Rss: .*$", b"Rss:              999999 kB", rollup)
    )

    assert set() == damage_of(capture)


def artefact(kind, moment="m", **frames):
    source = SimpleNamespace(name=f"{moment}/{kind}")
    parsed = SimpleNamespace(**{name: pd.DataFrame(rows) for name, rows in frames.items()})
    return SimpleNamespace(
        kind=SimpleNamespace(name=kind), moment=moment, source=source, parsed=parsed
    )


def smaps(paths=("/app", ""), rss=(0, 0), moment="m"):
    rows = {"path": list(paths), "Rss": pd.array(rss, "Int64"), "line": range(1, len(paths) + 1)}
    return artefact("smaps", moment, mappings=rows)


def told(*artefacts, damaged=()):
    return [(one.source, one.where) for one in cut_mappings(artefacts, damaged)]


KIB = 1024


@pytest.mark.parametrize(
    ("mine", "said", "cut"),
    [
        (0, 64 * KIB, False),
        (0, 64 * KIB + 1, True),
        (99_000_000, 100_000_000, False),
        (98_999_999, 100_000_000, True),
        (6_000_000, 6_100_000, True),
        (7, 0, False),
        (0, None, False),
        (None, 99_000_000, False),
    ],
)
@pytest.mark.parametrize("kind", ["smaps_rollup", "status"])
def test_a_sum_is_larger_if_it_is_so_by_64_kib_and_a_hundredth(mine, said, cut, kind):
    """
    By both: two readings of a running process differ.
    """
    sums = {"smaps_rollup": ("mappings", "Rss"), "status": ("status", "VmRSS")}
    frame, name = sums[kind]
    other = artefact(kind, **{frame: {name: pd.array([5, said], "Int64")}})

    assert [("m/smaps", "line 2")] * cut == told(
        smaps(rss=(mine, 0 if mine is not None else None)), other
    )


def test_only_a_sum_of_the_same_moment_counts_and_none_beside_a_stack():
    larger = artefact("status", status={"VmRSS": pd.array([1 << 30], "Int64")})

    assert [("m/smaps", "line 2")] == told(smaps(), larger)
    assert [] == told(smaps(), larger, damaged=["m/smaps"])
    assert [] == told(smaps(moment="n"), larger)
    assert [] == told(smaps(paths=("/app", "[stack]")), larger)
    assert [] == told(smaps(paths=(), rss=()), larger)
    assert [] == told(smaps(), artefact("statm", status={"VmRSS": pd.array([1 << 30], "Int64")}))


def test_a_file_without_a_mapping_has_no_last_line_to_name():
    whole = smaps(paths=("/app", "[stack]"), moment="n")

    assert [] == told(smaps(paths=(), rss=()), whole)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (["[vdso]"], "it ends here; [vdso], which n/smaps has, is missing"),
        (["[stack]", "[vdso]"], "it ends here; [stack] and [vdso], which n/smaps has, are missing"),
        (
            ["[stack]", "[vdso]", "[vsyscall]"],
            "it ends here; [stack], [vdso] and [vsyscall], which n/smaps has, are missing",
        ),
    ],
)
def test_what_all_files_end_with_is_named(missing, words):
    one, other = smaps(), smaps(paths=("/app", *missing), rss=[0] * (1 + len(missing)), moment="n")

    (damage,) = cut_mappings([one, other], ())

    assert damage.what.startswith(words)
