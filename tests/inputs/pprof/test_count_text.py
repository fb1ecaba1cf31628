"""Profiles of counts in text: `/debug/pprof/goroutine?debug=1` and its like."""

import pytest

from gomem.errors import FormatError
from gomem.inputs.pprof.count_text import looks_like_count_text, parse_count_text

TEXT = b"""goroutine profile: total 5
3 @ 0x4651a5 0x4dd7b2
# labels: {"handler":"/upload", "tier":"2"}
#\t0x4dd7b1\tmain.wait+0x31\t/srv/app/main.go:12

1 @ 0x4651a5 0x4dd8a0 0x43a4e7
#\t0x4dd89f\tmain.serve+0x9f\t/srv/app/main.go:40
#\t0x43a4e6\tmain.main+0x86\t/srv/app/main.go:9

1 @ 0x431111
"""


def parse(text):
    read, damage = parse_count_text(text, source="goroutine.txt")
    return read.columns, damage


def stacks_of(columns):
    """Function and line of each frame of each stack, the innermost first."""
    lines = columns.locations
    names = [columns.strings[name] for name in columns.functions.name]
    found = []
    for start, end in zip(columns.stack_offsets[:-1], columns.stack_offsets[1:], strict=True):
        rows = [
            row
            for place in columns.stack[start:end]
            for row in range(lines.line_offsets[place], lines.line_offsets[place + 1])
        ]
        found.append([(names[lines.line_function[row]], lines.line_number[row]) for row in rows])
    return found


def test_each_record_counts_its_stack():
    columns, damage = parse(TEXT)

    assert [] == damage
    assert [[3], [1], [1]] == columns.value.tolist()
    (counted,) = columns.sample_types
    assert ("goroutine", "count") == (counted.type, counted.unit)
    assert [[("main.wait", 12)], [("main.serve", 40), ("main.main", 9)], []] == stacks_of(columns)
    assert [0x431110] == columns.locations.address[columns.stack[-1:]].tolist()


def test_labels_belong_to_the_record_above_them():
    labels = parse(TEXT)[0].labels
    texts = parse(TEXT)[0].strings

    assert [0, 0] == labels.sample.tolist()
    assert ["handler", "tier"] == [texts[row] for row in labels.key]
    assert ["/upload", "2"] == [texts[row] for row in labels.text]


@pytest.mark.parametrize(
    "labels", [b'{"a": 1}', b'{"a": "b"', b"{" * 100_000 + b"}"], ids=["number", "cut", "deep"]
)
def test_labels_that_are_no_texts_are_none(labels):
    columns, _ = parse(TEXT.replace(b'{"handler":"/upload", "tier":"2"}', labels))

    assert 0 == len(columns.labels.sample)
    assert [[3], [1], [1]] == columns.value.tolist()


@pytest.mark.parametrize(
    ("before", "after", "place", "values"),
    [
        pytest.param(b"total 5\n", b"total 5\nhello\n", "line 2", [3, 1, 1], id="a stray line"),
        pytest.param(b"1 @ 0x431111\n", b"", f"byte {len(TEXT) - 13}", [3, 1], id="cut"),
        pytest.param(b"total 5", b"total 6", f"byte {len(TEXT)}", [3, 1, 1], id="fewer than told"),
        pytest.param(
            b"total 5\n", b"total 5\n#\t0x1\tmain.a+0x1\t/a.go:1\n", "line 2", [3, 1, 1],
            id="a frame of no record",
        ),
        pytest.param(
            b"total 5\n", b'total 5\n# labels: {"a":"b"}\n', "line 2", [3, 1, 1],
            id="labels of no record",
        ),
        pytest.param(b"3 @ 0x4651a5", b"x @ 0x4651a5", "line 2", [1, 1], id="no count"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_damage_with_its_place(before, after, place, values):
    columns, damage = parse(TEXT.replace(before, after, 1))

    assert place in [one.where for one in damage]
    assert values == columns.value[:, 0].tolist()


def test_a_preface_of_blank_lines_counts_as_lines():
    _, damage = parse(b"\n\n" + TEXT.replace(b"total 5\n", b"total 5\nhello\n"))

    assert ["line 4"] == [one.where for one in damage]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (b"goroutine profile: total 5\n", True),
        (b"threadcreate profile: total 5\n", True),
        (b"goroutineleak profile: total 0\n", True),
        (b"heap profile: 1: 2 [3: 4] @ heap/8\n", False),
        (b"goroutine 1 [running]:\n", False),
    ],
)
def test_it_is_known_by_its_header(text, known):
    assert known == looks_like_count_text(text)
    if not known:
        with pytest.raises(FormatError, match="byte 0"):
            parse(text)


BROKEN = b"""goroutine profile: total 50
20 @ 0x4316f0 0x42c48a 0x42
ba55 0x4c5595
0x45f161
#\t0x42c489\tmain.(*queue).take+0x54\t/
home/b/queue.go:18
#\t0x45f160\tmain.wo
rk+0x10\t/home/b/work.go:7
#\t0x45f17f\tmain.run+0x10\t/home/b/wo"""


def test_lines_that_a_terminal_broke_are_whole_again():
    columns, damage = parse(BROKEN)

    assert [[20]] == columns.value.tolist()
    frames = [("main.(*queue).take", 18), ("main.work", 7), ("main.run", 0)]
    assert frames == [frame for frame in stacks_of(columns)[0] if frame[0].startswith("main.")]
    assert ["line 9", f"byte {len(BROKEN)}"] == [fault.where for fault in damage]


def test_a_record_of_few_is_joined_where_a_terminal_broke_it_between_addresses():
    text = b"goroutine profile: total 1\n1 @ 0x10\n0x20 0x30\n"

    counted, damage = parse_count_text(text, source="goroutine.txt")

    assert [] == damage
    assert [0xF, 0x1F, 0x2F] == counted.columns.locations.address.tolist()


RECORD = (
    "21 @ 0x43aee5 0x40654b 0x4714aa\n# {}40654a main.(*queue).take+0xc9 /src/shop/queue.go:129\n"
)


@pytest.mark.parametrize("head", ["goroutine profile\n", "goroutine profile:\n"])
@pytest.mark.parametrize("address", ["0x", "1x", "x"])
def test_a_first_line_without_its_total_and_a_mistyped_address_are_read(head, address):
    text = (head + RECORD.format(address)).encode()

    counted, damage = parse_count_text(text, source="goroutine.txt")

    assert looks_like_count_text(text)
    assert counted.total is None
    assert [[21]] == counted.columns.value.tolist()
    assert ("main.(*queue).take", 129) in stacks_of(counted.columns)[0]
    assert ["line 1"] == [fault.where for fault in damage]


def test_words_that_name_a_profile_are_no_first_line():
    assert not looks_like_count_text(b"goroutine profile\nshows nothing\n")


@pytest.mark.parametrize("dots", [b" ...", b" \xe2\x80\xa6", b" [...]", b"...", b" 0x4dd7..."])
def test_dots_for_the_last_addresses_of_a_record_leave_the_record(dots):
    text = TEXT.replace(b"0x4651a5 0x4dd7b2\n", b"0x4651a5 0x4dd7b2 0x4dd7b2" + dots + b"\n")

    columns, damage = parse(text)

    assert [[3], [1], [1]] == columns.value.tolist()
    assert [("main.wait", 12)] == stacks_of(columns)[0]
    assert [True] == [place.is_excerpt for place in damage]
    assert ["line 2"] == [place.where for place in damage]
