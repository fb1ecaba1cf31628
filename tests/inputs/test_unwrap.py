"""What people paste is read with the same numbers as the file, and its lines keep their place."""

import html
import json

import pandas as pd
import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.kinds import BY_NAME, KINDS, PASTED, kind_of
from gomem.inputs.read import read_artefact
from gomem.inputs.unwrap import LAYERS, LONGEST_BYTES, plain_texts
from gomem.sources.artefact import open_source
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
    text = each("> ")("\n".join(lines)) + "x" * (half - quoted) + "\n"
    found = kind_of(text.encode())

    assert kind == (found and found.name)


def test_wrappers_around_each_other_are_taken_off_as_far_as_is_sensible():
    status = FILES["status"].read_text()
    deep = each("> " * LAYERS)(status).encode()
    deeper = each("> " * (LAYERS + 1))(status).encode()

    assert "status" == kind_of(deep).name
    assert kind_of(deeper) is None


def test_a_very_long_text_and_binary_data_are_left_alone():
    assert [] == list(plain_texts(b"> x\n" * (LONGEST_BYTES // 4 + 1)))
    assert [] == list(plain_texts(b"> \0\n" * 9))
    assert [] != list(plain_texts(b"> x\n" * 9))


@pytest.mark.parametrize("text", [b"", b"\n", b"```\n```\n", b"> \n", b"$ ls\n", b"{\n", b"\xff"])
def test_a_text_of_wrappers_alone_is_of_no_kind(text):
    assert kind_of(text) is None
    with pytest.raises(FormatError):
        gomem.read_bench(text)


def test_kinds_that_people_paste_are_those_whose_readers_know_it():
    assert {kind.name for kind in KINDS} >= PASTED
    assert set(FILES) <= PASTED


@pytest.mark.parametrize(
    "line", ["kubectl " * 60, "(" * 300, "a@b:" * 200, "`" * 500, "<a " * 300, "PS " + "x " * 400]
)
def test_hostile_lines_cost_no_time(line):
    assert kind_of(f"{line}\n".encode() * 2000) is None
