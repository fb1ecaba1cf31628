"""What `gomem report` takes and gives beside a capture and a page."""

import io
import json
import shutil
import sys
import time
import webbrowser
from unittest.mock import patch

import pytest

from gomem.cli import progress
from gomem.cli.main import run
from gomem.cli.running import running_named
from tests.builders import FIXTURES
from tests.live.services import GOOD, fake_service

pytestmark = pytest.mark.usefixtures("in_an_empty_folder")

HEALTHY = FIXTURES / "captures/healthy-go1.27.3"
SPIKY = FIXTURES / "captures/spiky-go1.27.3"
HEAP = HEALTHY / "2-steady/heap.pb.gz"


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("x.html", b"<!doctype html>"),
        ("x.HTM", b"<!doctype html>"),
        ("x", b"<!doctype html>"),
        ("x.json", b'{\n  "schema": "gomem.report/1"'),
        ("x.md", b"# healthy, go1.27.3"),
        ("x.txt", b"healthy, go1.27.3"),
        ("x.ipynb", b'{\n "metadata"'),
        ("x.png", b"\x89PNG"),
    ],
)
def test_the_ending_says_the_format(name, begins, tmp_path):
    assert 0 == run(["report", str(HEALTHY), "-o", name])

    assert (tmp_path / name).read_bytes().lower().startswith(begins.lower())


@pytest.mark.parametrize("more", [[], ["--format", "html"]])
def test_a_pdf_is_refused_with_the_command_that_prints_one(more, tmp_path, capsys):
    assert 2 == run(["report", str(HEALTHY), "-o", "my x.pdf", *more])

    said = capsys.readouterr().err
    assert "write 'my x.html', then: chromium --headless --print-to-pdf='my x.pdf'" in said
    assert not list(tmp_path.iterdir())


def test_an_ending_of_nothing_that_gomem_writes_is_refused(tmp_path, capsys):
    assert 2 == run(["report", str(HEALTHY), "-o", "x.docx"])

    assert "x.docx: unknown ending; wanted one of .html" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert 0 == run(["report", str(HEALTHY), "-o", "x.docx", "--format", "md"])


def test_the_page_is_opened_for_the_asking(tmp_path):
    with patch.object(webbrowser, "open", return_value=True) as opened:
        assert 0 == run(["report", str(HEALTHY), "-o", "a b.html", "--open"])

    opened.assert_called_once_with(f"{tmp_path.as_uri()}/a%20b.html")


def test_where_there_is_no_browser_the_page_is_written_all_the_same(tmp_path, capsys):
    with patch.object(webbrowser, "open", return_value=False):
        assert 0 == run(["report", str(HEALTHY), "--open"])

    assert "no browser found" in capsys.readouterr().err
    assert (tmp_path / "healthy-go1.27.3.gomem.html").exists()


@pytest.mark.parametrize("arguments", [["--format", "json"], ["-o", "-"], ["-o", "x.md"]])
def test_only_a_page_is_opened(arguments, capsys):
    assert 2 == run(["report", str(HEALTHY), "--open", *arguments])
    assert "--open shows a page" in capsys.readouterr().err


# Running processes


def test_a_process_is_captured_and_reported_and_again_with_what_moved(tmp_path, capsys):
    with fake_service(GOOD) as service:
        assert 0 == run(["report", service.pid])
        first = capsys.readouterr().out
        assert 0 == run(["report", service.url, "--format", "json"])

    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert folder.name.endswith(f"-{service.pid}")
    assert f"{folder.name}.gomem.html" == first.splitlines()[-1]
    report = json.loads(capsys.readouterr().out)
    assert 2 == len(report["capture"]["moments"])


@pytest.mark.parametrize(("columns", "width"), [("80", 80), ("140", 140), ("", 100), ("x", 100)])
def test_piped_text_is_as_wide_as_columns_says_and_in_a_file_100(
    columns, width, tmp_path, monkeypatch, capsys
):
    """
    Whether or not a page is written, too.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", columns)
    piped = []
    for more in ((), ("-o", "page.html")):
        assert 0 == run(["report", "--demo", *more])
        *lines, page = capsys.readouterr().out.splitlines()
        piped.append(lines)
        assert page.endswith(".html")
    assert 0 == run(["report", "--demo", "-o", "page.txt"])
    written = (tmp_path / "page.txt").read_text().splitlines()

    assert piped[0] == piped[1]
    prose = [[line for line in lines if " " in line.strip()] for lines in (piped[0], written)]
    assert width - 10 < max(len(line) for line in prose[0] if "gomem " not in line) <= width
    assert 90 < max(len(line) for line in prose[1] if "gomem " not in line) <= 100


def test_a_file_that_is_called_like_a_pid_is_a_file(tmp_path):
    (tmp_path / "4711").write_bytes(HEAP.read_bytes())

    assert [] == running_named([tmp_path / "4711"])
    assert 0 == run(["report", "4711", "--format", "json"])


def test_a_process_and_a_capture_are_not_one(capsys):
    assert 2 == run(["report", "4194304", str(HEALTHY)])
    assert "a running process beside captures" in capsys.readouterr().err


def test_another_command_says_which_one_takes_a_pid(capsys):
    assert 2 == run(["inspect", "4711"])
    assert "for the process with that PID: gomem report 4711" in capsys.readouterr().err


# A release that the capture contradicts


def test_a_release_against_the_capture_is_told_and_noted(capsys):
    assert 0 == run(["report", str(HEALTHY), "--go-version", "1.99", "--format", "text"])

    out, err = capsys.readouterr()
    assert "gomem: --go-version go1.99, but gomem.json go_version says go1.27.3\n" == err
    noted = "Go release: go1.99 (--go-version; gomem.json go_version says go1.27.3)"
    assert noted in " ".join(out.split())


@pytest.mark.parametrize("release", ["1.27.3", "go1.27.3"])
def test_a_release_that_the_capture_names_too_is_no_news(release, capsys):
    assert 0 == run(["report", str(HEALTHY), "--go-version", release, "--format", "text"])
    assert "" == capsys.readouterr().err


def test_a_release_within_what_the_log_allows_is_no_news(capsys):
    log = FIXTURES / "gctrace/plain-go1.27.3.log"

    assert 0 == run(["report", str(log), "--go-version", "1.26.1", "--format", "summary"])
    assert "" == capsys.readouterr().err
    assert 0 == run(["report", str(log), "--go-version", "1.9", "--format", "summary"])
    assert "the format of the gctrace log says" in capsys.readouterr().err


# Damage, and progress


def test_many_damaged_places_are_one_line_that_says_where_they_are(tmp_path, capsys):
    shutil.copytree(HEALTHY, tmp_path / "c")
    for moment in ("1-start", "2-steady", "3-later"):
        (tmp_path / f"c/{moment}/memstats.json").write_bytes(b"{")

    assert 0 == run(["report", "c", "-o", "c.html"])

    said = "3 places could not be read: c.html lists them"
    assert f"gomem: {said}\n" == capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_each_stage_is_shown(monkeypatch):
    monkeypatch.setattr(progress, "SHOWN_AFTER_SECONDS", 0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())

    with progress.stages() as at:
        seen = []
        for stage in (lambda: at.reading("a.log (MiB)", 3, 300), lambda: at.now("analysing")):
            stage()
            time.sleep(0.3)
            seen.append(sys.stderr.getvalue())

    assert "reading a.log: 3 of 300 MiB" in seen[0]
    assert "analysing" in seen[1]


def test_what_is_done_at_once_and_what_nobody_watches_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.stages() as at:
        at.now("analysing")
    assert "" == sys.stderr.getvalue()

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.stages() as at:
        assert at.reading is None
        at.now("analysing")
    assert "" == sys.stderr.getvalue()


# Eight lines, and a picture


@pytest.mark.at_most(3)
@pytest.mark.parametrize(
    "capture",
    [*sorted((FIXTURES / "captures").iterdir()), HEAP, FIXTURES / "gctrace/limit-go1.27.3.log"],
    ids=lambda path: path.name,
)
def test_a_summary_has_eight_short_lines_at_most(capture, capsys):
    assert 0 == run(["report", str(capture), "--format", "summary"])

    out = capsys.readouterr().out
    lines = out.splitlines()
    assert 4 <= len(lines) <= 8
    (step,) = [line for line in lines if line.startswith("Next: ")]  # a command is cut nowhere
    assert all(len(line) <= 80 or line is step for line in lines)
    assert out.replace("\n", "").isprintable()
    assert lines[-1].partition(" ")[2].startswith("file")


def test_a_summary_says_what_the_report_says(capsys):
    assert 0 == run(["report", str(SPIKY), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert 0 == run(["report", str(SPIKY), "--format", "summary"])
    first, *_, files = (lines := capsys.readouterr().out.splitlines())

    finding = report["findings"][0]
    status = f"{finding['severity']} · {finding['confidence']}".upper()
    assert first == f"spiky, {report['capture']['go_version']}: {status}"
    assert "81 files read." == files
    assert "394 MiB RSS at settled, +381 MiB since scrape-00" in lines
    assert any(line.startswith("live heap 180 MiB (+177 MiB), ") for line in lines)


def test_a_redacted_summary_names_no_moment(capsys):
    assert 0 == run(["report", str(SPIKY), "--format", "summary", "--redact"])
    out = capsys.readouterr().out

    assert "settled" not in out
    assert "394 MiB RSS at moment-25, +381 MiB since moment-1" in out


def test_the_picture_is_the_same_to_the_byte_whatever_the_users_matplotlib(tmp_path):
    assert 0 == run(["report", str(HEALTHY), "-o", "one.png"])
    (tmp_path / "matplotlibrc").write_text("axes.facecolor: red\nfont.size: 30\n")
    import matplotlib as mpl

    with mpl.rc_context(fname=tmp_path / "matplotlibrc"):
        assert 0 == run(["report", str(HEALTHY), "-o", "two.png"])

    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


@pytest.mark.parametrize("artefact", [HEAP, FIXTURES / "gctrace/limit-go1.27.3.log"])
def test_without_rss_the_picture_is_of_sites_or_of_the_log(artefact, tmp_path):
    assert 0 == run(["report", str(artefact), "-o", "x.png"])
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_where_there_is_nothing_to_draw_it_is_said(capsys):
    benchmarks = next((FIXTURES / "benchstat").rglob("*.txt"))

    assert 2 == run(["report", str(benchmarks), "-o", "x.png"])
    assert "no picture: no file here says where memory is" in capsys.readouterr().err


def test_a_pattern_names_lines_of_the_programs_own(tmp_path, capsys):
    log = tmp_path / "api.log"
    log.write_text("12:00 load done, rss=100MiB\n12:01 load done, rss=160MiB\n")

    assert 2 == run(["report", str(log), "--format", "text"])
    capsys.readouterr()
    pattern = ["--pattern", r"rss=(?P<rss>\S+)"]
    assert 0 == run(["report", str(log), "--format", "json", *pattern])
    assert 160 << 20 == json.loads(capsys.readouterr().out)["verdict"]["rss_bytes"]
    assert 0 == run(["table", str(log), *pattern])
    assert f"{160 << 20}" in capsys.readouterr().out
    assert 0 == run(["inspect", str(log), *pattern])
    assert "runtime_lines" in capsys.readouterr().out


def test_a_pattern_that_is_none_is_refused_in_a_line(capsys):
    assert 2 == run(["report", str(HEALTHY), "--pattern", "(?P<rs>.)"])

    assert "no group is called rs" in capsys.readouterr().err


@pytest.mark.parametrize("output_format", ["html", "text", "md", "json", "summary"])
def test_a_redacted_report_keeps_a_program_and_hides_its_command_and_containers(
    tmp_path, output_format
):
    table = "PID RSS COMMAND\n7 90000 PSST=psst /psst/keptprogram --psst\n8 10 psstother\n"
    pod = "NAME   CPU(cores)   MEMORY(bytes)\npsstpod   1m   90Mi\n"
    for name, content in (("table", table), ("pod", pod)):
        (tmp_path / name).write_text(content)
        output = tmp_path / f"{name}.out"
        named = ["report", str(tmp_path / name), "--redact", "-o", str(output)]
        assert 0 == run([*named, "--format", output_format])
        assert "psst" not in output.read_text()
        assert ("keptprogram" in output.read_text()) == (name == "table")
