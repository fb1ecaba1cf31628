"""What each capture is called, by its path, a CSV, or its manifest."""

import pandas as pd
import pytest

import gomem
from gomem.errors import CaptureError
from gomem.fleets.labels import Labelled, labels_of
from gomem.sources.captures import Place
from tests.builders import FIXTURES

HEALTHY = FIXTURES / "captures" / "healthy-go1.27.3"


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("{service}/{pod}/{time}", "api/api-7f/2026-01-02T03:04:05Z",
         {"service": "api", "instance": "api-7f", "time": "2026-01-02T03:04:05Z"}),
        ("{app}-{version}/{pod}.tar.gz", "api-v1.2/7f.tar.gz",
         {"service": "api", "build": "v1.2", "instance": "7f"}),
        ("{pod}", "api-7f.tar.gz", {"instance": "api-7f.tar.gz"}),
        ("{}/{pod}", "old/7f", {"instance": "7f"}),
        ("{service}/{pod}", "7f", {}),
    ],
)  # fmt: skip
def test_a_pattern_reads_labels_from_the_path(pattern, name, expected):
    assert expected == labels_of(pattern).of(Place(f"/c/{name}", name))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shop/pod-7/20260102T030405Z.tar.gz",
         {"service": "shop", "instance": "pod-7", "time": "20260102T030405Z"}),
        ("pod-7/2026-01-02T03:04:05Z", {"instance": "pod-7", "time": "2026-01-02T03:04:05Z"}),
        ("20260102T030405Z.tar.gz", {}),
        ("shop/pod-7.tar.gz", {}),
    ],
)  # fmt: skip
def test_without_a_pattern_a_path_that_ends_in_a_time_is_read_by_the_usual_one(name, expected):
    assert expected == labels_of().of(Place(f"/c/{name}", name))


def test_an_unknown_label_is_answered_with_the_nearest():
    with pytest.raises(CaptureError, match="did you mean pod"):
        labels_of("{podd}/{time}")


def test_a_csv_comes_before_the_path():
    labels = labels_of("{pod}", b"capture,instance,build\nc1,web-1,v7\n")

    assert {"instance": "web-1", "build": "v7"} == labels.of(Place("/x/c1", "c1"))
    assert {"instance": "c2"} == labels.of(Place("/x/c2", "c2"))


def test_a_csv_without_captures_is_refused():
    with pytest.raises(CaptureError, match="found pod, build, wanted a column capture"):
        labels_of("", b"pod,build\n1,2\n", "pods.csv")


def test_without_labels_the_manifest_says_program_release_and_time():
    diagnosis = gomem.diagnose(gomem.load(HEALTHY))
    labelled = Labelled(Place(str(HEALTHY), "pods/7.tar.gz"), {}, "d")

    assert (
        "pods/7.tar.gz", "pods/7", "healthy", "go1.27.3", diagnosis.capture.moments["time"].max(),
    ) == labelled.keys(diagnosis)  # fmt: skip


def test_a_label_says_the_time_before_any_clock_in_the_capture():
    labelled = Labelled(Place("x", "x"), {"time": "20260102T030405Z"}, "d")

    assert pd.Timestamp("2026-01-02T03:04:05Z") == labelled.keys()[-1]


def test_equal_files_under_two_labels_are_two_captures():
    first, second = (Labelled(Place(n, n), {"instance": n}, "d") for n in "ab")

    assert first.key != second.key
    assert first.key == Labelled(Place("moved", "moved"), {"instance": "a"}, "d").key
