"""Of which sites one heap profile a side cannot tell whether what they hold has changed."""

import pytest

from gomem.comparison.comparison import compare
from gomem.comparison.sites import GC_NOTE
from gomem.comparison.unclaimed import STALE, SWINGS
from gomem.views.comparison.document import comparison_document
from gomem.views.document import Table
from tests.builders import FIXTURES, diagnosed, memstats_json
from tests.heap_profiles import heap, seen

MIB = 1 << 20
SPIKY = FIXTURES / "captures/spiky-go1.27.3"
SHRINK = FIXTURES / "captures/cache-shrink-go1.27.3"


def sites_of(compared, sample_type="inuse_space"):
    rows = compared.sites[compared.sites["sample_type"] == sample_type]
    return rows.set_index("function")


def test_a_buffer_that_comes_and_goes_has_not_shrunk():
    """
    144 MiB in one snapshot and nothing in the next, a collection apart: it had freed 516 before.
    """
    compared = compare(SPIKY / "scrape-15", SPIKY / "scrape-17")

    row = sites_of(compared).loc["io.ReadAll"]
    assert ("~", SWINGS) == (row["state"], row["note"])
    assert -144 == round(row["change"] / MIB)
    assert "grew" == sites_of(compared).loc["main.newAuditRecord", "state"]


def test_of_what_was_allocated_every_claim_stands():
    compared = compare(SPIKY / "scrape-15", SPIKY / "scrape-17")

    assert {""} == set(sites_of(compared, "alloc_space")["note"])
    assert "grew" == sites_of(compared, "alloc_space").loc["main.serve", "state"]


def test_at_which_collection_each_profile_was_taken_is_said():
    notes = compare(SPIKY / "scrape-15", SPIKY / "scrape-17").notes

    assert GC_NOTE.format(36, 38) in notes


def test_a_profile_that_repeats_the_one_before_it_is_of_an_older_time(tmp_path):
    """
    At 2-shrunk no collection has run since 1-filled; at 3-collected one has.
    """
    shrunk, collected = (tmp_path / name for name in ("shrunk", "collected"))
    for folder, moments in (
        (shrunk, ("1-filled", "2-shrunk")),
        (collected, ("1-filled", "3-collected")),
    ):
        for place, moment in enumerate(moments):
            (folder / f"{place}").mkdir(parents=True)
            source = SHRINK / moment / "heap.pb.gz"
            (folder / f"{place}" / "heap.pb.gz").write_bytes(source.read_bytes())

    compared = compare(shrunk, collected)

    moved = sites_of(compared)[sites_of(compared)["note"] != ""]
    assert {STALE.format("before")} == {str(note) for note in moved["note"]}
    assert {"~"} == set(sites_of(compared)["state"])


@pytest.mark.parametrize(
    ("total_mib", "note"),
    [
        pytest.param(40, "", id="all of it is in the profile"),
        pytest.param(400, "covers only 44 MiB of the 400 MiB allocated", id="a tenth of it is"),
    ],
)
def test_no_site_is_new_or_gone_if_a_profile_lacks_most_of_what_was_allocated(
    tmp_path, total_mib, note
):
    """A collection did not run since, so who allocated the rest is not known."""
    sides = [tmp_path / "before", tmp_path / "after"]
    for folder, name, total in zip(sides, ("drop", "load"), (40, total_mib), strict=True):
        profile = heap(seen(38, MIB), names=(f"main.{name}", "main.main"))
        folder.mkdir()
        (folder / "heap.pb.gz").write_bytes(profile.to_pprof())
        (folder / "memstats.json").write_bytes(memstats_json(TotalAlloc=total * MIB, NumGC=7))

    sites = sites_of(compare(*sides), "alloc_space")

    assert ("gone" if not note else "~") == sites.loc["main.drop", "state"]
    assert ("new" if not note else "~") == sites.loc["main.load", "state"]
    assert all(note in sites.loc[f"main.{name}", "note"] for name in ("drop", "load"))


def test_a_function_that_allocates_in_an_internal_package_of_go_is_the_same_site(tmp_path):
    """In a newer release the same function allocates one frame deeper."""
    sides = [tmp_path / "before", tmp_path / "after"]
    names = ("strings.(*Builder).grow", "main.main", "internal/bytealg.MakeNoZero")
    for folder, leaf, root in zip(sides, (1, 3), (2, 1), strict=True):
        profile = heap(seen(38, MIB, leaf=leaf, root=root), names=names)
        folder.mkdir()
        (folder / "heap.pb.gz").write_bytes(profile.to_pprof())

    sites = sites_of(compare(*sides), "alloc_space")

    assert {"strings.(*Builder).grow": "~"} == dict(sites["state"])


def test_several_runs_a_side_are_told_by_their_ranks():
    sides = [[diagnosed(SPIKY)] * 4, [diagnosed(SPIKY)] * 4]

    assert {""} == set(compare(*sides).sites["note"])


@pytest.mark.parametrize("sample_type", ["alloc_space", "inuse_space", "inuse_objects"])
def test_the_rows_of_a_table_add_up_to_its_total(sample_type):
    document = comparison_document(
        compare(SPIKY / "scrape-15", SPIKY / "scrape-17"), before="a", after="b"
    )
    section = next(one for one in document.sections if one.name == "allocations")
    tables = [block for block in section.blocks if isinstance(block, Table)]
    table = next(one for one in tables if one.caption.startswith(sample_type))

    total = table.total[-1]
    assert "total" == total[0].text
    for column in (2, 3, 4):
        cells = [row[column] for row in (*table.rows, *table.total[:-1])]
        parts = sum(exact(cell) for cell in cells)
        assert parts == pytest.approx(exact(total[column]), abs=len(cells))


def exact(cell):
    text = (cell.exact or cell.text).split(" ±")[0]
    return int(
        "".join(part for part in text.replace("\u2212", "-") if part.isdigit() or part == "-") or 0
    )
