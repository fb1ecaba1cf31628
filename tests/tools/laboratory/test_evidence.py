"""Which of a capture's files can show a cause."""

import shutil

import pytest

import gomem
from tests.builders import FIXTURES
from tools.laboratory.captures import truth
from tools.laboratory.evidence import SHOWN_BY, are_shown, readings_of


def test_every_true_cause_has_its_readings():
    codes = {cause["code"] for told in truth().values() for cause in told["causes"]}

    assert codes <= set(SHOWN_BY)


@pytest.mark.parametrize(
    ("names", "codes"),
    [
        pytest.param(["1-start/smaps"], {"native-memory", "huge-pages"}, id="one smaps"),
        pytest.param(["1-start/heap.pb.gz"], set(), id="one heap profile"),
        pytest.param(["1-start/heap.pb.gz", "2/heap.pb.gz"], {"heap-growth"}, id="two profiles"),
        pytest.param(["gctrace.log"], {"gc-pressure", "heap-growth"}, id="a log"),
    ],
)
def test_a_cause_is_shown_by_enough_readings_of_a_sort(names, codes, tmp_path):
    found = sorted((FIXTURES / "captures/zeroing-go1.24.2").rglob("*"))
    for name in names:
        source = next(path for path in found if path.name == name.rpartition("/")[2])
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(source, tmp_path / name)
    readings = readings_of(gomem.diagnose(tmp_path))

    asked = ("native-memory", "huge-pages", "heap-growth", "gc-pressure", "goroutine-leak")
    assert codes == {code for code in asked if are_shown([code], readings)}
    assert are_shown(codes, readings)
