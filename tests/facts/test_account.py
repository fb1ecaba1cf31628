"""What bounds the parts of RSS where no smaps divides it: top's shared pages, and a later Sys."""

import gomem
from gomem.analysis.memory.groups import FILES, NATIVE
from gomem.analysis.memory.readings import GO, NOT_GO
from gomem.units import MIB

TOP = """top - 12:5{minute}:0{at} up 12:25,  0 user,  load average: 4.89, 4.31, 3.49
  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
 8461 app       20   0 1876992 {kib}   8000 S   9.0   1.5   0:01.50 radarfeed
"""


def test_what_is_beyond_sys_and_the_shared_pages_is_native(tmp_path):
    rows = (TOP.format(minute=3, at=at, kib=(60 + 50 * at) << 10) for at in range(6))
    (tmp_path / "top.txt").write_text("".join(rows))
    lines = (
        f"2026/11/27 12:53:0{at} mem: heap_alloc=1MB heap_released=3MB sys=12MB numgc={at}\n"
        for at in range(6)
    )
    (tmp_path / "app.log").write_text("".join(lines))

    diagnosis = gomem.diagnose(tmp_path)

    last = diagnosis.facts.account_of_rss.last
    assert 310 * MIB == last.total_bytes
    assert 8000 << 10 >= last.certain.parts[FILES].high
    assert 285 * MIB <= last.likely.parts[NATIVE].low
    assert "native-memory" == diagnosis.findings[0].code


def test_sys_bounds_what_go_has_in_the_snapshots_before_it_is_read(tmp_path):
    text = "12:53 RSS 20 MiB\n12:54 RSS 160 MiB\n12:55 RSS 300 MiB, Sys 12 MiB\n"
    (tmp_path / "notes.txt").write_text(text)

    account = gomem.diagnose(tmp_path / "notes.txt").facts.account_of_rss

    assert [13 * MIB] * 3 == [each.certain.together(GO).high for each in account.snapshots]
    assert 160 * MIB - 13 * MIB == account.snapshots[1].certain.together(NOT_GO).low
