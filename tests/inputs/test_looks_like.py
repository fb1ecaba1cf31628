"""What is no artefact is named as what it is, with the way out."""

import io
import struct
import tarfile

import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import HEAD_BYTES, looks_like
from gomem.inputs.read import not_an_artefact
from tests.builders import FIXTURES


def tar_of_a_file():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo("capture/smaps")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    return file.getvalue()


def elf(kind, order="<", mark=b"\x01"):
    return b"\x7fELF\x02" + mark + bytes(10) + struct.pack(f"{order}HH", kind, 62) + bytes(100)


def old_cpu_profile(word, order):
    return struct.pack(f"{order}9{word}", 0, 3, 0, 10000, 0, 1, 2, 0x400, 0x500)


PASTED = FIXTURES / "pasted" / "benchstat"
CASES = [
    *(
        (
            PASTED.joinpath(f"{name}").read_bytes(),
            f"a table of {tool}",
            "gomem compare OLD.txt NEW.txt",
        )
        for name, tool in (
            ("benchstat-v1.txt", "benchstat"),
            ("benchstat-v1-one.txt", "benchstat"),
            ("benchstat-v2.txt", "benchstat"),
            ("benchstat-v2.csv", "benchstat"),
            ("benchcmp.txt", "benchcmp"),
        )
    ),
    (b"GOPERF-METRIC:allocated=1300\nGOPERF-METRIC:time=21\n", "GOPERF-METRIC", "go test -bench"),
    (b"panic: oh\n\nexit status 2\n", "what a program printed as it crashed", "GOTRACEBACK=all"),
    (b"orders profile: total 9\n1 @ 0x4\n", "a profile of counts in text", "?debug=0"),
    (b"heap profile:  1: 2 [ 1: 2] @ growthz\n 1: 2 [1: 2] @ 0x4\n", "growthz", "pprof -proto"),
    (b"heap profile:  1: 2 [ 1: 2] @ fragmentationz\n", "fragmentationz", "pprof -proto"),
    (b"heap profile: of some other form\n", "a legacy heap profile in text", "pprof -proto"),
    (b"--- contentionz 1 ---\ncycles/second = 32\n", "contentionz", "pprof -proto"),
    (b"--- contention:\ncycles/second=2399991000\n", "contentionz", "pprof -proto"),
    (b"--- mutex:\ncycles/second=2399991000\n", "contentionz", "pprof -proto"),
    (b"--- heapz 1 ---\nformat = java\n", "a legacy profile", "pprof -proto"),
    (b"--- threadz 1 ---\n\n--- Thread 7f (name: a/1) stack: ---\n", "threadz", "pprof -proto"),
    (old_cpu_profile("Q", "<"), "a legacy CPU profile in binary", "pprof -proto"),
    (old_cpu_profile("Q", ">"), "a legacy CPU profile in binary", "pprof -proto"),
    (old_cpu_profile("I", "<"), "a legacy CPU profile in binary", "pprof -proto"),
    (old_cpu_profile("I", ">"), "a legacy CPU profile in binary", "pprof -proto"),
    (b"<!DOCTYPE html>\n<title>\nSign in\n</title>", "an HTML page, titled 'Sign in'", "curl -f"),
    (b"\n<html><body>", "an HTML page", "curl -f"),
    (b"404 page not found\n", "a server's refusal, '404 page not found'", "net/http/pprof"),
    (b"Unknown profile\n", "a server's refusal, 'Unknown profile'", "net/http/pprof"),
    (b"HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\n", "an HTTP response with its header", "curl"),
    (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "a Git LFS pointer",
        "git lfs pull",
    ),
    (b"/annex/objects/SHA256E-s9--ab.gz\n", "a git-annex pointer", "git annex get heap"),
    (elf(4), "a core dump", "viewcore heap --exe"),
    (elf(4, ">", b"\x02"), "a core dump", "viewcore heap --exe"),
    (elf(2), "an ELF executable", "running process"),
    (elf(3), "an ELF executable", "running process"),
    (b"MZ" + bytes(62) + b"PE\0\0", "a Windows executable", "running process"),
    (b"\xcf\xfa\xed\xfe" + bytes(9), "a macOS executable", "running process"),
    (tar_of_a_file(), "a tar archive", "unpack it"),
    (b"PK\x03\x04" + bytes(20), "a zip archive", ".zip"),
    (b"\xfd7zXZ\0" + bytes(9), "a file compressed by xz", "xz -d heap"),
    (b"BZh91AY&SY" + bytes(9), "a file compressed by bzip2", "bzip2 -d heap"),
    (b"go 1.22 trace\0\0\0" + bytes(9), "a Go execution trace", "go tool trace heap"),
    (b"go1.4 heap dump\nxyz", "a heap dump of Go 1.6 or older", "a heap profile"),
    (b"PERFILE2" + bytes(9), "a recording of Linux perf", "perf_to_profile"),
    (b"File: api\nType: inuse_space\nShowing nodes accounting for 5MB", "printed", "itself"),
    (b"PeriodType: space bytes\nPeriod: 524288\n", "go tool pprof -raw", "itself"),
    (b"MemTotal:       16 kB\n", "/proc/meminfo: the machine has 16 KiB", "/proc/PID/smaps"),
    (b'{"error": "unauthorized", "code": 401}\n', "a server's error in JSON, 'unauth", "curl -f"),
    (b'{"error": {"code": 4, "message": "no pod"}}', "error in JSON, 'no pod'", "curl -f"),
    (b'{"port": 8080}', "JSON with the keys port", "MemStats"),
    ("\x1f\ufffd\x08".encode(), "gzip that a shell wrote as text", "PowerShell"),
    ("\x1f\u2039\x08".encode(), "gzip that a shell wrote as text", "PowerShell"),
    (
        b"[me@host ~]$ go tool pprof -top heap\nFile: api\nShowing nodes accounting for 5MB",
        "what go tool pprof printed",
        "itself",
    ),
    (b"[me@host ~]$ ls\nheap\n", "what a shell printed", "COMMAND > FILE"),
    (b"[12345.60] [ pid ]   uid  tgid\n", "the kernel's log", "gomem capture PID"),
    (b"[12345.612345] eth0: link up\n", "the kernel's log", "gomem capture PID"),
    (
        b"File: api\nType: inuse_space\n-----------+-------\n     bytes:  16B\n",
        "what go tool pprof -traces printed",
        "debug/pprof/heap",
    ),
    (b" bytes: Total 24.53MB of 24.53MB (  100%)\n", "-tags printed", "debug/pprof/heap"),
    (b"Total: 24.53MB\nROUTINE ======= main.f\n", "-list or -disasm", "debug/pprof/heap"),
    (
        b"positions: instr line\nevents: inuse_space(kB)\n\n",
        "-callgrind wrote",
        "debug/pprof/heap",
    ),
    (struct.pack("<6I", 0, 3, 1, 10000, 0, 1), "CPU profile of Java", "pprof -proto"),
    (struct.pack(">6Q", 0, 3, 1, 10000, 0, 1), "CPU profile of Java", "pprof -proto"),
    (b" count  size    bytes  type\n    10    64      640  main.T\n", "viewcore", "heap profile"),
    (b"all                 123  100.00% \n", "viewcore", "smaps"),
    (
        b'{"status":"success","data":{"resultType":"matrix","result":[]}}',
        "what Prometheus answered",
        "/metrics",
    ),
    (b'{"results":{"A":{"status":200,"frames":[]}}}', "what Grafana answered", "/metrics"),
    (b'{"annotations":{"list":[]},"panels":[]}', "a Grafana dashboard", "/metrics"),
    (
        b"fatal error: runtime: out of memory\n\nruntime.largeAlloc(0x100000000, 0x1)\n",
        "as it ran out of memory, asking for one object of 4 GiB",
        "gomem capture PID",
    ),
    (
        b"runtime: out of memory: cannot allocate 4194304-byte block (8388608 in use)\n",
        "asking for 4 MiB, the least that the heap grows by, with 8 MiB in use",
        "gomem capture PID",
    ),
    (b"", "an empty file", "again"),
    (b" \n\n", "blanks", "again"),
    (bytes(64), "zero bytes", "copy it again"),
]


@pytest.mark.parametrize(("head", "what", "way_out"), CASES, ids=lambda case: str(case)[:24])
def test_it_is_named_with_the_way_out(head, what, way_out):
    seen = looks_like(head, "heap")

    assert what in seen.what
    assert way_out in seen.way_out
    assert seen.known


@pytest.mark.parametrize(("head", "what", "way_out"), CASES, ids=lambda case: str(case)[:24])
def test_a_profile_was_wanted_and_the_error_says_what_came(head, what, way_out):
    """
    Nobody who saved the wrong page is helped by the wire types of its bytes.
    """
    with pytest.raises(FormatError) as caught:
        gomem.read_pprof(head)
    said = str(caught.value)

    assert what in said
    assert "wanted a pprof profile" in said
    assert way_out.replace("heap", "'<bytes>'") in said or way_out in said
    assert "wire type" not in said


@pytest.mark.parametrize("page", ["cp437", "cp1252"])
def test_a_profile_that_powershell_wrote_is_named(page):
    """
    It reads what a command prints in the console's code page, and writes UTF-16.
    """
    written = b"\x1f\x8b\x08\0".decode(page).encode("utf-16")

    with pytest.raises(FormatError, match=r"that a shell wrote as text.*PowerShell"):
        gomem.read_pprof(written)


@pytest.mark.parametrize(
    ("head", "name", "what"),
    [
        (b"remember the milk\n", "notes.txt", "text of no known kind"),
        (b"\x01\x02\xff" + bytes(9), "a.bin", "an unknown binary beginning 01 02 ff"),
        ("größer".encode(), "a.txt", "text of no known kind"),
        ("память".encode()[:-1], "a.txt", "text of no known kind"),
        ("viel größer".encode("latin-1"), "a.txt", "text of no known kind"),
        ("größ".encode("latin-1"), "a.txt", "an unknown binary"),
        (b"\x1b[31mred\x1b[0m\n", "a.txt", "text of no known kind"),
    ],
)
def test_what_is_not_recognised_is_told_as_text_or_binary(head, name, what):
    seen = looks_like(head, name)

    assert what in seen.what
    assert not seen.known
    assert "; wanted a profile, a GC log, MemStats" in not_an_artefact(head, name).what


@pytest.mark.parametrize("byte", [0x08, 0x0E, 0x1A, 0x1C, 0x1F])
def test_a_control_character_makes_it_binary(byte):
    assert looks_like(b"plain" + bytes([byte]), "x").is_unknown_binary


@pytest.mark.parametrize("byte", [0x09, 0x0C, 0x0D, 0x1B, 0x20, 0x7E])
def test_white_space_and_colours_are_text(byte):
    assert not looks_like(b"plain" + bytes([byte]), "x").is_unknown_binary


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (bytes(range(1, 10)), "an unknown binary beginning 01 02 03 04 05 06 07 08"),
        (b"x" * 511 + b"\x01", "an unknown binary beginning 78 78 78 78 78 78 78 78"),
        (b"x" * 512 + b"\x01", "text of no known kind"),
        (b"\xffaaa", "text of no known kind"),
        (b"\xff~~~", "text of no known kind"),
        (b"\xffaa", "an unknown binary beginning ff 61 61"),
        (b"\xff\x7faaaaa", "an unknown binary beginning ff 7f 61 61 61 61 61"),
    ],
)
def test_half_a_kib_tells_text_from_binary(head, what):
    """
    Text that is not UTF-8 has at most a quarter of its bytes above ASCII.
    """
    assert what == looks_like(head, "x").what


@pytest.mark.parametrize(
    ("name", "what", "known"),
    [
        ("README", "a document", True),
        ("docs/readme.txt", "a document", True),
        ("a.rst", "a document", True),
        ("main.go", "Go source", True),
        ("run.SH", "a script", True),
        ("notes.txt", "text of no known kind", False),
    ],
)
def test_a_name_says_what_plain_text_is(name, what, known):
    seen = looks_like(b"\n  " + b"x" * 300 + b"\nmore\n", name)

    assert (what, known) == (seen.what, seen.known)
    assert seen.text.startswith("x" * 50)
    assert "more" not in seen.text
    assert not seen.is_unknown_binary


@pytest.mark.parametrize(("further", "titled"), [(0, True), (1, False)])
def test_a_page_is_known_by_its_first_64_kib(further, titled):
    begin, title = b"<html>", b"<title>T</title>"
    page = begin + b" " * ((64 << 10) - len(begin + title) + further) + title

    assert "an HTML page" + ", titled 'T'" * titled == looks_like(page, "x").what


def test_a_refusal_is_at_most_512_bytes():
    assert looks_like(b"error " + b"x" * 506, "log").known


def json_with(keys, length):
    text = "{" + '"error": "no", ' + ", ".join(f'"k{key}": 1' for key in range(keys - 1))
    return (text + "}").ljust(length).encode()


@pytest.mark.parametrize(
    ("head", "error"),
    [
        (json_with(8, 300), "no"),
        (json_with(9, 300), None),
        (json_with(8, 4096), "no"),
        (json_with(8, 4097), None),
        (b'{"error": ""}', None),
        (b'{"error": "", "message": "gone"}', "gone"),
        (b'{"error": {"code": 1}}', None),
        (b'{"error": 7}', None),
        (b'["error"]', None),
    ],
)
def test_a_short_object_may_say_what_went_wrong(head, error):
    what = looks_like(head, "x").what

    assert (error is not None) == what.startswith("a server's error in JSON")
    assert error is None or repr(error) in what


def test_a_page_of_metrics_is_named_by_its_two_commonest_families():
    page = b"a_x 1\na_y 2\na_z 3\nb_x 1\nb_y 1\nc_x 1\n"

    assert "a page of Prometheus metrics of a and b, with none" in looks_like(page, "x").what
    assert "a page of Prometheus metrics, with" in looks_like(b"# HELP x y\n", "x").what


def test_a_name_is_asked_only_where_content_says_nothing():
    assert "a document in Markdown" == looks_like(b"# Captures\n", "README.md").what
    assert "an empty file" == looks_like(b"", "README.md").what


def test_a_name_is_quoted_in_the_command():
    assert "'my heap; rm -rf ~.xz'" in looks_like(b"\xfd7zXZ\0", "my heap; rm -rf ~.xz").way_out


def test_another_kind_is_named_where_a_profile_was_wanted():
    with pytest.raises(FormatError, match="statm, wanted a pprof profile; gomem report"):
        gomem.read_pprof(b"1 2 3 4 5 6 7\n")


def test_a_long_sentence_is_no_refusal():
    """
    A server's refusal is a line; a log that begins with an error is a log.
    """
    assert looks_like(b"error " + b"x" * 505, "log").known
    assert not looks_like(b"error " + b"x" * 507, "log").known


@pytest.mark.parametrize(
    "head",
    [
        b"<?xml " + b"<!>" * (HEAD_BYTES // 3),
        b"<html><title>" + b" " * HEAD_BYTES,
        b"MZ" + bytes(HEAD_BYTES),
        b"File: " + b"   \n" * (HEAD_BYTES // 4),
        b"goroutine \n" * (HEAD_BYTES // 11),
        b"../" * (HEAD_BYTES // 3),
        b"[" * HEAD_BYTES,
    ],
    ids=lambda head: repr(head[:9]),
)
def test_a_hostile_beginning_costs_no_time(head):
    """
    Were a pattern to try all ways to divide it, this test would not end.
    """
    assert looks_like(head, "x").what


TRACES = FIXTURES / "pasted" / "traces"


@pytest.mark.parametrize(
    ("name", "what", "way_out"),
    [
        ("checkfinalizers.txt", "keeps its own object alive", "created at"),
        ("checkfinalizers-report.txt", "keeps its own object alive", "created at"),
        ("inittrace.txt", "each package's init took", "sort -rnk8 inittrace.txt"),
        ("schedtrace.txt", "threads and run queues", "/proc/PID/status"),
        ("scheddetail.txt", "threads and run queues", "/proc/PID/status"),
    ],
)
def test_what_the_runtime_prints_of_other_things_is_named(name, what, way_out):
    """
    The first of them ends with stacks, which say nothing of what is wrong.
    """
    data = (TRACES / name).read_bytes()

    assert kind_of(data, name) is None
    seen = looks_like(data, name)
    assert what in seen.what
    assert way_out in seen.way_out


@pytest.mark.parametrize(
    ("text", "what", "command"),
    [
        ('"State": {\n  "Status": "exited",\n  "OOMKilled": true,\n', "docker inspect", "dmesg"),
        ('"State": {\n  "Status": "exited",\n  "OOMKilled": false,\n', "docker inspect", "dmesg"),
        (
            "containerStatuses:\n  - lastState:\n      terminated:\n        reason: OOMKilled\n",
            "Kubernetes",
            "kubectl top",
        ),
        ('{\n  "kind": "PodMetricsList",\n  "items": []\n}\n', "PodMetrics", "kubectl top"),
        (
            " PID User     Command   Swap  USS  PSS  RSS\n  7 root  ./api  0  9  9  9\n",
            "smem",
            "ps",
        ),
    ],
)
def test_what_clusters_print_is_named_with_a_command(text, what, command):
    seen = looks_like(text.encode(), "")

    assert what in seen.what
    assert command in seen.way_out
    assert seen.is_evidence


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            (
                "It is the loop:\n\n  91.2% main.(*queue).next\n   └─ 80% main.(*store).all\n"
                "       ├─ 41.5% bytes.growSlice\n"
            ),
            "a call tree that somebody drew",
        ),
        (
            (
                "The profile has:\nexample.com/api/wire.readAll\nbufio.NewReaderSize (inline)\n"
                "example.com/api/wire.(*Buffer).Append\n\nHow can I fix it?\n"
            ),
            "a list of function names without their numbers",
        ),
    ],
)
def test_what_people_paste_of_a_profile_is_named_with_the_next_command(text, what):
    seen = looks_like(text.encode(), "x.txt")

    assert seen.what.startswith(what)
    assert "debug/pprof/heap" in seen.way_out


@pytest.mark.parametrize(
    "text",
    [
        "src\n├── main.go\n└── store.go\n",
        "go.mod\nmain.go\nstore.go\n",
        "example.com/a.A\nexample.com/b.B\n",
    ],
)
def test_trees_of_files_and_lists_of_files_are_no_profile(text):
    seen = looks_like(text.encode(), "x.txt")

    assert "tree" not in seen.what
    assert "function" not in seen.what


@pytest.mark.parametrize(
    "text",
    [
        "NAME       READY   STATUS      RESTARTS   AGE\napi-5d9c   1/2     OOMKilled   2   5m58s\n",
        'Since last week the pod crashes with "OOMKilled" messages, again and again.\n',
    ],
    ids=["a row of kubectl get", "a sentence"],
)
def test_a_kill_is_named_wherever_it_is_said(text):
    seen = looks_like(text.encode(), "")

    assert seen.is_evidence == ("RESTARTS" in text)
    assert "a container" in seen.what
    assert "killed for want of memory (OOMKilled)" in seen.what
    assert "kubectl top pod" in seen.way_out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "limits:\n  cpu: 100m\n  memory: 30Mi\nrequests:\n  memory: 20Mi\n",
            "a limit of 30Mi and a request of 20Mi",
        ),
        ('"limits": {"cpu": "1", "memory": "2Gi"}\n', "a limit of 2Gi"),
        (
            "$ oc get pod -o jsonpath='{..limits}'\nhook map[memory:200Mi]\nproxy map[memory:9Mi]",
            "a limit of 200Mi for hook, 9Mi for proxy",
        ),
    ],
    ids=["YAML", "JSON", "jsonpath"],
)
def test_what_a_container_may_use_is_named_from_any_form_of_its_object(text, said):
    seen = looks_like(text.encode(), "")

    assert seen.is_evidence
    assert said in seen.what
    assert "OOMKilled" not in seen.what


def test_what_kubectl_describe_says_of_a_kill_is_named_with_its_limit():
    text = (
        "$ kubectl describe pod api-5d9c\n    Last State:     Terminated\n"
        "      Reason:       OOMKilled\n      Exit Code:    137\n"
        "    Limits:\n      cpu:     100m\n      memory:  90Mi\n"
    )

    seen = looks_like(text.encode(), "")

    assert seen.is_evidence
    assert "killed for want of memory (OOMKilled), with a limit of 90Mi" in seen.what


@pytest.mark.parametrize(
    ("name", "first", "count"),
    [
        ("benchstat-v1.txt", "SortInt1K-2 time/op +133.39 %", 4),
        ("benchstat-v2.txt", "SortInt1K-2 sec/op +130.97 %", 4),
        ("benchcmp.txt", "BenchmarkSortInt1K-2 ns/op +84.55 %", 4),
    ],
)
def test_a_table_of_somebodys_comparison_says_its_changes(name, first, count):
    seen = looks_like((FIXTURES / "pasted" / "benchstat" / name).read_bytes(), name)

    _, _, said = seen.what.partition("which says: ")
    assert said.startswith(first)
    assert count == said.count(" %")


ROWS = (
    "name     old alloc/op  new alloc/op  delta",
    "Pack-8    72.0B ± 0%    24.0B ± 0%  -66.67%  (p=0.008 n=5+5)",
    "Push-8    90.0B ± 0%    81.0B ± 0%  -10.00%  (p=0.008 n=5+5)",
    "[Geo mean]  80.5B  44.1B  -45.23%",
)


@pytest.mark.parametrize(
    ("last", "is_cut"),
    [("", False), ("\n\nIt is faster now.", False), ("\nNot bad at all", False),
     ("\nPoll-8", True), ("\nPoll-8    12.0B ± 0%    11.0B ± 0%", True),
     ("\n\nname     old time/op  ne", True), ("\n\nname     old time/op  new time/op", True)],
)  # fmt: skip
def test_the_largest_change_has_its_values_and_a_cut_table_is_said_to_be_cut(last, is_cut):
    text = "\n".join(ROWS) + last
    said = f"{looks_like(text.encode(), '').what}"

    assert "Pack-8 alloc/op -66.67 % (72.0B to 24.0B), Push-8 alloc/op -10.00 %, in the" in said
    assert "geometric mean alloc/op -45.23 %" in said
    assert is_cut == ("it is cut at its end" in said)


def test_a_table_within_noise_says_no_change():
    row = "Parse-8  12.1ms ± 1%  12.0ms ± 2%  ~     (p=0.4 n=5+5)\n"
    text = f"name     old time/op  new time/op  delta\n{row}"

    assert "a table of benchstat" == looks_like(text.encode(), "").what


@pytest.mark.parametrize(
    ("text", "said", "way_out"),
    [
        (
            (
                "MiB Mem :  32011.1 total,   1068.4 free,   2239.1 used,  28703.6 buff/cache\n"
                "MiB Swap:      0.0 total,      0.0 free,      0.0 used.   1601.3 avail Mem\n"
            ),
            (
                "the machine has 31.3 GiB, 2.19 GiB used, 28 GiB in buffers and page cache, "
                "1.04 GiB free, 1.56 GiB available; about 27.5 GiB of the cache cannot be freed"
            ),
            "df -h -t tmpfs",
        ),
        (
            (
                "MiB Mem :   7883.4 total,   1444.4 free,   2660.3 used,   3778.6 buff/cache\n"
                "MiB Swap:   4096.0 total,   4096.0 free,      0.0 used.   6160.9 avail Mem\n"
            ),
            (
                "the machine has 7.7 GiB, 2.6 GiB used, 3.69 GiB in buffers and page cache, "
                "1.41 GiB free, 6.02 GiB available"
            ),
            "ps -eo pid,rss,args",
        ),
        (
            (
                "        total        used        free      shared  buff/cache   available\n"
                "Mem:     15Gi       3.0Gi       1.0Gi       0.5Gi        11Gi        11Gi\n"
            ),
            "what free printed: the machine has 15 GiB, 3 GiB used, 11 GiB in buffers",
            "ps -eo pid,rss,args",
        ),
        (
            (
                "        total        used        free      shared  buff/cache   available\n"
                "Mem:  2000000      100000     1500000           0      400000     1800000\n"
            ),
            "what free printed, which is about the machine",
            "ps aux",
        ),
    ],
    ids=["top, cache in tmpfs", "top", "free -h", "free in a unit that nothing tells"],
)
def test_the_machines_memory_is_said_with_what_its_cache_cannot_give_back(text, said, way_out):
    seen = looks_like(text.encode(), "")

    assert said in seen.what
    assert way_out in seen.way_out
    assert ("cannot be freed" in seen.what) == ("tmpfs" in way_out)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            (
                "$ ./rss.py launch\nVmRSS: (29952; 104708; +74756); Step: 498.00\n"
                "VmRSS: (103744; 116848; +13104)\nVmRSS: (116848; 136096; +19248)\n"
                "VmRSS: (136232; 139084; +2852)\n"
            ),
            (
                "4 lines of VmRSS: from 29 MiB to 136 MiB; of the rise of 107 MiB the first half "
                "of the lines has 85 MiB"
            ),
        ),
        (
            "".join(f"alloc: {350000 + step * 4000}\n" for step in range(9)),
            (
                "9 lines of alloc: from 350000 to 382000; of the rise of 32000 the first half of "
                "the lines has 16000, the second 16000; if in bytes, all are below 4 MiB, where "
                "Go's first GC runs"
            ),
        ),
        ("t=1 mem: 12.5 MB\nt=2 mem: 99.5 MB\nt=3 mem: 40 MB\nt=4 mem: 12 MB\n", "at most 99.5 MB"),
        (
            "".join(f"- 09:1{n}:42 memory.usage_in_bytes {n * 12582912}\n" for n in (1, 2, 3, 4)),
            "4 lines of memory.usage_in_bytes: from 12 MiB to 48 MiB",
        ),
        (
            "".join(f"  09:1{at}:37  MemoryCurrent={at * 10485760}\n" for at in (1, 2, 3, 4)),
            "4 lines of MemoryCurrent: from 10 MiB to 40 MiB",
        ),
    ],
    ids=["VmRSS, before and after", "alloc", "mem, with a unit", "of a cgroup", "of a unit"],
)
def test_lines_that_repeat_one_size_say_where_it_goes(text, said):
    seen = looks_like(text.encode(), "")

    assert said in seen.what
    assert "GODEBUG=gctrace=1" in seen.way_out
    assert seen.is_evidence


FREE = """              total        used        free      shared  buff/cache   available
Mem:          7.5Gi       7.0Gi       158Mi       {shared}       298Mi        90Mi
"""


@pytest.mark.parametrize(("shared", "is_held"), [(" 21Mi", False), ("250Mi", True)])
def test_the_cache_that_cannot_be_freed_is_by_the_column_of_free(shared, is_held):
    seen = looks_like(FREE.format(shared=shared).encode(), "")

    assert "298 MiB in buffers and page cache" in seen.what
    assert is_held == ("250 MiB of the cache is tmpfs and shared memory" in seen.what)
    assert is_held == ("cannot be freed" in seen.what)


@pytest.mark.parametrize(("shmem", "is_held"), [(100, False), (900, True)])
def test_shmem_of_meminfo_is_what_cannot_be_freed(shmem, is_held):
    text = (
        "MemTotal: 4000 kB\nMemFree: 100 kB\nMemAvailable: 110 kB\nBuffers: 0 kB\n"
        f"Cached: 1000 kB\nShmem: {shmem} kB\n"
    )
    assert is_held == ("cannot be freed" in looks_like(text.encode(), "").what)


def test_top_shows_no_shared_memory_so_the_kernels_reserve_is_not_taken_for_it():
    top = "MiB Mem :   7680.0 total,    158.0 free,   7224.0 used,    298.0 buff/cache\n"
    top += "MiB Swap:      0.0 total,      0.0 free,      0.0 used.     90.0 avail Mem\n"

    assert "cannot be freed" not in looks_like(top.encode(), "").what


OLD_FREE = (
    "             total       used       free     shared    buffers     cached\n"
    "Mem:           992        871        121          0         20        310\n"
    "-/+ buffers/cache:        541        451\n"
    "Swap:            0          0          0\n"
)


@pytest.mark.parametrize("before", ["", "root@vm:~# free -m\n"])
def test_free_of_old_releases_is_the_machines_memory(before):
    what = f"{looks_like(f'{before}{OLD_FREE}'.encode(), '').what}"

    assert "the machine has 992 MiB, 541 MiB used, 310 MiB cached, 121 MiB free, no swap" in what


def test_a_killed_build_is_told_with_the_machines_memory():
    line = "go build example.org/m: /usr/local/go/pkg/tool/linux_amd64/6g: signal: killed\n"
    seen = looks_like(f"{OLD_FREE}\n$ go get example.org/m\n{line}".encode(), "")

    assert "SIGKILL ended 6g" in f"{seen.what}"
    assert "no swap" in f"{seen.what}"
    assert "go build -p 1" in f"{seen.way_out}"
