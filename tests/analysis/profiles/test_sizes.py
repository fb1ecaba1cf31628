"""Objects by size, and what size classes cost: held against Go's own classes and by hand."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import gomem
from gomem.analysis.profiles.sizes import CLASSES, OBJECTS, PAGE, object_sizes
from tests.builders import FIXTURES
from tests.heap_profiles import bucket, heap, scale, seen, stack

LOADED = FIXTURES / "captures" / "alloc-pressure-before-go1.27.3" / "2-loaded" / "heap.pb.gz"


def test_objects_of_each_size_stand_apart():
    """
    9 of 4 KiB and 4 of 16 B at one site, each with the interval of its own sightings.
    """
    sizes = object_sizes(heap(seen(9, 4096), seen(4, 16))).set_index("object_bytes")

    assert ["main.leaf"] * 2 == list(sizes["function"])
    assert [int(9 * scale(4096)), int(4 * scale(16))] == list(sizes.loc[[4096, 16], "objects"])
    for row in sizes.to_dict("records"):
        assert row["bytes_low"] < row["bytes"] < row["bytes_high"]


def test_they_add_up_to_the_profile():
    profile = gomem.read_pprof(LOADED)

    for held in ("inuse", "alloc"):
        sizes = object_sizes(profile, held)
        assert profile.total(f"{held}_space") == sizes["bytes"].sum()
        assert profile.total(f"{held}_objects") == sizes["objects"].sum()


def test_the_programs_own_sizes_are_found():
    """
    `render` allocates buffers of 64 KiB, `newService` values of 4 KiB: constants of the source.
    """
    profile = gomem.read_pprof(LOADED)

    largest = object_sizes(profile, "alloc").groupby("function")["object_bytes"].first()
    assert [65536, 4096] == list(largest[["main.render", "main.newService"]])


@pytest.mark.parametrize(
    ("size", "rounding", "tail"),
    [
        pytest.param(16, 7, 0.0, id="9 bytes become 16"),
        pytest.param(1024, 127, 0.0, id="897 become 1024"),
        # 7 objects of 1152 B in a span of 8192 leave 128 B over.
        pytest.param(1152, 127, 128 / (7 * 1152), id="1025 become 1152"),
        pytest.param(40960, 8191, 0.0, id="a large one is rounded to pages"),
        # 32 769 B are one more than the largest class, and take 5 pages: no more can be lost.
        pytest.param(40960 - 8192, 4095, 0.0, id="the largest class"),
    ],
)
def test_what_a_size_can_have_lost_by_hand(size, rounding, tail):
    row = object_sizes(heap(seen(100, size))).iloc[0]

    assert rounding * row["objects"] == row["rounding_at_most_bytes"]
    assert round(tail * row["bytes"]) == row["tail_bytes"]


@pytest.mark.go
def test_the_size_classes_are_those_of_the_go_that_is_present():
    """
    Size and pages of each, from the runtime's own table.
    """
    go = shutil.which("go")
    if go is None:
        pytest.skip("no go on the PATH to ask for its size classes")
    root = subprocess.run([go, "env", "GOROOT"], capture_output=True, text=True, check=True).stdout
    places = ("internal/runtime/gc/sizeclasses.go", "runtime/sizeclasses.go")
    files = [Path(root.strip(), "src", place) for place in places]
    source = next(path for path in files if path.exists()).read_text()
    rows = re.findall(r"^//\s+\d+\s+(\d+)\s+(\d+)\s+\d+\s+\d+", source, re.MULTILINE)

    assert CLASSES == {int(size): int(span) // PAGE for size, span in rows}


def test_without_sampling_the_size_is_that_of_the_label_or_the_mean():
    """
    Every allocation recorded: 10 objects of 100 bytes in all are of 10, of 96 if the label says so.
    """
    of_label = object_sizes(heap(bucket(10, 960, size=96), rate=1)).iloc[0]
    of_mean = object_sizes(heap(bucket(10, 100), rate=1)).iloc[0]

    assert [96, 10] == [of_label["object_bytes"], of_mean["object_bytes"]]
    assert of_label[["bytes_low", "bytes_high"]].isna().all()


def test_an_object_can_be_of_one_byte():
    assert 1 == object_sizes(heap(bucket(10, 30, size=1), rate=1)).iloc[0]["object_bytes"]


def test_objects_without_a_stack_are_nobodys_and_counted():
    sizes = object_sizes(heap(stack(), stack(1, 2), rate=1)).set_index("function")

    assert {"": 9, "main.leaf": 9} == sizes["objects"].to_dict()


def test_an_empty_profile_has_the_columns():
    sizes = object_sizes(heap())

    assert [column.name for column in OBJECTS] == list(sizes.columns)
    assert sizes.empty
