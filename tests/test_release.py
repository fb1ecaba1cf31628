"""What is released: one version, the releases it supports, and a wheel that stands on its own."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from hashlib import sha256
from pathlib import Path

import pytest

import gomem
from gomem.releases import parse_release
from gomem.sources.packaged import DEMO, DEMO_BASELINE
from tests.builders import FIXTURES

ROOT = FIXTURES.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MOST_BYTES_OF_WHEEL = 1_890_000  # nearly all of it is code; no capture but the demo
PYTHON = re.compile(r"Python (3\.\d+) to (3\.\d+)")
GO = re.compile(r"Go (1\.\d+) to (1\.\d+)")


def test_the_version_is_pyproject_s():
    """
    What else names it says the same: the changelog's newest entry, how to cite gomem, and the
    workflow of a pull request.
    """
    (newest, *_) = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    (used,) = re.findall(r"^ +ref: v(.+)$", (ROOT / "docs/howto/ci.md").read_text(), re.MULTILINE)

    assert PROJECT["version"] == cited == used
    assert newest in {PROJECT["version"], "Unreleased"}
    assert PROJECT["version"] == gomem.__version__


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_pages_name_the_python_releases_that_the_package_names(page):
    named = PYTHON.search((ROOT / page).read_text())

    classified = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert (classified[0], classified[-1]) == named.groups()
    assert f">={classified[0]}" == PROJECT["requires-python"]


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_pages_name_the_go_releases_that_are_recorded(page):
    """
    The oldest and the newest that `fixtures/doors` has, read through every door.
    """
    named = GO.search((ROOT / page).read_text())

    recorded = sorted(parse_release(folder.name) for folder in (FIXTURES / "doors").iterdir())
    ends = recorded[0], recorded[-1]
    assert [f"1.{release.minor}" for release in ends] == list(named.groups())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, and the wheel that the sdist makes."""
    pytest.importorskip("hatchling", reason="builds the wheel; comes with the extra `dev`")
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("dist")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    (sdist,) = SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with tarfile.open(sdist) as packed:
        packed.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    (again,) = WheelBuilder(str(source)).build(directory=str(folder / "2"), versions=["standard"])
    return Path(wheel), source, Path(again)


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Call `gomem` from the wheel, in an empty folder and without a home."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(folder)  # noqa: S202 - built here

    def call(*arguments, cwd):
        env = {**os.environ, "PYTHONPATH": str(folder), "HOME": str(cwd), "PYTHONSAFEPATH": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "gomem", *arguments],
            cwd=cwd, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    return call


def test_the_wheel_is_small_and_has_the_demo_s_captures_alone(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = wheel.namelist()

    captures = {name.split("/")[3] for name in names if "/packaged/captures/" in name}
    assert {DEMO, DEMO_BASELINE} == captures
    assert "gomem/py.typed" in names
    notices = {"LICENSE", "NOTICE"}
    assert notices == {Path(name).name for name in names if "/licenses/" in name}
    assert built[0].stat().st_size <= MOST_BYTES_OF_WHEEL


def test_a_build_from_the_sdist_is_the_same_to_the_last_bit(built):
    """
    Another folder and other file times make no difference; and the sdist lacks nothing.
    """
    wheel, _, again = built

    assert sha256(wheel.read_bytes()).digest() == sha256(again.read_bytes()).digest()


def test_the_wheel_s_metadata_say_what_it_is(built):
    with zipfile.ZipFile(built[0]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("dist-info/METADATA"))
        metadata = HeaderParser().parsestr(wheel.read(name).decode())

    assert PROJECT["version"] == metadata["Version"]
    assert "Apache-2.0" == metadata["License-Expression"]
    assert "The gomem authors" == metadata["Author"]
    assert "text/markdown" == metadata["Description-Content-Type"]


def test_from_the_wheel_alone_the_demo_is_reported(installed, tmp_path):
    code, shown, said = installed("report", "--demo", cwd=tmp_path)

    assert (0, "") == (code, said)
    assert "161 MiB more of the Go heap" in shown
    assert (tmp_path / "demo.gomem.html").stat().st_size > 100_000


def test_from_the_wheel_alone_a_notebook_tells_the_demo_s_story(installed, tmp_path):
    code, shown, said = installed("notebook", "rss-vs-heap", cwd=tmp_path)

    assert 0 == code, said
    assert "rss-vs-heap.html\n" == shown
    assert "zeroing-go1.23.4" in (tmp_path / "rss-vs-heap.html").read_text()


def test_from_the_wheel_alone_another_story_says_where_its_capture_is(installed, tmp_path):
    code, _, said = installed("notebook", "gc-log", cwd=tmp_path)

    assert 2 == code
    assert "clone gomem's repository and run" in said
    assert [] == list(tmp_path.glob("*.html"))
