"""The page says what the terminal says, whatever figures it draws."""

from gomem.cli.main import run

STACKS = (
    "goroutine profile: total 4\n4 @ 0x43e1d6 0x6ba1c6\n"
    "#\t0x6ba1c5\tmain.main+0x1a5\t/app/main.go:12\n"
)
POD = "POD          NAME   CPU(cores)   MEMORY(bytes)\napi-5f9f-x   api    704m         1545Mi\n"


def test_facts_beside_bars_that_do_not_show_them_are_on_the_page(tmp_path):
    (tmp_path / "goroutines.txt").write_text(STACKS)
    (tmp_path / "top.txt").write_text(POD)
    (tmp_path / "free.txt").write_text("rss of the nodes went from 5 GB to 7 GB\n")
    page = tmp_path / "page.html"

    assert 0 == run(["report", str(tmp_path), "-o", str(page)])

    shown = page.read_text().replace("\u00a0", " ")
    head = shown[: shown.index('class="opening"')]
    assert "The working set is 1.51 GiB" in head
    assert "4 goroutines" in head
