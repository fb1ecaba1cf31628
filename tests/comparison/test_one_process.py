"""One process at two times is not two builds."""

import json
import shutil

import pytest

from gomem.comparison.comparison import compare
from gomem.views.comparison.document import comparison_document
from tests.builders import FIXTURES

STARTED = "2026-01-02T03:04:05.{}Z"
PAGE = "process_start_time_seconds {}\ngo_memstats_heap_sys_bytes 8e6\n"


@pytest.fixture
def captured(tmp_path):
    """Write a capture of one snapshot, with these facts about the process."""

    def made(name, hour, page=None, **facts):
        folder = tmp_path / name
        folder.mkdir()
        files = {"memstats": "memstats.json"} if page is None else {"metrics": "metrics.txt"}
        if page is None:
            shutil.copy(FIXTURES / "captures/zeroing-go1.24.2/1-start/memstats.json", folder)
        else:
            (folder / "metrics.txt").write_text(page)
        time = f"2026-01-02T{hour:02}:00:00Z"
        artefacts = {kind: {"path": file, "time": time} for kind, file in files.items()}
        moment = {"name": "1", "time": time, "artefacts": artefacts}
        manifest = {"schema": "gomem.capture/1", "moments": [moment], **facts}
        (folder / "gomem.json").write_text(json.dumps(manifest))
        return folder

    return made


def title(before, after):
    return comparison_document(compare(before, after), before="a", after="b").title


@pytest.mark.parametrize(
    ("other", "words"),
    [
        pytest.param({"pid": 7, "started": STARTED.format("00")}, ": the same process, 2 h apart",
                     id="same"),
        pytest.param({"pid": 8, "started": STARTED.format("00")}, "", id="pid"),
        pytest.param({"pid": 7, "started": STARTED.format("50")}, "", id="start"),
        pytest.param({}, "", id="unknown"),
    ],
)  # fmt: skip
def test_one_process_is_named_with_the_time_between(other, words, captured):
    before = captured("before", 4, pid=7, started=STARTED.format("00"))
    after = captured("after", 6, **other)

    assert f"a → b{words}" == title(before, after)


def test_the_order_is_said_if_the_later_capture_comes_first(captured):
    facts = {"pid": 7, "started": STARTED.format("00")}

    later, earlier = captured("later", 6, **facts), captured("earlier", 4, **facts)

    assert title(later, earlier).endswith("2 h apart, the second capture is the earlier one")


@pytest.mark.parametrize("start", [1.7e9, 1764267123.4567891])
def test_a_metrics_page_has_the_start_too(captured, start):
    before, after = (captured(f"at-{hour}", hour, page=PAGE.format(start)) for hour in (4, 6))

    assert title(before, after).endswith(": the same process, 2 h apart")


def test_a_capture_beside_itself_is_no_pair_of_times(captured):
    capture = captured("one", 4, pid=7, started=STARTED.format("00"))

    assert "same process" not in title(capture, capture)
