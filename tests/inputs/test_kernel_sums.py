"""Sums without their parts, and tools of other systems: named, with the unit and what it is."""

import re

import pytest

import gomem
from gomem.diagnosis.diagnosis import diagnose
from gomem.errors import CaptureError
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.mentions import mentioned
from gomem.inputs.system import system_of
from gomem.inputs.used_of_limit import used_of_limit
from gomem.text import Bytes, Text
from tests.builders import FIXTURES

KERNEL, FORMS = FIXTURES / "pasted" / "kernel", FIXTURES / "pasted" / "forms"
LAST = (KERNEL / "pmap-d.txt").read_text().splitlines()[-1]


def named(text, name="ticket.md"):
    """What a text looks like, which no reader takes, and the next step."""
    assert kind_of(text.encode(), name) is None
    seen = looks_like(text.encode(), name)
    assert seen.is_evidence
    return f"{seen.what}".replace("\u202f", " "), f"{seen.way_out}"


def test_the_last_line_of_pmap_d_is_address_space():
    what, way_out = named(f"the daemon grows\n\n{LAST}\n")

    assert "mapped: 1293236K    writeable/private: 61516K    shared: 0K" == LAST
    assert "60 MiB of writable private address space, touched or not, 1.23 GiB of address" in what
    assert "VmRSS" in way_out


def test_last_lines_of_pmap_x_say_how_rss_moved():
    lines = ("total kB         1293472   46120   44020", "total kB         1293472  246120  244020")

    what, _ = named("\n".join(lines) + "\n")

    assert "45 MiB to 240 MiB of RSS, 1.23 GiB of address space" in what


@pytest.mark.parametrize(
    ("command", "number", "said"),
    [
        ("pmap -d $(pgrep api) | tail -n1 | awk '{print $4}'", "139720K", "writable private"),
        ("pmap -x 41 | tail -1 | awk '{print $4}'", "139720", "136 MiB of RSS"),
        ("pmap -x 41 | tail -1 | awk '{print $3}'", "139720", "136 MiB of address space"),
        ("sudo pmap 41 | grep total | awk '{print $2}'", "139720K", "136 MiB of address space"),
    ],
)
def test_a_bare_number_is_what_its_command_asks_for(command, number, said):
    what, _ = named(f"$ {command}\n{number}\n")

    assert said in what


def test_a_number_of_an_unknown_column_is_nothing():
    assert not looks_like(b"pmap -X 41 | tail -1 | awk '{print $4}'\n139720\n", "a.md").is_evidence


def test_numa_maps_have_the_rss_of_smaps():
    what, way_out = named((KERNEL / "stopped.numa_maps").read_text(), "numa_maps")
    mappings = gomem.read_smaps(KERNEL / "stopped.smaps").mappings
    seen = looks_like((KERNEL / "stopped.numa_maps").read_bytes(), "")
    whole, anonymous = Text(seen.what).of(Bytes)

    in_both = mappings["path"] != "[vdso]"  # the kernel's own page, in smaps alone
    assert whole.value == mappings.loc[in_both, "Rss"].sum()
    assert anonymous.value == mappings["Anonymous"].sum()
    assert "numa_maps of a process" in what
    assert "/proc/PID/smaps" in way_out


def test_numa_maps_of_two_nodes_say_the_memory_of_each():
    rows = (
        "c000000000 default anon=9 dirty=9 N0=4 N1=5 kernelpagesize_kB=4\n"
        "7f0000000000 bind:0-1 file=/usr/lib/x.so mapped=2 N1=2 kernelpagesize_kB=4\n"
        "7f0000100000 default file=/dev/hugepages/x huge dirty=1 N0=1 kernelpagesize_kB=2048\n"
    )

    what, _ = named(rows)

    assert "44 KiB resident in 3 mappings, 36 KiB of it anonymous" in what
    assert "16 KiB on node 0, 28 KiB on node 1" in what


def test_ps_mem_says_the_largest_program_and_that_it_is_pss():
    what, way_out = named((FORMS / "ps-mem.txt").read_text())

    assert "api (2) 1.1 GiB (1.1 GiB private), dockerd 99.3 MiB" in what
    assert "PSS" in way_out


def test_ps_mem_and_systemctl_in_one_session_are_both_named(tmp_path):
    session = tmp_path / "ticket.md"
    status = (FORMS / "systemctl-status.txt").read_text()
    table = (FORMS / "ps-mem.txt").read_text()
    session.write_text(f"```\n$ sudo ps_mem\n{table}$ systemctl status api\n{status}```\n")

    with pytest.raises(CaptureError) as refused:
        gomem.load(session)

    assert "ps_mem's table: api (2) 1.1 GiB" in f"{refused.value}"
    assert "its cgroup uses 1.4G" in f"{refused.value}"


def test_top_of_macos_is_a_footprint_and_no_rss():
    text = (FORMS / "macos-top.txt").read_text()
    what, way_out = named(text)
    head, _ = named(text[: text.index("PID ")])

    assert "api has 2556M, 1890M of it compressed, Window Serv has 412M" in what
    assert "physical footprint" in way_out
    assert "15G used (2100M wired, 3120M compressor), 812M unused" in head


def test_the_head_of_freebsds_top_stands_beside_its_rows():
    verdict = diagnose(gomem.load(FORMS / "freebsd-top.txt")).verdict

    assert verdict.rss_bytes == 1890 << 20
    assert "1021M Active" in verdict.further
    assert "ZFS' cache (ARC) has 1501M of Wired" in verdict.further
    assert "/proc/" not in verdict.next_step


@pytest.mark.parametrize(
    "message",
    [
        "exec compile.exe: The paging file is too small for this operation to complete.",
        "VirtualAlloc of 67108864 bytes failed: errno = 1455",
    ],
)
def test_the_commit_limit_of_windows_is_named(message):
    what, way_out = named(f"it fails:\n{message}\n")

    assert "error 1455" in what
    assert "PM" in way_out


NOISE = """\
root@host:~# ps -o pid,rss,%mem,cmd -p $(pgrep -x api)
    PID   RSS %MEM CMD
   1121 459232 22.2 /usr/bin/api -c /etc/api
root@host:~#     PID   RSS %MEM CMD
-bash: PID: command not found
sh: 1: 1121: not found
zsh: command not found: PID
"""


def test_what_a_shell_says_between_rows_is_no_damage():
    read = gomem.read_processes(NOISE.encode())

    assert [459232 << 10] == list(read.processes["rss_bytes"])
    assert read.damage.empty


def test_a_total_that_a_script_prints_is_named(tmp_path):
    ticket = tmp_path / "ticket.md"
    ticket.write_text(f"```\n{NOISE}Total RSS: 1448.47 MB\n```\n")

    further = diagnose(gomem.load(ticket)).verdict.further

    assert "1 size in the text not used (Total RSS: 1448.47 MB)" in further


@pytest.mark.parametrize("user", ["****", "<user>", "xxx", "root"])
@pytest.mark.parametrize("pid", ["xxxx", "<pid>", "41"])
def test_a_row_of_ps_aux_can_be_masked(user, pid):
    row = f"{user} {pid}  0.3  5.2 2048212 798072 ?   Ssl  Jan02  284:28 /usr/bin/api -v\n"

    (read,) = gomem.read_processes(row.encode()).processes.itertuples()

    assert (798072 << 10, "/usr/bin/api -v") == (read.rss_bytes, read.name)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("The pod uses 3.2 GiB of its 4 GiB limit", "3.2 GiB of a limit of 4 GiB (80 %)"),
        ("it sits at 1.9Gi / 2Gi memory", "1.9Gi of a limit of 2Gi (95 %)"),
        ("Memory limit is 512Mi, usage is 480Mi.", "480Mi of a limit of 512Mi (94 %)"),
        ("uses 900 MB out of the memory limit of 1 GB", "900 MB of a limit of 1 GB (90 %)"),
    ],
)
def test_a_sentence_says_how_much_of_a_limit_is_used(sentence, said):
    words = f"{mentioned(sentence.encode()).what}".replace("\u202f", " ")

    assert f"it says in a sentence that {said} is used" == re.sub(r"\s", " ", words)


@pytest.mark.parametrize(
    "sentence",
    [
        "RSS is 3.2 GiB of 64 GiB RAM",
        "it uploads 2 GB / 3 GB of files",
        "it uses 5 GiB of its 4 GiB limit",
        "limit 512Mi, request 256Mi, uses 300Mi",
        "a memory limit of 512Mi, requests 256Mi",
    ],
)
def test_sizes_that_could_be_anything_are_no_use_of_a_limit(sentence):
    assert used_of_limit(sentence.encode()) is None


@pytest.mark.parametrize(
    "head",
    [
        (
            "KiB Mem:   3523108 total,  3389464 used,   133644 free,    61456 buffers\n"
            "KiB Swap:  3526260 total,      232 used,  3526028 free.  2957668 cached Mem\n"
        ),
        (
            "MiB Mem :   3440.5 total,    130.1 free,    362.0 used,   2948.4 buff/cache\n"
            "MiB Swap:      0.0 total,      0.0 free,      0.0 used.   2801.0 avail Mem\n"
        ),
    ],
)
def test_a_machine_full_of_page_cache_is_said_to_have_memory(head):
    what, _ = named(head)

    assert "the machine has 3.36 GiB" in what
    assert "the kernel reclaims the cache when it needs memory, except tmpfs" in what


def test_a_machine_with_little_page_cache_has_no_word_on_it():
    what, _ = named("KiB Mem: 3523108 total,  3389464 used,   133644 free,   61456 buffers\n")

    assert "reclaims" not in what


def test_the_head_of_htop_stands_beside_its_rows(tmp_path):
    ticket = tmp_path / "ticket.md"
    ticket.write_text(
        "```\n  Mem[||||||||||||||||||6.10G/7.51G]   Uptime: 3 days, 02:11:09\n\n"
        "    PID USER       PRI  NI  VIRT   RES   SHR S  CPU% MEM%   TIME+  Command\n"
        "   4411 api         20   0 3210M 2913M 12312 S   8.1 37.9  3h12:10 /usr/bin/api\n```\n"
    )

    verdict = diagnose(gomem.load(ticket)).verdict

    assert 2913 << 20 == verdict.rss_bytes
    assert "the machine has 7.51 GiB, 6.1 GiB used" in verdict.further


@pytest.mark.parametrize(
    ("words", "system"),
    [
        ("71980  opa_darwin_amd64 0.0", "macOS"),
        ("./api_windows_arm64", "Windows"),
        ("VirtualAlloc of 64 bytes failed with errno=1455", "Windows"),
        ("PhysMem: 15G used (2100M wired), 812M unused.", "macOS"),
        ("Mem: 1021M Active, 3312M Inact, 512M Free", "FreeBSD"),
    ],
)
def test_a_tools_output_names_the_system(words, system):
    assert system == system_of(words.encode())


def test_a_crash_at_windows_commit_limit_says_so(tmp_path):
    ticket = tmp_path / "ticket.md"
    lines = "runtime: VirtualAlloc of 67108864 bytes failed with errno=1455\n"
    stack = "goroutine 1 [running]:\nmain.grow(0x10)\n\tC:/src/api/main.go:12 +0x1d\n"
    ticket.write_text(f"{lines}fatal error: out of memory\n\n{stack}")

    verdict = diagnose(gomem.load(ticket)).verdict

    assert "error 1455" in f"{verdict.headline} {' '.join(verdict.whose)} {verdict.where}"
    assert "asking for 64 MiB; Windows could commit no more" in named(lines)[0]
