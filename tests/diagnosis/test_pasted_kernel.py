"""The kernel's side as people paste it: what the verdict says of it, and what it does not."""

import json
import tempfile
from pathlib import Path

import pytest

import gomem
from gomem.causes.finding import Severity
from gomem.text import Bytes, Count, Program, Text
from gomem.views.document import Paragraph
from gomem.views.report.ledger import ledger_section
from gomem.views.report.limits import limits_section
from tests.builders import FIXTURES

KERNEL, LINES = FIXTURES / "pasted/kernel", FIXTURES / "pasted/runtime-lines"
KIB, MIB = 1 << 10, 1 << 20
SMAPS = (KERNEL / "held.smaps").read_bytes()


def diagnosed(folder, **files):
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.read_bytes())
    return gomem.diagnose(gomem.load(folder))


def loaded(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pasted.txt"
        path.write_bytes(content)
        return gomem.load(path)


def sizes(sentence, of=Bytes):
    return [part.value for part in Text(sentence).of(of)]


# smaps that is cut


def whole_entries(data):
    """The smaps of the first mappings, and what they have resident."""
    return gomem.read_smaps(data).mappings["Rss"].sum()


@pytest.mark.parametrize("lost", [3, 40, 300, 700, 5000])
def test_smaps_cut_at_its_end_says_at_least(tmp_path, lost):
    found = diagnosed(tmp_path, smaps=SMAPS[:-lost])
    (facts,) = found.moments
    known = whole_entries(SMAPS[:-lost])

    assert facts.ledger.is_least
    assert known == facts.rss_bytes == facts.ledger.parts["bytes"].sum() > 20 * MIB
    assert "at least" in found.verdict.where
    assert known == sizes(found.verdict.where)[0]
    assert "go_heap" in facts.groups.sizes or "go_free" in facts.groups.sizes
    assert "cat /proc/PID/smaps" in found.verdict.next_step


@pytest.mark.parametrize("lost", [9, 150, 701, 3000])
def test_smaps_cut_at_its_beginning_says_at_least(tmp_path, lost):
    found = diagnosed(tmp_path, smaps=SMAPS[lost:])
    (facts,) = found.moments

    assert facts.ledger.is_least
    assert 20 * MIB < facts.rss_bytes <= whole_entries(SMAPS)
    assert "at least" in found.verdict.headline
    assert [facts.mappings["Rss"].notna().sum()] == sizes(found.verdict.headline, Count)[:1]


def test_a_cut_smaps_beside_a_whole_total_does_not_replace_it(tmp_path):
    found = diagnosed(tmp_path, smaps=SMAPS[:-700], status=KERNEL / "held.status")
    (facts,) = found.moments

    assert not facts.ledger.is_least
    assert "status VmRSS" == facts.ledger.rss_source


def test_no_finding_rests_on_sums_of_a_cut_smaps(tmp_path):
    """
    Of C's heap alone, cut off from the rest, nobody knows which share of RSS it is.
    """
    native = b"".join(
        f"{base:x}-{base + 64 * MIB:x} rw-p 00000000 00:00 0 [heap]\nSize: 65536 kB\n"
        f"Rss: 65536 kB\n".encode()
        for base in (0x10000000, 0x20000000)
    )
    whole = diagnosed(tmp_path, smaps=native)
    cut = diagnosed(tmp_path, smaps=native + b"30000000-30001000 rw-p 00000000 00:00 0\nSi")

    assert "native-memory" in {finding.code for finding in whole.findings}
    assert {"data-damaged", "data-missing"} == {finding.code for finding in cut.findings}


# pmap


def test_pmap_beside_status_says_where_it_is(tmp_path):
    found = diagnosed(tmp_path, status=KERNEL / "held.status", pmap__txt=KERNEL / "pmap-x.txt")
    (facts,) = found.moments

    assert "pmap RSS" == facts.ledger.rss_source
    assert facts.groups.bytes_within("go_heap") > 20 * MIB
    assert "Go heap" in found.verdict.where


# Page cache of a cgroup


CACHED = b"cache 2800000000\nrss 688128\nmapped_file 0\ninactive_file 2600000000\n"
TOTALS = b"total_cache 2800000000\ntotal_rss 688128\ntotal_inactive_file 2600000000\n"
FORMS = FIXTURES / "pasted/forms"
V2 = b"anon 688128\nfile 2800000000\nshmem 0\ninactive_file 2600000000\n"


@pytest.mark.parametrize(
    ("usage", "stat"),
    [
        ("memory.usage_in_bytes", CACHED + TOTALS),
        ("memory.usage_in_bytes", CACHED),
        ("memory.current", V2),
    ],
)
def test_page_cache_leads_where_it_is_most_of_what_is_used(tmp_path, usage, stat):
    (tmp_path / usage).write_bytes(b"2850000000\n")
    found = diagnosed(tmp_path, memory__stat=stat)

    assert "page cache" in found.verdict.headline
    assert [688128, 2850000000, 2800000000] == [
        size for size in sizes(found.verdict.headline) if size != 0
    ][-3:]


def test_page_cache_is_said_once_beside_a_kill(tmp_path):
    for name in ("memory.max", "memory.current"):
        (tmp_path / name).write_bytes(b"3000000000\n")
    (tmp_path / "memory.events").write_bytes(b"oom 1\noom_kill 1\n")
    found = diagnosed(tmp_path, memory__stat=CACHED.split(b"\n")[0] + b"\n")

    assert "page cache" in found.verdict.where
    assert () == found.verdict.whose


def test_page_cache_is_said_where_anonymous_memory_is_not_known(tmp_path):
    found = diagnosed(tmp_path, memory__stat=CACHED.split(b"\n")[0] + b"\n")

    assert [2800000000] * 2 == sizes(found.verdict.headline)
    assert "at least" in found.verdict.headline


def test_a_little_page_cache_is_not_worth_a_word(tmp_path):
    (tmp_path / "memory.current").write_bytes(b"100000000\n")
    found = diagnosed(tmp_path, memory__stat=b"anon 95000000\nfile 5000000\nshmem 0\n")

    assert "page cache" not in found.verdict.sentence + "".join(found.verdict.whose)


@pytest.mark.parametrize(
    ("rss_kib", "limit", "is_said"),
    [
        pytest.param(24_000, None, False, id="a machine's"),
        pytest.param(240_000, None, True, id="a process with a good part of it"),
        pytest.param(24_000, b"9000000000\n", True, id="with a limit"),
    ],
)
def test_page_cache_of_a_cgroup_of_others_is_not_said(tmp_path, rss_kib, limit, is_said):
    """
    1 GB of the cgroup is no page cache.
    """
    (tmp_path / "memory.current").write_bytes(b"8000000000\n")
    if limit is not None:
        (tmp_path / "memory.max").write_bytes(limit)
    status = f"Name:\tapi\nVmRSS:\t{rss_kib} kB\nRssAnon:\t{rss_kib} kB\n".encode()

    found = diagnosed(tmp_path, status=status, memory__stat=b"anon 900000000\nfile 7000000000\n")

    assert is_said == ("page cache" in found.verdict.headline)


def test_shared_memory_is_no_page_cache(tmp_path):
    (tmp_path / "memory.current").write_bytes(b"900000000\n")
    found = diagnosed(tmp_path, memory__stat=b"anon 1000\nfile 800000000\nshmem 800000000\n")

    assert 0 == found.moments[0].page_cache.bytes
    assert "page cache" not in found.verdict.sentence


# Tables of processes


def test_the_largest_process_is_named_and_others_are_counted():
    found = gomem.diagnose(gomem.load(KERNEL / "ps-aux.txt"))
    (facts,) = found.moments

    assert 23448 * KIB == facts.rss_bytes
    assert ("held", 4, 3, True) == (
        facts.listed.name, facts.listed.pid, facts.listed.others, facts.listed.is_largest
    )  # fmt: skip
    assert ["held"] == sizes(found.verdict.headline, Program)
    assert "processes ps RSS" == facts.ledger.rss_source
    assert found.verdict.severity is None


def test_a_name_or_a_pid_of_the_capture_says_which_process_it_is(tmp_path):
    table = b"PID RSS COMMAND\n7 1000 /app/api\n9 90000 /usr/bin/java\n"
    build = b"/app/api: go1.27.3\n\tpath\texample.org/cmd/api\n"
    by_name = diagnosed(tmp_path, ps__txt=table, buildinfo__txt=build)
    (tmp_path / "buildinfo.txt").unlink()
    alone = diagnosed(tmp_path, ps__txt=table)
    manifest = {"schema": "gomem.capture/1", "pid": 7, "moments": []}
    by_pid = diagnosed(tmp_path, ps__txt=table, gomem__json=json.dumps(manifest).encode())

    assert ["api", "java", "api"] == [
        found.moments[0].listed.name for found in (by_name, alone, by_pid)
    ]


def test_readings_of_top_are_of_one_process():
    """
    The largest of one reading can be another of the next: that is no growth.
    """
    head = b"    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
    row = b"%d app 20 0 99999 %d 100 S 0.0 0.0 0:00.00 %s\n"
    text = b"".join(
        head + row % (1, first, b"api") + row % (2, second, b"db") + b"\n"
        for first, second in ((50_000, 10_000), (50_000, 400_000))
    )
    found = gomem.diagnose(loaded(text))

    assert ["db", "db"] == [facts.listed.name for facts in found.moments]
    assert [10_000 * KIB, 400_000 * KIB] == [facts.rss_bytes for facts in found.moments]


@pytest.mark.parametrize("cell", ["{}", "<b>{}</b>", "<strong>{}</strong>", "<code>{}</code>"])
def test_a_tag_around_a_cell_of_top_changes_nothing(cell):
    head = b"    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
    row = f" 77 app 20 0 {cell.format('21.3g')} 14m 8100 S 0.7 1.3 0:01.10 shop\n".encode()
    found = gomem.diagnose(loaded(head + row))

    assert 14 * MIB == found.moments[0].rss_bytes
    assert int(21.3 * 1024 * MIB) == found.moments[0].listed.mapped_bytes


def test_a_cut_table_of_mappings_that_is_mostly_go_heap_asks_for_a_heap_profile():
    rows = (
        b"         Address Perm   Offset Device  Inode   Size     Rss     Pss Anonymous Mapping\n"
        b"        00400000 r-xp 00000000  fe:01  99123   7000    6000    6000         0 shop\n"
        b"      c000000000 rw-p 00000000  00:00      0 901120  900000  900000    900000\n"
    )
    step = gomem.diagnose(loaded(b"4711:   /usr/bin/shop\n" + rows)).verdict.next_step

    assert "debug/pprof/heap" in step
    assert "/proc/PID/smaps" in step


def test_rss_of_status_is_finer_than_that_of_ps(tmp_path):
    found = diagnosed(tmp_path, status=KERNEL / "held.status", ps__txt=KERNEL / "ps-aux.txt")

    assert "status VmRSS" == found.moments[0].ledger.rss_source


@pytest.mark.parametrize("name", ["docker-stats.txt", "kubectl-top.txt"])
def test_a_working_set_is_not_called_rss(name):
    found = gomem.diagnose(gomem.load(KERNEL / name))

    assert found.moments[0].rss_bytes is None
    assert 284 * MIB == sizes(found.verdict.headline)[0]
    assert "working set" in found.verdict.headline
    assert "gomem capture" in found.verdict.next_step


# The OOM killer


@pytest.mark.parametrize(("name", "limit"), [("dmesg.txt", 64 * MIB), ("killed.txt", None)])
def test_who_was_killed_is_the_headline(name, limit):
    found = gomem.diagnose(gomem.load(KERNEL / name))
    finding = next(one for one in found.findings if one.code == "limit-risk")
    killed = gomem.read_processes(KERNEL / name).processes.iloc[-1]

    assert (Severity.CRITICAL, "certain") == (finding.severity, finding.confidence)
    assert ["held"] == sizes(finding.title, Program)
    assert [killed["rss_bytes"], *([limit] if limit else [])] == sizes(finding.title)
    assert "GOMEMLIMIT" not in finding.next_step  # nothing says what was Go's


def test_a_task_table_without_a_kill_names_the_largest():
    lines = (KERNEL / "dmesg.txt").read_bytes().splitlines(keepends=True)
    found = gomem.diagnose(loaded(b"".join(lines[48:50])))

    assert "held" == found.moments[0].listed.name
    assert "limit-risk" not in {finding.code for finding in found.findings}


# A program's own lines


@pytest.mark.parametrize("name", ["cockroach.log", "cockroach-2018.log"])
def test_runtime_lines_are_a_series_in_the_account(name):
    exact = json.loads((LINES / "exact.json").read_text())
    found = gomem.diagnose(gomem.load(LINES / name))
    account = found.facts.account

    assert 8 == len(found.moments) == len(account.snapshots)
    assert "rss" == account.quantity
    assert [1] * 8 == [facts.goroutine_count for facts in found.moments]
    grew = exact[-1]["RSS"] - exact[0]["RSS"]
    assert abs(account.change_bytes - grew) <= 2 * MIB
    for snapshot, reading in zip(account.snapshots, exact, strict=True):
        objects = snapshot.certain.together(frozenset({"go_live", "go_garbage"}))
        assert objects.low <= 1.02 * reading["HeapAlloc"] + MIB
        stacks = snapshot.certain.parts["go_stacks"]
        assert stacks.low <= reading["StackInuse"] <= stacks.high + MIB


def test_what_c_holds_is_cs():
    line = (
        b"I260102 10:20:30.400000 100 x  runtime stats: 12 GiB RSS, 100 goroutines, "
        b"1.0 GiB/0.5 GiB/2.0 GiB GO alloc/idle/total, 6.8 GiB/7.8 GiB CGO alloc/total, 5cgo/sec\n"
    )
    found = gomem.diagnose(loaded(line))
    (facts,) = found.moments

    assert facts.ledger.part("native_heap") == int(7.8 * (1 << 30))
    assert facts.rss_bytes == facts.ledger.parts["bytes"].sum()
    native = found.facts.account.last.certain.parts["native"]
    assert int(7.8 * (1 << 30)) == native.low


@pytest.mark.parametrize("name", ["otelcol.log", "consul.log"])
def test_a_heap_without_rss_is_said_as_heap(name):
    found = gomem.diagnose(gomem.load(LINES / name))
    frame = gomem.read_runtime_lines(LINES / name).readings

    ends = [frame["go_alloc_bytes"].iloc[0], frame["go_alloc_bytes"].iloc[-1]]
    assert set(ends) <= set(sizes(found.verdict.sentence))
    assert found.verdict.rss_bytes is None


# The OOM killer's lines


KILL = (
    "{stamp} {what}: Killed process {pid} (api) total-vm:900000kB, anon-rss:{anon}kB, "
    "file-rss:0kB, shmem-rss:0kB\n"
)
CGROUP_LINES = """\
[Tue Mar  4 09:10:00 2025] memory: usage 524288kB, limit 524288kB, failcnt 41
[Tue Mar  4 09:10:00 2025] swap: usage 0kB, limit 9007199254740988kB, failcnt 0
[Tue Mar  4 09:10:00 2025] Memory cgroup stats for /kubepods/pod17:
[Tue Mar  4 09:10:00 2025] anon 500000000
                           file 4096
                           kernel_stack 8192
                           sock 0
                           shmem 0
                           file_mapped 4096
                           inactive_anon 0
                           active_anon 500000000
"""


def kills(what, *, dated=True):
    stamps = ("[Tue Mar  4 09:00:00 2025]", "[Tue Mar  4 11:00:00 2025]")
    stamps = stamps if dated else ("[ 100.25]", "[ 7300.25]")
    return "".join(
        KILL.format(stamp=stamp, what=what, pid=pid, anon=1024 * pid)
        for pid, stamp in enumerate(stamps, start=70)
    ).encode()


@pytest.mark.parametrize("dated", [True, False])
def test_earlier_kills_of_a_program_are_no_other_processes(dated):
    found = gomem.diagnose(loaded(kills("Out of memory", dated=dated)))
    listed = found.moments[-1].listed

    assert (71, 2, 0) == (listed.pid, listed.kills, listed.others)
    assert (7200.0 if dated else None) == listed.kill_seconds
    assert [2] == sizes(found.verdict.headline, Count)
    assert "unknown" not in found.verdict.headline


def test_the_largest_of_several_killed_is_reported_with_its_cgroup():
    report = (
        "{name} invoked oom-killer: order=0\nmemory: usage {limit}kB, limit {limit}kB, failcnt 9\n"
        "Memory cgroup out of memory: Killed process {pid} ({name}) total-vm:9000000kB, "
        "anon-rss:{limit}kB, file-rss:0kB, shmem-rss:0kB\n"
    )
    killed = [("ingest", 31, 2048 * 1024), ("probe", 32, 8 * 1024), ("proxy", 33, 64 * 1024)]
    text = "".join(report.format(name=name, pid=pid, limit=kib) for name, pid, kib in killed)
    found = gomem.diagnose(loaded(text.encode()))

    listed = found.moments[-1].listed

    assert ("ingest", 2 << 30) == (listed.name, listed.limit_bytes)
    assert "also killed: proxy at 64 MiB, probe at 8 MiB" in f"{found.verdict.sentence}"


@pytest.mark.parametrize(
    ("what", "said", "why"),
    [
        ("Out of memory", "the machine ran out of memory", "The machine"),
        ("Memory cgroup out of memory", "its cgroup reached its limit", "memory.max"),
    ],
)
def test_what_ran_out_is_said_and_why(what, said, why):
    found = gomem.diagnose(loaded(kills(what)))
    (finding,) = (each for each in found.findings if "limit-risk" == each.code)

    assert said in found.verdict.headline
    assert why in finding.mechanism


@pytest.mark.parametrize(
    "lines", [CGROUP_LINES, "\n".join(CGROUP_LINES.splitlines()[:2]) + "\n"], ids=["all", "usage"]
)
def test_the_cgroup_of_a_report_without_its_kill(lines):
    found = gomem.diagnose(loaded(lines.encode()))
    use = found.moments[-1].cgroup_use

    assert (512 * MIB, 512 * MIB) == (use.current_bytes, use.limit_bytes)
    assert [512 * MIB, 512 * MIB] == sizes(found.verdict.headline)
    assert found.verdict.severity is Severity.CRITICAL


def test_memory_stat_that_begins_within_is_a_cgroups():
    """
    As dmesg indents it, without the stamp and what comes first.
    """
    cut = "\n".join(CGROUP_LINES.splitlines()[5:]) + "\n"
    found = gomem.diagnose(loaded(cut.encode()))

    assert [500_000_000] == sizes(found.verdict.headline)
    assert not found.capture.damaged


@pytest.mark.parametrize(
    "behind", ["```\n", "That is far more than the usual 20 MB.\n", "而平时只有 20MB 左右。\n"]
)
def test_a_fence_or_a_sentence_behind_a_table_is_no_damage(behind):
    table = "CONTAINER CPU % MEM USAGE / LIMIT\napi-01 15.2% 300MiB / 512MiB\n"
    read = gomem.read_processes(f"{table}{behind}".encode())

    assert () == read.damaged
    assert [300 * MIB] == read.processes["working_set_bytes"].tolist()


def test_a_row_that_is_cut_is_damage():
    table = "CONTAINER CPU % MEM USAGE / LIMIT\napi-01 15.2% 300MiB / 512MiB\napi-02 1.0% 30\n"

    assert 1 == len(gomem.read_processes(table.encode()).damaged)


def test_plain_pmap_says_that_it_lacks_rss():
    rows = "".join(f"{0x400000 + 0x1000 * n:016x}      8K r-x-- api\n" for n in range(4))
    found = gomem.diagnose(loaded(f"311:   ./api\n{rows} total               32K\n".encode()))

    assert [4] == sizes(found.verdict.headline, Count)
    assert "pmap -x" in found.verdict.next_step


@pytest.mark.parametrize("mark", ["# ", "$ ", ""])
def test_kubectl_top_behind_a_mark(mark):
    table = ("NAME   CPU(cores)   MEMORY(bytes)", "api-0   1m   9Mi", "api-1   1m   6Mi")
    read = gomem.read_processes("".join(f"{mark}{line}\n" for line in table).encode())

    assert [9 * MIB, 6 * MIB] == read.processes["working_set_bytes"].tolist()


def test_docker_stats_with_the_columns_of_memory_alone():
    read = gomem.read_processes(b"MEM USAGE / LIMIT   MEM %\n300MiB / 512MiB   58.59%\n")

    assert [300 * MIB] == read.processes["working_set_bytes"].tolist()
    assert () == read.damaged


def test_status_from_its_sizes_on():
    text = "VmPeak:  9000 kB\nVmSize:  8000 kB\nVmRSS:   4096 kB\nRssAnon:  2048 kB\n"

    assert 4096 * KIB == gomem.read_status(text.encode()).status["VmRSS"].item()
    assert [4096 * KIB] == [
        facts.rss_bytes for facts in gomem.diagnose(loaded(text.encode())).moments
    ]


def test_what_top_calls_shared_is_files_and_shared_memory(tmp_path):
    row = "  7 app       20   0 2051.2g   600m   400m S  44.2  42.7   1241:30 api\n"
    (tmp_path / "top.txt").write_text(row)

    verdict = gomem.diagnose(tmp_path / "top.txt").verdict

    shared = (
        f"{Bytes(400 * MIB)} of it is files and shared memory (SHR), the other {Bytes(200 * MIB)}"
    )
    assert shared in verdict.sentence


def test_the_kernels_own_memory_is_told_where_it_is_much(tmp_path):
    slab = "slab_reclaimable 1232589368\nslab 1232717776\n"
    stat = f"anon 663552\nfile 10313728\nkernel_stack 49152\n...\n{slab}"
    (tmp_path / "memory.stat").write_text(stat)

    diagnosis = gomem.diagnose(tmp_path / "memory.stat")

    used, kernel = 663552 + 10313728 + 49152 + 1232717776, 49152 + 1232717776
    said = (
        f"Of at least {Bytes(used)} in the cgroup {Bytes(kernel)} is the kernel's own memory "
        f"(slab, stacks, page tables), including {Bytes(1232589368)} of slab"
    )
    assert any(sentence.startswith(said) for sentence in diagnosis.verdict.whose)
    assert () == tuple(diagnosis.capture.damaged)


def test_the_kernels_peak_is_said_where_it_is_well_above(tmp_path):
    text = "VmPeak:\t  900000 kB\nVmSize:\t  900000 kB\nVmHWM:\t  {} kB\nVmRSS:\t  400000 kB\n"
    said = []
    for peak in (450000, 410000):
        (tmp_path / "status").write_text(text.format(peak))
        said.append(gomem.diagnose(tmp_path / "status").verdict.whose)

    assert (f"RSS peaked at {Bytes(450000 * 1024)} (VmHWM).",) == said[0]
    assert () == said[1]


def test_five_kills_are_five_where_the_last_line_is_cut(tmp_path):
    line = (KERNEL / "killed.txt").read_text()
    (tmp_path / "dmesg.txt").write_text(line * 4 + line[: line.index("total-vm")])

    diagnosis = gomem.diagnose(tmp_path / "dmesg.txt")

    assert "held was killed 5 times" in diagnosis.verdict.headline
    assert 1 == len(diagnosis.capture.damaged)


ROWS = b"""CONTAINER      CPU %     MEM USAGE / LIMIT     MEM %
0a1b2c3d4e5f   0.51%     7.1 GB / 8.4 GB       84.52%
1a1b2c3d4e5f   0.01%     64 MB / %s       0.76%%
"""


@pytest.mark.parametrize(("limit", "is_shared"), [(b"8.4 GB", True), (b"1.0 GB", False)])
def test_a_limit_that_all_containers_show_is_likely_the_machines(tmp_path, limit, is_shared):
    diagnosis = diagnosed(tmp_path, stats__txt=ROWS.replace(b"%s", limit).replace(b"%%", b"%"))

    said = f"{diagnosis.verdict.sentence}"
    assert is_shared == ("likely the machine's memory" in said)
    assert is_shared != ("of its limit of" in said)
    assert "working set" not in said
    (risk,) = (found for found in diagnosis.findings if found.code == "limit-risk")
    assert ["usage", "limit"] == [evidence.field for evidence in risk.evidence]


# A cgroup's numbers as Docker's API and people shorten them


def test_what_memory_stat_leaves_out_is_not_0(tmp_path):
    """
    Without file_mapped RSS is at least the anonymous memory.
    """
    lines = (KERNEL / "memory.stat").read_bytes().replace(b"mapped_file", b"...\n#")
    short = b"\n".join(line for line in lines.split(b"\n") if not line.startswith(b"#"))
    found = diagnosed(tmp_path, memory__stat=short)
    (facts,) = found.moments

    assert facts.ledger.is_least
    assert 22102016 == facts.rss_bytes
    assert "mapped_files" not in set(facts.ledger.parts["part"])
    assert "The cgroup's processes use 21 MiB of anonymous memory" in found.verdict.sentence
    assert any("mapped" in note for note in facts.ledger.notes)


def test_dockers_api_has_the_charge_the_limit_and_how_often_that_was_reached():
    found = gomem.diagnose(FORMS / "docker-api.json")
    (facts,) = found.moments
    use = facts.cgroup_use

    numbers = use.current_bytes, use.limit_bytes, use.peak_bytes
    assert (119517184, 268435456, 119517184 + 4096) == numbers
    assert 22102016 == facts.rss_bytes
    (said,) = (sentence for sentence in found.verdict.whose if "its limit" in sentence)
    assert [119517184, 268435456, 119517184 + 4096] == sizes(said)
    assert [2] == sizes(said, Count)


def test_a_piece_of_dockers_api_between_sentences_is_read():
    text = (FORMS / "docker-api.json").read_text()
    piece = text[text.index('"memory_stats"') : text.rindex(',\n "name"')]
    found = gomem.diagnose(loaded(f"I want these:\n```\n{piece}\n```\nas you see.\n".encode()))

    assert 268435456 == found.moments[0].cgroup_use.limit_bytes


# What the OOM killer's own lines say


KILLED_ONE = (
    "[12.3] Out of memory: Killed process 168 ({}) total-vm:1268868kB, anon-rss:{}kB, "
    "file-rss:8672kB, shmem-rss:0kB, UID:65534 pgtables:200kB oom_score_adj:0\n"
)


def test_a_small_victim_is_not_what_filled_the_machine():
    found = gomem.diagnose(loaded(KILLED_ONE.format("api", 12712).encode()))

    assert "memory that belongs to no process" in found.verdict.next_step
    assert "the machine ran out" not in found.verdict.headline
    assert [21384 * KIB] == sizes(found.verdict.next_step)
    assert "gomem capture" not in found.verdict.next_step


def test_a_program_that_is_no_go_gets_none_of_gos_advice():
    found = gomem.diagnose(loaded(KILLED_ONE.format("postgres", 5254748).encode()))
    (finding,) = [finding for finding in found.findings if finding.code == "limit-risk"]

    assert "is not a Go program" in found.verdict.next_step
    assert "GOMEMLIMIT" not in finding.mechanism
    other = gomem.diagnose(loaded(KILLED_ONE.format("api", 5254748).encode()))
    assert "gomem capture" in other.verdict.next_step


STACK = "[1.2] app invoked oom-killer: gfp_mask=0x100cca, order=0\n[1.2] Call Trace:\n[1.2]  {}\n"


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("mem_cgroup_out_of_memory+0xbd/0xe0", "its cgroup had reached its limit"),
        ("__alloc_pages_nodemask+0x2df/0x326", "the machine had none left"),
    ],
)
def test_lines_without_a_victim_say_who_asked_and_what_was_full(frame, said):
    with pytest.raises(gomem.errors.CaptureError, match=f"app asked for memory as {said}"):
        loaded(STACK.format(frame).encode())


BARE_CGROUP = b"""$ cat /sys/fs/cgroup/memory/memory.usage_in_bytes
8000000000
$ cat /sys/fs/cgroup/memory/memory.stat
...
total_cache 4000000000
"""


def test_what_a_cgroups_files_do_not_say_is_unknown_in_the_report(tmp_path):
    found = diagnosed(tmp_path, asked__txt=BARE_CGROUP)
    use = found.limits.cgroup
    section, ledger = limits_section(found), ledger_section(found)
    report = " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))

    assert (None, None, False) == (use.limit_bytes, use.working_set_bytes, use.limit_is_known)
    assert (8_000_000_000, False) == (use.unreclaimable_bytes, use.is_counted)
    assert "At most 7.45 GiB cannot be reclaimed" in report
    assert "3.73 GiB is page cache" in found.verdict.sentence
    assert "needs memory, except tmpfs" in found.verdict.sentence
    assert "Its limit is unknown" in report
    assert "no limit of its own" not in report
    assert "working set" not in report
    assert ledger is None


BESIDE = b"""$ docker stats
CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT     MEM %    PIDS
de432d541be0   back   0.00%   60.5GiB / 125.6GiB    48.17%   8

$ docker top de432d541be0 u
USER   PID   %CPU  %MEM  VSZ     RSS   TTY  STAT  START  TIME  COMMAND
root   416   0.0   0.0   703840  8192  ?    Ssl   May31  0:01  cron 0 0 * * * /usr/local/bin/b
"""


def test_a_process_beside_a_container_is_not_another_one(tmp_path):
    found = diagnosed(tmp_path, ticket__txt=BESIDE)
    said = f"{found.verdict.headline} {found.verdict.sentence} {found.verdict.whose}"

    assert "48 % of 126 GiB. 126 GiB is its limit, or the machine's memory if it has none." in said
    assert "is of a process, cron, PID 416, at 8 MiB RSS" in said
    assert "another process" not in said
    assert "memory.stat" in found.verdict.next_step
    assert "Go program" not in found.verdict.next_step


TASKS = b"".join(
    b"[9.1] [%7d]     0 %5d   9000   %5d   98304        0             0 %b\n"
    % (pid, pid, rss, name)
    for pid, rss, name in (
        (754, 900, b"journald"),
        (1175, 4735, b"multipathd"),
        (1680, 700, b"cron"),
    )
)


def test_a_task_table_without_the_killed_process_asks_for_it():
    verdict = gomem.diagnose(loaded(TASKS)).verdict

    assert [3] == sizes(verdict.headline, Count)
    assert "rows of its table" in verdict.headline
    assert "processes" not in verdict.headline
    assert "killed process" in verdict.next_step
    assert "smaps" not in verdict.next_step


STATS = (
    b"CONTAINER      CPU %    MEM USAGE / LIMIT   MEM %    NET I/O           BLOCK I/O\n"
    b"0a1b2c3d4e5f   0.22%    0 B / 1.02 GB       0.00%    2.3 kB / 648 B    29.6 MB / 0 B\n"
    b"1a1b2c3d4e5f   0.10%    0 B / 1.02 GB       0.00%    2.3 kB / 648 B    29.6 MB / 0 B\n"
)


@pytest.mark.parametrize("limit", [b"1.02 GB", b"0 B"])
def test_docker_stats_without_a_memory_cgroup(limit):
    verdict = gomem.diagnose(loaded(STATS.replace(b"1.02 GB", limit))).verdict

    assert [2] == sizes(verdict.headline, Count)
    assert "memory cgroup is off" in verdict.headline
    assert ("stopped" in verdict.headline) == (limit == b"0 B")
    assert "/proc/PID/status" in verdict.next_step


def test_docker_stats_with_one_size_is_read_as_before():
    some = STATS.replace(b"0.10%    0 B", b"0.10%    9 MB")

    assert "off" not in gomem.diagnose(loaded(some)).verdict.headline


TASKS_AROUND = (
    "[  310]   999   310    55614     9873   245760        0          1000 collector\n"
    "[ 2811]  1000  2811  2383314  1048576 31670272        0             0 kv\n"
    "[ 2900]     0  2900     2683        0    77824        0             0 idle\n"
)
SMALL_VICTIM = (
    "Killed process 310 (collector) total-vm:222456kB, anon-rss:{}kB, file-rss:0kB, shmem-rss:0kB\n"
)


def test_the_largest_process_is_named_if_the_kernel_killed_a_small_one():
    small = gomem.diagnose(loaded((TASKS_AROUND + SMALL_VICTIM.format(9000)).encode())).verdict
    large = gomem.diagnose(loaded((TASKS_AROUND + SMALL_VICTIM.format(3900000)).encode())).verdict

    assert "the largest process listed is kv (PID 2811): 4 GiB RSS" in small.headline
    assert "of the processes listed, kv uses most" in small.next_step
    assert "largest" not in large.headline


def test_a_row_of_the_table_without_rss_is_a_row():
    told = str(gomem.diagnose(loaded(TASKS_AROUND.encode())).verdict.sentence)

    assert "the largest of 3 rows of its table" in told


OF_AN_OOM = "[  310.5] memory: usage 524288kB, limit 524288kB, failcnt 91\n"
STAT_BESIDE = (
    "cache 204800\nrss 6291456\nrss_huge 0\nmapped_file 40960\nswap 0\ninactive_anon 0\n"
    "active_anon 6291456\ninactive_file 102400\nactive_file 102400\nunevictable 0\n"
    "hierarchical_memory_limit {}\ntotal_cache 204800\ntotal_rss 6291456\ntotal_mapped_file 40960\n"
)


@pytest.mark.parametrize("limit", [512 << 20, 768 << 20])
def test_a_memory_stat_erases_no_kill(limit):
    alone = gomem.diagnose(loaded(OF_AN_OOM.encode())).verdict
    beside = (
        f"Shortly before:\n```\n{STAT_BESIDE.format(limit)}```\nand then\n```\n{OF_AN_OOM}```\n"
    )
    both = gomem.diagnose(loaded(beside.encode())).verdict

    assert both.headline == alone.headline
    assert "used 512 MiB of 512 MiB" in both.headline
    assert both.severity == alone.severity


def test_usage_that_memory_stat_does_not_name_is_the_kernels():
    pasted = f"```\n{STAT_BESIDE.format(512 << 20)}```\nand then\n```\n{OF_AN_OOM}```\n"
    verdict = gomem.diagnose(loaded(pasted.encode())).verdict

    assert "506 MiB that no counter of memory.stat names (99 %)" in str(verdict.sentence)
    assert "kernel memory" in str(verdict.sentence)
    assert "slabinfo" in verdict.next_step


KILLS = (
    "Out of memory: Kill process 310 (shop) score 503 or sacrifice child\n"
    "Killed process 310, UID 7, (shop) total-vm:900000kB, anon-rss:800000kB, file-rss:4kB\n"
    "Out of memory: Kill process 377 (shop) score 503 or sacrifice child\n"
    "Killed process 377, UID 7, (shop) total-vm:900000kB, anon-rss:850000kB, file-rss:4kB\n"
)


def test_a_kill_whose_own_line_is_cut_off_counts():
    cut = "Out of memory: Kill process 401 (shop) score 500 or sacrifice c"

    assert "killed 2 times" in gomem.diagnose(loaded(KILLS.encode())).verdict.headline
    assert "killed 3 times" in gomem.diagnose(loaded(f"{KILLS}{cut}".encode())).verdict.headline


@pytest.mark.parametrize(
    ("name", "line", "is_go"),
    [
        ("node", "Chain App version v1.3/go1.17.6/linux-amd64", True),
        ("node", "It was killed.", False),
        ("mysqld", "Chain App version v1.3/go1.17.6/linux-amd64", False),
    ],
)
def test_a_name_that_go_programs_have_is_no_evidence_beside_a_go_release(
    tmp_path, name, line, is_go
):
    kill = (
        f"[1236.4] Out of memory: Killed process 13390 ({name}) total-vm:27668616kB, "
        "anon-rss:23623240kB, file-rss:0kB, shmem-rss:4kB, UID:1001 pgtables:46832kB"
    )
    (tmp_path / "ticket.md").write_text(f"{line}\n\n```\n{kill}\n```\n")

    step = gomem.diagnose(tmp_path / "ticket.md").verdict.next_step

    assert is_go == ("is not a Go program" not in step)
