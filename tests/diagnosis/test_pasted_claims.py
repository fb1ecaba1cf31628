"""What a pasted text does not bear, and so nothing says of it."""

import pytest

import gomem
from gomem.text import Bytes, Share, Text
from gomem.views.report.verdict import verdict


@pytest.fixture
def diagnosed(tmp_path):
    """A text as a file, diagnosed."""

    def written(text, name="ticket.md"):
        (tmp_path / name).write_text(text)
        return gomem.diagnose(gomem.load(tmp_path / name))

    return written


RUNS = """\
gc 1 @0.031s 3%: 0.026+1.3+1.2 ms clock, 0.053+0/0/2.3+2.5 ms cpu, 4->4->1 MB, 5 MB goal, 2 P
gc 2 @0.338s 1%: 0.014+1.3+2.2 ms clock, 0.028+0/1.2/1.3+4.4 ms cpu, 4->4->1 MB, 5 MB goal, 2 P
gc 3 @0.429s 1%: 0.016+1.4+1.2 ms clock, 0.032+0.006/1.1/1.1+2.5 ms cpu, 4->4->1 MB, 5 MB goal, 2 P
gc 1 @0.027s 19%: 4.7+2.0+2.3 ms clock, 9.4+0/0/6.5+4.7 ms cpu, 4->4->3 MB, 5 MB goal, 2 P
gc 2 @0.042s 23%: 3.1+4.7+1.9 ms clock, 6.2+0/0.53/4.3+3.8 ms cpu, 7->7->5 MB, 8 MB goal, 2 P
gc 3 @0.118s 13%: 0.054+15+2.7 ms clock, 0.10+0.27/5.2/0+5.5 ms cpu, 9->9->5 MB, 11 MB goal, 2 P
"""


def test_the_cost_of_several_runs_is_that_of_the_costliest(diagnosed):
    """
    Made up: the first run takes 1.1 % of 398 ms, the second 21 ms more of 91 ms, on two Ps.
    """
    found = diagnosed(RUNS)

    place, share = found.collector.costliest_run
    assert 2 == place
    assert 0.13 < share < 0.14
    assert found.collector.cost.gc_cpu_fraction < 0.06
    assert "run 2, the costliest" in found.verdict.headline
    assert [share] == [part.value for part in Text(found.verdict.headline).of(Share)]


def test_half_a_second_of_a_gc_log_is_not_called_healthy(diagnosed):
    longer = "".join(RUNS.splitlines(keepends=True)[:3]).replace("@0.429s", "@2.429s")

    assert ["neutral", "good"] == [verdict(found).tone for found in map(diagnosed, (RUNS, longer))]
    assert "Go heap healthy" in verdict(diagnosed(longer)).label


KILL = (
    "[1.0] Out of memory: Killed process 71 ({}) total-vm:8349780kB, anon-rss:1041924kB, "
    "file-rss:4kB, shmem-rss:0kB\n"
)
SCOPED = """\
Showing nodes accounting for 30000kB, 80% of 37500kB total
      flat  flat%   sum%        cum   cum%
   30000kB 80.00% 80.00%    30000kB 80.00%  util::Resource::Allocate
"""
BENCH = "BenchmarkArray{}Literal\t460840\t63.0 ns/op\t72 B/op\t1 allocs/op\n"
IN_A_MODULE = (
    "[2022-10-18 03:41:56.3][17][debug][wasm] log: Sys: 549133632, HeapSys: 540685408, "
    "HeapInuse: {}, NumGC: {}\n"
)
OF_GO = "GOMEMLIMIT", "debug/pprof", "expvar", "go test", "debug/vars"


def advice(found):
    steps = [found.verdict.next_step]
    steps += [f"{finding.next_step} {finding.mechanism}" for finding in found.findings]
    return " ".join(map(str, steps))


@pytest.mark.parametrize("text", [KILL.format("R"), SCOPED, BENCH.format("::")])
def test_what_is_no_go_by_its_names_gets_no_advice_of_gos(diagnosed, text):
    assert not [word for word in OF_GO if word in advice(diagnosed(text))]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (SCOPED.replace("::", "."), "debug/pprof"),
        (BENCH.format("Of"), "go test"),
        (KILL.format("api"), "a Go program collect garbage earlier, but the live heap can exceed"),
        (KILL.format("api"), "If this is a Go program, collect MemStats"),
    ],
)
def test_what_can_be_gos_gets_it(diagnosed, text, word):
    assert word in advice(diagnosed(text))


def test_a_module_of_webassembly_has_no_endpoint_and_no_proc(diagnosed):
    found = diagnosed(IN_A_MODULE.format(232100352, 7) + IN_A_MODULE.format(238943232, 8))

    assert "WebAssembly" in found.verdict.next_step
    assert not [word for word in (*OF_GO, "/proc/PID") if word in advice(found)]


STACKS = """\
goroutine 66 [select, 7 minutes]:
net/http.(*persistConn).readLoop(0xc8200cd1e0)
\t/usr/local/go/src/net/http/transport.go:976 +0xac7
created by net/http.(*Transport).dialConn
\t/usr/local/go/src/net/http/transport.go:685 +0xc78
"""
MAIN = """
goroutine 1 [chan receive]:
main.main()
\t/src/main.go:9 +0x1d
"""


def test_a_few_stacks_are_an_excerpt_unless_main_is_there(diagnosed):
    excerpt, whole = diagnosed(STACKS), diagnosed(STACKS + MAIN)

    assert str(excerpt.verdict.headline).startswith("At least 1 goroutine, which is shown;")
    assert "pprof/goroutine" in excerpt.verdict.next_step
    assert str(whole.verdict.headline).startswith("2 goroutines;")
    assert "pprof/heap" in whole.verdict.next_step
    crash = diagnosed(STACKS.replace("select, 7 minutes", "running"))
    assert "At least" not in crash.verdict.headline


def test_what_status_has_beside_files_is_anonymous(diagnosed):
    status = "Name:\tapi\nPid:\t1\nVmRSS:\t404360 kB\nRssAnon:\t376160 kB\n"
    found = diagnosed(status + "RssFile:\t28200 kB\nRssShmem:\t0 kB\nThreads:\t10\n", "status")

    assert "anonymous memory" in found.verdict.headline


@pytest.mark.parametrize("pid", ["<pid>", "XXXX", "***", "7124"])
def test_a_row_of_top_needs_no_pid(diagnosed, pid):
    row = "<user>  20   0 2048212 798072   6912 S   0.0   5.2 284:28.31 api-exporter"
    found = diagnosed(f"it is leaking:\n\n{pid} {row}\n\nafter a restart it drops.\n")

    assert [798072 << 10] == [part.rss_bytes for part in found.moments]


def test_the_head_of_an_older_top_has_the_page_cache(diagnosed):
    head = (
        "KiB Mem:   3523108 total,  3389464 used,   133644 free,    61456 buffers\n"
        "KiB Swap:  3526260 total,      232 used,  3526028 free.  2957668 cached Mem\n\n"
        "  PID USER      PR  NI    VIRT    RES    SHR S %CPU %MEM     TIME+ COMMAND\n"
        " 7582 root      10 -10  200904  30460  11692 S  0.0  0.9   0:09.88 api\n"
    )
    assert 2957668 << 10 in [size.value for size in Text(diagnosed(head).verdict.further).of(Bytes)]


@pytest.mark.parametrize("form", ["'vault.runtime.{}': {}.000", "nomad.host-1.runtime.{} = {}"])
def test_names_of_go_metrics_with_dots_are_memstats(diagnosed, form):
    lines = (form.format("alloc_bytes", 556320128), form.format("sys_bytes", 1414622464))
    found = diagnosed("the telemetry has:\n```\n" + "\n".join(lines) + "\n```\n")
    (read,) = found.capture.memstats.itertuples()

    assert (556320128, 1414622464) == (read.HeapAlloc, read.Sys)


OOM_REPORT = """\
[1.0] Memory cgroup stats for /kubepods/a: cache:4KB rss:613460KB shmem:0KB active_anon:614340KB
[1.0] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[1.0] [  22921]     0 22921      242        1    28672        0          -998 pause
[1.0] [  19388]  1000 19388  5588434   138005  8069120        0           999 api
"""


def test_a_report_without_its_kill_has_the_memory_of_its_cgroup(diagnosed):
    (words,) = (said for said in diagnosed(OOM_REPORT).verdict.whose if "OOM report" in said)

    assert [613460 << 10, 4096] == [size.value for size in Text(words).of(Bytes)]


CHARGED = "[1.0] memory: usage 524288kB, limit 524288kB, failcnt 812\n"
STATS = """\
[1.0] Memory cgroup stats for /kubepods/a:
[1.0] anon 390000000
[1.0] file {shmem}
[1.0] kernel 6291456
[1.0] shmem {shmem}
"""


@pytest.mark.parametrize(
    "prefix", ["", "Nov 20 09:14:30 node7 kernel: ", "2026-11-20T09:14:30Z vcpu-1 - Guest: <6>"]
)
def test_the_counters_of_newer_kernels_say_how_much_is_tmpfs(diagnosed, prefix):
    lines = f"{CHARGED}{STATS.format(shmem=134217728)}".splitlines()
    found = diagnosed("\n".join(f"{prefix}{line}" for line in lines) + "\n")
    (words,) = (said for said in found.verdict.whose if "OOM report" in said)

    assert [390000000, 134217728, 0] == [size.value for size in Text(words).of(Bytes)]
    assert "limit-risk" == found.verdict.code


def test_little_tmpfs_in_a_cgroup_whose_use_is_known_is_not_told(diagnosed):
    found = diagnosed(CHARGED + STATS.format(shmem=1 << 20))

    assert not [said for said in found.verdict.whose if "OOM report" in said]


@pytest.mark.parametrize("form", [STATS.format(shmem=4096), OOM_REPORT.splitlines()[0] + "\n"])
def test_a_cgroups_counters_alone_are_an_oom_report(diagnosed, form):
    (words,) = (said for said in diagnosed(form).verdict.whose if "OOM report" in said)

    assert Text(words).of(Bytes)[0].value in (390000000, 613460 << 10)
