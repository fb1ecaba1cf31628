"""A redacted report gives nothing away, whatever name of a capture holds a secret."""

import re

import pytest

import gomem
from gomem.cli.main import main
from gomem.inputs.kinds import KINDS
from tests.views.planted import MOMENTS, plant

FORMATS = ["html", "text", "json", "md", "ipynb"]
# Words that the formats, the kernel, the runtime or gomem have made, and no one can choose.
FIXED = {
    "cgroup": {"file"},
    "heapdump": {"kind", "status", "place"},
    # Only an executable says what a function wraps, and in a capture that is build information.
    "symbols": {"letter", "wraps"},
    "smaps": {"perms", "device", "VmFlags"},
    "smaps_rollup": {"perms", "device", "VmFlags", "path"},
    "pmap": {"perms", "device", "VmFlags"},
    "processes": {"tool", "killed_in", "file"},
    "runtime_lines": {"program", "place"},
    "maps": {"perms", "device", "VmFlags"},
    "memstats": {"place"},
    "status": {"State"},
    "limits": {"limit", "unit"},
    "environ": {"name"},
    "heap_text": {"key", "build_id", "unit", "text"},
    "count_text": {"key", "build_id", "unit", "text"},
    "pprof_text": {"key", "unit", "text"},
    "buildinfo": {"go_version", "goos", "goarch", "kind"},
    "metrics": {"place", "go_version"},
    "loadtest": {"tool"},
    "gctrace": {"event", "kind"},
    "escapes": {"kind", "reason"},
    "pprof": {"unit"},
}


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def loaded(capture):
    return gomem.load(capture)


def given_away(text):
    return sorted(set(re.findall(r"psst[\w.-]*", text, re.IGNORECASE)))


def test_the_capture_is_the_one_that_was_planted(loaded):
    assert {*MOMENTS.values(), "psstextra"} == set(loaded.by_moment)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_column_that_can_hold_a_name_holds_a_planted_one(loaded, kind):
    """
    The data dictionary is walked: a new column is planted here, or said to be of fixed words.
    """
    read = [file.parsed for file in loaded.files if file.kind.name == kind.name]
    assert read
    columns, planted = set(), set()
    for name in kind.frames[:-1]:
        for frame in (getattr(one, name) for one in read):
            names = {column for column, dtype in frame.dtypes.items() if str(dtype) == "str"}
            columns |= names
            planted |= {n for n in names if frame[n].str.contains("psst|kept", na=False).any()}

    assert FIXED.get(kind.name, set()) == columns - planted


@pytest.mark.parametrize("output_format", FORMATS)
def test_nothing_planted_is_in_a_redacted_report(capture, tmp_path, capsys, output_format):
    output = tmp_path / "report"

    with pytest.raises(SystemExit, match="0"):
        main(["report", str(capture), "--redact", "--format", output_format, "-o", str(output)])

    assert [] == given_away(output.read_text())
    assert [] == given_away(capsys.readouterr().err)
    assert "keptfn" in output.read_text()
