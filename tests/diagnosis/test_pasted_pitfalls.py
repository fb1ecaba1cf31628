"""Pasted texts that were read as what they are not, or lost a part without a word."""

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.text import Bytes, Share, Text

CUT_MAPPINGS = (
    "Anonymous:          8000 kB\nAnonHugePages:         0 kB\nSwap:                  0 kB\n"
    "KernelPageSize:        4 kB\nMMUPageSize:           4 kB\nLocked:                0 kB\n"
    "VmFlags: rd wr mr mw me ac sd\n"
    "7f10a0001000-7f10a09a4000 rw-p 00000000 00:00 0\nSize:               9868 kB\n"
    "Rss:                9692 kB\nPss:                9692 kB\nPrivate_Dirty:      9692 kB\n"
    "Anonymous:          9692 kB\nVmFlags: rd wr mr mw me ac sd\n"
    "7f10a09a5000-7f10a0c86000 rw-p 00000000 00:00 0\nSize:               2948 kB\n"
    "Rss:                2920 kB\nPss:                2920 kB\nPrivate_Dirty:      2920 kB\n"
    "Anonymous:          2920 kB\nVmFlags: rd wr mr mw me ac sd\n"
)
BOLD = (
    "Showing nodes accounting for **3MB**, 100% of 3MB total\n"
    "      flat  flat%   sum%        cum   cum%\n"
    "       2MB **66.67%** 66.67%        3MB   100%  **main.(*store).fill**\n"
    "       1MB **33.33%**   100%        1MB 33.33%  main.index\n"
    "         0     0%   100%        3MB   100%  main.(*store).Put\n"
    "         0     0%   100%        3MB   100%  net/http.(*conn).serve\n"
    "         0     0%   100%        3MB   100%  main.main\n"
)
METHOD = (
    "Type: alloc_space\nShowing nodes accounting for 3MB, 100% of 3MB total\n"
    "      flat  flat%   sum%        cum   cum%\n"
    "       2MB 66.67% 66.67%        2MB 66.67%  example.org/pack.(*coder).init\n"
    "       1MB 33.33%   100%        1MB 33.33%  example.org/names.init\n"
)
CLOSED = (
    '{\n  "Open": 1,\n  "Memory": {\n    "Alloc": 534816,\n    "HeapAlloc": 534816,\n'
    '    "HeapIdle": 712704,\n    "HeapInuse": 991232,\n    "HeapSys": 1703936,\n'
    '    "Sys": 3999992,\n    "TotalAlloc": 995904\n  },\n  "Peers": {\n    "Now": 0,\n'
)
RUNS = (
    "Benchmark before:\n```\nBenchmarkParse-8  260  4416824 ns/op  1582518 B/op  16353 allocs/op\n"
    "```\nBenchmark after:\n```\n"
    "BenchmarkParse-8  254  4349845 ns/op  1500073 B/op  15833 allocs/op\n```\n"
)
PAGE = (
    "# TYPE go_goroutines gauge\ngo_goroutines 37\n# TYPE go_memstats_alloc_bytes gauge\n"
    "go_memstats_alloc_bytes 1.4e+09\n# TYPE go_memstats_frees_total counter\n"
    "go_memstats_frees_total 2.04e+09\n# TYPE go_memstats_buck_hash_sys_bytes gauge\n"
    "go_memstats_buck_hash_sys_bytes 1.5e+06\n"
)
SERVICE = (
    "● proxy.service - a proxy\n     Loaded: loaded (/etc/systemd/system/proxy.service)\n"
    "     Active: active (running) since Mon 2026-11-16 01:55:11 UTC; 11h ago\n"
    "   Main PID: 325 (proxy-start)\n     Memory: 53.0M\n"
    "     CGroup: /system.slice/proxy.service\n"
    "             ├─325 /bin/sh /opt/proxy/start.sh\n"
    "             └─390 /opt/proxy/proxy --listen=127.0.2.1\n"
)


def diagnosed(folder, text):
    (folder / "ticket.md").write_text(text)
    return gomem.diagnose(folder / "ticket.md")


def refused(folder, text):
    with pytest.raises(CaptureError) as error:
        diagnosed(folder, text)
    return str(error.value)


def test_a_mapping_that_is_cut_before_its_rss_fells_no_rule(tmp_path):
    found = diagnosed(tmp_path, f"```\n{CUT_MAPPINGS}```\n")

    assert {"data-damaged", "data-missing"} == {finding.code for finding in found.findings}
    assert not [finding for finding in found.findings if "gomem" in finding.title]


def test_cells_in_bold_are_cells(tmp_path):
    (profiles,) = diagnosed(
        tmp_path, f"The profiler has little:\n\n{BOLD}"
    ).capture.profiles.values()
    (profile,) = profiles.values()

    flat = profile.top().set_index("function")["flat"]
    assert (2 << 20, 1 << 20) == (flat["main.(*store).fill"], flat["main.index"])


def test_a_method_called_init_is_no_packages_init(tmp_path):
    said = str(diagnosed(tmp_path, METHOD).verdict.sentence)

    assert "pack.(*coder).init (67 %)" in said
    assert "names.init (33 %, allocated once at start-up)" in said


def test_memstats_that_are_whole_are_not_cut_where_the_document_is(tmp_path):
    found = diagnosed(tmp_path, CLOSED)

    assert () == found.capture.damaged
    assert 534816 in [part.value for part in Text(found.verdict.sentence).of(Bytes)]


def test_a_sentence_that_begins_with_benchmark_is_no_torn_result(tmp_path):
    assert () == diagnosed(tmp_path, RUNS).capture.damaged


def test_a_field_that_has_the_number_by_another_name_is_not_missing(tmp_path):
    (damage,) = diagnosed(tmp_path, PAGE).capture.damaged

    assert "HeapInuse" in damage.what
    assert "HeapAlloc" not in damage.what


def test_names_before_a_colon_are_no_page_of_metrics(tmp_path):
    lines = "".join(f"alloc: {349264 + step * 3488}\n" for step in range(33))

    assert "Prometheus" not in refused(
        tmp_path, f"Every time it grows.\n\n{lines}\nIs this a bug?\n"
    )


def test_of_a_service_that_a_shell_started_its_child_is_asked(tmp_path):
    assert "gomem capture 390 -o DIR" in refused(tmp_path, SERVICE)


def test_counts_of_a_table_are_not_called_no_memory(tmp_path):
    table = (
        "Showing nodes accounting for 3000, 100% of 3000 total\n"
        "      flat  flat%   sum%        cum   cum%\n"
        "      2000 66.67% 66.67%       2000 66.67%  main.fill\n"
        "      1000 33.33%   100%       1000 33.33%  main.index\n"
    )
    verdict = diagnosed(tmp_path, table).verdict

    assert [2 / 3] == pytest.approx(
        [part.value for part in Text(verdict.sentence).of(Share)][:1], abs=1e-3
    )
    assert "counts samples or objects, not bytes" in verdict.next_step


CUT_KILL = (
    "[2442796.469054] Memory cgroup out of memory: Killed process 2532535 (beat) "
    "total-vm:2766604kB, anon-rss:1298484kB, file-rss:7\n"
)
LEFT = (
    "    run.go:269: found unexpected goroutines:\n"
    "        [Goroutine 52 in state select, with a.org/sync.(*queue).run on top of the stack:\n"
    "        a.org/sync.(*queue).run(0xc000216c20, {0x2b146e8, 0xc0004fe230})\n"
    "        \t/go/pkg/mod/a.org/sync/queue.go:88 +0x1eb\n"
    "        created by a.org/sync.newQueue in goroutine 22\n"
    "        \t/go/pkg/mod/a.org/sync/queue.go:52 +0x207\n"
    "        ]\n"
)
LEAKED = (
    "--- FAIL: TestServe (5.04s)\n"
    "\tleaktest.go:86: Leaked goroutine: goroutine 1 [chan receive]:\n"
    "\t\ttesting.(*T).Run(0xc4200780c0, 0x50ed19, 0x7, 0x51d838, 0xc42003fd30)\n"
    "\t\t\t/usr/local/go/src/testing/testing.go:647 +0x316\n"
    "\t\ttesting.(*M).Run(0xc420045ef8, 0xc42000a510)\n"
    "\t\t\t/usr/local/go/src/testing/testing.go:743 +0x85\n"
    "\t\tmain.main()\n\t\t\t_test/_testmain.go:54 +0xc6\nFAIL\n"
)


def test_a_kill_whose_line_is_cut_behind_the_anonymous_memory_has_at_least_that(tmp_path):
    found = diagnosed(tmp_path, CUT_KILL)

    (kill,) = [finding for finding in found.findings if finding.code == "limit-risk"]
    assert "killed beat (PID 2532535) with at least 1.24 GiB RSS" in f"{kill.title}"
    (damage,) = found.capture.damaged
    assert "RSS is its anonymous memory, and more" in damage.what


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LEFT, "in sync.(*queue).run (select at queue.go:88), started by sync.newQueue"),
        (LEAKED, "The goroutine in testing.(*M).Run runs the tests, and is no leak."),
    ],
    ids=["goleak", "leaktest"],
)
def test_goroutines_that_a_test_lists_need_no_header_of_the_runtime(tmp_path, text, said):
    found = diagnosed(tmp_path, f"This is what I got:\n```\n{text}```\n")

    assert () == found.capture.damaged
    assert said in str(found.verdict.sentence)
    assert "as leaked when the test ended" in str(found.verdict.sentence)


DIALS = (
    "goleak: Errors on successful test run: found unexpected goroutines:\n"
    "[Goroutine 31 in state IO wait, with internal/poll.runtime_pollWait on top of the stack:\n"
    "internal/poll.runtime_pollWait(0x1000, 0x77)\n\t/go/src/runtime/netpoll.go:345 +0xa0\n"
    "net.(*netFD).{0}(0x2000)\n\t/go/src/net/fd_unix.go:141 +0x884\n"
    "main.fetch()\n\t/src/fetch.go:12 +0x30\n]\n"
)


@pytest.mark.parametrize(
    ("call", "step"), [("connect", "the context of the dial"), ("Read", "close the connection")]
)
def test_what_still_dials_has_no_connection_to_close(tmp_path, call, step):
    found = diagnosed(tmp_path, f"The test says:\n```\n{DIALS.format(call)}```\n")

    assert step in str(found.verdict.next_step)
    assert "this goroutine" in str(found.verdict.next_step)
