"""Markdown around evidence goes, and what only looks like it stays."""

import pytest

from gomem.inputs.markdown import without_links, without_markup


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("[main.f](https://x.y/z)", "main.f"),
        ("[(*T).M](http://x.y/z#L1)", "(*T).M"),
        ("40MB [kv.(*Store[int]).Put](https://x.y/a_(b)) 2%", "40MB kv.(*Store[int]).Put 2%"),
        ("![picture](https://x.y/z.png)", "picture"),
        ("main.F[...](0xc000112000, 0x2)", "main.F[...](0xc000112000, 0x2)"),
        ("[pid 12](see below)", "[pid 12](see below)"),
        ("goroutine 1 [running]:", "goroutine 1 [running]:"),
    ],
)
def test_a_link_is_its_words_and_a_call_is_no_link(text, plain):
    assert plain == without_links(text.encode()).decode()


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("**Alloc** = `5 MiB`", "Alloc = 5 MiB"),
        ("- __HeapAlloc__: 5 MiB", "HeapAlloc: 5 MiB"),
        (r"main.\_Cfunc\_malloc", "main._Cfunc_malloc"),
        ("| PID | RSS | COMMAND |", "PID   RSS   COMMAND"),
        ("|---|---:|:---|", ""),
        ("| kv.Put | 1MB | 2% | 2% | 1MB | 2% |", "1MB   2%   2%   1MB   2%   kv.Put"),
        ("\tmain.(**T).M(0x1)", "\tmain.(**T).M(0x1)"),
        ("c000000000-c000400000 rw-p 00000000", "c000000000-c000400000 rw-p 00000000"),
    ],
)
def test_a_line_is_as_it_was_before_it_was_set_in_markdown(line, plain):
    assert plain == without_markup(line.encode()).decode()
