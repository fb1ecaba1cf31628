"""What a diagnosis offers at a prompt: its names, its answers' looks, and frames with a clock."""

from copy import copy
from dataclasses import dataclass

import pandas as pd
import pytest

import gomem
from gomem.errors import CaptureError
from gomem.facts.frames import cycles_frame
from gomem.inputs.answer import Answer
from tests import builders
from tests.builders import FIXTURES

CAPTURES = FIXTURES / "captures"


def diagnosed(name):
    return builders.diagnosed(CAPTURES / name)


def test_collections_have_the_time_that_memstats_ties_them_to():
    """
    LastGC is the end of the collection that NumGC numbers, and so is each pause's that is kept.
    """
    diagnosis = diagnosed("spiky-go1.27.3")

    cycles = diagnosis.cycles().set_index("number")

    remembered = diagnosis.capture.pauses.set_index("number")["end"]
    known = cycles.index.intersection(remembered.index)
    assert len(known) > 30
    apart = (cycles.loc[known, "time"] - remembered[known]).dt.total_seconds().abs()
    assert apart.max() < 0.005
    by_second = cycles.set_index("time")["heap_live_bytes"].resample("1s").max()
    assert by_second.notna().sum() > 5


def test_a_log_that_ends_before_the_memstats_has_its_times_from_the_pauses():
    diagnosis = diagnosed("spiky-go1.27.3")
    capture = copy(diagnosis.capture)
    early = capture.gc.cycles.head(5)

    stats = capture.memstats.tail(1)
    assert stats["NumGC"].iloc[0] > 5
    capture.__dict__["memstats"] = stats
    times = cycles_frame(capture, early)["time"]

    assert times.notna().all()
    whole = diagnosis.cycles()["time"].head(5)
    assert ((times - whole).dt.total_seconds().abs() < 0.005).all()


def test_without_memstats_no_time_is_made_up():
    log = gomem.diagnose(CAPTURES / "healthy-go1.27.3/gctrace.log")

    cycles = log.cycles()

    assert cycles["time"].isna().all()
    stops = cycles["sweep_termination_seconds"] + cycles["mark_termination_seconds"]
    pd.testing.assert_series_equal(stops.round(9), cycles["pause_seconds"], check_names=False)


def test_the_mappings_that_changed_between_two_moments():
    diagnosis = diagnosed("zeroing-go1.24.2")

    changes = diagnosis.mapping_changes("1-start", "2-loaded")

    assert changes.equals(diagnosis.changes[0].mappings)
    assert "go-heap" == changes["kind"].iloc[0]
    with pytest.raises(KeyError, match="did you mean 2-loaded"):
        diagnosis.mapping_changes("1-start", "2-laoded")
    with pytest.raises(CaptureError, match="scrape-00 or scrape-01 has no smaps"):
        diagnosed("spiky-go1.27.3").mapping_changes("scrape-00", "scrape-01")


def test_names_that_reports_are_made_of_are_not_completed():
    names = dir(diagnosed("healthy-go1.27.3"))

    assert {"findings", "levels", "mapping_changes", "cycles", "what_if"} <= set(names)
    assert set(names).isdisjoint({"case", "scale", "logged", "baseline_profile", "shown_first"})


@pytest.mark.parametrize(
    "name",
    ["verdict", "limits", "what_if", "scavenger", "moments", "by_moment", "sites", "changes"],
)
def test_no_answer_is_longer_than_a_screen(name):
    shown = repr(getattr(diagnosed("spiky-go1.27.3"), name))

    assert len(shown) < 80 * 80


@pytest.mark.parametrize("name", ["verdict", "limits", "what_if", "scavenger"])
def test_an_answer_is_a_table_in_a_notebook(name):
    answer = getattr(diagnosed("spiky-go1.27.3"), name)

    assert answer._repr_html_().startswith("<table><tr><th")
    assert len(repr(answer)) <= 400


def test_an_answer_shows_sizes_as_they_are_read_and_frames_by_their_rows():
    diagnosis = diagnosed("spiky-go1.27.3")

    assert "would_free_bytes=176 MiB" in repr(diagnosis.scavenger)
    assert "retention=25 rows" in repr(diagnosis.scavenger)
    ledger = diagnosis.ledgers["settled"]
    assert f"<td>{ledger.parts['part'].iloc[0]}</td>" in ledger._repr_html_()


def test_what_stands_in_a_capture_is_escaped_in_an_answer():
    @dataclass(frozen=True, repr=False)
    class Named(Answer):
        name: str
        frame: pd.DataFrame

    named = Named("<script>", pd.DataFrame({"function": ["<b>"]}))

    assert "<script>" not in named._repr_html_()
    assert "<b>" not in named._repr_html_()
    assert "<Named name=<script>, frame=1 rows>" == repr(named)


def test_a_spike_is_one_only_where_an_interval_stands_out():
    spiky, shrunk = diagnosed("spiky-go1.27.3"), diagnosed("cache-shrink-go1.27.3")

    assert "io.ReadAll" == spiky.spike().allocated["function"].iloc[0]
    assert shrunk.spike() is None
    assert "3-collected" == shrunk.spike("3-collected").after  # who names one gets it
    with pytest.raises(CaptureError, match="no interval between two heap profiles stands out"):
        shrunk.spike_sites()
