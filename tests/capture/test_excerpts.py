"""What is cut in a text that a person wrote is an excerpt; a file that is cut is damaged."""

import pytest

from gomem.capture.load import load
from gomem.causes.finding import Severity
from gomem.diagnosis.diagnosis import diagnose

CUT_DUMP = "goroutine 7 [select]:\nmain.pump()\n\t/app/pump.go:20 +0x1d\n\ngoroutine 9 [select]:\n"
PMAP = (
    "27108:   api -v\n"
    "         Address Perm   Offset Device    Inode  Size  Rss  Pss Mapping\n"
    "        00400000 r-xp 00000000 103:02 10762375  4508 4188 2094 api\n"
    "        00867000 r--p 00467000 103:02 10762375  3852 3044 1522 api\n"
)


def severities(tmp_path, text):
    (tmp_path / "paste.txt").write_text(text)
    found = diagnose(tmp_path / "paste.txt").findings
    return [finding.severity for finding in found if finding.code == "data-damaged"]


@pytest.mark.parametrize(
    "text", [CUT_DUMP, f"{CUT_DUMP}mai\n", PMAP], ids=["dump", "last line", "pmap"]
)
def test_a_paste_that_is_cut_is_an_excerpt(tmp_path, text):
    assert [Severity.INFO] == severities(tmp_path, f"```\n{text}```\n")
    assert [Severity.INFO] == severities(tmp_path, f"We see this in the pod:\n\n{text}")
    assert [Severity.WARNING] == severities(tmp_path, text)


def test_a_table_of_pprof_with_fewer_rows_is_an_excerpt_wherever_it_is(tmp_path):
    (tmp_path / "top.txt").write_text(
        "Showing nodes accounting for 130MB, 90.28% of 144MB total\n"
        "      flat  flat%   sum%        cum   cum%\n"
        "      30MB 20.83% 20.83%       30MB 20.83%  main.grow\n"
    )

    (damage,) = load(tmp_path).damaged

    assert damage.is_excerpt


ROWS = (
    "09:14:28 $ kubectl top pod -l app=till --no-headers\ntill-0   12m   17Mi\n"
    "09:15:28 $ kubectl top pod -l app=till --no-headers\ntill-0   12m   77Mi\n"
)
CHAT = (
    "[09:14] kim: goroutines?\ngoroutine profile: total 4\n"
    "4 @ 0x47558e 0x453937\n#\t0x66acde\tmain.pump+0x5e\t/app/pump.go:20\n\n"
    "[09:18] kim: hm. RSS?\n[09:18] lee: 71 MB, was 25 MB at nine\n"
)


@pytest.mark.parametrize("text", [f"Could somebody look at till?\n\n{ROWS}", CHAT])
def test_prompts_and_chat_between_readings_are_no_damage(tmp_path, text):
    (tmp_path / "paste.txt").write_text(text)

    assert () == tuple(load(tmp_path).damaged)


def test_a_time_before_a_prompt_is_that_of_what_it_prints(tmp_path):
    (tmp_path / "paste.txt").write_text(f"Could somebody look at till?\n\n{ROWS}")

    assert ["09:14:28", "09:15:28"] == list(load(tmp_path).moments["moment"])


@pytest.mark.parametrize("end", ["", "\n```\n"])
def test_the_last_line_of_a_log_that_the_text_cuts_is_an_excerpt(end, tmp_path):
    gc = "gc {n} @{n}.000s 4%: 0.1+1.7+0.1 ms clock, 0.1+0/0.2/0.3+0.1 ms cpu, 3->3->0 MB, 4 MB"
    lines = [gc.format(n=n) + " goal, 2 P" for n in range(1, 5)]
    text = "This is what it prints, and then it hangs:\n\n```\n" + "\n".join([*lines, gc[:70]])
    (tmp_path / "ticket.md").write_text(text.replace("{n}", "5") + end)

    (fault,) = load(tmp_path / "ticket.md").damaged

    assert fault.is_excerpt
