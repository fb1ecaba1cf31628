"""Settings that differ stand in the first line of whatever a comparison is written as."""

import json
import re

import pytest

from gomem.cli.main import run
from tests.builders import FIXTURES

BUFFERS = FIXTURES / "changes/buffers"
POOLED, GOGC, EACH = (
    str(BUFFERS / side / "run-1.tar.gz") for side in ("pooled", "gogc-1000", "each")
)


@pytest.mark.parametrize(
    ("output_format", "line"),
    [
        ("text", "GOGC 100 → 1000"),
        (
            "md",
            "# GOGC 100 → 1000: Go memory comparison",
        ),
    ],
)
def test_of_two_sides(capsys, output_format, line):
    run(["compare", POOLED, GOGC, "--format", output_format])

    assert line == capsys.readouterr().out.splitlines()[0]


def test_of_a_page_it_is_the_title(tmp_path):
    run(["compare", POOLED, GOGC, "-o", str(tmp_path / "page.html")])

    heading = re.search("<h1>(.*)</h1>", (tmp_path / "page.html").read_text())
    assert "GOGC 100 → 1000" == heading[1].replace("<wbr>", "")


def test_json_has_them_with_their_source(capsys):
    run(["compare", POOLED, GOGC, "--format", "json"])

    found = json.loads(capsys.readouterr().out)

    assert [
        {"name": "GOGC", "before": "100", "after": "1000", "source": "runtime/metrics"}
    ] == found["settings"]
    assert found["verdict"]["sentence"].startswith("GOGC 100 → 1000: ")


def test_of_many_builds(capsys):
    run(["compare", POOLED, GOGC, EACH])
    text = capsys.readouterr().out
    run(["compare", POOLED, GOGC, EACH, "--format", "json"])
    found = json.loads(capsys.readouterr().out)

    assert text.splitlines()[0] == (
        "2 builds compared with pooled/run-1.tar.gz: GOGC 100 → 1000 in gogc-1000/run-1.tar.gz"
    )
    assert ["gogc-1000/run-1.tar.gz"] == [row["build"] for row in found["settings"]]


def test_the_document_says_them_once(capsys):
    run(["compare", POOLED, GOGC])

    assert 1 == capsys.readouterr().out.count("GOGC 100")
