"""Goroutines as people paste them: headers alone, one alone, stacks that are cut."""

import pytest

import gomem
from gomem.analysis.series.goroutine_growth import waiting_in
from gomem.causes.finding import Severity
from gomem.errors import CaptureError
from gomem.text import Count, Function, Seconds, Text
from gomem.views.report.goroutines import goroutine_bars
from tests.builders import FIXTURES, as_text

HEADERS = (
    "api[311]: goroutine 7 [select, 12 minutes]:\n"
    "api[311]: goroutine 8 [select]:\n"
    "api[311]: goroutine 9 [IO wait, 3 minutes]:\n"
)
LONE = (
    "goroutine 77 [chan receive, 190 minutes]:\nmain.(*pool).next(0xc0000b2000)\n\t/src/pool.go:7"
    " +0x8f\ncreated by main.start\n\t/src/pool.go:3 +0x91\n"
)
POLLED = (
    "internal/poll.runtime_pollWait;internal/poll.(*FD).Read;net.(*netFD).Read;net.(*conn).Read"
)


def diagnosed(folder, text):
    path = folder / "pasted.txt"
    path.write_text(text)
    return gomem.diagnose(path)


def values(found, kind):
    return [part.value for part in Text(found.verdict.sentence).of(kind)]


def test_headers_behind_a_name_are_counted_by_state(tmp_path):
    found = diagnosed(tmp_path, HEADERS)

    assert [3, 2, 1] == values(found, Count)
    assert [720.0] == values(found, Seconds)
    assert [] == values(found, Function)
    assert goroutine_bars(found, "heap") is None


def test_records_without_their_head_are_an_excerpt(tmp_path):
    found = diagnosed(
        tmp_path,
        "Seen in the log:\n\n```\n367 @ 0x4037fc3 0x4038084\n"
        "#\t0x4037fc3\ttime.Sleep+0xf9\t/src/runtime/time.go:59\n"
        "#\t0x4038084\tmain.vet+0x244\t/src/vet.go:97\n```\n",
    )

    assert "At least 367 goroutines; 367 wait in main.vet" in found.verdict.sentence
    assert [True] == [fault.is_excerpt for fault in found.capture.damaged]


def test_how_long_a_lone_goroutine_waits_is_in_the_headline(tmp_path):
    found = diagnosed(tmp_path, LONE)

    assert [190 * 60.0] == values(found, Seconds)
    assert ["main.(*pool).next", "main.start"] == values(found, Function)


@pytest.mark.parametrize(
    ("stack", "function"),
    [
        (
            f"{POLLED};net/http.(*connReader).Read;bufio.(*Reader).fill",
            "net/http.(*connReader).Read",
        ),
        (
            f"{POLLED};crypto/tls.(*Conn).Read;net/http.(*persistConn).Read;bufio.(*Reader).Peek",
            "net/http.(*persistConn).Read",
        ),
        (f"{POLLED};crypto/tls.(*Conn).Read;io.ReadAtLeast;main.fetch", "main.fetch"),
        (f"{POLLED};net/http.(*connReader).Read;net/http.(*conn).serve", "net/http.(*conn).serve"),
        (f"{POLLED};crypto/tls.(*Conn).readRecord", "crypto/tls.(*Conn).readRecord"),
    ],
)
def test_what_any_connection_waits_in_is_passed_over(stack, function):
    assert function == waiting_in(stack)


@pytest.mark.parametrize(
    ("function", "said"),
    [("net/http.(*connReader).Read", "server"), ("net/http.(*persistConn).readLoop", "client")],
)
def test_whose_connection_it_is_is_said(tmp_path, function, said):
    dump = f"goroutine 7 [IO wait]:\nnet.(*conn).Read(0x1)\n\t/go/net.go:7 +0x1\n{function}(0x1)\n"

    assert said in diagnosed(tmp_path, f"{dump}\t/go/http.go:7 +0x1\n").verdict.sentence


HEADS = FIXTURES / "pasted" / "forms" / "goroutine-heads.txt"


def test_ages_in_even_steps_are_a_leak_of_what_runs_then():
    found = gomem.diagnose(HEADS)

    (leak,) = [finding for finding in found.findings if finding.code == "goroutine-leak"]
    assert "24 of 29 were started, 2 every 5 minutes" in leak.title
    assert "possible" == leak.confidence


@pytest.mark.parametrize(
    ("old", "new"), [("[select", "[IO wait"), (", 5 minutes", ", 9 minutes"), ("minutes", "weeks")]
)
def test_ages_that_are_in_no_even_steps_are_none(tmp_path, old, new):
    (tmp_path / "heads.txt").write_text(HEADS.read_text().replace(old, new))

    found = gomem.diagnose(tmp_path / "heads.txt")

    assert "goroutine-leak" not in {finding.code for finding in found.findings}


def test_an_age_is_rounded_down_and_states_of_a_group_are_all_named(tmp_path):
    (tmp_path / "heads.txt").write_text(HEADS.read_text().replace("61 minutes", "5692 minutes"))

    found = gomem.diagnose(tmp_path / "heads.txt")

    assert "3.9 d" in found.verdict.sentence
    shown = as_text(found)
    assert "26 select, 1 IO wait" in shown


# Folded dumps, and stacks that overflow


def test_a_record_that_stands_for_many_counts_them():
    capture = gomem.load(FIXTURES / "pasted" / "forms" / "goroutines-folded.txt")
    verdict = gomem.diagnose(capture).verdict

    assert "615 goroutines; 601 wait in main.(*queue).next" in f"{verdict.sentence}"
    assert not capture.damaged


def test_counts_by_state_beside_stacks_are_told_as_not_read(tmp_path):
    folded = (FIXTURES / "pasted" / "forms" / "goroutines-folded.txt").read_text()
    counts, _, stacks = folded.partition("\n\n")

    ticket = "\n".join(("```", counts, "```", "```", stacks + "```\n"))

    said = f"{diagnosed(tmp_path, ticket).verdict.further}"
    assert "counts of 617 goroutines by their state: 601 in chan receive, 14 in select" in said


@pytest.mark.parametrize("release", ["go1.19.13", "go1.27.3"])
def test_a_stack_overflow_names_the_cycle(release):
    path = FIXTURES / "pasted" / "goroutines" / f"{release}-overflow.txt"
    verdict = gomem.diagnose(path).verdict

    assert "reached its limit of 954 MiB" in f"{verdict.sentence}"
    assert "main.writeAll" in f"{verdict.sentence}"
    assert "call each other without end" in f"{verdict.sentence}"
    assert "debug/pprof" not in f"{verdict.next_step}"


LEAK = (
    "--- FAIL: TestAll (0.4s)\n    all_test.go:16: found unexpected goroutines:\n"
    "        [Goroutine 6 in state select, with {where} on top of the stack:\n"
    "        {where}(0xc0000f8400)\n                /go/a/worker.go:292 +0x9f\n"
    "        created by {begun} in goroutine 1\n                /go/a/worker.go:34 +0x8d\n"
    "        ]\n"
)


@pytest.mark.parametrize(
    ("where", "begun", "said"),
    [
        ("a.org/v.(*w).start", "a.org/v.init.0", 'IgnoreTopFunction("a.org/v.(*w).start")'),
        ("net/http.(*persistConn).writeLoop", "net/http.(*Transport).x", "CloseIdleConnections"),
        ("a.org/q.(*queue).run", "a.org/q.newQueue", "what q.newQueue starts"),
        ("a.org/q/internal/w.(*w).run", "a.org/q/internal/w.New", "test opens of a.org/q before"),
    ],
)  # fmt: skip
def test_what_a_test_found_needs_no_server(tmp_path, where, begun, said):
    step = diagnosed(tmp_path, LEAK.format(where=where, begun=begun)).verdict.next_step

    assert said in f"{step}"
    assert "curl" not in f"{step}"


def test_an_overflow_whose_frames_are_elsewhere_asks_for_them(tmp_path):
    text = (
        "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n\n"
        "goroutine 5 [GC worker (idle)]:\nruntime.gopark(0x1)\n\t/go/proc.go:3 +0x1\n"
        "runtime.gcBgMarkWorker(0xc0)\n\t/go/mgc.go:3 +0x1\n"
    )
    verdict = diagnosed(tmp_path, text).verdict

    assert "not here" in f"{verdict.next_step}"
    whole = text.replace("GC worker (idle)", "running")
    assert "not here" not in f"{diagnosed(tmp_path, whole).verdict.next_step}"


def test_a_dump_that_begins_within_a_goroutine_says_what_it_did(tmp_path):
    stack = (
        "runtime.growslice(0x66)\n\t/go/slice.go:290 +0x4\nmain.list.add(...)\n\t/app/list.go:29\n"
        "main.main()\n\t/app/main.go:40 +0x6\nruntime.goexit()\n\t/go/asm.s:15 +0x1\n"
        "goroutine 2 [force gc (idle)]:\nruntime.gopark(0x0)\n\t/go/proc.go:363 +0xd6\n"
    )
    verdict = diagnosed(tmp_path, stack).verdict

    assert (
        "it is in main.list.add (runtime.growslice), called by main.main" in f"{verdict.sentence}"
    )
    assert "curl" not in f"{verdict.next_step}"


def test_who_started_it_is_named_by_its_ancestors(tmp_path):
    dump = (
        "goroutine 21 [select, 9 minutes]:\nnet/http.(*persistConn).writeLoop(0xc1)\n"
        "\t/go/transport.go:2410 +0xf2\ncreated by net/http.(*Transport).dialConn\n"
        "\t/go/transport.go:1766 +0x17\n[originating from goroutine 1]:\n"
        "net/http.(*Transport).dialConn(...)\n\t/go/transport.go:1426 +0x3e\n"
        "a.org/engine.newClient.func1(...)\n\t/app/engine.go:9 +0x3e\n"
    )
    said = diagnosed(tmp_path, dump).verdict.sentence

    assert "started by http.(*Transport).dialConn for engine.newClient.func1" in f"{said}"


NO_THREAD = (
    "runtime/cgo: pthread_create failed: Resource temporarily unavailable\n"
    "SIGABRT: abort\nPC=0x7f01c22a154c m=431 sigcode=18446744073709551610\n"
)


@pytest.mark.parametrize(
    "stacks",
    ["", "\ngoroutine 1 [chan receive, 60 minutes]:\nmain.main()\n\t/kv/main.go:20 +0x10\n"],
)
def test_a_thread_that_cgo_did_not_get_is_why_it_crashed(stacks, tmp_path):
    (tmp_path / "crash.txt").write_text(NO_THREAD + stacks)
    try:
        told = str(gomem.diagnose(tmp_path / "crash.txt").verdict.sentence)
    except CaptureError as refused:
        told = str(refused)

    assert "refused it another thread; it had started 431 (EAGAIN" in told


@pytest.mark.parametrize(
    ("other", "count", "is_said"),
    [
        ("example.com/bus.(*Client).refresh", 400, True),
        ("example.com/bus.(*Client).refresh", 399, False),
        ("example.com/bus.(*Pool).refresh", 400, False),
    ],
)
@pytest.mark.parametrize(
    "callee", ["", "#\t0x461000\texample.com/ws.(*Conn).Read+0x12\t/c.go:11\n"]
)
def test_as_many_goroutines_in_methods_of_one_type_are_values_of_it(
    tmp_path, other, count, is_said, callee
):
    record = "{0} @ 0x47c84e 0x4{1:05x} 0x484ac1\n{3}#\t0x4{1:05x}\t{2}+0x148\t/src/a.go:{1}\n\n"
    text = f"goroutine profile: total {400 + count}\n"
    text += record.format(400, 61, "example.com/bus.(*Client).reap", "")
    text += record.format(count, 97, other, callee)
    (tmp_path / "goroutines.txt").write_text(text)

    said = gomem.diagnose(tmp_path).verdict.sentence

    names = said.of(Function)
    assert is_said == ("As many are in" in said)
    both = {other, "example.com/bus.(*Client).reap"}
    assert not is_said or both == {name.value for name in names}


def test_a_few_connections_of_a_client_ask_for_response_bodies_and_warn_of_none(tmp_path):
    record = (
        "2 @ 0x47c84e 0x4{0} 0x484ac1\n#\t0x4{0}\tnet/http.(*persistConn).{1}+0x148\t/go/t.go:9\n"
    )
    text = "goroutine profile: total 8\n" + record.format("61000", "readLoop")
    (tmp_path / "goroutines.txt").write_text(text + "\n" + record.format("97000", "writeLoop"))

    found = gomem.diagnose(tmp_path)

    assert "resp.Body.Close()" in found.verdict.next_step
    assert "goroutine-leak" not in {finding.code for finding in found.findings}


STATSD = (
    "api.runtime.num_goroutines:{}|g\napi.runtime.alloc_bytes:5005472|g\n"
    "api.runtime.sys_bytes:{}|g\n"
)


def test_a_count_above_the_sizes_is_read(tmp_path):
    text = "".join(STATSD.format(count, 21416184) for count in (41, 43))
    found = diagnosed(tmp_path, STATSD.format(96, 21416184))
    counts = diagnosed(tmp_path, text).facts.goroutine_counts

    assert "The process has 96 goroutines." in found.verdict.sentence
    assert [41, 43] == [count.goroutines for count in counts]


TOP = (
    "  PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND\n"
    "  740 me 20 0 9g 4.2g 13m S 0 9 1:2 shop\n"
)


def test_stacks_beside_an_rss_are_told(tmp_path):
    found = diagnosed(tmp_path, f"```\n{TOP}```\nand then\n```\n{LONE}```\n")

    assert any("main.(*pool).next" in said for said in found.verdict.whose)


def test_a_count_beside_an_rss_is_told(tmp_path):
    line = "2026/11/20 09:00:00 stats: rss_mb=196.4 heap_alloc_mb=30.2 goroutines=15\n"

    assert "The process has 15 goroutines." in diagnosed(tmp_path, line).verdict.whose


@pytest.mark.parametrize(
    ("title", "is_asked"),
    [
        ("How can I debug a goroutine leak?", True),
        ("It has no goroutine leak.", False),
        ("It grows.", False),
    ],
)
def test_a_suspicion_of_goroutines_is_what_comes_next(title, is_asked, tmp_path):
    found = diagnosed(tmp_path, f"# {title}\n\n```\n{TOP}```\n")

    assert is_asked == ("goroutine?debug=2" in found.verdict.next_step)
    assert is_asked != ("smaps" in found.verdict.next_step)


def test_records_that_are_fewer_than_the_head_says_ask_for_the_whole(tmp_path):
    text = "goroutine profile: total 3000\n400 @ 0x43 0x44\n#\t0x43\tmain.f+0x1\t/src/a.go:3\n"

    assert "Count the goroutines" in diagnosed(tmp_path, text).verdict.next_step


def test_a_sender_is_ended_by_a_receiver(tmp_path):
    where, begun = "a.org/q.(*queue).run", "a.org/q.newQueue"
    leak = LEAK.format(where=where, begun=begun).replace("select", "chan send")

    step = diagnosed(tmp_path, leak).verdict.next_step

    assert "receive what it sends" in step
    assert "close it" not in step


@pytest.mark.parametrize("system", ["windows", "linux"])
def test_a_process_that_has_crashed_is_asked_nothing(tmp_path, system):
    stack = "\t/a/b/main.go:7 +0x1\nmain.main()\n\t{}main.go:9 +0x1\n"
    path = "C:/Users/me/go/" if system == "windows" else "/home/me/go/"
    refused = "runtime: VirtualAlloc of 300000000 bytes failed with errno=1455\n"
    text = (
        f"{refused * (system == 'windows')}fatal error: runtime: out of memory\n\n"
        "goroutine 1 [running]:\n"
        f"main.grow(0x1)\n{stack.format(path)}"
    )

    step = diagnosed(tmp_path, text).verdict.next_step

    assert "has ended" in step
    assert "curl" not in step


def test_methods_on_one_stack_are_no_two_loops(tmp_path):
    frames = "".join(f"#\t0x40{n}\texample.com/bus.(*Conn).{n}+0x1\t/src/a.go:9\n" for n in "123")
    text = f"goroutine profile: total 400\n400 @ 0x401 0x402 0x403\n{frames}"
    (tmp_path / "goroutines.txt").write_text(text)

    assert "As many are in" not in gomem.diagnose(tmp_path).verdict.sentence


@pytest.mark.parametrize(
    ("where", "count", "said"),
    [
        ("example.org/rpc.(*watcher).run", 160, "See whether the number in rpc"),
        ("example.org/rpc.(*watcher).run", 4, "See what holds memory"),
        ("net/http.(*persistConn).readLoop", 160, "Count them again later"),
    ],
)
def test_many_in_one_function_ask_whether_they_grow(where, count, said, tmp_path):
    text = (
        f"goroutine profile: total {count + 1}\n{count} @ 0x43a516 0x43a5ce 0x46e0a1\n"
        f"#\t0x43a515\t{where}+0x115\t/go/src/a/a.go:41\n\n1 @ 0x43a516\n"
        "#\t0x43a515\tmain.main+0x10\t/app/main.go:9\n"
    )

    assert said in diagnosed(tmp_path, text).verdict.next_step


@pytest.mark.parametrize(
    ("frame", "said"), [(" fp=0xa44bff0 sp=0xa44bfe8 pc=0xc9c265", "lines above"), ("", "curl -s")]
)
def test_a_process_that_printed_its_frames_as_it_ended_is_asked_nothing(frame, said, tmp_path):
    text = (
        "goroutine 4 [GC scavenge wait]:\nruntime.gopark(0x1, 0x2, 0x3, 0x4, 0x5)\n"
        f"\t/usr/local/go/src/runtime/proc.go:398 +0xfd{frame}\nruntime.bgscavenge(0xa41a100)\n"
        f"\t/usr/local/go/src/runtime/mgcscavenge.go:658 +0x6d{frame}\n"
        "created by runtime.gcenable in goroutine 1\n\t/usr/local/go/src/runtime/mgc.go:201 +0x75\n"
    )

    assert said in diagnosed(tmp_path, text).verdict.next_step


UNCLOSED = """We count connections; at noon the page began with "goroutine profile: total {}".

goroutine profile: total 1500
1490 @ 0x43e1ee 0x44ff45 0x4e1f0b 0x474941
#\t0x4e1f0a\tdatabase/sql.({}).awaitDone+0xea\t/go/src/database/sql/sql.go:2990

10 @ 0x43e1ee 0x4e1f0b
#\t0x4e1f0a\tmain.main+0xea\t/srv/main.go:29
"""


@pytest.mark.parametrize(("of", "call"), [("*Rows", "rows.Close()"), ("*Tx", "tx.Rollback()")])
def test_a_thousand_that_wait_for_a_close_are_a_leak_in_one_profile(tmp_path, of, call):
    """
    Nothing but the library is on their stacks, and the text has another number of them.
    """
    found = diagnosed(tmp_path, UNCLOSED.format(200, of))

    (leak,) = [each for each in found.findings if each.code == "goroutine-leak"]
    assert (Severity.WARNING, call) == (leak.severity, leak.missing_call.call)
    assert [200] == [part.value for part in Text(leak.next_step).of(Count)]
    assert "not used" not in found.verdict.further


def test_a_thousand_connections_in_a_library_are_no_leak(tmp_path):
    text = UNCLOSED.format(200, "*Rows").replace(
        "database/sql.(*Rows).awaitDone", "net/http.(*conn).serve"
    )

    assert [] == [each for each in diagnosed(tmp_path, text).findings if "leak" in each.code]


def waiting_since(state: str, of: int = 1) -> str:
    """A dump of 1 500 goroutines, each `of` numbers the older waiting longer."""
    found = []
    for number in range(1, 1 + 1500 * of, of):
        minutes = (1500 * of - number) // (300 * of)
        age = f", {minutes} minutes" if minutes else ""
        found.append(f"goroutine {number} [{state}{age}]:\nmain.(*feed).poll()\n\t/f.go:7 +0x1\n")
    return "\n".join(found)


@pytest.mark.parametrize(
    ("state", "of", "severity"),
    [("select", 1, Severity.WARNING), ("select", 2, Severity.INFO), ("IO wait", 1, Severity.INFO)],
)
def test_goroutines_that_nearly_all_stayed_are_a_warning(tmp_path, state, of, severity):
    found = diagnosed(tmp_path, waiting_since(state, of))
    (leak,) = [each for each in found.findings if each.code == "goroutine-leak"]

    assert severity is leak.severity
    numbers = [part.value for part in Text(leak.next_step).of(Count)]
    assert [1500, 1500 * of - of + 1] == numbers[:2]


def test_reads_of_connections_without_a_frame_below_ask_for_deadlines(tmp_path):
    (tmp_path / "a.md").write_text(
        "These climb:\n\n```\n230 @ 0x43 0x46 0x4f\n"
        "#\t0x46\tinternal/poll.runtime_pollWait+0x54\t/go/src/runtime/netpoll.go:220\n"
        "#\t0x4f\tcrypto/tls.(*Conn).Read+0x169\t/go/src/crypto/tls/conn.go:1250\n```\n"
    )

    verdict = gomem.diagnose(tmp_path / "a.md").verdict

    assert "Each keeps a connection open until the other side sends" in verdict.second
    assert "SetReadDeadline" in verdict.next_step
