"""What notebooks show of the report, and the line they show where a capture lacks it."""

import pytest

import gomem
from gomem import plot
from gomem.errors import CaptureError
from gomem.notebook import (
    LISTED,
    findings,
    open_builds,
    open_capture,
    open_sides,
    provenance,
    questions,
    recorded,
    section,
    show,
    verdict,
)
from gomem.views.comparison.builds import SECTIONS as OF_BUILDS
from gomem.views.comparison.document import SECTIONS as OF_A_COMPARISON
from gomem.views.report.report import SECTIONS as OF_A_REPORT
from tests.builders import FIXTURES


@pytest.fixture(scope="module")
def log_alone():
    return open_capture(str(FIXTURES / "captures/healthy-go1.27.3/gctrace.log"))


def test_a_recorded_capture_is_found_by_its_name_and_a_path_by_itself(tmp_path, monkeypatch):
    assert recorded("zeroing-go1.24.2") == FIXTURES / "captures/zeroing-go1.24.2"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zeroing-go1.24.2").write_bytes(
        (FIXTURES / "captures/healthy-go1.27.3/2-steady/smaps").read_bytes()
    )

    assert ["smaps"] == list(open_capture("zeroing-go1.24.2").capture.artefacts["kind"])
    with pytest.raises(CaptureError, match=r"did you mean zeroing-go1\.24\.6"):
        open_capture("zeroing-go1.24.66")


def test_the_verdict_is_the_reports(log_alone):
    lines = verdict(log_alone).text.replace("\u00a0", " ").splitlines()
    (words, command, _) = log_alone.verdict.next_step.parts

    assert lines[0].startswith(log_alone.verdict.headline.split(".")[0])
    assert [f"Next: {words.strip()}", command] == [line.strip() for line in lines[-2:]]


def test_every_section_of_the_report_is_there_or_says_in_a_line_what_to_collect(log_alone):
    for part in OF_A_REPORT:
        shown = section(log_alone, part.name)

        found = part.make(log_alone)
        if found is None:
            assert f"{part.absent}." == shown.text
            assert 1 == len(shown.text.splitlines())
        else:
            assert list(map(type, found.blocks)) == list(map(type, shown.blocks))


def test_every_section_of_a_comparison_is_there_or_says_what_it_lacks():
    log = FIXTURES / "captures/healthy-go1.27.3/gctrace.log"
    comparison = open_sides(str(log), str(log))

    for part in OF_A_COMPARISON:
        assert section(comparison, part.name).blocks
    assert comparison.judgement.sentence in verdict(comparison).text


def test_findings_of_some_causes_are_a_sentence_each(log_alone):
    """
    What a verdict of the last moment passes over, a page on that subject says first.
    """
    shrunk = open_capture("cache-shrink-go1.27.3")
    (kept,) = (one for one in shrunk.findings if one.code == "idle-heap-kept")

    shown = findings(shrunk, "idle-heap-kept", "heap-growth")

    assert [f"Info: {kept.title}."] == shown.text.splitlines()
    assert "No finding of heap-growth." == findings(log_alone, "heap-growth").text


def test_how_many_questions_can_be_answered_and_what_the_others_need(log_alone):
    shown = questions(
        log_alone,
        {"How long are pauses?": plot.pauses, "Where is it?": "ledger", "When?": log_alone.cycles},
    )

    first, *lacking = shown.text.splitlines()
    assert "2 of 3 questions of this page can be answered from these files." == first
    assert 1 == len(lacking)
    assert lacking[0].startswith("Where is it? No file here breaks RSS down; add /proc/PID/")


def test_where_all_can_be_answered_no_more_is_said(log_alone):
    assert ["All questions of this page can be answered from these files."] == (
        questions(log_alone, {"How long are pauses?": plot.pauses}).text.splitlines()
    )


def test_of_a_wide_frame_some_columns_are_shown(log_alone):
    shown = show(log_alone.cycles, only=["number", "pause_seconds", "nothing"])

    assert ["number", "pause_seconds"] == list(shown.columns)


def test_a_column_s_name_keeps_its_case():
    steady = gomem.diagnose(FIXTURES / "captures/healthy-go1.27.3/2-steady/memstats.json")

    assert show(plot.levels, steady, ["rss_bites"]).text.startswith("rss_bites: not among")


def test_a_section_that_does_not_exist_is_named_with_the_nearest(log_alone):
    with pytest.raises(ValueError, match="did you mean ledger"):
        section(log_alone, "leger")


def test_what_a_capture_lacks_is_a_line(log_alone):
    assert "gctrace.log: nothing here says where memory is." == (
        show(plot.waterfall, log_alone).text.lower()[:1] + show(plot.waterfall, log_alone).text[1:]
    )
    assert "nix: not among the levels" in show(plot.levels, log_alone, ["nix"]).text.lower()
    assert "Nothing of this in the capture." == show(log_alone.findings.frame.head, 0).text


def test_a_figure_is_the_reports_and_stands_alone_on_its_page(log_alone):
    first, second = show(plot.mmu, log_alone), show(plot.mmu, log_alone)

    assert first.description == second.description
    assert first.name != second.name
    assert "<svg" in first._repr_html_()
    assert len(repr(first)) <= 420


def test_a_section_can_do_without_its_figures(log_alone):
    whole, words = section(log_alone, "collector"), section(log_alone, "collector", figures=False)

    assert "<svg" in whole.html
    assert "<svg" not in words.html
    assert "GC costs" in words.text


def test_a_frame_is_shown_as_it_is(log_alone):
    assert show(log_alone.cycles).equals(log_alone.cycles())
    with pytest.raises(CaptureError, match="has no gctrace log"):
        gomem.diagnose(FIXTURES / "captures/healthy-go1.27.3/2-steady/smaps").cycles()


def test_builds_are_called_by_as_much_of_their_paths_as_tells_them_apart(tmp_path):
    smaps = (FIXTURES / "captures/healthy-go1.27.3/2-steady/smaps").read_bytes()
    paths = [tmp_path / pod / "smaps" for pod in ("pod-1", "pod-2")]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(smaps)

    builds = open_builds(paths)

    assert ["pod-1/smaps", "pod-2/smaps"] == list(builds)
    assert ["a", "b"] == list(open_builds(dict(zip("ab", paths, strict=True))))
    with pytest.raises(CaptureError, match="named twice"):
        open_builds([paths[0], paths[0]])
    with pytest.raises(CaptureError, match="at least two builds, got 1"):
        open_builds(paths[:1])


def test_every_section_of_many_builds_is_there_or_says_what_it_lacks():
    smaps = FIXTURES / "captures/healthy-go1.27.3/2-steady/smaps"
    many = gomem.compare_many({"a": smaps, "b": smaps})

    for part in OF_BUILDS:
        assert section(many, part.name).text
    assert many.judgement.sentence in verdict(many).text
    with pytest.raises(ValueError, match="did you mean memory"):
        section(many, "memry")


def test_provenance_is_digests_and_versions_and_nothing_of_the_machine(tmp_path):
    """
    The first files are listed, and a page of thousands sums up the rest.
    """
    folder = tmp_path / "private" / "series"
    folder.mkdir(parents=True)
    for number in range(LISTED + 1):
        (folder / f"heap-{number}").write_bytes(b"abc")

    shown = provenance(folder, None).text

    assert "series/heap-0  3 B  ba7816bf8f01cfea414140de5dae2223" in shown
    assert f"series/heap-{LISTED - 2}  3 B" in shown
    assert "and 2 more files  6 B" in shown
    assert f"gomem {gomem.__version__}, pandas" in shown
    assert "private" not in shown
    (folder / "heap-0").unlink()
    assert "more files" not in provenance(folder).text


def test_a_file_keeps_its_name_where_a_sentence_begins_with_it(log_alone):
    shown = show(plot.waterfall, log_alone).text, show(log_alone.line_reasons).text

    assert all(one.startswith("gctrace.log: nothing") for one in shown)
    assert show(plot.levels, log_alone).text.startswith("No moment says")


def test_an_empty_frame_is_a_line_and_a_full_one_itself(log_alone):
    assert "Nothing of this in the capture." == show(log_alone.smaps).text
    assert log_alone.levels.empty
    frame = log_alone.cycles()
    assert frame is show(frame)


def test_without_its_figures_a_section_has_no_fold_of_their_numbers(log_alone):
    assert "The numbers of this figure" in section(log_alone, "collector").text
    assert "The numbers of this figure" not in section(log_alone, "collector", figures=False).text
