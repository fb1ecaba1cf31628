"""Which sizes in a sentence are of memory, and which of them it calls RSS."""

import pytest

from gomem.inputs.said_sizes import heap_in_words, memory_sizes, rss_in_words, shares_in_words


@pytest.mark.parametrize(
    ("sentence", "sizes"),
    [
        ("RSS stays at ~310M for hours.", ["310M"]),
        ("the RSS of our worker climbed up to 3GB", ["3GB"]),
        ("In a week RSS size went from around 40M to over 90M.", ["40M", "90M"]),
        ("it has 51 MB RSS", ["51 MB"]),
        ("The RSS of queue-dispatcher-workers was 3GB", ["3GB"]),
        ("resident memory is `7.5G`", ["7.5G"]),
        ("RSS grows by 30MB a day", []),
        ("RSS is flat while the heap is 50M", []),
        ("the RSS limit is 400M", []),
        ("RSS and 300M of disk", []),
    ],
)
def test_sizes_that_a_sentence_calls_rss(sentence, sizes):
    assert sizes == rss_in_words(sentence.encode())


@pytest.mark.parametrize(
    ("line", "sizes"),
    [
        ("the container uses `23G`, the host has 96G mem", [b"23G", b"96G"]),
        ("repositories take 23G", []),
        ("we are on 5G here", []),
        ("memory is 7718Mi", [b"7718Mi"]),
        ("peak RSS: 81234-99871 Bytes", [b"81234-99871 Bytes"]),
        ("a message of 81234 bytes", []),
        ("its memory is 1.3-1.6g now", [b"1.3-1.6g"]),
        ("the heap has 21\u201334 MB", ["21\u201334 MB".encode()]),
        ("memory fell from 310/290 MB", [b"310 MB", b"290 MB"]),
    ],
)
def test_a_letter_alone_is_a_unit_where_memory_is_the_subject(line, sizes):
    assert sizes == memory_sizes(line.encode())


def test_a_sentence_names_a_field_of_memstats():
    assert ["30 MB"] == heap_in_words(b"the `MemStats.HeapAlloc` field was about 30 MB here")
    assert [] == heap_in_words(b"HeapAlloc is level at noon, and the disk has 30 MB")


@pytest.mark.parametrize(
    ("line", "shares"),
    [
        ("ps says that it has 11.5% of memory, the other 2.1 % of the RAM", ["11.5%", "2.1 %"]),
        ("service=mail, memory_usage=91%, threshold=80%", ["91%"]),
        ("5% of the requests, memory is fine", []),
    ],
)
def test_shares_that_a_line_calls_memory(line, shares):
    assert shares == shares_in_words(line.encode())
