"""Whatever happens to a file of a capture, the rest is reported and nothing becomes a wrong sum."""

import gzip
import html
import json
import random
import re
import shutil
import tarfile

import pyarrow as pa
import pytest

import gomem
from gomem.errors import CaptureError
from gomem.views.json.report import render_json_report
from gomem.views.report.report import report_document
from gomem.views.writers.html import write_html
from gomem.views.writers.text import write_text
from tests.builders import FIXTURES, as_html, as_text

CAPTURE = FIXTURES / "captures/cache-shrink-go1.27.3"
MOMENT = "3-collected"
WILD_NUMBERS = (b"0", b"-1", b"99999999999999999999999", b"1e400", b"null", b"18446744073709551615")


def cut(content: bytes, dice: random.Random) -> bytes:
    return content[: dice.randrange(len(content))]


def flip(content: bytes, dice: random.Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(3):
        flipped[dice.randrange(len(flipped))] = dice.randrange(256)
    return bytes(flipped)


def wild_number(content: bytes, dice: random.Random) -> bytes:
    numbers = list(re.finditer(rb"\d+", content))
    one = dice.choice(numbers)
    return content[: one.start()] + dice.choice(WILD_NUMBERS) + content[one.end() :]


def repeat(content: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(content))
    return content[:place] + content[dice.randrange(len(content)) :][:500] + content[place:]


@pytest.mark.at_most(3)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("harm", [cut, flip, wild_number, repeat], ids=lambda harm: harm.__name__)
def test_a_harmed_capture_is_reported_as_far_as_it_can_be(tmp_path, harm, seed):
    """
    No file that is cut, flipped or wild ends the report; ledgers still add up to the byte.
    """
    dice = random.Random(seed)  # noqa: S311 - repeatable, not secret
    shutil.copytree(CAPTURE / MOMENT, tmp_path / MOMENT)
    for name in ("gomem.json", "gctrace.log"):
        shutil.copy(CAPTURE / name, tmp_path / name)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    for path in dice.sample(files, 3):
        path.write_bytes(harm(path.read_bytes(), dice))

    diagnosis = gomem.diagnose(tmp_path)

    for ledger in diagnosis.ledgers.values():
        assert ledger.rss_bytes in {None, int(ledger.parts["bytes"].sum())}
    document = report_document(diagnosis)
    assert write_html(document)
    assert write_text(document)
    assert render_json_report(diagnosis)


def test_a_manifest_that_is_cut_or_followed_by_more_is_damage(tmp_path):
    shutil.copytree(CAPTURE, tmp_path / "c")
    manifest = tmp_path / "c/gomem.json"
    manifest.write_bytes(manifest.read_bytes() + b"}")

    capture = gomem.load(tmp_path / "c")

    assert ["gomem.json"] == [one.source for one in capture.damaged]
    assert "go1.27.3" == str(capture.go_version)


def test_a_rollup_without_rss_is_no_rss(tmp_path):
    (tmp_path / "smaps_rollup").write_text(
        "00400000-7fff0000 ---p 00000000 00:00 0    [rollup]\nPss: 4 kB\n"
    )

    (ledger,) = gomem.diagnose(tmp_path).ledgers.values()

    assert ledger.rss_bytes is None


def test_nothing_but_damage_is_an_error(tmp_path):
    (tmp_path / "smaps").write_bytes(b"")

    with pytest.raises(CaptureError, match="empty file"):
        gomem.diagnose(tmp_path)


def cut_tar(folder, path):
    """A tar whose last member, smaps, lost its end."""
    with tarfile.open(path, "w") as archive:
        for name in ("memstats.json", "status", "smaps"):
            archive.add(folder / name, f"capture/{name}")
    with tarfile.open(path) as archive:
        end = archive.getmember("capture/smaps").offset_data + 5000
    path.write_bytes(path.read_bytes()[:end])


def cut_gzip(folder, path):
    path.mkdir()
    (path / "status").write_bytes((folder / "status").read_bytes())
    (path / "smaps.gz").write_bytes(gzip.compress((folder / "smaps").read_bytes())[:-100])


def cut_zstd(folder, path):
    path.mkdir()
    (path / "status").write_bytes((folder / "status").read_bytes())
    stored = pa.compress((folder / "smaps").read_bytes(), "zstd", asbytes=True)
    (path / "smaps.zst").write_bytes(stored[:-100])


def with_a_link(folder, path):
    path.mkdir()
    (path / "status").write_bytes((folder / "status").read_bytes())
    (path / "smaps").symlink_to(folder / "smaps")


@pytest.mark.parametrize(
    ("harm", "name", "said"),
    [
        (cut_tar, "harmed.tar", "smaps: cannot be read: archive ends early: 5000 of"),
        (cut_tar, "harmed.tar", "archive ends early: unexpected end"),
        (cut_gzip, "harmed", "smaps.gz: byte"),
        (cut_zstd, "harmed", "smaps.zst: byte"),
        (with_a_link, "harmed", "smaps: not a regular file; links are not followed"),
    ],
)
def test_what_a_source_lost_is_told_wherever_the_capture_is(tmp_path, harm, name, said):
    """
    On its way from the archive to the report no floor drops it.
    """
    harm(CAPTURE / MOMENT, tmp_path / name)
    capture = gomem.load(tmp_path / name)
    diagnosis = gomem.diagnose(capture)
    found = [str(one) for one in capture.damaged if said in str(one)]

    assert 1 == len(found)
    shown = json.loads(render_json_report(diagnosis))["damage"]
    what = next(one.what for one in capture.damaged if said in str(one))
    assert what in [one["what"] for one in shown]
    assert what[:30] in " ".join(as_text(diagnosis).split())
    assert what[:30] in html.unescape(as_html(diagnosis))
