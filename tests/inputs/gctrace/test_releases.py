"""Which releases print which line: real ones, and what the runtime's sources say of each form."""

import pytest

from gomem.inputs.gctrace.grammar import NEWEST, OLDEST
from tests.gc_logs import parse_gctrace

CLOCK = "0.036+0.98+0.030 ms clock, 0.073+0.22/0.21/0.58+0.061 ms cpu, 3->4->4 MB, 4 MB goal, "
SCANNED = "0 MB stacks, 0 MB globals, "
CYCLE = (
    "pacer: 44% CPU (25 exp.) for 680696+16384+221328 B work (237712 B exp.) in 4194304 B -> "
    "4472832 B (∆goal 204800, cons/mark +0.000000e+000)"
)
SWEEP = "pacer: sweep done at heap size 0MB; allocated 0MB "


@pytest.mark.parametrize(
    ("line", "first", "last"),
    [
        pytest.param(
            "gc 1 @0.004s 14%: 0.12+0.054+0.001+1.7+0.30 ms clock, "
            "0.25+0.054+0+0.006/1.0/1.6+0.60 ms cpu, 6->7->7 MB, 4 MB goal, 2 P",
            5, 5, id="gc-five-phases",
        ),
        pytest.param(f"gc 1 @0.002s 8%: {CLOCK}2 P", 6, 17, id="gc"),
        pytest.param(f"gc 1 @0.002s 8%: {CLOCK}2 P (forced)", 6, 17, id="gc-forced"),
        pytest.param(f"gc 1 @0.002s 8%: {CLOCK}{SCANNED}2 P", 18, None, id="gc-stacks"),
        pytest.param(
            f"gc 1 @0.010s 0% (checking for goroutine leaks): {CLOCK}{SCANNED}2 P (forced)",
            26, None, id="gc-leaks",
        ),
        pytest.param("scav 2256 KiB work, 54632 KiB total, 75% util", 14, 20, id="scav"),
        pytest.param(
            "scav 128544 KiB work, 195248 KiB total, 95% util (forced)", 14, 20, id="scav-forced"
        ),
        pytest.param(
            "scav 49152 KiB work, 53928 KiB total, 1% util [controller reset]", 19, 20,
            id="scav-reset",
        ),
        pytest.param("scav 1 0 KiB work, 55520 KiB total, 100% util", 15, 18, id="scav-number"),
        pytest.param(
            "scav 1 0 KiB work, 55520 KiB total, 100% util [controller reset]", 18, 18,
            id="scav-number-reset",
        ),
        pytest.param(
            "scav 15360 KiB work (bg), 0 KiB work (eager), 26400 KiB now, 0% util", 21, None,
            id="scav-eager",
        ),
        pytest.param("scvg0: 0 MB released", None, 12, id="scvg-number"),
        pytest.param(
            "scvg-1: inuse: 1, idle: 190, sys: 191, released: 190, consumed: 1 (MB)", None, 12,
            id="scvg-forced",
        ),
        pytest.param("scvg: 2 MB released", 13, 13, id="scvg"),
        pytest.param("forced scvg: 136 MB released", 13, 13, id="forced-scvg"),
        pytest.param("scvg: 8 KB released", 13, 13, id="scvg-beta"),
        pytest.param("forced scvg: 8 KB released", 13, 13, id="forced-scvg-beta"),
        pytest.param(f"{SWEEP}of spans; swept 117 pages", 6, 7, id="sweep-spans"),
        pytest.param(
            f"{SWEEP}of spans; swept 117 pages at +4.935436e-005 pages/byte", 8, 8,
            id="sweep-spans-rate",
        ),
        pytest.param(
            f"{SWEEP}during sweep; swept 117 pages at 0.0001 pages/byte", 9, None, id="sweep"
        ),
        pytest.param(
            "pacer: H_m_prev=2236962 h_t=+4.750000e-001 H_T=3299518 h_a=+5.893556e-001 "
            "H_a=3555328 h_g=+5.000000e-001 H_g=3355443 u_a=+2.973899e-001 u_g=+2.500000e-001 "
            "W_a=315888 goalΔ=+2.500000e-002 actualΔ=+1.143556e-001 u_a/u_g=+1.189560e+000",
            None, 17, id="goal",
        ),
        pytest.param(CYCLE, 18, None, id="cycle"),
        pytest.param(f"{CYCLE}[controller reset]", 18, 19, id="cycle-reset"),
        pytest.param("scan: total 38394 objs", 25, None, id="scan"),
        pytest.param("scan: class 96B 38224 objs", 25, None, id="scan-class"),
        pytest.param(
            "scan: class L 900+3929+32158=36987 objs, 1068+1347=2415 spans", 26, None,
            id="scan-spans",
        ),
        pytest.param("GC forced", None, None, id="announcement"),
    ],
)  # fmt: skip
def test_a_line_is_of_the_releases_that_print_its_form(line, first, last):
    """
    From the runtime's sources of 40 releases; without a first or a last, as far as gomem knows.
    """
    columns, damage = parse_gctrace(f"{line}\n".encode(), source="log")

    since, until = OLDEST if first is None else (1, first), NEWEST if last is None else (1, last)
    assert [] == damage
    assert (since, until) == columns.go_releases
