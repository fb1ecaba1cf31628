"""Text comes out as UTF-8 without a mark, whoever wrote it, whole or in pieces."""

import codecs

import pytest

from gomem.sources.artefact import open_source
from gomem.sources.decompress import without_mark
from gomem.sources.long import open_stream

TEXT = "Rss: 12 kB \N{GREEK SMALL LETTER MU}\n" * 3


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(TEXT.encode(), id="plain"),
        pytest.param(codecs.BOM_UTF8 + TEXT.encode(), id="utf-8"),
        pytest.param(codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), id="utf-16-le"),
        pytest.param(codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), id="utf-16-be"),
    ],
)
def test_text_is_utf_8_however_it_was_stored(stored):
    assert TEXT.encode() == open_source(stored).data
    assert stored == open_source(stored).stored
    assert TEXT.encode() == b"".join(open_stream(stored).pieces())
    by_byte = (stored[place : place + 1] for place in range(len(stored)))
    assert TEXT.encode() == b"".join(without_mark(by_byte))


@pytest.mark.parametrize("stored", [b"", b"\xef", b"\xef\xbb", b"\xfe", b"a\xef\xbb\xbf"])
def test_what_only_resembles_a_mark_stays(stored):
    assert stored == b"".join(without_mark([stored]))


def test_half_a_character_at_the_end_is_kept_as_one_that_is_unknown():
    stored = codecs.BOM_UTF16_LE + "ab".encode("utf-16-le")[:-1]

    assert "a\N{REPLACEMENT CHARACTER}".encode() == b"".join(without_mark([stored]))
