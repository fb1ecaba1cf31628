"""The README: its commands run, what it prints is printed, and it stays short."""

import re
from itertools import takewhile
from pathlib import Path

import pytest

from tests.manual import README, Block, answer_of, blocks, lay_out

TEXT = README.read_text(encoding="utf-8")
OWN = [block for block in blocks() if block.page == README]
PRINTED = "printed: "
MOST_LINES = 100
MOST_SHOWN = 14


def printed_by(command: str) -> str:
    """What a terminal shows of it from the verdict on: what stands above is of the machine."""
    code, shown = answer_of(command.removeprefix("gomem "))
    assert 0 == code
    lines = shown.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(("▲", "●", "✓", "■")))
    verdict = takewhile(bool, lines[first : first + MOST_SHOWN])
    link = re.sub(r"(?<=^file:///).*/", "home/you/", lines[-1])  # wherever the page was written
    return "\n".join([*verdict, "…", link]) + "\n"


def test_what_commands_print_is_what_they_print(request):
    """
    `--update-golden` writes it again, for the diff to be reviewed.
    """
    shown = [block for block in OWN if block.mark.startswith(PRINTED)]
    expected = {block: printed_by(block.mark.removeprefix(PRINTED)) for block in shown}
    if request.config.getoption("--update-golden"):
        README.write_text(updated(expected), encoding="utf-8")
        return

    assert shown
    assert [block.text for block in shown] == list(expected.values())


def updated(expected: dict[Block, str]) -> str:
    text = TEXT
    for block, printed in expected.items():
        fence = f"<!-- {block.mark} -->\n```{block.language}\n"
        text = text.replace(f"{fence}{block.text}```", f"{fence}{printed}```")
    return text


def test_the_python_runs(tmp_path, monkeypatch):
    (code,) = (block.text for block in OWN if block.language == "python")
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {}

    exec(code, names)  # noqa: S102 - the README's own code

    ledger = names["diagnosis"].ledger
    last = ledger[ledger["moment"] == "4-freed"]
    assert names["diagnosis"].verdict.rss_bytes == last["bytes"].sum()


def test_it_stays_short():
    assert len(TEXT.splitlines()) <= MOST_LINES


def test_the_picture_is_there():
    (picture,) = re.findall(r"!\[.*?\]\((.*?)\)", TEXT)

    assert (README.parent / picture).stat().st_size > 10_000


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!http)([^)#]+)", TEXT))))
def test_a_link_leads_to_a_file(target):
    assert (README.parent / Path(target)).is_file()


def test_the_test_command_is_where_ci_looks_for_it():
    section = TEXT.partition("## Run the tests\n")[2]

    assert re.search(r"^```sh\n.*-m pytest\n```$", section, re.MULTILINE)
