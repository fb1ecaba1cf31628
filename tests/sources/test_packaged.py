"""What ships with gomem beside its code is there."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from gomem.errors import CaptureError
from gomem.sources import packaged as module
from gomem.sources.packaged import DEMO, DEMO_BASELINE, packaged, recorded
from tests.builders import FIXTURES


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """An installation with the captures of the demo, and what pip says it was installed from."""
    package = tmp_path / "site-packages" / "gomem"
    for name in (DEMO, DEMO_BASELINE):
        (package / "packaged" / "captures" / name).mkdir(parents=True)
    monkeypatch.setattr(module.resources, "files", lambda _: package)

    def installed_from(url):
        origin = SimpleNamespace(read_text=lambda _: url and json.dumps({"url": url}))
        monkeypatch.setattr(module, "distribution", lambda _: origin)
        return package / "packaged" / "captures"

    return installed_from


def test_the_demo_its_baseline_and_the_notebooks_are_there():
    assert recorded(DEMO).is_dir()
    assert recorded(DEMO_BASELINE).is_dir()
    assert packaged("notebooks").is_dir()


def test_in_a_wheel_it_lies_inside_the_package(wheel):
    assert wheel(None) == packaged("captures")
    with pytest.raises(CaptureError, match="notebooks: not in this installation"):
        packaged("notebooks")


def test_a_recorded_capture_is_found_by_its_name():
    assert FIXTURES / "captures/zeroing-go1.24.2" == recorded("zeroing-go1.24.2")
    assert FIXTURES / "captures/keepers-go1.24.13.tar.gz" == recorded("keepers-go1.24.13")
    assert FIXTURES / "pods" == recorded("pods")
    with pytest.raises(CaptureError, match="zeroing: no such file or folder"):
        recorded("zeroing")


@pytest.mark.parametrize("url", [None, "https://host/gomem-0.1.0.whl", "file:///gone/gomem"])
def test_a_wheel_has_the_demo_s_and_says_where_the_others_are(wheel, url):
    """
    Whatever it was installed from: an index, an archive, a clone that is gone.
    """
    assert wheel(url) / DEMO == recorded(DEMO)
    told = (
        r"^spiky-go1\.27\.3: no such file or folder, nor a recorded capture that is installed with "
        r"gomem \(zeroing-go1\.23\.4, zeroing-go1\.24\.2\); name a capture of yours, or clone"
    )
    with pytest.raises(CaptureError, match=told):
        recorded("spiky-go1.27.3")
    with pytest.raises(CaptureError, match="pods: no such file or folder"):
        recorded("pods")


def test_installed_from_a_clone_that_is_there_it_has_all_of_them(wheel, tmp_path):
    clone = tmp_path / "a clone"
    clone.mkdir()
    (clone / "fixtures").symlink_to(FIXTURES)
    wheel(clone.as_uri())

    found = recorded("spiky-go1.27.3")

    assert clone / "fixtures/captures/spiky-go1.27.3" == found
    assert Path(clone, "fixtures/pods") == recorded("pods")
