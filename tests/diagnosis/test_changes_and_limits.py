"""What the ledgers of a capture say together, and how the report says it."""

import json
import shutil

import pandas as pd
import pytest

import gomem
from gomem.units import MIB
from gomem.views.document import Paragraph
from gomem.views.json.report import report_json
from gomem.views.report.changes import changes_section
from gomem.views.report.limits import limits_section
from gomem.views.share import Hidden, share
from tests.builders import CAPTURES, FIXTURES, diagnosed

OLD, NEW = (FIXTURES / f"captures/zeroing-go{release}" for release in ("1.23.4", "1.24.2"))
SHRINK = FIXTURES / "captures/cache-shrink-go1.16.15"
HEALTHY = FIXTURES / "captures/healthy-go1.27.3"


def plain(section):
    """A section as it is written: names without the marks around them."""
    return share(section, Hidden())


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_steps_add_up_to_the_whole_way(path):
    """
    Two sources, one number: the steps together, and the last RSS less the first.
    """
    diagnosis = diagnosed(path)
    moments = diagnosis.moments
    known = [one.rss_bytes for one in moments if one.rss_bytes is not None]

    steps = diagnosis.changes

    assert known[-1] - known[0] == sum(step.ledger.rss_change_bytes for step in steps)


def test_a_cache_that_was_dropped_and_freed_is_told_step_by_step():
    verdicts = [step.ledger.verdict for step in diagnosed(SHRINK).changes]

    assert ["unchanged", "shifted", "retention"] == verdicts


def test_the_whole_way_needs_more_than_one_step():
    assert diagnosed(OLD).change_over_all is None
    assert ("1-filled", "4-freed") == (
        (whole := diagnosed(SHRINK).change_over_all).before,
        whole.after,
    )


def test_an_upgrade_that_changed_residency_alone_is_told_so():
    diagnosis = gomem.diagnose(NEW, baseline=OLD)

    change = diagnosis.change_against_baseline

    assert "residency" == change.ledger.verdict
    assert ("go-heap", "grew") == tuple(change.mappings.loc[0, ["kind", "state"]])
    said, *tables = plain(changes_section(diagnosis)).blocks
    assert "more of the Go heap is resident" in str(said)
    assert "Changes by mapping, 2-loaded, baseline → this capture" in str(tables)


def test_one_moment_has_no_section_of_changes(tmp_path):
    shutil.copytree(HEALTHY / "2-steady", tmp_path / "c")

    assert changes_section(gomem.diagnose(tmp_path / "c")) is None


def cgroup_capture(folder, limit_mib: int):
    """The healthy capture, with made-up cgroup files beside two of its moments' files."""
    shutil.copytree(HEALTHY, folder)
    manifest = json.loads((folder / "gomem.json").read_text())
    for place, moment in enumerate(manifest["moments"]):
        rss = 32 + 28 * min(place, 1)
        here = folder / moment["name"]
        (here / "memory.max").write_text(f"{limit_mib * MIB}\n")
        (here / "memory.current").write_text(f"{(rss + 20) * MIB}\n")
        (here / "memory.stat").write_text(
            f"anon {rss * MIB}\nfile {18 * MIB}\nkernel {2 * MIB}\ninactive_file {10 * MIB}\n"
        )
        for name in ("memory.max", "memory.current", "memory.stat"):
            moment["artefacts"][name] = {"path": f"{moment['name']}/{name}"}
    (folder / "gomem.json").write_text(json.dumps(manifest))
    return gomem.diagnose(folder)


def test_the_cgroups_files_give_headroom_and_a_gomemlimit(tmp_path):
    """
    60 anonymous + 2 kernel of 256: 62 cannot be reclaimed, 176 can be charged yet.
    """
    diagnosis = cgroup_capture(tmp_path / "c", 256)

    limits = diagnosis.limits

    assert 62 * MIB == limits.cgroup.unreclaimable_bytes
    assert 176 * MIB == limits.cgroup.headroom_bytes
    assert limits.growth.points == 3
    assert limits.advice.enough
    words = str(plain(limits_section(diagnosis)))
    assert "mostly anon" in words
    assert "latest never" in words


def test_a_limit_that_is_nearly_full_is_a_finding(tmp_path):
    findings = cgroup_capture(tmp_path / "c", 68).findings

    assert ("limit-risk", "3-later") in {(one.code, one.moment) for one in findings}


def test_a_healthy_process_far_from_its_limit_has_no_finding(tmp_path):
    diagnosis = cgroup_capture(tmp_path / "c", 1024)

    assert "limit-risk" not in {one.code for one in diagnosis.findings}


def test_without_a_cgroup_the_worst_case_stands_alone():
    limits = diagnosed(OLD).limits

    assert limits.cgroup is None
    assert limits.advice is None
    assert "the container's limit is not in the capture" in str(
        plain(limits_section(diagnosed(OLD)))
    )


def test_of_garbage_no_time_is_told():
    """
    A counter of advertisements whose live heap is level; memory rises by garbage.
    """
    found = diagnosed(FIXTURES / "laboratory/captures/admeter-e.tar.gz")
    words = str(plain(limits_section(found)))

    assert found.limits.bounded
    assert found.facts.limit_growth is not None
    assert "the limit is not reached: only garbage grew, which the next GCs free" in words
    assert "is reached in" not in words


def test_of_a_slope_that_may_be_none_no_time_is_told():
    """
    64 MiB came and went: of four moments no line says anything.
    """
    words = str(plain(limits_section(diagnosed(FIXTURES / "injected/contained-go1.27.3"))))

    assert "might be zero" in words
    assert "is reached in" not in words


def test_json_has_the_changes_and_the_limits(tmp_path):
    report = report_json(cgroup_capture(tmp_path / "c", 256))

    assert ["2-steady", "3-later"] == [one["after"] for one in report["changes"]]
    assert "never" == report["limits"]["time_to_limit"]["latest_seconds"]
    assert report["limits"]["advice"]["gomemlimit_bytes"] == sum(
        step["bytes"] for step in report["limits"]["advice"]["steps"]
    )


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_pss_of_the_kinds_is_the_kernels_own(path):
    """
    Two sources, one number; smaps rounds each mapping down to 1 KiB, the rollup does not.
    """
    diagnosis = diagnosed(path)
    rollups = diagnosis.capture.rollups.set_index("moment")
    kinds = diagnosis.kinds.groupby("moment", sort=False)

    for moment, of_moment in kinds:
        lost = int(of_moment["vmas"].sum()) * 1024
        rollup = rollups.loc[moment]
        assert of_moment["pss_bytes"].sum() == pytest.approx(rollup["Pss"], abs=lost)
        shared = rollup["Shared_Clean"] + rollup["Shared_Dirty"]
        assert shared == of_moment["shared_bytes"].sum()
        assert rollup["Swap"] == of_moment["swap_bytes"].sum()


def test_what_the_kernel_does_not_print_is_unknown(tmp_path):
    (tmp_path / "smaps").write_bytes(
        b"00400000-00500000 r-xp 00000000 00:00 7 /app/api\nSize: 1024 kB\nRss: 512 kB\n"
    )

    kinds = gomem.diagnose(tmp_path).kinds

    assert kinds["rss_bytes"].sum() == 512 << 10
    assert pd.isna(kinds["pss_bytes"]).all()


@pytest.mark.parametrize(
    ("hits", "said"),
    [
        ((0, 837), "the kernel reclaims already (failcnt rose from 0 to 837)"),
        ((7, 7), "is left before the kernel must reclaim"),
    ],
)
def test_a_limit_that_is_reached_again_and_again_is_said(tmp_path, hits, said):
    """
    Of cgroup v1, where what is neither cache nor rss may be reclaimable slab.
    """
    for name, count in zip(("t1", "t2"), hits, strict=True):
        files = {
            "usage_in_bytes": 512 * MIB - 4096,
            "limit_in_bytes": 512 * MIB,
            "failcnt": count,
            "stat": f"cache {480 * MIB}\nrss {6 * MIB}\ninactive_file {470 * MIB}",
        }
        (tmp_path / name).mkdir()
        for file, content in files.items():
            (tmp_path / name / f"memory.{file}").write_text(f"{content}\n")

    section = limits_section(gomem.diagnose(tmp_path))

    (words,) = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert said in words
    assert words.startswith(
        "6.00 MiB cannot be reclaimed, mostly anonymous memory; of 26.0 MiB of "
    )


def test_one_kill_is_said_as_once(tmp_path):
    (tmp_path / "memory.current").write_text(f"{200 * MIB}\n")
    (tmp_path / "memory.max").write_text(f"{256 * MIB}\n")
    (tmp_path / "memory.stat").write_text(f"anon {180 * MIB}\nfile {20 * MIB}\n")
    (tmp_path / "memory.events").write_text("oom 1\noom_kill 1\n")

    assert "The OOM killer has killed once." in str(plain(limits_section(gomem.diagnose(tmp_path))))
