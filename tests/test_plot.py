"""Figures for people's own notebooks: what is drawn, and where, and what is said instead."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import gomem
from gomem import plot
from gomem.charts.matplotlib_axes import draw_on
from gomem.errors import CaptureError
from gomem.units import format_bytes
from gomem.views.figures.levels import plot_small_multiples
from gomem.views.figures.sites import plot_sites
from tests import builders
from tests.builders import FIXTURES
from tests.charts import marks

mpl.use("agg")  # no window is wanted
from matplotlib import pyplot as plt

CAPTURES = FIXTURES / "captures"


pytestmark = pytest.mark.usefixtures("closed_figures")


def diagnosed(name):
    return builders.diagnosed(CAPTURES / name)


def widths(ax):
    return sorted(patch.get_width() for patch in ax.patches)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_a_waterfall_has_a_bar_for_each_part_and_ends_at_rss():
    diagnosis = diagnosed("zeroing-go1.24.2")

    ax = plot.waterfall(diagnosis, "2-loaded")

    ledger = diagnosis.ledgers["2-loaded"]
    drawn = [size for size in ledger.parts["bytes"] if size]
    assert sorted([*drawn, ledger.rss_bytes]) == widths(ax)


def test_a_figure_is_drawn_on_the_axes_it_is_given():
    figure, axes = plt.subplots(2)

    found = plot.waterfall(diagnosed("zeroing-go1.24.2"), ax=axes[1])

    assert found is axes[1]
    assert not axes[0].patches
    assert figure.axes == list(axes)


def test_levels_are_the_columns_of_the_capture_on_its_clock():
    diagnosis = diagnosed("spiky-go1.27.3")

    ax = plot.levels(diagnosis, ["rss_bytes", "HeapInuse"])

    levels = diagnosis.levels
    by_label = {line.get_label(): line for line in ax.lines}
    assert list(levels["HeapInuse"]) == list(by_label["HeapInuse"].get_ydata())
    seconds = (levels.index - levels.index[0]).total_seconds()
    assert list(seconds) == list(by_label["rss_bytes"].get_xdata())


def test_levels_without_a_clock_stand_one_after_the_other():
    frame = pd.DataFrame(
        {"moment": ["a", "b", "c"], "Rss": [1, None, 3]}, index=pd.DatetimeIndex([pd.NaT] * 3)
    )

    ax = plot.levels(frame)

    assert [0, 2] == list(ax.lines[0].get_xdata())  # a moment without it is no gap in the line
    assert [1, 3] == list(ax.lines[0].get_ydata())
    assert ["a", "b", "c"] == [label.get_text() for label in ax.get_xticklabels()]


def test_a_column_of_the_heap_is_its_address_space_and_what_madv_free_left_is_drawn_as_such():
    diagnosis = diagnosed("cache-shrink-go1.12.17")

    drawing = plot.heap_return(diagnosis, ax=plot.PAGE)

    heights = {}
    for bar in marks.bars(drawing.chart.panels[0]):
        heights.setdefault(bar.label, []).append(int(bar.height))
    columns = [sum(column) for column in zip(*heights.values(), strict=True)]
    assert list(diagnosis.capture.memstats["HeapSys"]) == columns
    lazy = [one.part("heap_released_resident") for one in diagnosis.ledgers.values()]
    assert lazy == heights["released, still in RSS"]
    assert [0, 0, 0] == lazy[:3]
    assert lazy[3] > 0
    assert "1-filled 152 MiB in use" in drawing.description


def test_without_memstats_what_the_heap_keeps_is_not_made_up():
    with pytest.raises(CaptureError, match="no moment has MemStats"):
        plot.heap_return(CAPTURES / "healthy-go1.27.3/2-steady/smaps")


def test_a_level_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(KeyError, match="HeapInuse"):
        plot.levels(diagnosed("spiky-go1.27.3"), ["HeapInus"])


def test_of_a_capture_without_a_level_nothing_is_drawn():
    with pytest.raises(CaptureError, match="no moment says how large the process is"):
        plot.levels(CAPTURES / "healthy-go1.27.3/gctrace.log")
    with pytest.raises(CaptureError, match="no moment says how large"):
        plot.levels(watched(1, 2).assign(Rss=None))


def test_more_levels_than_can_be_told_apart_are_refused():
    columns = ["Alloc", "Sys", "HeapSys", "HeapInuse", "HeapIdle", "HeapAlloc", "StackInuse"]

    with pytest.raises(ValueError, match="at most 6 can"):
        plot.levels(diagnosed("spiky-go1.27.3"), columns)


@pytest.mark.parametrize(
    ("draw", "panels"), [("gc_timeline", 2), ("gc_activity", 2), ("pauses", 2), ("scavenger", 2)]
)
def test_a_figure_of_two_panels_returns_and_takes_two_axes(draw, panels):
    log = diagnosed("spiky-go1.27.3")

    assert panels == len(getattr(plot, draw)(log))
    with pytest.raises(ValueError, match="1 Axes; wanted 2"):
        getattr(plot, draw)(log, ax=[plt.figure().add_subplot()])


def test_a_log_is_enough_for_the_collector_as_a_reader_returns_it():
    path = CAPTURES / "healthy-go1.27.3/gctrace.log"

    ax = plot.mmu(gomem.read_gctrace(path))

    curve = diagnosed("healthy-go1.27.3").collector.utilization.curve.dropna()
    assert list(curve["minimum_fraction"]) == list(ax.lines[0].get_ydata())


def test_sites_have_their_interval_from_sampling():
    diagnosis = diagnosed("zeroing-go1.24.2")
    profile = diagnosis.capture.heap_profiles["2-loaded"]

    ax = plot.sites(profile, "inuse_space")

    top = diagnosis.capture.top("inuse_space")
    first = top[top["moment"] == "2-loaded"].iloc[0]
    assert first["flat"] == widths(ax)[-1]
    assert [first["flat_low"], first["flat_high"]] == list(ax.lines[0].get_xdata())


def test_a_sample_type_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(ValueError, match="did you mean inuse_space"):
        plot.sites(diagnosed("zeroing-go1.24.2"), "inuse_spce")


@pytest.mark.parametrize(
    ("draw", "lacking"),
    [("growth", "too few heap profiles that have a time"),
     ("spike", "needs two heap profiles with a time")],
)  # fmt: skip
def test_what_needs_a_series_of_profiles_says_so(draw, lacking):
    with pytest.raises(CaptureError, match=lacking):
        getattr(plot, draw)(gomem.load(CAPTURES / "healthy-go1.27.3/gctrace.log"))


def test_a_spike_is_drawn_by_what_was_allocated_beyond_the_usual():
    diagnosis = diagnosed("spiky-go1.27.3")

    ax = plot.spike(diagnosis)

    extra = diagnosis.spike().allocated["extra_bytes"]
    assert (extra < 0).any()
    assert sorted(extra[extra > 0]) == widths(ax)


def test_an_interval_that_reaches_below_zero_is_drawn_whole():
    frame = pd.DataFrame({"function": ["main.a"], "value": [3.0], "low": [-2.0], "high": [9.0]})

    (ax,) = draw_on(plot_sites(frame, "bytes", title="x").chart)

    assert [-2.0, 9.0] == list(ax.lines[0].get_ydata() * 0 + ax.lines[0].get_xdata())


def test_what_changed_adds_up_to_the_change_of_rss():
    diagnosis = gomem.diagnose(CAPTURES / "zeroing-go1.24.2")

    ax = plot.ledger_change(diagnosis, CAPTURES / "zeroing-go1.23.4")

    change = diagnosis.with_baseline(diagnosed("zeroing-go1.23.4")).change_against_baseline
    assert abs(change.ledger.rss_change_bytes) in [abs(width) for width in widths(ax)]


def test_a_moment_without_what_is_drawn_says_what_is_missing():
    log_alone = gomem.load(CAPTURES / "healthy-go1.27.3/gctrace.log")

    with pytest.raises(CaptureError, match="nothing here says where memory is"):
        plot.waterfall(log_alone)
    with pytest.raises(KeyError, match="has no moment 2-laoded"):
        plot.waterfall(diagnosed("zeroing-go1.24.2"), "2-laoded")
    with pytest.raises(CaptureError, match="has no gctrace log"):
        plot.mmu(gomem.load(CAPTURES / "zeroing-go1.24.2/2-loaded/smaps"))


def test_a_figure_alone_says_what_it_is_of():
    """
    What it shows, the capture, and the moment; on a page of its own and on Axes of the user's.
    """
    diagnosis = diagnosed("zeroing-go1.24.2")

    alone = plot.waterfall(diagnosis)
    _, axes = plt.subplots()
    among = plot.waterfall(diagnosis, ax=axes)
    page = plot.waterfall(diagnosis, ax=plot.PAGE)

    wanted = "RSS by part · zeroing-go1.24.2 · 2-loaded"
    assert wanted == alone.figure.get_suptitle() == among.get_title(loc="left") == page.heading
    assert wanted in page._repr_html_()


def test_the_spike_says_which_interval_it_is():
    ax = plot.spike(diagnosed("spiky-go1.27.3"))

    title = ax.figure.get_suptitle()
    assert "from scrape-02 to scrape-04 · 285 MiB in 2.00 s, 72.0 MiB is usual" in title
    with pytest.raises(CaptureError, match="stands out"):
        plot.spike(diagnosed("cache-shrink-go1.27.3"))


def test_a_frame_in_place_of_a_capture_is_named():
    diagnosis = diagnosed("zeroing-go1.24.2")

    with pytest.raises(TypeError, match="a DataFrame; wanted a diagnosis"):
        plot.waterfall(diagnosis.ledger)
    ax = plot.levels(diagnosis.levels[["HeapInuse"]])
    assert ["HeapInuse"] == [line.get_label() for line in ax.lines]


def test_a_capture_is_one_and_not_several_though_it_is_a_mapping():
    capture = gomem.load(CAPTURES / "cache-shrink-go1.16.15")

    ax = plot.ledger_over_time(capture)

    assert list(capture) == [label.get_text() for label in ax.get_xticklabels()]


def test_where_a_moment_has_a_profile_alone_the_profile_says_what_is_in_use(tmp_path):
    for moment, name in (("1", "memstats.json"), ("2", "heap.pb.gz"), ("3", "memstats.json")):
        (tmp_path / moment).mkdir()
        source = CAPTURES / "zeroing-go1.24.2/2-loaded" / name
        (tmp_path / moment / name).write_bytes(source.read_bytes())
    capture = gomem.load(tmp_path)

    ax = plot.levels(capture)

    by_label = {line.get_label(): line for line in ax.lines}
    total = capture["2"].heap_profile.total("inuse_space")
    assert [total] == list(by_label["inuse_space"].get_ydata())
    assert 2 == len(by_label["HeapInuse"].get_xdata())


def test_only_figures_are_completed():
    assert sorted(plot.__all__) == dir(plot)


def test_a_legend_on_axes_of_the_users_own_has_few_rows():
    _, axes = plt.subplots()

    ax = plot.ledger_over_time(diagnosed("spiky-go1.27.3"), ax=axes)

    legend = ax.get_legend()
    assert 7 == len(legend.get_texts())
    tops = {round(text.get_window_extent().y0) for text in legend.get_texts()}
    assert len(tops) <= 4


def test_sites_of_nothing_are_not_drawn():
    frame = pd.DataFrame(
        {"function": ["main.a", "main.b"], "value": [2, 0], "low": [None] * 2, "high": [None] * 2}
    )

    (ax,) = draw_on(plot_sites(frame, "bytes", title="x").chart)

    assert ["main.a"] == [label.get_text() for label in ax.get_yticklabels()]


def test_multiples_far_apart_stand_on_an_axis_of_decades():
    sides = ("alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3")

    ax = plot.forest(*(CAPTURES / name for name in sides))

    assert "log" == ax.get_xscale()
    assert "0" == ax.get_xticklabels()[0].get_text()  # what allocates nothing now
    assert not any("bytes" in label.get_text() for label in ax.get_yticklabels())


def test_type_is_as_large_as_the_users_settings_have_it():
    """
    Twice matplotlib's own size: ticks, the title and the legend; and no setting is changed.
    """
    diagnosis = diagnosed("cache-shrink-go1.27.3")

    def sizes():
        ax = plot.levels(diagnosis)
        legend = ax.figure.legends[0].get_texts()[0].get_fontsize()
        tick = ax.get_xticklabels()[0].get_fontsize()
        return np.array([tick, ax.figure._suptitle.get_size(), legend])

    usual = sizes()
    with plt.rc_context({"font.size": 20.0}):
        before = dict(plt.rcParams)
        large = sizes()
        assert before == dict(plt.rcParams)

    assert 2 * usual == pytest.approx(large)


def test_ink_is_the_styles_colour_of_text():
    diagnosis = diagnosed("zeroing-go1.24.2")

    with plot.style("dark"):
        ax = plot.waterfall(diagnosis)

    assert {plot.INK} == {text.get_color() for text in ax.texts}
    with pytest.raises(ValueError, match="did you mean paper"), plot.style("papr"):
        pass


def test_names_from_a_capture_stay_text():
    frame = pd.DataFrame(
        {"function": ["$\\frac{a}$", "a\x1b[31mb"], "value": [2, 1], "low": [None] * 2,
         "high": [None] * 2}
    )  # fmt: skip
    (ax,) = draw_on(plot_sites(frame, "bytes", title="x").chart)
    ax.figure.canvas.draw()

    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert "$\\frac{a}$" == labels[0]
    assert "\x1b" not in labels[1]


def test_lines_of_the_scavenger_are_drawn_from_a_log():
    log = gomem.read_gctrace(FIXTURES / "gctrace/all-go1.16.15.log")

    total, _ = plot.scavenges(log)

    assert total.collections
    with pytest.raises(CaptureError, match="scavtrace=1"):
        plot.scavenges(diagnosed("healthy-go1.27.3"))


EACH = {
    "groups": ("zeroing-go1.24.2",), "what_if": ("healthy-go1.27.3",),
    "ledger_over_time": ("cache-shrink-go1.16.15",),
    "heap_return": ("cache-shrink-go1.12.17",),
    "address_space": ("zeroing-go1.24.2",), "growth": ("spiky-go1.27.3",),
    "lifetimes": ("spiky-go1.27.3",),
    "forest": ("alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3"),
    "site_changes": ("alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3"),
}  # fmt: skip


@pytest.mark.parametrize("name", EACH)
def test_every_other_figure_is_drawn_from_a_capture(name):
    ax = getattr(plot, name)(*map(diagnosed, EACH[name]))

    assert ax.patches or ax.lines


def test_every_public_figure_is_tested_here():
    drawn = {"waterfall", "levels", "gc_timeline", "gc_activity", "pauses", "mmu", "sites", "spike",
             "ledger_change", "scavenges", "scavenger", "small_multiples", "style",
             *EACH}  # fmt: skip

    assert {"flame"} == set(plot.__all__) - drawn  # which has tests of its own


def watched(*mebibytes, seconds=1.0):
    """A build's levels, read at even distances."""
    times = pd.date_range("2026-01-01", periods=len(mebibytes), freq=f"{seconds * 1000:.0f}ms")
    columns = {"moment": list("abcdef"[: len(mebibytes)]), "Rss": [one << 20 for one in mebibytes]}
    return pd.DataFrame(columns, index=times.tz_localize("UTC"))


def test_small_multiples_are_one_scale_and_a_panel_a_build():
    builds = {name: diagnosed(f"zeroing-{name}") for name in ("go1.23.4", "go1.24.2")}

    axes = plot.small_multiples(builds)

    assert [axes[0].get_ylim()] * 2 == [one.get_ylim() for one in axes]
    assert [axes[0].get_xlim()] * 2 == [one.get_xlim() for one in axes]
    for name, ax in zip(builds, axes, strict=True):
        rss = next(line for line in ax.lines if line.get_label() == "rss_bytes")
        assert list(builds[name].levels["rss_bytes"]) == list(rss.get_ydata())
        assert name in texts(ax)
        assert f"rss_bytes peak {format_bytes(max(rss.get_ydata()))}" in texts(ax)


@pytest.mark.parametrize(("seconds", "alike"), [(0.1, True), (0.09, False)])
def test_clocks_that_are_too_unlike_are_not_one_scale(seconds, alike):
    """
    A minute beside a day would be a dot.
    """
    drawn = plot_small_multiples({"a": watched(1, 2), "b": watched(1, 2, seconds=seconds)})

    ends = [panel.x.scale.high for panel in drawn.chart.panels]
    assert ([1.0, 1.0] if alike else [1.0, seconds]) == ends


def test_builds_of_which_one_has_no_clock_stand_by_their_moments():
    timeless = watched(3, 4).set_axis([pd.NaT, pd.NaT])

    drawn = plot_small_multiples({"a": watched(1, 2), "b": timeless})

    assert [["a", "b"]] * 2 == [[tick.label for tick in p.x.ticks] for p in drawn.chart.panels]


def test_of_many_moments_a_small_panel_names_the_first_and_the_last_inwards():
    """
    Names side by side would run into one another, and into the next panel's.
    """
    timeless = watched(1, 2, 3, 4).set_axis([pd.NaT] * 4)

    (panel,) = plot_small_multiples({"a": timeless}).chart.panels

    assert [("a", "start"), ("d", "end")] == [(tick.label, tick.anchor) for tick in panel.x.ticks]


def test_builds_that_say_nothing_of_their_size_are_refused():
    log = CAPTURES / "healthy-go1.27.3/gctrace.log"

    with pytest.raises(CaptureError, match="no build says how large it is"):
        plot.small_multiples({"a": log, "b": log})
    with pytest.raises(KeyError, match="did you mean HeapInuse"):
        plot.small_multiples({"a": diagnosed("zeroing-go1.24.2")}, ["HeapInus"])
