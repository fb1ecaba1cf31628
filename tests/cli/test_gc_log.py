"""A GC log on the command line: report, tables that come back, a trace, OpenMetrics."""

import io
import json

import pandas as pd
import pytest

from gomem.cli import gc_log
from gomem.cli.main import run
from gomem.inputs.gctrace.table import CYCLES, PACER, SCAVENGES, read_gctrace
from tests.gc_logs import GCLOGS

pytestmark = pytest.mark.usefixtures("in_an_empty_folder")

ALL = GCLOGS / "all-go1.27.3.log"
NOISY = GCLOGS / "noisy-go1.12.17.log.gz"
SCHEMAS = {"cycles": CYCLES, "scavenges": SCAVENGES, "pacer": PACER}


def read_back(text: str, frame: str) -> pd.DataFrame:
    """CSV as a reader with the data dictionary at hand reads it."""
    schema = SCHEMAS[frame]
    times = [column.name for column in schema if column.dtype.startswith("datetime")]
    dtypes = {column.name: column.dtype for column in schema if column.name not in times}
    frame = pd.read_csv(io.StringIO(text), dtype=dtypes)
    for name in times:
        frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601").dt.as_unit("ns")
    return frame


@pytest.mark.parametrize("log", [ALL, NOISY], ids=["all", "noisy"])
@pytest.mark.parametrize("frame", list(SCHEMAS))
def test_a_table_comes_back_from_csv_to_the_last_digit(log, frame, capsys):
    assert 0 == run(["table", str(log), "--frame", frame, "--format", "csv"])

    expected = getattr(read_gctrace(log), frame)
    pd.testing.assert_frame_equal(expected, read_back(capsys.readouterr().out, frame))


def test_wall_times_come_back_from_csv(tmp_path, capsys):
    wrapped = b"".join(
        b"2026-11-20T03:53:%02d.123456789Z stderr F %s\n" % (number % 60, line)
        for number, line in enumerate(ALL.read_bytes().splitlines())
    )
    (tmp_path / "app.log").write_bytes(wrapped)

    assert 0 == run(["table", "app.log"])

    expected = read_gctrace(tmp_path / "app.log").cycles
    assert expected["time"].notna().all()
    pd.testing.assert_frame_equal(expected, read_back(capsys.readouterr().out, "cycles"))


@pytest.mark.parametrize("frame", list(SCHEMAS))
def test_a_long_log_gives_the_same_csv_as_a_short_one(frame, tmp_path, capsys, monkeypatch):
    """
    It is read and written in pieces: runs and line numbers go on from one to the next.
    """
    (tmp_path / "long.log").write_bytes(ALL.read_bytes() * 60)
    assert 0 == run(["table", "long.log", "--frame", frame])
    whole = capsys.readouterr().out

    monkeypatch.setattr(gc_log, "STREAMED_FROM_BYTES", 1)
    monkeypatch.setattr("gomem.sources.long.PIECE_BYTES", 1 << 20)
    assert 0 == run(["table", "long.log", "--frame", frame, "-o", "long.csv"])

    assert whole == (tmp_path / "long.csv").read_text()


def test_a_log_becomes_a_trace(tmp_path, capsys):
    assert 0 == run(["table", str(ALL), "--format", "trace", "-o", "gc.json"])
    assert 2 == run(["table", str(ALL), "--format", "trace", "-o", "gc.json"])
    assert (
        "gc.json: exists, and does not say that gomem wrote it; --force overwrites it"
        in capsys.readouterr().err
    )

    events = json.loads((tmp_path / "gc.json").read_text())["traceEvents"]
    assert len(read_gctrace(ALL).cycles) == sum(one["name"].startswith("gc ") for one in events)


def test_a_log_becomes_openmetrics(capsys):
    assert 0 == run(["table", str(ALL), "--format", "openmetrics"])

    out = capsys.readouterr().out
    assert f"gomem_gc_cycles_total {len(read_gctrace(ALL).cycles)}\n" in out
    assert out.endswith("# EOF\n")


def test_what_is_no_gc_log_is_neither(tmp_path, capsys):
    (tmp_path / "app.log").write_text("listening on :8080\n")

    assert 2 == run(["table", "app.log", "--format", "trace"])
    assert "app.log: no gctrace line; wanted a GODEBUG=gctrace=1 log" in (capsys.readouterr().err)


def test_a_report_needs_nothing_but_a_log(tmp_path, capsys):
    """
    `gomem report app.log` says what the collector did, in text, HTML and JSON.
    """
    (tmp_path / "app.log").write_bytes((GCLOGS / "gogc-1-go1.12.17.log").read_bytes())
    cycles = read_gctrace(tmp_path / "app.log").cycles

    assert 0 == run(["report", "app.log"])
    out = capsys.readouterr().out
    assert f"{len(cycles)}" in out
    html = (tmp_path / out.splitlines()[-1]).read_text()
    assert '<details id="collector"' in html

    assert 0 == run(["report", "app.log", "--format", "json"])
    gc = json.loads(capsys.readouterr().out)["gc"]
    assert len(cycles) == gc["cycles"]
    assert gc["stw_p99_seconds"] is not None
    assert gc["allocation_rate_bytes_per_second"] is not None


def test_thresholds_are_the_users(capsys):
    """
    What is usual for others may be a finding for this user.
    """
    report = ["report", str(GCLOGS / "plain-go1.27.3.log"), "--format", "json"]

    assert 0 == run(report)
    assert "long-pauses" not in codes(capsys.readouterr().out)
    strict = ["--threshold", "worst_pause_seconds=1e-5", "--threshold", "enough_cycles=1"]
    assert 0 == run([*report, *strict])
    assert "long-pauses" in codes(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "pause_second=1",
            "'pause_second' is not a threshold; did you mean pause_seconds=0.01 or ",
        ),
        (
            "pause_seconds",
            "--threshold pause_seconds: not NAME=VALUE; did you mean pause_seconds=0.01 or ",
        ),
        ("rss=1", "'rss' is not a threshold; did you mean notable_rss_fraction=0.1 or "),
        (
            "foo=1",
            "'foo' is not a threshold; wanted NAME=VALUE; gomem explain thresholds lists all\n",
        ),
        (
            "pause_seconds=long",
            "pause_seconds=long: 'long' is not a number; wanted a number from 0 on",
        ),
        (
            "pause_seconds=nan",
            "pause_seconds=nan: 'nan' is not a number; wanted a number from 0 on",
        ),
    ],
)
def test_a_threshold_that_is_none_is_told(setting, message, capsys):
    log = str(GCLOGS / "plain-go1.27.3.log")

    assert 2 == run(["report", log, "--format", "text", "--threshold", setting])

    assert message in capsys.readouterr().err


def codes(report: str) -> set[str]:
    return {finding["code"] for finding in json.loads(report)["findings"]}


def test_very_much_damage_is_one_line_that_counts_it(tmp_path, capsys):
    """
    The report as JSON and the table of damage have every place.
    """
    line = (GCLOGS / "plain-go1.27.3.log").read_text().splitlines()[0]
    (tmp_path / "app.log").write_text(f"{line}\n{line[:60]} no more\n" * 100)

    assert 0 == run(["report", "app.log", "--format", "text"])
    told = capsys.readouterr()
    assert 0 == run(["report", "app.log", "--format", "json"])
    as_json = json.loads(capsys.readouterr().out)
    assert 0 == run(["table", "app.log", "--frame", "damage"])
    table = capsys.readouterr().out

    assert "gomem: 100 places could not be read: the report lists them\n" == told.err
    assert "app.log: and: 50 more places; the report as JSON has all of them" in told.out
    assert 100 == len(as_json["damage"])
    assert 101 == len(table.splitlines())
