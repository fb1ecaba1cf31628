"""Are both sides the same program?"""

import json
import shutil

import pytest

from gomem.comparison.comparison import compare, open_side
from gomem.comparison.programs import different_programs, program_of
from tests.builders import FIXTURES, diagnosed, memstats_json, smaps_entry

CAPTURES = FIXTURES / "captures"
BUILD = "{exe}: go1.26.8\n\tpath\t{path}\n\tmod\t{path}\t(devel)\n\tbuild\tGOOS=linux\n"


@pytest.fixture
def side(tmp_path):
    """A capture whose program is told by a manifest, by build information, or by neither."""

    def made(name, program=None, path=None, exe=None):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "memstats.json").write_bytes(memstats_json())
        if program is not None:
            manifest = {"schema": "gomem.capture/1", "program": program, "moments": []}
            (folder / "gomem.json").write_text(json.dumps(manifest))
        if path is not None:
            (folder / "buildinfo.txt").write_text(BUILD.format(exe=exe or "/app/x", path=path))
        return [open_side(folder)]

    return made


@pytest.mark.parametrize(
    ("path", "name"),
    [("x.org/api", "api"), ("x.org/api/v2", "api"), ("v2", "v2"), ("x.org/cmd/db", "db")],
)
def test_a_program_is_called_after_its_package_and_not_its_major_version(side, path, name):
    (opened,) = side("a", path=path)

    assert name == program_of(opened)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param({"program": "/a/api"}, {"program": "/b/api"}, "", id="another-folder"),
        pytest.param({"program": "/a/api"}, {}, "", id="one-side-says-nothing"),
        pytest.param({}, {}, "", id="neither-does"),
        pytest.param(
            {"program": "/a/api"},
            {"program": "/a/db"},
            "binaries: api before, db after.",
            id="names",
        ),
        pytest.param(
            {"program": "/api (deleted)"}, {"program": "/api"}, "", id="replaced-while-it-ran"
        ),
        pytest.param(
            {"path": "x.org/api"},
            {"path": "x.org/db"},
            "main packages: x.org/api before, x.org/db after.",
            id="packages",
        ),
        pytest.param(
            {"program": "/a/v1", "path": "x.org/api"},
            {"program": "/a/v2", "path": "x.org/api"},
            "",
            id="a-renamed-binary-of-one-package",
        ),
        pytest.param({"program": "/a/api-v1.2"}, {"program": "/a/api-v1.3"}, "", id="versions"),
    ],
)
def test_programs_are_told_by_their_packages_else_by_their_names(side, before, after, said):
    found = different_programs(side("old", **before), side("new", **after))

    assert (f"The two sides are different programs, by their {said}" if said else "") == found


def test_different_programs_get_no_verdict_and_none_of_their_metrics_a_claim():
    healthy, zeroing = (CAPTURES / name for name in ("healthy-go1.27.3", "zeroing-go1.27.3"))

    different = compare(diagnosed(healthy), diagnosed(zeroing)).judgement
    several = compare([diagnosed(healthy)] * 6, [diagnosed(zeroing)] * 6)
    same = compare(diagnosed(zeroing), diagnosed(CAPTURES / "zeroing-go1.24.2")).judgement

    assert "?" == different.verdict
    assert different.sentence == (
        "The two sides are different programs, by their binaries: healthy before, zeroing after."
    )
    assert {"~", "?", "same"} >= set(several.metrics["verdict"])
    assert {"not comparable", "same"} >= set(several.findings["state"])
    assert "different programs" not in same.sentence


def test_a_renamed_binary_has_the_functions_of_the_other(tmp_path):
    """
    Five functions of package main are on both sides, and one is new.
    """
    capture = CAPTURES / "alloc-pressure-before-go1.27.3"
    sides = []
    for name in ("api", "server"):
        shutil.copytree(capture, tmp_path / name)
        manifest = json.loads((tmp_path / name / "gomem.json").read_text())
        text = json.dumps(manifest | {"program": f"/app/{name}"})
        (tmp_path / name / "gomem.json").write_text(text)
        sides.append([open_side(tmp_path / name)])

    assert "" == different_programs(*sides)


def test_without_a_manifest_smaps_names_the_binary(tmp_path):
    sides = []
    for name in ("api", "db"):
        (tmp_path / name).mkdir()
        entry = smaps_entry(0x400000, 0x500000, "r-xp", f"/app/{name}", rss_kib=512)
        (tmp_path / name / "smaps").write_bytes(entry.encode())
        sides.append([open_side(tmp_path / name)])

    assert different_programs(*sides).endswith("binaries: api before, db after.")
