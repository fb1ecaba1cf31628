"""The manifests of a capture are read as one; what they claim beyond reason is not believed."""

import json

import pytest

import gomem
from gomem.capture.manifest import Manifest, Missing
from tests.builders import FIXTURES

STEADY = FIXTURES / "captures/healthy-go1.27.3/2-steady"


def with_moment(**fields):
    return Manifest((("gomem.json", {"moments": [{"name": "1", **fields}]}),))


def test_each_moment_may_have_a_manifest_of_its_own(tmp_path):
    """
    The one at the top is about the process, and tells the release.
    """
    top = {"schema": "gomem.capture/1", "go_version": "go1.27.3", "pid": 7}
    (tmp_path / "gomem.json").write_text(json.dumps(top))
    for name, counts in (("1-a", (3, 3)), ("2-b", (4, 6))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "memstats.json").write_bytes((STEADY / "memstats.json").read_bytes())
        (folder / "smaps").write_bytes((STEADY / "smaps").read_bytes())
        moment = {
            "name": name,
            "artefacts": {"smaps": {"path": "smaps", "time": f"2026-01-02T03:04:0{name[0]}Z"}},
            "num_gc": dict(zip(("before", "after"), counts, strict=True)),
            "missing": [{"artefact": "heap", "why": "answered 404"}],
        }
        content = {"schema": "gomem.capture/1", "go_version": "go1.2", "moments": [moment]}
        (folder / "gomem.json").write_text(json.dumps(content))

    capture = gomem.load(tmp_path)

    assert () == capture.damaged
    assert "go1.27.3" == str(capture.go_version)
    assert [0, 2] == [moment.collections for moment in capture.by_moment.values()]
    assert [1, 2] == [time.second for time in capture.moments["time"]]
    assert Missing("1-a", "heap", "answered 404") == capture.manifest.missing[0]
    assert 7 == capture.manifest.fact("pid")


def test_a_collection_that_the_manifest_counted_is_skew(tmp_path):
    """
    NumGC grew while the kernel's files were read: nothing else in the two files tells.
    """
    for number in (0, 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in ("memstats.json", "smaps"):
            (folder / name).write_bytes((STEADY / name).read_bytes())
        moment = {"name": "m", "num_gc": {"before": 4, "after": 4 + number}}
        moment["artefacts"] = [{"path": "smaps"}, {"path": "memstats.json"}]
        content = {"schema": "gomem.capture/1", "moments": [moment]}
        (folder / "gomem.json").write_text(json.dumps(content))

    codes = [
        [finding.code for finding in gomem.diagnose(tmp_path / number).findings] for number in "01"
    ]

    assert ["data-skew" in found for found in codes] == [False, True]


@pytest.mark.parametrize(
    "counts",
    [
        {"before": 5, "after": 4},
        {"before": -1, "after": 4},
        {"before": True, "after": True},
        {"before": "1", "after": "1"},
        {"after": 4},
        {"before": 1, "after": 2**40},
        [1, 2],
        None,
    ],
    ids=str,
)
def test_counts_that_cannot_be_are_none(counts):
    assert {} == with_moment(num_gc=counts).collections


def test_counts_are_a_difference():
    assert {"1": 3} == with_moment(num_gc={"before": 5, "after": 8}).collections


def test_what_is_no_list_of_missing_files_is_none():
    assert () == with_moment(missing="everything").missing
    assert () == Manifest((("gomem.json", {"moments": 7}),)).missing
