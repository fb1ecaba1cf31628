"""Foreign text made visible."""

import pytest

from gomem.errors import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("main.(*cache).put", "main.(*cache).put", id="plain"),
        pytest.param("größer 漢字", "größer 漢字", id="letters of any script"),
        pytest.param("12\u202f345\u00a0B", "12\u202f345\u00a0B", id="our own narrow spaces"),
        pytest.param("a\x1b[31mb", "a\\x1b[31mb", id="terminal control"),
        pytest.param("a\nb\r\tc", "a\\nb\\r\\tc", id="line breaks"),
        pytest.param("\u202egpj.exe", "\\u202egpj.exe", id="right-to-left override"),
        pytest.param("a\u200bb\ufeff", "a\\u200bb\\ufeff", id="no width"),
        pytest.param("a\u2028b", "a\\u2028b", id="line separator"),
        pytest.param("a\udcffb", "a\\udcffb", id="a byte that is not UTF-8"),
    ],
)
def test_what_has_no_look_of_its_own_is_escaped(text, shown):
    assert shown == printable(text)
