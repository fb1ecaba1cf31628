"""Some fields of smaps_rollup without its head are a rollup; those of smaps are not."""

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.inputs.kinds import kind_of
from gomem.units import KIB

ROLLUP = "Rss:        {} kB\nAnonymous:  {} kB\nLazyFree:      0 kB\n"


def test_its_fields_are_known_and_others_are_not():
    frame = gomem.read_smaps(ROLLUP.format(9000, 7000).encode()).mappings

    assert ["[rollup]"] == list(frame["path"])
    assert (9000 * KIB, 7000 * KIB, 0) == tuple(frame[["Rss", "Anonymous", "LazyFree"]].iloc[0])
    assert frame[["Size", "Pss", "Swap"]].isna().all(axis=None)


@pytest.mark.parametrize(
    "text",
    [
        "Size:       9000 kB\n" + ROLLUP,
        ROLLUP + ROLLUP,
        ROLLUP + "VmFlags: rd wr mr\n",
        "Rss:        9000 kB\n",
        "Anonymous:  9000 kB\nLazyFree:      0 kB\n",
    ],
    ids=["of a mapping", "of two mappings", "flags", "one field", "no Rss"],
)
def test_what_can_be_of_a_mapping_is_no_rollup(text):
    assert kind_of(text.format(*[9000] * 4).encode()) is None


LOOP = "Fri Nov 20 09:00:{} UTC 2026\n" + ROLLUP
TICKET = (
    "The service grows, please look into it.\n\n"
    "$ date; grep -E 'Rss|Anonymous|LazyFree' /proc/7/smaps_rollup\n{}"
    "$ date; grep -E 'Rss|Anonymous|LazyFree' /proc/7/smaps_rollup\n{}\nThat is all I have.\n"
)


@pytest.mark.parametrize("around", ["{}{}", TICKET], ids=["a loop", "a ticket"])
def test_a_loop_of_them_is_rss_over_time(around, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(around.format(LOOP.format(10, 9000, 7000), LOOP.format(40, 80000, 78000)))

    rise = gomem.diagnose(gomem.load(path)).facts.rss_level.rise

    assert (9000 * KIB, 80000 * KIB, 30.0) == (rise.first, rise.last, rise.seconds)


@pytest.mark.parametrize(
    "text",
    [
        ROLLUP.format(4, 4) + ROLLUP.format(900, 800) + ROLLUP.format(80, 0),
        TICKET.replace("smaps_rollup", "smaps").format(ROLLUP.format(4, 4), ROLLUP.format(80, 0)),
    ],
    ids=["again and again", "asked of smaps"],
)
def test_lines_of_smaps_are_not_rss(text, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(text)

    with pytest.raises(CaptureError):
        gomem.load(path)
