"""Where the control group's files are, by the kernel's own description of mounts."""

import pytest

from gomem.live.cgroup_files import cgroup_files
from gomem.live.process import NotRead

V2 = "30 24 0:26 {root} {at} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = "33 24 0:29 {root} {at} rw,nosuid - cgroup cgroup rw,memory\n"
OTHER = "34 24 0:30 / {at} rw - cgroup cgroup rw,cpu\n"


def mounted(tmp_path, lines, **files):
    for name in files.values():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n")
    mounts = tmp_path / "mountinfo"
    mounts.write_text(lines)
    return mounts


def test_version_2_below_its_mount(tmp_path):
    mounts = mounted(tmp_path, V2.format(root="/", at=tmp_path / "v2"), one="v2/a/b/memory.current")

    assert [tmp_path / "v2/a/b/memory.current"] == cgroup_files(b"0::/a/b\n", mounts)


def test_version_1_where_memory_is_on_it(tmp_path):
    """
    On a machine with both, version 2 has no memory controller.
    """
    lines = V2.format(root="/", at=tmp_path / "v2") + V1.format(root="/", at=tmp_path / "v1")
    mounts = mounted(tmp_path, OTHER.format(at=tmp_path) + lines, one="v1/a/memory.usage_in_bytes")
    own = b"5:cpu:/x\n4:memory:/a\n0::/a\n"

    assert [tmp_path / "v1/a/memory.usage_in_bytes"] == cgroup_files(own, mounts)


def test_a_container_sees_its_own_group_as_the_root(tmp_path):
    mounts = mounted(
        tmp_path, V1.format(root="/docker/7", at=tmp_path / "v1"), one="v1/memory.stat"
    )

    assert [tmp_path / "v1/memory.stat"] == cgroup_files(b"4:memory:/docker/7\n", mounts)


@pytest.mark.parametrize("group", ["/../other", "/elsewhere", "/docker/77"])
def test_a_group_outside_of_the_mount_is_not_there(group, tmp_path):
    mounts = mounted(
        tmp_path, V2.format(root="/docker/7", at=tmp_path / "v2"), one="v2/memory.stat"
    )

    with pytest.raises(NotRead):
        cgroup_files(f"0::{group}\n".encode(), mounts)
