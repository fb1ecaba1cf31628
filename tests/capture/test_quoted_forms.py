"""What people paste, in the ways in which they paste it: each form says the same in each way."""

import re
from pathlib import Path

import pytest

import gomem
from gomem.inputs.kinds import kind_of
from gomem.inputs.read import read
from tests.builders import FIXTURES

PASTED = FIXTURES / "pasted"
# Columns of where a row stands, and when it was printed, which a prefix may say.
WHERE = ["line", "place", "artefact", "printed_at"]

TABLES = (
    "kernel/ps-aux.txt",
    "kernel/ps-o.txt",
    "kernel/docker-stats.txt",
    "kernel/kubectl-top.txt",
)
LINKED = (
    "pprof-tables/top.txt",
    "goroutines/go1.27.1-counts.txt",
    "goroutines/go1.27.1-dump.txt",
)
FUNCTION = re.compile(r"((?:[\w./-]+)\.\(\*\w+\)\.\w+|main\.\w+)")
FORMS = (
    *TABLES,
    "kernel/dmesg.txt",
    "kernel/memory.stat",
    "memstats-in-words/print-mem-usage.log",
    "memstats-in-words/one-a-line.txt",
    "memstats-in-words/field-value.txt",
    "memstats-in-words/gauges.json",
    "memstats-in-words/labelled.txt",
    "memstats-in-words/psql.txt",
    "memstats-in-words/rcrowley.log",
    "memstats-in-words/show-stats.txt",
    "memstats-in-words/spew.txt",
    "memstats-in-words/variables.txt",
    "pprof-tables/top.txt",
    "pprof-tables/list.txt",
    "goroutines/go1.27.1-dump.txt",
    "goroutines/go1.27.1-counts.txt",
    "runtime-lines/cockroach.log",
    "forms/delve.txt",
    "forms/index.txt",
    "forms/list-go1.3.txt",
    "forms/ps-auxm.txt",
)


def each(prefix):
    return lambda text: "".join(f"{prefix}{line}\n" for line in text.splitlines())


def in_cells(text):
    """Columns that two blanks separate, or a column each word, as a table in Markdown."""
    head, *rows = text.strip().splitlines()
    gap = r" {2,}" if "  " in head.strip() else r" +"
    width = len(re.split(gap, head.strip()))
    lines = [re.split(gap, line.strip(), maxsplit=width - 1) for line in rows if line.strip()]
    cells = [re.split(gap, head.strip()), ["---"] * width, *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def with_links(text):
    """Functions as links, as a page makes them of names that it can find."""
    return FUNCTION.sub(r"[\1](https://example.com/src/main.go#L1)", text)


WAYS = {
    "as it is": lambda text: text,
    "in a fence": lambda text: f"```text\n{text}```\n",
    "quoted": each("> "),
    "a task of docker": each("shop_api.1.q8zk2l9xv0a3@node-7    | "),
    "Talos": each("10.5.0.2: kern:    info: [2026-11-20T03:53:49.470512345Z]: "),
    "a prefix of nobody known": each("[node-3] app INFO 7f3a: "),
    "four blanks": each("    "),
    "journald": each("Nov 20 03:53:49 node-3 api[12]: "),
    "compose": each("api-1  | "),
    "CRI": each("2026-11-20T03:53:49.470512345Z stderr F "),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "colours": each("\x1b[36m\x1b[0m"),
    "hard blanks": lambda text: text.replace("  ", "\xa0 "),
    "HTML": lambda text: text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
    "curly quotes": lambda text: re.sub(r'"([^"\n]*)"', "\u201c\\1\u201d", text),
    "ended by an ellipsis": lambda text: f"{text}\u2026\n",
    "ended by dots": lambda text: f"{text}[...]\n",
    "tabs lost": lambda text: text.expandtabs(8),
    "folded": lambda text: f"<details>\n<summary>all</summary>\n\n```\n{text}```\n\n</details>\n",
    "Jira": lambda text: f"{{code:title=out|borderStyle=solid}}\n{text}{{code}}\n",
    "Jira, unformatted": lambda text: f"{{noformat}}\n{text}{{noformat}}\n",
}


def frame_of(data):
    kind = kind_of(data)
    assert kind is not None
    frame = getattr(read(data), kind.frames[0])
    return kind.name, frame.drop(columns=WHERE, errors="ignore")


# Columns of the kernel's tables stand by their width, which these ways change.
ALIGNED = {"HTML", "hard blanks"}
# Dots below a stack can stand for frames of it, so how many are left out is unknown then.
ENDS_IN_STACK = "goroutines/go1.27.1-dump.txt"
DOTTED = {"ended by an ellipsis", "ended by dots"}
QUOTED = [
    (form, way)
    for form in FORMS
    for way in WAYS
    if not (form.startswith("kernel/") and way in ALIGNED)
    and not (form == ENDS_IN_STACK and way in DOTTED)
]


@pytest.mark.at_most(40)
@pytest.mark.parametrize(("form", "way"), QUOTED)
def test_a_form_says_the_same_however_it_is_quoted(form, way):
    text = (PASTED / form).read_text()
    kind, plain = frame_of(text.encode())

    name, quoted = frame_of(WAYS[way](text).encode())

    assert kind == name
    if "logged_at" in plain and plain["logged_at"].isna().all():  # the time of a log's prefix
        quoted["logged_at"] = plain["logged_at"]
    assert plain.equals(quoted)


@pytest.mark.parametrize("form", TABLES)
def test_a_table_in_markdown_says_the_same(form):
    text = (PASTED / form).read_text()
    _, plain = frame_of(text.encode())

    name, cells = frame_of(in_cells(text).encode())

    assert "processes" == name
    columns = ["name", "rss_bytes", "working_set_bytes", "limit_bytes"]
    assert plain[columns].equals(cells[columns])


@pytest.mark.parametrize("form", LINKED)
def test_a_link_is_its_words(form):
    text = (PASTED / form).read_text()
    assert "](https://" in with_links(text)

    plain, linked = frame_of(text.encode()), frame_of(with_links(text).encode())

    assert plain[0] == linked[0]
    assert plain[1].equals(linked[1])


def test_a_link_with_a_receiver_keeps_it():
    rows = "40MB 80.00% 80.00% 40MB 80.00% [kv.(*Store).Put](https://example.com/a_(b).go#L12)\n"

    profile = read(("flat flat% sum% cum cum%\n" + rows + rows.replace("Put", "Get")).encode())

    assert {"kv.(*Store).Put", "kv.(*Store).Get"} <= set(profile.functions["name"])


@pytest.mark.parametrize("mark", ["**{}**: `{}`", "- **{}** = {}", "* `{}`: {}", "| {} | **{}** |"])
def test_fields_in_bold_or_code_are_read(mark):
    fields = {"HeapAlloc": "512 MiB", "HeapSys": "700 MiB", "NumGC": "30"}
    text = "\n".join(mark.format(*field) for field in fields.items())

    kind, frame = frame_of(text.encode())

    assert "memstats" == kind
    assert [512 << 20] == list(frame["HeapAlloc"])


def test_a_pprof_table_in_markdown_may_begin_with_the_function():
    rows = [
        ("function", "flat", "flat%", "sum%", "cum", "cum%"),
        ("---",) * 6,
        ("`kv.(*Store).Put`", "120.5MB", "60.25%", "60.25%", "120.5MB", "60.25%"),
        ("main.serve", "40MB", "20.00%", "80.25%", "160.5MB", "80.25%"),
    ]
    text = "".join(f"| {' | '.join(row)} |\n" for row in rows)

    profile = read(text.encode())

    assert {"kv.(*Store).Put", "main.serve"} <= set(profile.functions["name"])


def test_the_readme_of_the_fixtures_is_no_evidence():
    assert kind_of(Path(PASTED / "README.md").read_bytes()) is None


STATUS = FIXTURES / "pasted/kernel/held.status"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("<details><summary><code>cat /proc/4/status</code> Output</summary><br><pre>\n",
         "</pre></details>\n"),
        ("<details><summary>status of it</summary>\n<pre>\n", "</pre>\n</details>\n"),
        ("I see this:\n\n<pre>", "</pre>\n\nwhich is too much for it.\n"),
    ],
)  # fmt: skip
def test_what_stands_in_html_is_read(tmp_path, before, behind):
    (tmp_path / "ticket.md").write_text(before + STATUS.read_text() + behind)

    (found,) = gomem.load(tmp_path / "ticket.md").by_moment.values()

    assert 23448 * 1024 == found.status["VmRSS"].item()


def test_two_pastes_in_html_are_two(tmp_path):
    pmap = (FIXTURES / "pasted/kernel/pmap-x.txt").read_text()
    folded = "<details><summary>{}</summary><br><pre>\n{}</pre></details>\n"
    text = folded.format("<code>status</code>", STATUS.read_text()) + folded.format("pmap", pmap)
    (tmp_path / "ticket.md").write_text(text)

    capture = gomem.load(tmp_path / "ticket.md")

    assert {"status", "pmap"} == {file.kind.name for file in capture.files}


def test_sizes_of_status_with_a_word_behind_each_are_read(tmp_path):
    """
    People add the size in a larger unit.
    """
    wanted = ("VmPeak", "VmRSS", "RssAnon", "VmSwap")
    lines = [line for line in STATUS.read_text().splitlines() if line.startswith(wanted)]
    text = "".join(f"{line}  (~1 GB of it)\n" for line in lines)
    (tmp_path / "ticket.md").write_text(f"Before it was killed:\n\n```\n{text}```\n")

    (found,) = gomem.load(tmp_path / "ticket.md").by_moment.values()

    assert 23448 * 1024 == found.status["VmRSS"].item()
