"""What a report says of tables of `go tool pprof`."""

import pytest

import gomem
from gomem.causes.signatures import known_sites
from gomem.diagnosis.near_names import NearFunction
from gomem.inputs.pprof.read import read_pprof
from gomem.text import Bytes, BytesChange, Count, Function, Share
from tests.builders import FIXTURES, as_text

TABLES = FIXTURES / "pasted" / "pprof-tables"
MIB = 1 << 20
SHOWN = "Showing nodes accounting for {0}, 100% of {0} total\n"
LEGEND = "      flat  flat%   sum%        cum   cum%\n"


def diagnosed(folder, **texts):
    for name, text in texts.items():
        folder.joinpath(f"{name}.txt").write_text(text)
    return gomem.diagnose(gomem.load(folder))


def of_file(folder, name):
    return diagnosed(folder, **{name: (TABLES / f"{name}.txt").read_text()})


def parts(text, kind):
    is_function = kind is Function  # with or without its path
    return [
        part.value
        for part in text.parts
        if (isinstance(part, kind) if is_function else type(part) is kind)
    ]


def test_a_table_says_who_has_what_in_use(tmp_path):
    diagnosis = of_file(tmp_path, "top")

    said = diagnosis.verdict.sentence
    assert [pytest.approx(209.93 * MIB, rel=1e-3)] == parts(said, Bytes)
    assert ["main.newNode"] == parts(said, Function)
    assert [pytest.approx(0.945, abs=0.001)] == parts(said, Share)
    shown = as_text(diagnosis)
    assert "±5.12 KiB" in shown
    assert "Allocation sites" in shown


def test_a_session_names_known_sites_the_own_function_and_the_profile_to_read(tmp_path):
    diagnosis = of_file(tmp_path, "session")

    said = diagnosis.verdict.sentence
    assert ["bufio.NewReaderSize", "runtime.mallocgc", "time.NewTicker", "main.start"] == parts(
        said, Function
    )[:4]
    for what in ("A ticker", "before Go 1.23", "its own buffer", "holds each child"):
        assert what in said
    assert "gomem report /tmp/pprof/pprof.sites." in diagnosis.verdict.next_step


def test_a_difference_is_never_a_level(tmp_path):
    diagnosis = of_file(tmp_path, "base")

    said = diagnosis.verdict.sentence
    assert "difference" in said
    net, largest = parts(said, BytesChange)
    assert pytest.approx(-201.48 * MIB, rel=1e-3) == net
    assert pytest.approx(-194.46 * MIB, rel=1e-3) == largest
    assert [] == parts(said, Bytes)
    assert "Allocation sites" not in as_text(diagnosis)
    assert not diagnosis.capture.heap_profiles


@pytest.mark.parametrize("name", ["rows", "list", "fenced"])
def test_what_does_not_say_what_it_counts_is_not_told_as_in_use(name, tmp_path):
    said = of_file(tmp_path, name).verdict.sentence

    assert "does not say whether this is in use" in said
    assert "main.newNode" in parts(said, Function)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("top-goroutine", "main.wait"),
        ("top-cpu", "main.mix"),
        ("top-delay", "sync.(*Mutex).Lock"),
        ("top-alloc", "main.newNode"),
        ("top-objects", "main.newNode"),
        ("traces", "main.newNode"),
        ("tree", "main.newNode"),
        ("peek", "main.(*store).put"),
        ("top-cum", "main.newNode"),
    ],
)
def test_every_other_table_names_its_function(name, function, tmp_path):
    said = of_file(tmp_path, name).verdict.sentence

    assert function in parts(said, Function)
    if name == "top-objects":
        assert [2_194_160] == parts(said, Count)


def test_a_total_that_no_line_says_is_not_told(tmp_path):
    diagnosis = diagnosed(
        tmp_path, rows="    3MB 12% 12%  3MB 12%  main.f\n    1MB 4% 16%  1MB 4%  main.g\n"
    )

    assert [4 * MIB] == parts(diagnosis.verdict.sentence, Bytes)
    assert "add up to" in diagnosis.verdict.headline
    assert "total not printed" in as_text(diagnosis)
    assert "25.0 MiB" not in as_text(diagnosis)


READINGS = "After the first run:\n{}\nafter the second:\n{}\nafter an hour:\n{}\n"
AT_TIMES = [f"  {size}MB {share}% 86%  {size}MB {share}%  main.f" for size, share in
            ((1480, 13), (2613, 21), (3932, 29))]  # fmt: skip


def test_a_row_that_comes_again_behind_words_is_a_later_reading_and_no_sum(tmp_path):
    diagnosis = diagnosed(tmp_path, rows=READINGS.format(*AT_TIMES))

    said = diagnosis.verdict.sentence
    assert [3932 * MIB, 1480 * MIB, 3932 * MIB] == parts(said, Bytes)
    assert "3 times" in said
    assert "Most" not in said
    assert "The largest row is main.f (29 %)" in said
    assert () == diagnosis.capture.damaged


def test_rows_of_one_name_that_stand_together_are_added():
    whole = read_pprof("\n".join(("flat flat% sum% cum cum%", *AT_TIMES[:2])).encode())

    assert [(1480 + 2613) * MIB] == whole.top()["flat"].to_list()
    assert 0.34 == pytest.approx(whole.printed.shares["space"]["main.f"])


def test_one_reading_of_open_files_shows_no_growth(tmp_path):
    path = tmp_path / "top.txt"
    path.write_text(
        "Type: inuse_space\nShowing nodes accounting for 40MB, 100% of 40MB total\n"
        "      flat  flat%   sum%        cum   cum%\n"
        "      30MB 75.00% 75.00%       30MB 75.00%  main.loadTable\n"
        "      10MB 25.00%   100%       10MB 25.00%  os.newFile\n"
    )
    said = gomem.diagnose(path).verdict.sentence

    assert "os.newFile: Each open file has a descriptor" in said
    assert "pile up" not in said


def test_what_is_in_use_by_default_stands_before_what_was_allocated_ever(tmp_path):
    session = f"(pprof) top\n{SHOWN.format('2MB')}{LEGEND}   2MB 100% 100%  2MB 100%  main.a\n"
    session += "(pprof) alloc_space\n" + session.replace("2MB", "160MB")

    said = diagnosed(tmp_path, session=session).verdict.sentence

    assert [2 * MIB, 160 * MIB] == parts(said, Bytes)


def test_a_share_is_said_as_it_is_printed_also_of_a_row_with_its_line(tmp_path):
    rows = (
        f"1.14GB of 1.49GB total (76.26%)\n{LEGEND}"
        "    1.14GB 76.26% 76.26%     1.14GB 76.26%  main.(*T).Tail /app/tail.go:125\n"
    )
    diagnosis = diagnosed(tmp_path, rows=rows)

    assert "main.(*T).Tail (76 %)" in diagnosis.verdict.sentence
    assert "76.3 %" in as_text(diagnosis)


@pytest.mark.parametrize(
    "text",
    [
        "```\n$ go tool pprof -alloc_objects a.out\n(pprof) list f$\nTotal: 906361\n{}```\n",
        "I use pprof \u201c-alloc_objects heap\u201d and found:\n{}",
        "{}-alloc_objects\n",
    ],
    ids=["command above a fence's text", "in a sentence", "flag behind"],
)
def test_a_flag_of_a_command_says_the_sample_type(tmp_path, text):
    rows = f"{LEGEND}      4 0.01% 0.01%  840408 92.72%  main.f\n      3 0% 0.01%  3 0% main.g\n"
    bench = "```\nBenchmarkPut-4  200000  12771 ns/op  96 B/op  4 allocs/op\nPASS\n```\n\n"
    (tmp_path / "ticket.md").write_text(bench + text.format(rows))

    diagnosis = gomem.diagnose(tmp_path / "ticket.md")

    (profiles,) = diagnosis.capture.profiles.values()
    assert [["alloc_objects"]] == [found.sample_type_names for found in profiles.values()]
    assert "no bytes" not in diagnosis.verdict.next_step


def test_two_tables_of_one_process_are_two_levels_and_what_one_lacks_is_no_growth(tmp_path):
    for minute, size, name in ((0, "20MB", "old"), (10, "90MB", "new")):
        head = f"Type: inuse_space\nTime: 2026-11-20 07:{minute:02}:00 UTC\n{SHOWN.format(size)}"
        row = f"      {size} 100% 100%      {size} 100%  main.{name}\n"
        (tmp_path / name).mkdir()
        (tmp_path / name / "top.txt").write_text(head + LEGEND + row)

    diagnosis = gomem.diagnose(gomem.load(tmp_path))

    assert "90 MiB in use at new, and 20 MiB at old." in diagnosis.verdict.sentence
    assert diagnosis.facts.profiles.growth_holders is None
    (named,) = [finding for finding in diagnosis.findings if finding.sites]
    assert "of inuse_space is from main.new" in named.title


def test_a_profile_of_the_same_moment_counts_before_its_table(tmp_path):
    profile = FIXTURES / "profiles/go1.27.3/heap-b.pb.gz"
    (tmp_path / "heap.pb.gz").write_bytes(profile.read_bytes())

    diagnosis = of_file(tmp_path, "top")

    (found,) = diagnosis.capture.heap_profiles.values()
    assert found.printed is None


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("time.NewTicker", "time-ticker"),
        ("time.Tick", "time-ticker"),
        ("runtime.malg", "goroutine-descriptors"),
        ("bufio.NewReaderSize", "bufio-buffers"),
        ("bufio.NewWriterSize", "bufio-buffers"),
        ("context.WithCancel", "context-cancel"),
        ("context.propagateCancel", "context-cancel"),
        ("context.(*cancelCtx).propagateCancel", "context-cancel"),
    ],
)
def test_a_site_of_gos_library_is_known(function, name):
    ((site, row),) = known_sites({function: 50, "main.f": 50}, 100)

    assert (function, name) == (site, row.name)
    assert [] == known_sites({function: 4, "main.f": 96}, 100)
    assert [] == known_sites({f"example.com/{function}": 50}, 100)


def test_a_table_by_cum_names_who_calls_most(tmp_path):
    """
    None of its rows has much itself, and they are a small part of all.
    """
    rows = (
        "       1MB  0.33%  0.33%   171MB 57.00%  example.com/api/offsets.Fetch\n"
        "       3MB  1.00%  1.33%   168MB 56.00%  example.com/api/offsets.read\n"
        "         0     0%  1.33%   160MB 53.33%  runtime.goexit\n"
    )
    head = "Type: alloc_space\nShowing nodes accounting for 4MB, 1.33% of 300MB total\n"

    said = diagnosed(tmp_path, top=f"{head}{LEGEND}{rows}").verdict.sentence

    assert ["example.com/api/offsets.Fetch"] == parts(said, Function)
    assert [pytest.approx(4 / 300), pytest.approx(0.57)] == parts(said, Share)


def test_a_row_of_the_rate_is_one_sample_and_an_init_is_constant(tmp_path):
    rows = (
        "    2.50MB 83.00% 83.00%     2.50MB 83.00%  example.com/api/tables.init\n"
        "  513.12kB 17.00%   100%   513.12kB 17.00%  example.com/api/words.Build\n"
    )

    said = diagnosed(tmp_path, top=f"{SHOWN.format('3MB')}{LEGEND}{rows}").verdict.sentence

    assert "tables.init (83 %, allocated once at start-up)" in said
    assert "words.Build (a single sample)" in said


def test_a_row_as_large_as_the_rate_is_no_sample_where_a_smaller_one_shows_another_rate(tmp_path):
    rows = (
        "  513.12kB 80.00% 80.00%   513.12kB 80.00%  example.com/api/words.Build\n"
        "  128.28kB 20.00%   100%   128.28kB 20.00%  example.com/api/words.Split\n"
    )

    said = diagnosed(tmp_path, top=f"{SHOWN.format('641.40kB')}{LEGEND}{rows}").verdict.sentence

    assert "sample" not in said.partition("The largest")[2]
    assert [pytest.approx(0.8, rel=1e-4), pytest.approx(0.2, rel=1e-4)] == parts(said, Share)


def test_sites_are_shown_where_a_table_does_not_say_its_type(tmp_path):
    rows = "       3MB   100%   100%        3MB   100%  example.com/api/words.Build\n"

    shown = as_text(diagnosed(tmp_path, top=f"{SHOWN.format('3MB')}{LEGEND}{rows}"))

    section = shown.partition("Allocation sites\n")[2]
    assert section.startswith("in use or allocated")
    assert "example.com/api/words.Build" in section


def test_a_table_above_a_command_that_asks_for_the_other_type_is_in_use(tmp_path):
    session = """(pprof) top
Showing nodes accounting for 3072kB, 100% of 3072kB total
      flat  flat%   sum%        cum   cum%
    2048kB 66.67% 66.67%     2048kB 66.67%  main.newNode
    1024kB 33.33%   100%     1024kB 33.33%  main.load
(pprof) alloc_space
(pprof) top
Showing nodes accounting for 40MB, 100% of 40MB total
      flat  flat%   sum%        cum   cum%
      30MB 75.00% 75.00%       30MB 75.00%  main.parse
      10MB 25.00%   100%       10MB 25.00%  main.load
"""
    diagnosis = diagnosed(tmp_path, session=session)

    said = diagnosis.verdict.sentence
    assert [3 * MIB, 40 * MIB] == parts(said, Bytes)
    assert "shows 3 MiB in use. Most of inuse_space is from main.newNode" in said
    assert "all but what is in use was freed. Most of alloc_space is from main.parse" in said
    assert "does not say whether" not in said
    shown = as_text(diagnosis)
    assert "in use or allocated at capture" not in shown
    assert "alloc_space at capture: 40.0 MiB total" in shown


# Who calls, and where a row has a folder of Windows


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tree", "main.newNode is called by main.(*store).grow (100"),
        ("peek", "main.(*store).put is called by main.work (100"),
    ],
)
def test_a_tree_says_who_calls_the_largest_function(tmp_path, name, said):
    assert said in f"{of_file(tmp_path, name).verdict.sentence}"


def test_a_folder_of_windows_with_blanks_is_no_part_of_a_name(tmp_path):
    table = (
        f"{SHOWN.format('100MB')}{'-' * 58}+{'-' * 13}\n{LEGEND}{'-' * 58}+{'-' * 13}\n"
        "    100MB   100% |   api.(*codec).Marshal D:\\01 Lab\\api\\codec.go:22\n"
        "    100MB   100%   100%    100MB   100%   | kv.Marshal D:\\01 Lab\\kv\\marshal.go:2938\n"
    )

    said = diagnosed(tmp_path, peek=table).verdict.sentence

    assert "Nearly all is from kv.Marshal (100" in f"{said}"
    assert "kv.Marshal is called by api.(*codec).Marshal (100" in f"{said}"
    assert "Lab" not in f"{said}"


@pytest.mark.parametrize(
    ("record", "size", "step"),
    [
        ("57: 478150656 [912: 7650410496]", 8 << 20, "/goroutine"),
        ("2: 300 [4: 600]", None, "smaps"),  # smaller than the sampling rate: how large is unknown
    ],
)
def test_a_lone_record_of_large_objects_asks_who_holds_them(tmp_path, record, size, step):
    path = tmp_path / "ticket.md"
    frames = "#\t0x6a1c2e\texample.com/api/upload.newBuffer+0x2e\t/src/buffer.go:21\n"
    path.write_text(f"These stay:\n```\n{record} @ 0x6a1c2f 0x471b20\n{frames}```\n")

    said = gomem.diagnose(path).verdict

    assert (size in [part.value for part in said.sentence.of(Bytes)]) == (size is not None)
    assert step in said.next_step


# Excerpts: a share is of the table's total, or there is none


@pytest.mark.parametrize(
    ("table", "told", "not_said"),
    [
        pytest.param(
            "ROUTINE ======================== kv.(*Store).Put in /src/kv/store.go\n"
            "       6MB        8MB (flat, cum) 40.00% of Total\n"
            "         .          .     20:func (s *Store) Put(key string) {\n"
            "       6MB        6MB     21:\tvalue := make([]byte, size)\n"
            "         .        2MB     22:\ts.index.add(key, value)\n",
            ["row is kv.(*Store).Put (30 %)", "store.go:21 (6 MiB)", "store.go:22 (2 MiB)"],
            ["100 %", "Most is"],
            id="list without the total",
        ),
        pytest.param(
            "Total: 8GB\nROUTINE ======================== kv.(*Store).Get in /src/kv/store.go\n"
            "      10MB        4GB (flat, cum) 50.00% of Total\n"
            "      10MB       10MB     31:\tentry := &Entry{}\n"
            "         .     3.99GB     32:\tpage := pages.Get()\n",
            ["kv.(*Store).Get and its callees have 50 %", "store.go:32 (3.99 GiB)"],
            ["<1 %"],
            id="list whose own lines are small",
        ),
        pytest.param(
            "     100MB  2.00% 62.00%      100MB  2.00%  kv.(*Store).Put /src/kv/store.go\n"
            "      50MB  1.00% 63.00%      150MB  3.00%  kv.(*Store).Get /src/kv/store.go\n",
            ["Rows with 60 % of the total", "above", "row shown is kv.(*Store).Put (2 %)"],
            ["store.go ("],
            id="rows from the middle of a table",
        ),
        pytest.param(
            "ROUTINE ======================== kv.(*Store).Put in /src/kv/store.go\n"
            "       6.0        8.0 Total MB (flat / cumulative)\n",
            ["Of the rows shown, the largest is kv.(*Store).Put (6 MiB)"],
            ["%"],
            id="no total and no share",
        ),
        pytest.param(
            "$ go tool pprof -base a.pb.gz b.pb.gz\nType: inuse_space\n"
            "Showing nodes accounting for -3MB, 30% of 10MB total\n"
            "      flat  flat%   sum%        cum   cum%\n"
            "      -8MB 80.00% 80.00%       -8MB 80.00%  kv.(*Store).Put\n"
            "       5MB 50.00% 30.00%        5MB 50.00%  kv.(*Store).Get\n",
            ["Its rows add up to \u22123 MiB", "More in use by kv.(*Store).Get (+5 MiB)"],
            ["stand above"],
            id="difference",
        ),
    ],
)  # fmt: skip
def test_an_excerpt_says_what_it_is_of(tmp_path, table, told, not_said):
    found = str(diagnosed(tmp_path, pasted=table).verdict.sentence).replace("\u202f", " ")

    assert all(part in found for part in told), found
    assert not any(part in found for part in not_said), found


def test_a_difference_without_its_first_rows_does_not_say_what_they_add_up_to(tmp_path):
    rows = "".join(
        f"         0     0% 18.26%     {size}MB   0.7%  example.org/q.{name}\n"
        for name, size in (("(*server).open", "0.50"), ("(*server).take", "-0.50"))
    )
    (tmp_path / "tail.txt").write_text(rows)
    said = f"{gomem.diagnose(tmp_path / 'tail.txt').verdict.sentence}"

    assert "is a difference" in said
    assert "add up" not in said
    assert "rows above those shown (18 % of the total)" in said
    assert "none has more than 1 %" in said


FREED = "0: 0 [{}: {}] @ 0x45f2a1 0x45e013 0x4601b7\n"


@pytest.mark.parametrize("head", ["", "heap profile: 0: 0 [90: 8000000] @ heap/1048576\n"])
def test_records_whose_objects_are_all_freed_are_read_with_and_without_a_head(head, tmp_path):
    rows = FREED.format(3, 393216) + FREED.format(20, 960) + FREED.format(2, 65536)
    (tmp_path / "heap.txt").write_text(head + rows)

    told = str(gomem.diagnose(tmp_path / "heap.txt").verdict.sentence)

    assert "were allocated since the start" in told
    assert ("The rows of a heap profile shown here have nothing in use" in told) is not bool(head)


def test_what_a_table_does_not_show_is_not_said_to_lack_a_stack(tmp_path):
    row = "  150MB 75.00% 75.00%   150MB 75.00%  main.newNode\n"
    table = f"Showing nodes accounting for 150MB, 75.00% of 200MB total\n{LEGEND}{row}"

    shown = as_text(diagnosed(tmp_path, top=table))

    assert "not in the pasted text" in shown
    assert "without a stack" not in shown


@pytest.mark.parametrize(
    ("parks", "waits", "step"),
    [
        ("sync.runtime_SemacquireMutex", "for a lock", "goroutine?debug=2"),
        ("internal/sync.(*Mutex).lockSlow", "for a lock", "goroutine?debug=2"),
        ("runtime.chansend", "to send to a channel", "pprof/goroutine >"),
        ("internal/poll.runtime_pollWait", "for the network or a file", "pprof/goroutine >"),
    ],
)
@pytest.mark.parametrize("own", ["main.(*Store).Get", "net/http.(*conn).serve"])
def test_a_table_of_goroutines_says_what_most_wait_for(tmp_path, parks, waits, step, own):
    table = (
        f"{SHOWN.format('800')}{LEGEND}       800   100%   100%        800   100%  runtime.gopark\n"
        f"         0     0%   100%        720 90.00%  {parks}\n"
        f"         0     0%   100%        700 87.50%  {own}\n"
    )
    verdict = diagnosed(tmp_path, table=table).verdict

    assert f" wait {waits} ({NearFunction(parks)})." in verdict.sentence
    assert step in verdict.next_step


def test_no_wait_of_a_few_goroutines_is_said_of_most(tmp_path):
    table = (
        f"{SHOWN.format('800')}{LEGEND}       800   100%   100%        800   100%  runtime.gopark\n"
        "         0     0%   100%        300 37.50%  sync.runtime_SemacquireMutex\n"
        "         0     0%   100%        500 62.50%  main.(*Store).Get\n"
    )
    verdict = diagnosed(tmp_path, table=table).verdict

    assert " wait " not in verdict.sentence
    assert "debug=2" not in verdict.next_step


def test_few_stacks_of_a_table_say_nothing_of_the_many_that_are_parked(tmp_path):
    table = (
        f"{SHOWN.format('28')}{LEGEND}        24 85.71% 85.71%         24 85.71%  runtime.gopark\n"
        "         1  3.57% 89.29%          1  3.57%  syscall.Syscall6\n"
        "         0     0%   100%          2  7.14%  bufio.(*Reader).Read\n"
    )
    sentence = diagnosed(tmp_path, table=table).verdict.sentence

    assert "24 of them (86" in sentence
    assert "are parked" in sentence
    assert "bufio" not in sentence
    assert "So few come and go in any service." in sentence
    many = table.replace("28", "2800").replace(" 24 ", " 2400 ")
    assert "So few" not in diagnosed(tmp_path, table=many).verdict.sentence


BY_CUM = f"""Showing nodes accounting for 12.5MB, 6.25% of 200MB total
{LEGEND}         0     0%     0%   120MB 60.00%  example.org/shop.(*cart).run
         0     0%     0%   120MB 60.00%  example.org/shop.(*cart).fill
  12.5MB  6.25%  6.25%    90MB 45.00%  example.org/shop.(*cart).add
         0     0%  6.25%    70MB 35.00%  example.org/keys.load
"""


def test_a_table_sorted_by_cum_is_told_by_cum_and_shown_whole(tmp_path):
    diagnosis = diagnosed(tmp_path, top=BY_CUM)

    said, shown = diagnosis.verdict.sentence, as_text(diagnosis)
    assert ["example.org/shop.(*cart).run", "example.org/keys.load"] == parts(said, Function)
    assert [0.6, 0.35] == parts(said, Share)
    rows = shown[shown.index("cum\n") :]
    assert rows.index("(*cart).run") < rows.index("(*cart).fill") < rows.index("keys.load")
    assert "functions not in the pasted text" in rows


@pytest.mark.parametrize(("size", "is_large"), [("200MB", False), ("2150000MB", True)])
def test_more_than_a_machine_has_is_not_in_use(tmp_path, size, is_large):
    table = f"{SHOWN.format(size)}{LEGEND}  {size}   100%   100%   {size}   100%  main.f\n"
    said = str(diagnosed(tmp_path, top=table).verdict.sentence)

    assert is_large == ("most likely it is what was allocated" in said)
    assert is_large != ("does not say whether this is in use" in said)


@pytest.mark.parametrize(
    ("row", "size", "counts", "step"),
    [
        ("runtime.malg", 105, [200_000, 330_000], "debug/pprof/goroutine"),
        ("runtime.malg", 64, [120_000, 210_000], "debug/pprof/goroutine"),
        (
            "google.golang.org/grpc/internal/transport.newBufWriter",
            105,
            [1_500, 3_800],
            "debug/pprof/heap",
        ),
    ],
)
def test_objects_of_a_known_size_are_counted_in_the_interval_of_their_samples(
    tmp_path, row, size, counts, step
):
    """
    105 MB are 210 samples, so 14 % more or less, and 64 MB are 128; both ends are of the sizes.
    """
    rows = (
        f"  {size}MB 70.00% 70.00%  {size}MB 70.00%  {row}\n   45MB 30% 100%   45MB 30%  main.f\n"
    )

    verdict = diagnosed(
        tmp_path, top="Type: inuse_space\n" + SHOWN.format("150MB") + LEGEND + rows
    ).verdict

    assert counts == parts(verdict.sentence, Count)[:2]
    assert step in verdict.next_step


def test_few_descriptors_ask_for_no_goroutines(tmp_path):
    rows = "   5MB 10% 10%   5MB 10%  runtime.malg\n   45MB 90% 100%   45MB 90%  main.f\n"

    verdict = diagnosed(
        tmp_path, top="Type: inuse_space\n" + SHOWN.format("50MB") + LEGEND + rows
    ).verdict

    assert "debug/pprof/goroutine" not in verdict.next_step


CPU_LIST = (
    "(pprof) list pack\nTotal: 1.05mins\n"
    "ROUTINE ======================== a.org/q.pack in /src/q/pack.go\n"
    "      60ms     19.50s (flat, cum) 30.95% of Total\n"
    "         .          .     36:\n         .      120ms     37:\tw := open(out)\n"
    "      60ms     19.38s     38:\tw.reset()\n"
)
HEAP_BY_CUM = (
    "(pprof) top 4 --cum\n2412.5MB of 2614MB total (92.29%)\n"
    "Showing top 4 nodes out of 46 (cum >= 113.64MB)\n"
    "      flat  flat%   sum%        cum   cum%\n"
    "         0     0%     0%  2600.25MB 99.47%  runtime.goexit\n"
    "         0     0%     0%  2065.06MB 79.00%  sync.(*Pool).Get\n"
    "         0     0%     0%  2065.06MB 79.00%  sync.(*Pool).getSlow\n"
    " 2065.06MB 79.00% 79.00%  2065.06MB 79.00%  bufio.NewWriterSize\n"
)


@pytest.mark.parametrize("first", [0, 1])
def test_a_table_of_bytes_leads_and_one_of_time_beside_it_is_told(tmp_path, first):
    pastes = [f"```\n{table}```\n" for table in (CPU_LIST, HEAP_BY_CUM)]
    pasted = f"The time:\n\n{pastes[first]}\nAnd the other one:\n\n{pastes[1 - first]}"
    (tmp_path / "a.md").write_text(pasted)

    verdict = gomem.diagnose(tmp_path / "a.md").verdict

    assert "The pprof table shows 2.55 GiB." == verdict.headline
    assert "Another table has 1.1 min of time. q.pack and its callees have 31 %" in verdict.second
    assert "take a heap profile" not in verdict.next_step


def test_rows_of_libraries_that_only_call_others_are_named_by_cum(tmp_path):
    (tmp_path / "a.txt").write_text(HEAP_BY_CUM.rpartition(" 2065.06MB 79.00% 79")[0])

    words = gomem.diagnose(tmp_path / "a.txt").verdict.second

    assert "With its callees, sync.(*Pool).Get (79 %) has most." in words
