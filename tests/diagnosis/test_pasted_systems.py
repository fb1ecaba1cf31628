"""Advice and words fit the system, the language and the process that a pasted text names."""

import pytest

import gomem
from gomem.capture.release import shows_go
from gomem.inputs.environ.parse import settings_named
from gomem.inputs.processes.languages import is_not_go
from gomem.inputs.system import system_of
from tests.builders import FIXTURES, as_text

MIB = 1 << 20
STATS = {
    "Sys": 700 * MIB, "HeapSys": 660 * MIB, "HeapInuse": 250 * MIB, "HeapIdle": 410 * MIB,
    "HeapReleased": 400 * MIB, "HeapAlloc": 240 * MIB, "Alloc": 240 * MIB,
    "TotalAlloc": 9000 * MIB, "StackSys": MIB, "StackInuse": MIB,
}  # fmt: skip
TOP = "56428 root          23  20    0   768M   {}M uwait   1   2:58   0.03% api\n"
DOCKER = (
    "CONTAINER ID   NAME    CPU %     MEM USAGE / LIMIT   MEM %     NET I/O   BLOCK I/O   PIDS\n"
    "fe7834d3e921   {}      0.01%     360.3MiB / 384MiB   93.82%    3kB / 1kB 92MB / 0B   4\n"
)
PS = "  RSS  SIZE    VSZ CMD\n{} 151684 885284 /usr/bin/vault -fg -notifypid={} /srv\n"


def verdict(folder, text, name="ticket.md"):
    (folder / name).write_text(text)
    return gomem.diagnose(folder / name).verdict


def memstats(rss):
    fields = ", ".join(f'"{name}": {value}' for name, value in STATS.items())
    return f"What it says now:\n\n{{{fields}}}\n\nFreeBSD top says:\n{TOP.format(rss)}"


@pytest.mark.parametrize(
    ("text", "system"),
    [
        ("It leaks on FreeBSD 13.", "FreeBSD"),
        ("Output from Windows' measure of memory:", "Windows"),
        ("C:\\api\\api.exe uses 2 GB", "Windows"),
        ("on my MacBook", "macOS"),
        ("goos: darwin\ngoarch: arm64", "macOS"),
        ("It leaks on Windows and on Linux.", ""),
        ("on macOS, in docker", ""),
        ("on macOS and Windows", ""),
        ("cat /proc/3/status; built on Windows", ""),
        ("the windows of the limiter", ""),
        ("USER PID %CPU %MEM VSZ RSS TT  STAT STARTED  TIME COMMAND", "BSD or macOS"),
        ("USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND", ""),
    ],
)
def test_a_text_names_its_system_where_it_names_one_alone(text, system):
    assert system == system_of(text.encode())


def test_freebsd_counts_what_go_has_released(tmp_path):
    said = verdict(tmp_path, memstats(733))

    assert "RSS is about Sys (700 MiB), of which Go has released 400 MiB" in " ".join(said.whose)
    assert "procstat -v PID" in said.next_step
    assert "/proc/" not in said.next_step


def test_the_worst_case_on_freebsd_says_that_rss_can_have_what_is_released(tmp_path):
    (tmp_path / "ticket.md").write_text(memstats(733))

    shown = as_text(gomem.diagnose(tmp_path / "ticket.md"))

    assert "FreeBSD counts released memory as resident" in " ".join(shown.split())


@pytest.mark.parametrize("rss", [500, 1200])  # most was returned; much is not Go's
def test_memory_that_released_heap_does_not_explain_is_not_called_so(tmp_path, rss):
    assert "HeapReleased" not in " ".join(verdict(tmp_path, memstats(rss)).whose)


def test_advice_below_the_ps_of_a_bsd_has_no_files_of_proc(tmp_path):
    head = "USER PID %CPU %MEM VSZ RSS TT STAT STARTED TIME COMMAND\n"
    row = "root 631 0.0 3.8 978376 117744 - S 12:38 0:36.27 /usr/local/bin/sensor -c /etc/a.yaml\n"
    said = verdict(tmp_path, head + row)

    assert "procstat -v PID" in said.next_step
    assert "vmmap --summary PID" in said.next_step
    assert "/proc/" not in said.next_step


def test_advice_on_windows_has_no_files_of_proc(tmp_path):
    log = "".join(
        f"Time: {n}s  Resident size: {8 + n}.0MB  MemStats.Sys: 8.0MB  MemStats.Alloc: 2.3MB  "
        f"MemStats.TotalAlloc: {n}.5MB\n"
        for n in range(4)
    )
    (tmp_path / "ticket.md").write_text(f"Here is how Windows measures it:\n\n```\n{log}```\n")
    diagnosis = gomem.diagnose(tmp_path / "ticket.md")
    (missing,) = [each for each in diagnosis.findings if each.code == "data-missing"]

    assert "Windows" == diagnosis.capture.system
    for words in (diagnosis.verdict.next_step, missing.next_step, missing.title):
        assert "smaps" not in words
    assert "VMMap" in diagnosis.verdict.next_step


@pytest.mark.parametrize(
    ("name", "is_other"),
    [
        ("goaccess", True), ("release-1-cp-kafka-0", True), ("java", True), ("python3.11", True),
        ("rel-cp-control-center-57f-6t4jc", True), ("my-postgresql-0", True),
        ("kafka-exporter-0", False), ("redis-operator", False), ("api", False),
        ("prometheus-0", False), ("envoy", True), ("nodeapi", False), ("cp-api", False),
        ("op-node", False), ("calico-node-x7k2p", False), ("my-java", False), ("node18", True),
        ("postgres-0", True), ("nginx", True), ("edge-nginx-5f7b9c8d6-abcde", False),
    ],
)  # fmt: skip
def test_a_name_says_that_a_program_is_in_no_go(name, is_other):
    assert is_other == is_not_go(name)


def test_a_container_that_is_no_go_gets_no_advice_of_gos(tmp_path):
    said = verdict(tmp_path, f"{DOCKER.format('goaccess')}\n    environment: GOMEMLIMIT=320MiB\n")

    assert (
        "GOMEMLIMIT=320MiB has no effect on this program. goaccess is not a Go program"
        in said.next_step
    )
    assert "docker stats --no-stream NAME" in said.next_step


def test_a_container_that_nothing_shows_to_be_go_is_asked_whether_it_is(tmp_path):
    (tmp_path / "ticket.md").write_text(DOCKER.format("api"))
    diagnosis = gomem.diagnose(tmp_path / "ticket.md")

    assert not shows_go(diagnosis.capture)
    assert diagnosis.verdict.next_step.startswith("If this is a Go program,")


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("      - GOMEMLIMIT=320MiB\n", ("GOMEMLIMIT=320MiB",)),
        ('- name: GOGC\n  value: "50"\n', ("GOGC=50",)),
        ("    GOGC: off\n", ("GOGC=off",)),
        ("With GOGC=50 it is the same as with GOGC=100.", ("GOGC=50", "GOGC=100")),
        ("GOGC is not set, MYGOGC=3", ()),
    ],
)  # fmt: skip
def test_settings_in_a_text_are_named(text, settings):
    assert settings == settings_named(text.encode())


def test_settings_that_no_frame_has_are_told(tmp_path):
    said = verdict(tmp_path, f"{DOCKER.format('api')}\nWe tried it with GOMEMLIMIT=320MiB.\n")

    assert "1 setting in the text not used (GOMEMLIMIT=320MiB)" in said.further


def test_command_lines_of_two_processes_are_two_processes(tmp_path):
    first, second = PS.format(75088, 22622), PS.format(104856, 19009)

    said = verdict(tmp_path, f"```\n{first}```\nLater:\n```\n{second}```\n")

    assert 104856 << 10 == said.rss_bytes
    assert (
        "is of another process vault, at 73 MiB RSS: the two sizes do not show growth"
        in said.whose[-1]
    )


def test_the_rss_of_status_says_which_of_two_processes_is_meant(tmp_path):
    first, second = PS.format(75088, 22622), PS.format(104856, 19009)
    status = "```\nVmRSS:\t   75088 kB\n```\n"

    said = verdict(tmp_path, f"```\n{first}```\n{status}\nLater:\n```\n{second}```\n")

    assert 75088 << 10 == said.rss_bytes
    assert "is of another process vault, at 102 MiB RSS" in said.whose[-1]


def test_a_text_of_two_pastes_is_one_file():
    from gomem.views.report.verdict import _label

    diagnosis = gomem.diagnose(FIXTURES / "pasted" / "several" / "fenced.md")

    assert "healthy" == f"{_label('good', '', diagnosis)}"


def test_a_buffer_in_use_is_not_told_to_be_pooled(tmp_path):
    table = (
        "Type: {}\nShowing nodes accounting for 100MB, 100% of 100MB total\n"
        "      flat  flat%   sum%        cum   cum%\n"
        "      90MB   90%   90%       90MB   90%  bytes.growSlice\n"
        "      10MB   10%  100%       80MB   80%  example.com/log.(*Chunk).Append\n"
    )

    held = f"{verdict(tmp_path, table.format('inuse_space')).sentence}"
    allocated = gomem.causes.signatures.signature_of(["bytes.growSlice"], "allocated")

    assert "sync.Pool" not in held
    assert "see who keeps the buffers" in held
    assert "log.(*Chunk).Append and its callees have 80" in held
    assert "sync.Pool" in allocated.why


def test_what_samples_say_was_allocated_is_about(tmp_path):
    profile = "heap profile: 0: 0 [38: 2051184] @ heap/1048576\n0: 0 [38: 2051184] @ 0x850310\n"

    assert "about 20 MiB were" in f"{verdict(tmp_path, profile, 'heap.txt').headline}"


IDLE = (
    "goroutine 38 gp=0xc00019ee00 m=nil [GC worker (idle)]:\n"
    "runtime.gopark(0xab?, 0x3?, 0x20?, 0xd5?, 0x0?)\n\t/go/src/runtime/proc.go:424 +0xce\n"
    "runtime.gcBgMarkWorker(0xc0000b03f0)\n\t/go/src/runtime/mgc.go:1363 +0xe9\n"
)
BEGUN = (
    "runtime.goexit({})\n\t/go/src/runtime/asm_amd64.s:1700 +0x1\n"
    "created by runtime.gcBgMarkStartWorkers in goroutine 1\n\t/go/src/runtime/mgc.go:1279 +0x105\n"
)


@pytest.mark.parametrize("text", [f"{IDLE}{BEGUN}\n{IDLE}{BEGUN}", f"{IDLE}{BEGUN}\n{IDLE}"])
def test_goroutines_of_the_runtime_alone_are_said_to_be_its_own(tmp_path, text):
    said = f"{verdict(tmp_path, text).sentence}"

    assert "2 goroutines here, of the runtime's own (GC worker (idle))" in said
    assert "none of the program's is shown" in said


def test_lines_of_lazyfree_are_added_up(tmp_path):
    lines = "LazyFree:          65200 kB\nLazyFree:            336 kB\n"

    said = verdict(tmp_path, f"```\n{PS.format(75088, 1)}```\n```\n{lines}```\n").further

    assert "LazyFree lines of smaps without the rest of it: 64 MiB in all" in said
