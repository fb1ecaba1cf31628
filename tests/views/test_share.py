"""What a report may show of the machine it was made on."""

import pytest

from gomem.views.json.report import render_json_report
from gomem.views.share import shareable, without_home
from gomem.views.writers.html import render_html_report
from gomem.views.writers.markdown import render_markdown_report
from gomem.views.writers.text import render_text_report
from tests.builders import diagnosed, memstats_json
from tests.views.ledgers import SHRUNK, diagnosis_of

HOME_OF_ROOT = "/root"  # on any Linux
RENDERERS = [render_html_report, render_json_report, render_markdown_report, render_text_report]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/jo/captures/smaps: cut", "~/captures/smaps: cut"),
        ("/Users/jo", "~"),
        (f"at {HOME_OF_ROOT}/smaps", "at ~/smaps"),
        (r"C:\Users\jo\smaps", r"~\smaps"),
        ("/rootfs/home/jo", "/rootfs/home/jo"),
        ("example.com/home/jo.run", "example.com/home/jo.run"),
    ],
)
def test_a_home_directory_is_a_tilde(text, shown):
    assert shown == without_home(text)


@pytest.mark.parametrize("render", RENDERERS)
def test_where_the_capture_lies_is_never_shown(tmp_path, render):
    """
    Only the last part of its path is: it may lie in anybody's home.
    """
    text = render(diagnosis_of(tmp_path / "api", m_json=memstats_json(HeapAlloc=5)))

    assert "api" in text
    assert str(tmp_path) not in text
    assert tmp_path.name not in text


@pytest.mark.parametrize("render", RENDERERS)
def test_a_redacted_report_names_no_folder_and_no_line_that_could_not_be_read(tmp_path, render):
    for moment in ("before-acme", "after-acme"):
        (tmp_path / moment).mkdir()
        (tmp_path / moment / "m.json").write_bytes(memstats_json(HeapAlloc=5))
        (tmp_path / moment / "notes.txt").write_text("password=acme")

    text = render(diagnosis_of(tmp_path), redact=True)

    assert "acme" not in text
    assert "moment-1" in text


def test_a_redacted_diagnosis_still_belongs_together():
    """
    Moments have one name everywhere, and evidence names files that are listed.
    """
    diagnosis = shareable(diagnosed(SHRUNK), redact=True)

    names = ["moment-1", "moment-2", "moment-3", "moment-4"]
    assert names == list(diagnosis.capture.moments["moment"])
    assert names == list(diagnosis.ledgers)
    assert names == list(diagnosis.sites)
    paths = set(diagnosis.capture.artefacts["path"])
    evidence = {one.artefact for finding in diagnosis.findings for one in finding.evidence}
    assert evidence
    assert evidence <= paths


def test_function_names_are_kept():
    assert "main.(*cache).put" in render_text_report(diagnosed(SHRUNK), redact=True)
