"""The shared pages that top shows bound what of RSS can be files."""

import gomem
from gomem.analysis.memory.groups import FILES, NATIVE
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
