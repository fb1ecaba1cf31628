"""What people paste is read with the same numbers as the file, and its lines keep their place."""

import html
import json

import numpy as np
import pandas as pd
import pytest

import gomem
from gomem.errors import Damage, FormatError
from gomem.inputs.kinds import BY_NAME, KINDS, kind_of
from gomem.inputs.read import read_artefact
from gomem.inputs.unwrap import LAYERS, MAX_BYTES, PlainText, plain_texts, read_plain
from gomem.sources.artefact import Source, open_source
from tests.builders import FIXTURES

MOMENT = FIXTURES / "captures/healthy-go1.27.3/2-steady"
FILES = {
    "smaps": MOMENT / "smaps",
    "smaps_rollup": MOMENT / "smaps_rollup",
    "status": MOMENT / "status",
    "memstats": MOMENT / "memstats.json",
    "metrics": MOMENT / "metrics.json",
    "cgroup": FIXTURES / "injected/contained-go1.27.3/2-filled/memory.stat",
    "limits": FIXTURES / "injected/contained-go1.27.3/2-filled/limits",
    "gobench": FIXTURES / "captures/alloc-pressure-after-go1.27.3/bench.txt",
    "heap_text": FIXTURES / "profiles/go1.20.14/heap-a.txt",
    "escapes": FIXTURES / "escapes/alloc-pressure-before-go1.27.3.m.txt",
}
STAMP = "2026-11-22T10:11:12.1234567Z"


def each(prefix):
    return lambda text: "".join(f"{prefix}{line}\n" for line in text.splitlines())


def in_a_fence(text):
    return f"Here it is, of the **api** pod:\n\n```text\n{text}```\n\nAny idea?\n"


def in_docker_records(text):
    record = {"stream": "stdout", "time": "2026-11-20T03:53:49.470512345Z"}
    lines = text.splitlines(keepends=True)
    return "".join(json.dumps({"log": line, **record}) + "\n" for line in lines)


def in_journal_records(text):
    lines = text.splitlines()
    return "".join(json.dumps({"MESSAGE": line, "PRIORITY": "6"}) + "\n" for line in lines)


def in_go_test_records(text):
    """As go test -json writes: a name and its numbers are two records, others stand between."""
    head = {"Time": "2026-11-22T10:11:12.1Z", "Package": "example.com/api"}
    records = [{**head, "Action": "start"}]
    for line in text.splitlines(keepends=True):
        cut = line.find("\t") + 1
        parts = [part for part in (line[:cut], line[cut:]) if part]
        records += [{**head, "Action": "output", "Output": part} for part in parts]
        records.append({**head, "Action": "output", "Package": "example.com/b", "Output": ""})
    return "".join(json.dumps(one) + "\n" for one in [*records, {**head, "Action": "pass"}])


WRAPPERS = {
    "fence": in_a_fence,
    "fence-never-closed": lambda text: f"```\n{text}",
    "tildes": lambda text: f"~~~\n{text}~~~\n",
    "quoted": each("> "),
    "quoted-twice": each("> > "),
    "quoted-fence": lambda text: each("> ")(in_a_fence(text)),
    "indented": each("    "),
    "indented-by-tabs": each("\t"),
    "prompt": lambda text: f"$ cat /proc/1/smaps\n{text}$ \n",
    "root-prompt": lambda text: f"root@api-7:/# cat /proc/1/smaps\n{text}root@api-7:/# exit\n",
    "busybox-prompt": lambda text: f"/ # cat /proc/1/smaps\n{text}/ # \n",
    "bracket-prompt": lambda text: f"[root@host ~]# cat x\n{text}[root@host ~]# \n",
    "command-alone": lambda text: f"kubectl exec api-0 -- cat /proc/1/smaps\n{text}",
    "prompt-in-a-fence": lambda text: f"```\n$ cat /proc/1/smaps\n{text}```\n",
    "tabs-as-spaces": lambda text: text.expandtabs(8),
    "one-space-for-a-tab": lambda text: text.replace("\t", " "),
    "ci-stamps": each(f"{STAMP} "),
    "ci-stamps-and-a-command": lambda text: each(f"{STAMP} ")(f"$ cat /proc/1/smaps\n{text}"),
    "cri": each("2026-11-20T03:53:49.470512345Z stdout F "),
    "syslog": each("<30>1 2026-11-20T03:53:49.470Z host api 12 - - "),
    "old-syslog": each("Nov 20 03:53:49 host api[12]: "),
    "journald": each("2026-11-20T03:53:49+0000 host api[12]: "),
    "kubectl": each("[pod/api-7d9f/api] "),
    "compose": each("api-1  | "),
    "bare-stamps": each("2026-11-20 03:53:49.470 "),
    "docker": in_docker_records,
    "journald-json": in_journal_records,
    "go-test-json": in_go_test_records,
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "bom": lambda text: f"\ufeff{text}",
    "bom-crlf-fence": lambda text: "\ufeff" + in_a_fence(text).replace("\n", "\r\n"),
    "non-breaking-spaces": lambda text: text.replace(" ", "\u00a0"),
    "entities": lambda text: each("&gt; ")(html.escape(text)),
    "pre": lambda text: f"<pre><code>\n{html.escape(text)}</code></pre>\n",
    "colours": lambda text: each("\x1b[32m")(text.replace("\n", "\x1b[0m\n")),
    "curly-quotes": lambda text: text.replace('"', "\u201c", 1).replace('"', "\u201d"),
}

# Quotation marks in the words of a verdict, which no grammar needs, stay as they came.
STAY_WORDS = {("escapes", "curly-quotes")}


def frames_of(kind, data, name):
    read = read_artefact(BY_NAME[kind], open_source(data, name=name))
    return read, {frame: getattr(read, frame) for frame in BY_NAME[kind].frames}


@pytest.mark.at_most(41)
@pytest.mark.parametrize(
    ("kind", "wrapper"),
    [(kind, one) for one in WRAPPERS for kind in FILES if (kind, one) not in STAY_WORDS],
)
def test_it_is_recognised_and_its_numbers_are_those_of_the_file(kind, wrapper):
    path = FILES[kind]
    pasted = WRAPPERS[wrapper](path.read_text()).encode()
    _, wanted = frames_of(kind, path.read_bytes(), path.name)

    found = kind_of(pasted, path.name)
    read, frames = frames_of(kind, pasted, path.name)

    assert kind == (found and found.name)
    assert () == read.damaged
    for name, frame in wanted.items():
        unplaced = ["line", "place"]
        pd.testing.assert_frame_equal(
            frame.drop(columns=unplaced, errors="ignore"),
            frames[name].drop(columns=unplaced, errors="ignore"),
        )


@pytest.mark.parametrize("kind", FILES)
def test_a_whole_file_is_not_looked_at_twice(kind, monkeypatch):
    """
    Unwrapping costs nothing where there is nothing to unwrap.
    """
    monkeypatch.setattr("gomem.inputs.unwrap.plain_texts", None)

    read, _ = frames_of(kind, FILES[kind].read_bytes(), FILES[kind].name)

    assert () == read.damaged


def test_lines_keep_their_number_in_the_file():
    smaps = FILES["smaps"].read_text()
    wanted = gomem.read_smaps(smaps.encode()).mappings["line"]

    fenced = gomem.read_smaps(in_a_fence(smaps).encode()).mappings["line"]
    doubled = gomem.read_smaps(smaps.replace("\n", "\n\n").encode()).mappings["line"]

    pd.testing.assert_series_equal(wanted + 3, fenced)
    pd.testing.assert_series_equal(2 * wanted - 1, doubled)


def test_joined_records_are_where_they_begin():
    read = gomem.read_bench(in_go_test_records("BenchmarkX-8\t 100\t 12 ns/op\n").encode())

    assert [2] == list(read.results["line"])
    assert [12] == list(read.results["printed_value"])


def test_damage_in_the_middle_is_damage_with_its_place():
    lines = FILES["smaps"].read_text().splitlines()
    broken = "\n".join([*lines[:4], "what is this?", *lines[4:]])

    read = gomem.read_smaps(in_a_fence(broken + "\n").encode())

    assert ["line 8"] == [one.where for one in read.damaged]
    assert ["what is this?"] == [one.text for one in read.damaged]


def test_a_prompt_behind_a_whole_file_is_no_damage():
    text = FILES["smaps"].read_text() + "root@api-7d9f:/# "

    assert () == gomem.read_smaps(text.encode()).damaged


def test_what_another_command_printed_is_said_to_be_left_out():
    status, smaps = FILES["status"].read_text(), FILES["smaps"].read_text()
    session = f"$ cat /proc/1/status\n{status}$ cat /proc/1/smaps\n{smaps}$ \n"

    read = gomem.read_status(session.encode())

    assert "status" == kind_of(session.encode()).name
    assert [f"line {status.count(chr(10)) + 3}"] == [one.where for one in read.damaged]
    assert "another command" in read.damaged[0].what


def test_a_lost_header_is_not_taken_for_what_stands_before():
    """
    To leave out lines until the rest is whole would turn damage into a smaller number.
    """
    whole = FILES["smaps"].read_bytes()
    headless = whole.split(b"\n", 1)[1]

    read = gomem.read_smaps(headless)

    assert 1 == len(read.damaged)
    assert int(gomem.read_smaps(whole).totals["Rss"]) == int(read.totals["Rss"])


@pytest.mark.parametrize(("prose", "kind"), [(1, "status"), (2, None)])
def test_an_example_in_a_long_text_is_no_artefact(prose, kind):
    """
    A README that shows a file is not that file: most of what is pasted must be it.
    """
    status = FILES["status"].read_text()
    size = sum(len(line.strip()) for line in status.splitlines())
    words = "x" * (prose * size // 2)
    found = kind_of(f"{words}\n```\n{status}```\n{words}\n".encode())

    assert kind == (found and found.name)


@pytest.mark.parametrize(("quoted", "kind"), [(1, "status"), (0, None)])
def test_most_lines_are_quoted_where_quotes_are_taken_off(quoted, kind):
    lines = FILES["status"].read_text().splitlines()
    half = sum(len(f"> {line}".strip()) for line in lines)
    text = each("> ")("\n".join(lines)) + "\n" + "x" * (half - quoted) + "\n"
    found = kind_of(text.encode())

    assert kind == (found and found.name)


def test_wrappers_around_each_other_are_taken_off_as_far_as_is_sensible():
    status = FILES["status"].read_text()
    deep = each("> " * LAYERS)(status).encode()
    deeper = each("> " * (LAYERS + 1))(status).encode()

    assert "status" == kind_of(deep).name
    assert kind_of(deeper) is None


def test_a_very_long_text_and_binary_data_are_left_alone():
    assert [] == list(plain_texts(b"> x\n" * (MAX_BYTES // 4 + 1)))
    assert [] == list(plain_texts(b"> \0\n" * 9))
    assert [] != list(plain_texts(b"> x\n" * 9))


@pytest.mark.parametrize("text", [b"", b"\n", b"```\n```\n", b"> \n", b"$ ls\n", b"{\n", b"\xff"])
def test_a_text_of_wrappers_alone_is_of_no_kind(text):
    assert kind_of(text) is None
    with pytest.raises(FormatError):
        gomem.read_bench(text)


def test_kinds_that_people_paste_are_those_whose_readers_know_it():
    assert set(FILES) <= {kind.name for kind in KINDS if kind.is_pasted}


@pytest.mark.parametrize(
    "line", ["kubectl " * 60, "(" * 300, "a@b:" * 200, "`" * 500, "<a " * 300, "PS " + "x " * 400]
)
def test_hostile_lines_cost_no_time(line):
    assert kind_of(f"{line}\n".encode() * 2000) is None


def found_in(text):
    """The innermost text, the lines of the file that its lines are, and where another begins."""
    *_, last = plain_texts(text if isinstance(text, bytes) else text.encode())
    return last.data.decode(), last.numbers.tolist(), last.left_out


def record(output, package="a", action="output"):
    """A line of go test -json."""
    one = {"Time": "t", "Action": action, "Package": package, "Output": output}
    return json.dumps(one) + "\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("> a\n> b\n", ("a\nb\n", [1, 2], None), id="quote"),
        pytest.param("so:\n> a\nb\n> c\n", ("a\nb\nc\n", [2, 3, 4], None), id="lines between"),
        pytest.param("  a\n\n    b\n", ("a\n\n  b\n", [1, 2, 3], None), id="indented"),
        pytest.param("x\n```\nab\n```\ny\n", ("ab\n", [3], None), id="half is most"),
        pytest.param("```\na\n```\ny\n```\nabc\n```\n", ("abc\n", [6], None), id="longest"),
        pytest.param("~~~sh\na\nb", ("a\nb\n", [2, 3], None), id="never closed"),
        pytest.param("$ cat x\na\n$ \n", ("a\n", [2], None), id="prompt"),
        pytest.param("$ cat x\na\n$ cat y\n\nb\n", ("a\n", [2], 5), id="another command"),
        pytest.param("```\n$ cat x\na\n$ cat y\nb\n```\n", ("a\n", [3], 5), id="in a fence"),
        pytest.param("==> a <==\nb\n", ("b\n", [2], None), id="tail"),
        pytest.param(
            record("a") + record("b\nc") + record("!", "b") + record("\n") + record("d\r\n"),
            ("ab\nc\nd\n!\n", [1, 2, 5, 3], None),
            id="records",
        ),
        pytest.param(
            record("a\n") + record("b\n", action="run") + "plain\n" + record("c\n"),
            ("a\nc\nplain\n", [1, 4, 3], None),
            id="records and a line that is none",
        ),
        pytest.param(
            '{"log":"a","time":"t"}\n{"log":"b\\n"}\n{"log":7}\n\n',
            ("ab\n", [1], None),
            id="docker",
        ),
        pytest.param('{"MESSAGE":"a"}\n{"MESSAGE":[98]}\n', ("a\nb\n", [1, 2], None), id="journal"),
        pytest.param(
            f"{STAMP} stdout P a\n{STAMP} stdout F b\nc\n{STAMP} stdout F d\n",
            ("ab\nc\nd\n", [1, 3, 4], None),
            id="parts",
        ),
    ],
)
def test_what_is_left_without_its_wrappers(text, found):
    assert found == found_in(text)


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize(
    ("wrapped", "plain"),
    [
        pytest.param('{"MESSAGE":"a"}\n', "a\n", id="records"),
        pytest.param("api-1  | a\n", "a\n", id="prefixes"),
    ],
)
def test_a_wrapper_is_around_more_than_half_of_the_lines(wrapped, plain, more):
    """
    Blank lines do not count; a line that lacks it stays as it is.
    """
    texts = [one.data for one in plain_texts((wrapped * (2 + more) + "\nb\nb\n").encode())]

    assert bool(more) == any(text.startswith(plain.encode()) for text in texts)


@pytest.mark.parametrize("wrapped", ['{"MESSAGE":"a"}\n', "api-1  | a\n"])
def test_a_wrapper_is_told_by_the_first_fifty_lines(wrapped):
    few, many = ("b\n" * 25 + wrapped * count + "b\n" * 9 for count in (24, 60))

    assert not any(b"\na\n" in one.data for one in plain_texts(few.encode()))
    assert not any(b"\na\n" in one.data for one in plain_texts(many.encode()))
    assert any(b"\na\n" in one.data for one in plain_texts(many.encode()[2:]))


@pytest.mark.parametrize(("data", "told"), [(b"> " + b"x" * 6, True), (b"> " + b"x" * 7, False)])
def test_what_is_longer_than_people_paste_is_left_alone(data, told, monkeypatch):
    monkeypatch.setattr("gomem.inputs.unwrap.MAX_BYTES", 8)

    assert told == bool(list(plain_texts(data)))


@pytest.mark.parametrize(("at", "told"), [(4095, False), (4096, True)])
def test_a_nul_near_the_beginning_is_of_no_text(at, told):
    data = b"> " + b"x" * (at - 2) + b"\0\n"

    assert told == bool(list(plain_texts(data)))


@pytest.mark.parametrize(
    ("where", "place"),
    [
        ("line 1", "line 5"),
        ("line 2", "line 7"),
        ("line 9", "line 7"),
        ("line 0", "line 5"),
        ("byte 2", "byte 2"),
        ("line two", "line two"),
        ("", ""),
    ],
)
def test_a_place_is_one_in_the_file(where, place):
    text = PlainText(b"a\nb\n", np.array([5, 7]))

    assert place == text.place(where)
    assert where == PlainText(b"a\nb\n").place(where)
    assert where == PlainText(b"", np.array([], np.int64)).place(where)


QUOTED = Source("x", b"> a\n", b"> a\n")


def reader(outcomes):
    """A parser that gives so many places of damage of a text, or refuses it."""

    def parse(data, *, source):
        outcome = outcomes[data]
        if isinstance(outcome, str):
            raise FormatError(source, "", outcome)
        return data, [Damage(source, "line 1", "")] * outcome

    return parse


@pytest.mark.parametrize(
    ("as_it_is", "unquoted", "read"),
    [(0, 0, b"> a\n"), (1, 0, b"a\n"), (1, 1, b"> a\n"), (1, 2, b"> a\n"), ("no", 2, b"a\n"),
     (2, "no", b"> a\n")],
)  # fmt: skip
def test_the_text_with_the_least_damage_is_read_and_of_equals_the_outer(as_it_is, unquoted, read):
    parse = reader({b"> a\n": as_it_is, b"a\n": unquoted})

    assert read == read_plain(QUOTED, lambda _: True, parse)[0]


def test_a_refusal_is_that_of_the_file_as_it_lies_there():
    parse = reader({b"> a\n": "outer", b"a\n": "inner"})

    with pytest.raises(FormatError, match="outer"):
        read_plain(QUOTED, lambda _: True, parse)
    with pytest.raises(FormatError, match="outer"):
        read_plain(QUOTED, lambda _: False, parse)


OLD = b"BenchmarkRead-4     1000   16862 ns/op   4096 B/op   83 allocs/op\n"
NEW = b"BenchmarkRead-4     2000    8862 ns/op   1024 B/op   21 allocs/op\n"


def signed(sign, text):
    return b"".join(sign + line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("head", [b"", b"@@ -1,1 +1,1 @@\n", b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n"])
def test_a_diff_is_what_was_there_before_and_what_is_there_now(head):
    diff = b"It is faster:\n\n```diff\n" + head + signed(b"-", OLD) + signed(b"+", NEW) + b"```\n"
    read = gomem.read_bench(diff)

    bytes_of = read.results[read.results["unit"] == "B/op"]
    assert [4096, 1024] == bytes_of["value"].tolist()
    assert ["Before", "After"] == read.config.loc[read.config["key"] == "run", "value"].tolist()
    start = diff[: diff.index(b"-Benchmark")].count(b"\n") + 1
    assert [start, start + 1] == bytes_of["line"].tolist()


def test_a_diff_that_only_adds_is_read_as_what_it_adds():
    diff = b"@@ -0,0 +1,3 @@\n" + signed(b"+", b"goos: linux\n" + NEW + b"PASS\n")

    assert [1024] == [
        row["value"] for row in gomem.read_bench(diff).results.to_dict("records")
        if row["unit"] == "B/op"
    ]  # fmt: skip


@pytest.mark.parametrize("text", [b"- a\n- b\n", b"+ a\n+ b\n", b"-0.5MB 1%\n-0.1MB 2%\n", b"a\n"])
def test_a_list_and_negative_numbers_are_no_diff(text):
    assert not any(b"## Before" in plain.data for plain in plain_texts(text))
    assert all(plain.data.strip()[:1] != b"0" for plain in plain_texts(text))
