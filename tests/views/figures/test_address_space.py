"""The strip map: width is what is mapped, filled height what is resident."""

import pytest

from gomem.analysis.mappings.kinds import address_regions
from gomem.units import MIB
from gomem.views.figures.address_space import plot_address_space
from tests.builders import FIXTURES, MOMENTS, diagnosed, moment_id
from tests.charts import marks

ZEROING = FIXTURES / "captures/zeroing-go1.23.4"


def regions_of(path, moment):
    (facts,) = [one for one in diagnosed(path).moments if one.name == moment]
    return address_regions(facts.mappings)


def test_filled_area_is_resident_memory():
    """
    Of the boxes that can be seen: width times filled height, as a share of what is mapped.
    """
    regions = regions_of(ZEROING, "2-loaded")
    whole = regions["size_bytes"].sum()

    drawing = plot_address_space(regions)
    boxes = marks.bars(drawing.chart.panels[0])
    filled = sum(box.width * box.height for box in boxes[::2]) * whole

    assert filled == pytest.approx(regions["rss_bytes"].sum(), rel=0.01)


def test_a_box_is_as_wide_as_its_region_is_mapped():
    regions = regions_of(ZEROING, "2-loaded")

    boxes = marks.bars(plot_address_space(regions).chart.panels[0])
    widths = [box.width for box in boxes[1::2]]

    assert max(widths) == pytest.approx(
        regions["size_bytes"].max() / regions["size_bytes"].sum(), rel=1e-6
    )


def test_every_kind_that_is_there_is_in_the_legend():
    drawing = plot_address_space(regions_of(ZEROING, "2-loaded"))

    assert {"binary", "go-heap", "go-runtime", "kernel", "thread-stack"} == set(
        drawing.chart.legend.labels
    )


def test_the_words_say_each_region_with_its_share():
    drawing = plot_address_space(regions_of(ZEROING, "2-loaded"), moment="2-loaded")

    assert "The address space at 2-loaded" == drawing.title
    assert "go-heap from 0xc000000000:" in drawing.description


@pytest.mark.at_most(13)
@pytest.mark.parametrize("moment", MOMENTS, ids=moment_id)
def test_the_regions_hold_all_that_is_resident(moment):
    """
    Two sources, one number: the regions against the kernel's own sum.
    """
    diagnosis = diagnosed(moment.parent)
    rollups = diagnosis.capture.rollups
    rollup = int(rollups.loc[rollups["moment"] == moment.name, "Rss"].iloc[0])

    regions = regions_of(moment.parent, moment.name)

    assert rollup == regions["rss_bytes"].sum()
    assert (regions["start"].iloc[1:].to_numpy() >= regions["end"].iloc[:-1].to_numpy()).all()


def test_reserved_address_space_is_no_region():
    """
    Go reserves hundreds of megabytes without permissions; nothing there can cost anything.
    """
    regions = regions_of(ZEROING, "2-loaded")

    assert regions["size_bytes"].sum() < 300 * MIB
