"""A text of several pastes: each is found, and nothing that is one artefact comes apart."""

import gzip
from itertools import cycle, permutations

import pytest

from gomem.capture.load import load
from gomem.capture.pasted import pasted_parts
from gomem.diagnosis.diagnosis import diagnose
from gomem.errors import CaptureError
from gomem.sources.artefact import open_source
from gomem.units import KIB
from tests.builders import FIXTURES

SEVERAL = FIXTURES / "pasted" / "several"
OF_TEXT = ["moment", "artefact"]  # columns that the text's name is in
LOG = (FIXTURES / "captures" / "healthy-go1.27.3" / "gctrace.log").read_text()
DUMP = """goroutine 1 [running]:
main.main()
\t/app/main.go:12 +0x1d

goroutine 18 [select, 5 minutes]:
main.loop()
\t/app/main.go:40 +0x2f
created by main.main in goroutine 1
\t/app/main.go:10 +0x1a
"""
USAGE = "Alloc = 5 MiB TotalAlloc = 6 MiB Sys = 20 MiB NumGC = 3\n"
CALLGRIND = "positions: instr line\nevents: inuse_space(bytes)\n\nfl=(1) main.go\n"


def kinds_of(capture):
    return {file.kind.name for file in capture.files}


@pytest.mark.parametrize("name", ["fenced.md", "plain.txt", "quoted.txt"])
def test_a_ticket_is_read_as_one_capture(name):
    capture = load(SEVERAL / name)

    assert {"gctrace", "memstats", "goroutines", "smaps"} == kinds_of(capture)
    assert 3 == len(capture)
    last = [*capture.values()][-1]
    assert {"memstats", "goroutines", "smaps"} == {file.kind.name for file in last.artefacts}
    assert [] == list(capture.damaged)
    assert 5 == len(capture.gc.cycles)
    assert [16, 32, 48] == [size >> 20 for size in capture.memstats["Alloc"]]


@pytest.mark.parametrize("name", ["plain.txt", "quoted.txt"])
def test_how_a_ticket_is_written_changes_no_number(name):
    fenced, other = (load(SEVERAL / one).smaps for one in ("fenced.md", name))

    assert fenced.drop(columns=OF_TEXT).equals(other.drop(columns=OF_TEXT))


PODMAN = """\
ID            NAME    CPU %  MEM USAGE / LIMIT  MEM %   NET IO           BLOCK IO        PIDS
5db629b04d96  ruffle  2.21%  2.87GB / 3.843GB   74.68%  190.2MB / 409kB  27.4MB / 5.9MB  1
"""
ONE_EACH = {
    "gctrace": LOG,
    "processes": """\
  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND
  941 app       20   0 1917180 104529   1776 S   0.0  6.1   6:31.81 api
""",
    "status": "VmRSS:   104529 kB\n",
    "memstats": "Alloc = 51 MiB\nTotalAlloc = 912 MiB\nSys = 98 MiB\nNumGC = 412\n",
    "pprof_text": """\
File: api
Type: inuse_space
Showing nodes accounting for 38MB, 95% of 40MB total
      flat  flat%   sum%        cum   cum%
      25MB 62.50% 62.50%       26MB 65.00%  main.(*cache).add
      13MB 32.50% 95.00%       13MB 32.50%  bytes.growSlice
""",
    "count_text": """\
goroutine profile: total 43
43 @ 0x43c7f6 0x44ca1f 0x46d1e1
#\t0x6f3b44\tmain.(*pool).wait+0x84\t/src/pool.go:31

""",
    "goroutines": DUMP,
    "cgroup": "anon 107037900\nfile 5242880\nkernel_stack 104857\nshmem 0\nactive_anon 10703790\n",
    "metrics": """\
# HELP go_goroutines Number of goroutines that currently exist.
# TYPE go_goroutines gauge
go_goroutines 43
process_resident_memory_bytes 1.0703790e+08
""",
}


BETWEEN = cycle(("", "and then this is what it says\n", "\n", ""))


@pytest.mark.parametrize(
    ("first", "second", "between"),
    [(*pair, between) for pair, between in zip(permutations(ONE_EACH, 2), BETWEEN, strict=False)],
)
def test_each_of_two_pastes_is_read_without_a_fence_and_in_any_order(
    first, second, between, tmp_path
):
    (tmp_path / "ticket.txt").write_text(ONE_EACH[first] + between + ONE_EACH[second])

    capture = load(tmp_path / "ticket.txt")

    assert {first, second} == kinds_of(capture)
    faults = [str(fault.what) for fault in capture.damaged]
    assert [] == [what for what in faults if not what.startswith("an excerpt: MemStats without")]


LATER = ONE_EACH["pprof_text"].replace("of 40MB", "of 400MB").replace("25MB", "385MB")


@pytest.mark.parametrize(
    "text",
    [
        "before:\n```\n{first}```\nafter 20 minutes:\n```\n{later}```\n",
        "{first}\nand after 20 minutes:\n\n{later}",
        "{first}{later}",
        "VmRSS:   504529 kB\n\nthe profile, and then that of an hour later:\n{first}{later}",
    ],
)
def test_two_profiles_of_one_type_are_a_growth(text, tmp_path):
    written = text.format(first=ONE_EACH["pprof_text"], later=LATER)
    (tmp_path / "ticket.txt").write_text(written)

    capture = load(tmp_path / "ticket.txt")

    read = [file.parsed for file in capture.files if file.kind.name == "pprof_text"]
    assert [40 << 20, 400 << 20] == [profile.total("inuse_space") for profile in read]
    assert 2 == len(capture)
    found = diagnose(capture).findings
    assert any("more in use" in str(finding.title) for finding in found)


@pytest.mark.parametrize(
    "second",
    [
        ONE_EACH["pprof_text"].replace("Type: ", "Type: alloc_space\n").replace("40MB", "400MB"),
        LATER.replace("api", "worker"),
        "(pprof) top -cum\n" + ONE_EACH["pprof_text"].partition("inuse_space\n")[2],
    ],
    ids=["of another type", "of another program", "of the same profile"],
)
def test_other_tables_of_pprof_are_no_second_reading(second, tmp_path):
    (tmp_path / "ticket.txt").write_text(ONE_EACH["pprof_text"] + second)

    assert 1 == len(load(tmp_path / "ticket.txt"))


def test_the_charge_of_a_cgroup_below_a_table_is_read_with_its_statistics(tmp_path):
    stat = ONE_EACH["cgroup"].replace("anon 107037900\nfile 5242880\n", "cache 5242880\nrss 107\n")
    cat = "# cat /sys/fs/cgroup/memory/a.scope/memory."
    text = f"```\n# podman stats --no-stream\n{PODMAN}{cat}usage_in_bytes \n28695756\n```\nand:\n\n"
    (tmp_path / "ticket.txt").write_text(f"{text}```\n{cat}stat\n{stat}```\n")

    (moment,) = load(tmp_path / "ticket.txt").values()

    assert {28695756, 107} <= set(moment.cgroup.to_numpy().ravel())


def test_lines_of_a_process_between_those_of_a_log_are_read(tmp_path):
    *first, last = (line + "\n" for line in LOG.splitlines() if line.startswith("gc "))
    text = "".join((*first, ONE_EACH["processes"], last, ONE_EACH["status"]))
    (tmp_path / "ticket.txt").write_text(text)

    capture = load(tmp_path / "ticket.txt")

    assert {"gctrace", "processes", "status"} == kinds_of(capture)
    assert len(first) + 1 == len(capture.gc.cycles)
    assert [] == list(capture.damaged)


def test_two_commands_of_a_session_are_two_artefacts():
    capture = load(SEVERAL / "session.txt")

    assert {"goroutines", "smaps"} == kinds_of(capture)
    assert [] == list(capture.damaged)


def test_a_part_is_called_by_the_line_that_it_begins_in():
    source = open_source(SEVERAL / "fenced.md")
    lines = source.data.decode().split("\n")

    for part in pasted_parts(source):
        number = int(part.name.rpartition(":")[2])
        assert lines[number - 1] == part.data.decode().split("\n")[0]


def test_damage_of_the_whole_text_is_told_once(tmp_path):
    packed = gzip.compress((SEVERAL / "fenced.md").read_bytes() + b"\n" * 5000)
    (tmp_path / "ticket.md.gz").write_bytes(packed[:-12])

    capture = load(tmp_path / "ticket.md.gz")

    assert len(capture.files) > 1
    assert 1 == sum("gzip" in str(fault) for fault in capture.damaged)


def test_damage_of_a_part_has_its_line_in_the_text(tmp_path):
    lines = ["The mappings of the process are these:", "", "```"]
    lines += ["c000000000-c000400000 rw-p 00000000 00:00 0 ", "Size: 4096 kB", "Rss: x kB", "```"]
    ticket = tmp_path / "ticket.md"
    ticket.write_text("\n".join([*lines, "and the stacks:", "```", DUMP + "```", ""]))

    (fault, *_) = load(ticket).damaged

    assert "line 6" == fault.where


@pytest.mark.parametrize(
    "text",
    [
        LOG,
        "starting the server on the port\n\n" * 3 + LOG,
        DUMP,
        "panic: it is not a thing of this\n\n" + DUMP,
        f"It is cut here, but this is what we have:\n\n```\n{LOG}```\n",
        USAGE + "\nthis is a line of the log\n\n" + USAGE,
        '{"HeapAlloc": 1, "HeapSys": 2, "Sys": 3}',
        "",
        "there is nothing in this text that anybody could read\n",
    ],
)
def test_what_is_one_artefact_stays_one(text):
    assert [] == pasted_parts(open_source(text.encode()))


@pytest.mark.parametrize(
    "name", ["captures/healthy-go1.27.3/gctrace.log", "profiles/go1.27.3/heap-b.txt"]
)
def test_a_recording_stays_one(name):
    assert [] == pasted_parts(open_source(FIXTURES / name))


def test_a_document_in_a_folder_is_no_ticket(tmp_path):
    (tmp_path / "README.md").write_bytes((SEVERAL / "fenced.md").read_bytes())

    assert all(":" not in file.source.name for file in load(tmp_path).files)


def test_a_ticket_alone_in_a_folder_is_read_as_if_it_were_named(tmp_path):
    ticket = tmp_path / "incident.md"
    ticket.write_bytes((SEVERAL / "fenced.md").read_bytes())
    (tmp_path / "note.txt").write_text("Nothing to see here.\n")

    of_folder, of_file = load(tmp_path), load(ticket)

    assert len(of_file.files) > 1
    assert [file.source for file in of_file.files] == [file.source for file in of_folder.files]


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("README.md", {}),
        ("incident.md", {"main.go": "package main\n"}),
        ("incident.md", {"goroutines.txt": DUMP}),
        ("CHANGELOG.rst", {}),
    ],
)
def test_beside_evidence_or_code_a_text_is_a_document(name, beside, tmp_path):
    (tmp_path / name).write_bytes((SEVERAL / "fenced.md").read_bytes())
    for other, content in beside.items():
        (tmp_path / other).write_text(content)

    assert all(":" not in file.source.name for file in load(tmp_path).files)


def test_a_part_that_is_not_read_is_said(tmp_path):
    ticket = tmp_path / "ticket.md"
    ticket.write_text(f"This is what we see:\n```\n{CALLGRIND}```\nand\n```\n{DUMP}```\n")

    said = diagnose(load(ticket)).verdict.further

    assert "ticket.md:3 not read (what go tool pprof -callgrind wrote of a profile)" in said


def test_two_pastes_of_a_kind_are_two_moments(tmp_path):
    smaps = (FIXTURES / "captures" / "healthy-go1.27.3" / "1-start" / "smaps").read_text()
    ticket = tmp_path / "ticket.md"
    ticket.write_text(
        f"Before the load it is this:\n\n```\n{smaps}```\n\nAfter:\n\n```\n{smaps}```\n\n"
        f"and the stacks:\n\n```\n{DUMP}```\n"
    )

    capture = load(ticket)

    assert ["smaps", "smaps", "goroutines"] == [file.kind.name for file in capture.files]
    assert 2 == len(capture)


def test_what_is_pasted_beside_a_log_is_of_its_end(tmp_path):
    """
    Three dumps in words with their times, and a table without one that stands before them.
    """
    lines = (
        f"2026/11/20 03:1{n}:00 Alloc = {n}12 MiB TotalAlloc = 9{n}20 MiB Sys = 1 GiB NumGC = {n}\n"
        for n in (5, 7, 9)
    )
    table = (
        "CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %   PIDS\n"
        "8f1f1a2b3c4d   shop   1.40%   1.62GiB / 2GiB      81.00%  21\n"
    )
    ticket = tmp_path / "ticket.md"
    ticket.write_text(f"Every night:\n```\n{table}```\nand\n```\n{''.join(lines)}```\n")

    capture = load(ticket)
    said = str(diagnose(capture).verdict.sentence)

    assert 3 == len(capture.by_moment)
    assert "processes" in {file.kind.name for file in [*capture.by_moment.values()][-1].artefacts}
    assert "from 512 MiB" in said
    assert "to 912 MiB" in said
    assert "working set is 1.62 GiB" in said


TAIL = (FIXTURES / "pasted" / "memstats-in-words" / "heap-tail.txt").read_text()
USED = "MEM USAGE / LIMIT\n87MiB / 256MiB\n"
TOP = (FIXTURES / "pasted" / "pprof-tables" / "top.txt").read_text()
FREEBSD = "  4 root          9  20    0   119M  23448K uwait    1   0:06   0.10% held\n"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        pytest.param(LOG + USAGE, {"gctrace", "memstats"}, id="between the lines of a log"),
        pytest.param(USAGE + TOP, {"pprof_text", "memstats"}, id="above a table of pprof"),
        pytest.param(TAIL + USED, {"processes", "memstats"}, id="a container below a tail"),
        pytest.param(TAIL + "FreeBSD's top:\n" + FREEBSD, {"processes", "memstats"}, id="a row"),
    ],
)
def test_lines_of_another_kind_in_a_text_are_read_too(text, kinds, tmp_path):
    (tmp_path / "ticket.txt").write_text(text)

    capture = load(tmp_path / "ticket.txt")

    assert kinds == kinds_of(capture)
    assert capture.memstats["HeapAlloc"].notna().all()
    assert [] == list(capture.damaged)


def test_what_stands_beside_keeps_its_line(tmp_path):
    (tmp_path / "ticket.txt").write_text(f"{LOG}{USAGE}{'HeapAlloc=1 Sys=2 NumGC=-'}\n")

    beside = pasted_parts(open_source(tmp_path / "ticket.txt"))[1]

    assert LOG.count("\n") + 1 == beside.first_line
    assert beside.data.decode().startswith(USAGE)


def test_the_commands_of_a_session_in_one_fence_are_told_apart(tmp_path):
    ps = (FIXTURES / "pasted" / "kernel" / "ps-o.txt").read_text()
    session = f"```\nroot@host:~# ps -o pid,rss,args\n{ps}root@host:~# cat gc.log\n{LOG}```\n"
    (tmp_path / "ticket.txt").write_text(session)

    capture = load(tmp_path / "ticket.txt")

    assert {"processes", "gctrace"} == kinds_of(capture)
    assert [] == list(capture.damaged)


LISTINGS = "".join(
    f"Fri Nov 27 11:06:{second:02} UTC 2026\n  PID   RSS    VSZ NLWP COMMAND\n"
    f"26998 {rss} 1011244   5 api\n"
    for second, rss in ((7, 6208), (15, 49384), (23, 89564), (31, 128820))
)
AT_THE_END = TOP.replace(TOP[: TOP.index("Showing")], "File: api\nType: inuse_space\n")
DATED = AT_THE_END.replace("inuse_space\n", "inuse_space\nTime: 2026-11-27 11:06:33 UTC\n")
PAGED = "got paged, RSS of api is climbing. I ran ps on the node:\n\n"
SAYS = "and this is what pprof says, taken right after:\n\n"


@pytest.mark.parametrize("profile", [AT_THE_END, DATED])
@pytest.mark.parametrize(
    "text",
    [
        "11:07 {paged}{listings}\n{says}{profile}\n",
        "11:07 {paged}{listings}\n{says}$ go tool pprof -top heap\n{profile}\n",
        "OPS-1: alert\n\n{profile}\n11:07 {paged}{listings}\n",
    ],
)
def test_a_loop_and_a_profile_in_one_text_do_not_displace_each_other(text, profile, tmp_path):
    said = text.format(paged=PAGED, listings=LISTINGS, says=SAYS, profile=profile)
    (tmp_path / "ticket.txt").write_text(said)

    capture = load(tmp_path / "ticket.txt")

    assert {"processes", "pprof_text"} == kinds_of(capture)
    rise, last = diagnose(capture).facts.rss_level.rise, list(capture.values())[-1]
    assert (4, 24.0) == (rise.readings, rise.seconds)
    assert {"processes", "pprof_text"} == {file.kind.name for file in last.artefacts}


def test_what_is_attached_to_a_ticket_makes_it_no_document(tmp_path):
    reading = (
        "At 08:3{n}:\n\n```\n$ cat /proc/1/status\nName:\tapi\nVmRSS:\t{rss} kB\n"
        "$ curl HOST\n{usage}```\n\n"
    )
    usage = "# HeapAlloc = 18610672\n# HeapSys = 33062912\n# Sys = 40715272\n# NumGC = 28\n"
    readings = (reading.format(n=n, rss=rss, usage=usage) for n, rss in ((7, 34064), (8, 57320)))
    (tmp_path / "ticket.md").write_text("We see the memory of api go up.\n\n" + "".join(readings))
    (tmp_path / "top.out").write_text(AT_THE_END)

    capture = load(tmp_path)

    assert {"status", "memstats", "pprof_text"} == kinds_of(capture)
    assert [34064 << 10, 57320 << 10] == list(capture.status["VmRSS"])


def test_the_head_and_the_rows_of_a_table_by_two_commands_are_one_table(tmp_path):
    (tmp_path / "ticket.md").write_text(
        "It uses 250 MB, says the system:\n\n```\n$ ps aux | head -n1\n"
        "USER  PID %CPU %MEM     VSZ    RSS TTY STAT STARTED    TIME COMMAND\n$ ps aux | grep api\n"
        "me  16719  0.5  3.1 5585900 256180 ?   Ss+   2:24pm 6:28.99 /srv/api daemon\n```\n\n"
        f"and the stacks:\n\n```\n{DUMP}```\n"
    )

    capture = load(tmp_path / "ticket.md")

    assert [256180 << 10] == list(capture.processes["rss_bytes"])
    assert [] == list(capture.damaged)


@pytest.mark.parametrize("between", ["", "\n80 s later:\n", "\n2 hours on, idle:\n", "and now:\n"])
def test_a_second_status_in_one_text_is_another_moment(between, tmp_path):
    def status(rss):
        size = f"VmHWM:\t  {rss + 9} kB\nVmRSS:\t  {rss} kB\nRssFile:\t  {rss - 8} kB\n"
        return f"Name:\tmeter\nPid:\t2912\n{size}Threads:\t6\n"

    path = tmp_path / "chat.txt"
    path.write_text(
        f"Our reader grows in top, is that a leak?\n\n{status(900)}{between}{status(950)}"
    )
    capture = load(path)

    assert [900 * KIB, 950 * KIB] == [moment.rss_bytes for moment in diagnose(capture).moments]
    assert () == capture.damaged


STATUS = "cat /proc/1/status\nVmHWM:\t441296 kB\nVmRSS:\t441296 kB\nRssAnon:\t434608 kB\n"
ROLLUP = (
    "00400000-7ffef954e000 ---p 00000000 00:00 0                              [rollup]\n"
    "Rss:              441296 kB\nAnonymous:        434608 kB\nLazyFree:         426124 kB\n"
)


@pytest.mark.parametrize("heading", ["smaps_rollup:", "and then the sums of the other file"])
def test_a_heading_between_two_pastes_is_of_neither(heading, tmp_path):
    (tmp_path / "ticket.txt").write_text(f"It keeps its memory.\n\n{STATUS}\n{heading}\n{ROLLUP}")

    capture = load(tmp_path / "ticket.txt")

    assert {"status", "smaps_rollup"} == {file.kind.name for file in capture.files}
    assert not capture.damaged
    assert [441296 << 10] == capture.status["VmRSS"].tolist()


def test_a_sentence_with_numbers_below_a_paste_is_no_line_of_it(tmp_path):
    groups = "2 @ 0x47c6ae\n#\t0x4f0bd0\tmain.write+0x50\t/src/main.go:49\n"
    said = "RSS at the same times (ps): 13760, 27296, 36672 KB. Not dramatic yet, but it grows."
    text = (
        f"It grows.\n\n{STATUS}\nThe last dump:\n\ngoroutine profile: total 2\n{groups}\n{said}\n"
    )
    (tmp_path / "ticket.txt").write_text(text)

    assert not load(tmp_path / "ticket.txt").damaged


@pytest.mark.parametrize(
    "above", ["/proc/pid/status", "cat /proc/71/status", "`/proc/71/status`:", "/proc/$PID/status"]
)
def test_a_file_of_proc_named_directly_above_is_no_part_of_it(above, tmp_path):
    path = tmp_path / "ticket.md"
    path.write_text(f"The status of our job:\n\n{above}\nName:\tjob\nPid:\t71\nVmRSS:\t 5120 kB\n")
    capture = load(path)

    assert [5120 * KIB] == [moment.rss_bytes for moment in diagnose(capture).moments]
    assert () == capture.damaged


def test_a_pod_that_was_killed_is_named_above_an_unfenced_table(tmp_path):
    path = tmp_path / "ticket.md"
    path.write_text(
        "shop-6484d98997-9tvmb   0/1   OOMKilled   4 (75s ago)   3m30s\n\n"
        "With 500Mi it stays up.\n\nkubectl top pod\nNAME   CPU(cores)   MEMORY(bytes)\n"
        "shop-79d77c6976-89bxr   14m   150Mi\n"
    )
    headline = diagnose(load(path)).verdict.headline

    assert "OOM: the container was killed for want of memory; 4 restarts" in headline


LIMITS = "  resources:\n    limits:\n      cpu: 100m\n      memory: 30Mi\n    requests:\n"


def test_keys_of_yaml_are_no_headings(tmp_path):
    path = tmp_path / "ticket.md"
    path.write_text(f"The pod is killed.\n\n{LIMITS}      memory: 20Mi\n\nIt should be raised.\n")

    with pytest.raises(CaptureError, match="a limit of 30Mi and a request of 20Mi"):
        load(path)


def test_limits_and_requests_are_no_sizes_of_prose(tmp_path):
    path = tmp_path / "ticket.md"
    path.write_text(
        "The pod is killed.\n\n    State:  Terminated\n      Reason:  OOMKilled\n"
        "    Restart Count:  1\n    Limits:\n      memory:  90Mi\n    Requests:\n"
        "      memory:  60Mi\n".replace("\n", "\r\n")
    )
    diagnosis = diagnose(load(path))

    assert "90 MiB; 1 restart" in diagnosis.verdict.headline
    assert "not used" not in diagnosis.verdict.further
