"""A cgroup's files as a shell shows them: commands and names say what a number is."""

import pytest

import gomem
from gomem.diagnosis.diagnosis import diagnose
from gomem.inputs.cgroup.session import in_session
from gomem.text import Bytes, Text
from gomem.views.report.limits import limits_section

FOLDER = "/sys/fs/cgroup"
STAT = "anon 1972101120\nfile 98566144\nkernel 40370176\n"


@pytest.fixture
def numbers(tmp_path):
    """The numbers of a ticket's text, by the kernel's names."""

    def numbers(text):
        ticket = tmp_path / "ticket.md"
        ticket.write_text(text)
        rows = gomem.load(ticket).cgroup
        return dict(zip(rows["name"], rows["value"], strict=True))

    return numbers


@pytest.mark.parametrize("prompt", ["$ ", "/ # ", "root@api-0:/# ", "$ docker exec api "])
@pytest.mark.parametrize("fence", ["", "```\n"])
def test_a_number_is_the_file_that_the_command_above_it_prints(numbers, prompt, fence):
    found = numbers(
        f"In the container:\n\n{fence}{prompt}cat {FOLDER}/memory.current\n2147422208\n"
        f"{prompt}cat {FOLDER}/memory.max\n2147483648\n{fence}"
    )

    assert {"memory.current": 2147422208, "memory.max": 2147483648} == found


def test_a_table_keeps_its_fields_beside_the_numbers(numbers):
    found = numbers(
        f"```\n$ cat {FOLDER}/memory.current\n2147422208\n$ cat {FOLDER}/memory.stat | head -3\n"
        f"{STAT}$ cat {FOLDER}/memory.events\noom_kill 3\n```\n"
    )

    assert 2147422208 == found["memory.current"]
    assert 1972101120 == found["anon"]
    assert 3 == found["oom_kill"]


def test_one_command_prints_several_files_in_its_order(numbers):
    found = numbers(f"$ cat {FOLDER}/memory.peak {FOLDER}/memory.current\n412\n400\n")

    assert {"memory.peak": 412, "memory.current": 400} == found


def test_names_of_tail_and_of_grep_say_what_a_number_is(numbers):
    by_tail = f"$ tail -n +1 {FOLDER}/memory.*\n==> {FOLDER}/memory.max <==\n400\n\n"
    by_grep = f"$ grep . {FOLDER}/memory.*\n{FOLDER}/memory.max:400\n{FOLDER}/memory.stat:anon 12\n"

    assert {"memory.max": 400} == numbers(by_tail)
    assert {"memory.max": 400, "anon": 12} == numbers(by_grep)


def test_version_1_has_other_names(numbers):
    folder = f"{FOLDER}/memory"

    found = numbers(
        f"$ cat {folder}/memory.usage_in_bytes\n400\n$ cat {folder}/memory.failcnt\n7\n"
    )

    assert {"memory.usage_in_bytes": 400, "memory.failcnt": 7} == found


def test_a_number_below_another_command_is_not_the_files(numbers):
    found = numbers(f"$ cat {FOLDER}/memory.max\n400\n$ pgrep api\n4411\n")

    assert {"memory.max": 400} == found


def test_no_limit_is_none(tmp_path):
    ticket = tmp_path / "ticket.md"
    ticket.write_text(f"$ cat {FOLDER}/memory.current\n400\n$ cat {FOLDER}/memory.max\nmax\n")

    rows = gomem.load(ticket).cgroup.set_index("name")["value"]

    assert rows.isna()["memory.max"]
    assert 400 == rows["memory.current"]


def test_a_process_beside_the_cgroup_is_read_as_well(tmp_path):
    ticket = tmp_path / "ticket.md"
    ticket.write_text(
        f"The container:\n$ docker exec api cat {FOLDER}/memory.current\n2147422208\n\n"
        "```\n$ grep -E 'VmRSS|VmHWM|Rss' /proc/4411/status\nVmHWM:   2048000 kB\n"
        "VmRSS:   1948000 kB\nRssAnon: 1925000 kB\n```\n"
    )

    (moment,) = gomem.load(ticket).by_moment.values()

    assert 1948000 << 10 == moment.status["VmRSS"].iloc[0]
    assert [2147422208] == list(moment.cgroup["value"])


def test_the_charge_alone_is_told_with_the_file_that_says_more(tmp_path):
    ticket = tmp_path / "ticket.md"
    ticket.write_text(f"$ cat {FOLDER}/memory.current\n2147422208\n")

    verdict = diagnose(gomem.load(ticket)).verdict

    assert "The cgroup uses 2 GiB, with all page cache." in f"{verdict.headline} {verdict.where}"
    assert "memory.stat" in verdict.next_step


def test_a_full_cgroup_that_shows_no_go_gets_no_advice_of_go(tmp_path):
    ticket = tmp_path / "ticket.md"
    numbers = f"$ cat {FOLDER}/memory.current\n1000\n$ cat {FOLDER}/memory.max\n1000\n"
    ticket.write_text(f"```\n{numbers}$ cat {FOLDER}/memory.stat\nanon 999\nfile 1\n```\n")

    (finding,) = (found for found in diagnose(gomem.load(ticket)).findings if "limit" in found.code)

    assert "If this is a Go program" in finding.next_step
    assert "Go does not" not in finding.mechanism


@pytest.mark.parametrize(("charge", "is_told"), [(2400000000, True), (2000000000, False)])
def test_a_charge_far_above_rss_is_told(tmp_path, charge, is_told):
    ticket = tmp_path / "ticket.md"
    ticket.write_text(
        f"```\n$ cat {FOLDER}/memory.current\n{charge}\n"
        "$ grep -E 'VmHWM|VmRSS' /proc/41/status\nVmHWM: 1948000 kB\nVmRSS: 1800000 kB\n```\n"
    )

    verdict = diagnose(gomem.load(ticket)).verdict
    told = [Text(said).of(Bytes) for said in verdict.whose if "more than RSS" in said]

    assert [[charge, charge - (1800000 << 10)]] * is_told == [
        [size.value for size in sizes] for sizes in told
    ]


@pytest.mark.parametrize(
    ("use", "stat", "limit"),
    [
        ("memory.current", "/sys/fs/cgroup/memory.stat", "memory.max"),
        (
            "memory.usage_in_bytes",
            "/sys/fs/cgroup/memory/memory.stat",
            "memory.limit_in_bytes",
        ),
    ],
)
def test_what_is_missing_is_asked_for_by_the_names_of_the_same_version(use, stat, limit, tmp_path):
    (tmp_path / use).write_text("2048086016\n")

    found = diagnose(gomem.load(tmp_path))

    assert f"cat {stat}" in found.verdict.next_step
    assert f"Its limit is unknown: {limit} has it." in str(limits_section(found))


@pytest.mark.parametrize(
    ("peak", "limit"),
    [
        ("memory/kubepods/pod7/memory.max_usage_in_bytes", "memory/memory.limit_in_bytes"),
        ("memory.peak", "memory.max"),
    ],
)
@pytest.mark.parametrize(
    ("most", "said"), [(52_518_912, "more than its limit"), (41_943_040, "80")]
)
@pytest.mark.parametrize("quote", ["", "> "])
def test_a_peak_and_a_limit_are_said_where_no_file_has_the_use(
    tmp_path, peak, limit, most, said, quote
):
    lines = (f"$ cat {FOLDER}/{peak}", str(most), f"$ cat {FOLDER}/{limit}", "52428800")
    (tmp_path / "a.md").write_text("".join(f"{quote}{line}\n" for line in lines))

    sentence = gomem.diagnose(tmp_path / "a.md").verdict.sentence

    assert [most, 52_428_800] == [size.value for size in Text(sentence).of(Bytes)]
    assert said in sentence
    assert "No file says how much memory is in use" not in sentence


@pytest.mark.parametrize(
    ("limit", "said"), [("52428800", "limit is 50 MiB"), ("max", "No file says")]
)
def test_a_limit_alone_is_said_and_none_is_none(tmp_path, limit, said):
    (tmp_path / "a.md").write_text(f"$ cat {FOLDER}/memory.max\n{limit}\n")

    assert said in gomem.diagnose(tmp_path / "a.md").verdict.sentence


def test_fields_of_one_file_by_several_commands_are_one_reading(tmp_path):
    text = (
        "kubectl top says 212Mi of 256Mi, but inside the pod:\n\n"
        "# ps -o pid,rss,args -p 1\n  PID   RSS COMMAND\n    1 13776 /api\n\n"
        "# cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory.current\n268435456\n218865664\n"
        "# head -2 /sys/fs/cgroup/memory.stat\nanon 6377472\nfile 209600512\n"
        "# grep -E '^(shmem|slab) ' /sys/fs/cgroup/memory.stat\nshmem 209387520\nslab 2002944\n"
    )
    (tmp_path / "ticket.txt").write_text(text)

    capture = gomem.load(tmp_path)

    values = capture.cgroup.set_index("name")["value"]
    assert (268435456, 218865664) == (values["memory.max"], values["memory.current"])
    assert (6377472, 209600512, 209387520) == tuple(values[["anon", "file", "shmem"]])
    said = gomem.diagnose(capture).findings[0].title
    assert "81 % full, mostly shared memory: 47 MiB is left" in said


@pytest.mark.parametrize(
    "asked", ["memory.stat memory.usage_in_bytes", "memory.{stat,usage_in_bytes}"]
)
def test_a_number_alone_below_the_lines_of_a_table_is_the_next_file(asked):
    found = in_session(f"$ cat {asked}\ntotal_cache 5000\ntotal_rss 700\n6400\n".encode())

    assert {"total_cache": 5000, "total_rss": 700, "memory.usage_in_bytes": 6400} == found.values


@pytest.mark.parametrize(("use", "rest"), [(1400, [300]), (1150, [])])
def test_what_no_counter_of_version_1_names_is_told(tmp_path, use, rest):
    ticket = tmp_path / "ticket.txt"
    sizes = [size << 20 for size in (900, 200, use)]
    asked = "$ cat memory.stat memory.usage_in_bytes\ntotal_cache {}\ntotal_rss {}\n{}\n"
    ticket.write_text(asked.format(*sizes))

    told = gomem.diagnose(ticket).verdict.whose

    found = [part.value >> 20 for said in told for part in Text(said).of(Bytes)]
    assert rest == [size for size in found if size == use - 1100]
