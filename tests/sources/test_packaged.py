"""What ships with gomem beside its code is there."""

import tomllib

import pytest

from gomem.errors import CaptureError
from gomem.sources.packaged import IN_A_CHECKOUT, packaged, recorded
from tests.builders import FIXTURES


def test_the_demo_its_baseline_and_the_notebooks_are_there():
    assert packaged("demo").is_dir()
    assert packaged("demo-baseline").is_dir()
    assert packaged("notebooks").is_dir()


def test_the_wheel_takes_the_captures_that_a_checkout_uses():
    project = tomllib.loads((FIXTURES.parent / "pyproject.toml").read_text())

    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert {path.as_posix(): f"gomem/packaged/{name}" for name, path in IN_A_CHECKOUT.items()} == {
        source: target for source, target in wheel.items() if source.startswith("fixtures/")
    }


def test_in_a_wheel_it_lies_inside_the_package(tmp_path, monkeypatch):
    inside = tmp_path / "gomem" / "packaged" / "demo"
    inside.mkdir(parents=True)
    monkeypatch.setattr("gomem.sources.packaged.resources.files", lambda _: tmp_path / "gomem")

    assert inside == packaged("demo")
    with pytest.raises(CaptureError, match="notebooks: not in this installation"):
        packaged("notebooks")


def test_a_recorded_capture_is_found_by_its_name():
    assert FIXTURES / "captures/zeroing-go1.24.2" == recorded("zeroing-go1.24.2")
    assert FIXTURES / "captures/keepers-go1.24.13.tar.gz" == recorded("keepers-go1.24.13")
    with pytest.raises(CaptureError, match="zeroing: no such file or folder"):
        recorded("zeroing")
