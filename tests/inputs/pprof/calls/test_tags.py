"""Labels: which samples an expression finds, and what they add up to, as `go tool pprof` says."""

import pytest

from gomem.inputs.pprof.read import read_pprof
from tests.pprof_messages import field, function, location, message, packed, strings

TEXTS = ("", "space", "bytes", "leaf", "tenant", "eu", "us", "zone", "size", "took", "kb", "ms")
TEXTS += ("alignment", "widgets", "count", "idle", "hr")


def text(key, value):
    return message(3, field(1, TEXTS.index(key)), field(2, TEXTS.index(value)))


def number(key, value, unit=""):
    return message(3, field(1, TEXTS.index(key)), field(3, value), field(4, TEXTS.index(unit)))


LABELS = {
    1: [text("tenant", "eu")],
    2: [text("tenant", "us")],
    4: [text("tenant", "eu"), text("zone", "us")],
    8: [number("size", 2, "kb")],
    16: [number("size", 64, "kb")],
    32: [number("took", 5, "ms")],
    64: [number("alignment", 16)],
    128: [number("count", 3, "widgets")],
    256: [text("tenant", "eu"), number("size", 3, "kb")],
    512: [],
    1024: [number("size", 0)],
    2048: [number("idle", 1, "hr")],
}
ALL = sum(LABELS)


@pytest.fixture(scope="module")
def labelled():
    """A sample of 1, of 2, of 4 and so on, which tells them apart."""
    raw = message(1, field(1, 1), field(2, 2))
    for value, labels in LABELS.items():
        raw += message(2, packed(1, 1), packed(2, value), *labels)
    return read_pprof(raw + location(1, 1) + function(1, 3, file=0) + strings(*TEXTS))


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("eu", 261), ("tenant=eu", 261), ("tenant=e", 261), ("us", 6), ("zone=us", 4),
        ("zone=eu", 0), ("tenant:eu", 261), ("tenant=us,eu", 263), ("eu,us", 4), ("eu,zone", 4),
        ("nobody", 0), ("a2kb", 0), ("2kb:x", 0), ("5 ms", 0),
        ("2kb", 8), ("size=2kb", 8), ("2048b", 8), ("2KB", 8), ("65536b", 16), ("1mb", 0),
        ("3kb", 384), ("2kb:3kb", 392), ("3kb:", 400), (":2kb", 72), ("size=:3kb", 264),
        ("0mb:1mb", 344), ("2kb:3ms", 0),
        ("1hr", 2048), ("3600s", 2048), ("1hour", 2048),
        ("5ms", 32), ("5000us", 32), ("took=1ms:1s", 32), ("1s", 0), ("5msec", 0),
        ("16", 0), ("16b", 64), ("alignment=16b", 64), ("0", 0),
        ("3", 128), ("3widgets", 128), ("count=3", 128), ("size=3", 0), ("2:3", 128),
        ("-1:3", 128), ("3b", 128),
    ],
)  # fmt: skip
def test_which_samples_an_expression_finds(labelled, expression, found):
    """
    Bounds belong to a range; sizes and times are converted, other units go with any.
    """
    assert found == labelled.filtered(tagfocus=expression).values().sum()
    assert ALL - found == labelled.filtered(tagignore=expression).values().sum()


def test_labels_add_up_by_value_the_largest_first(labelled):
    tags = labelled.tags().astype(object)

    assert [
        ("alignment", None, 16, "bytes", 64),
        ("count", None, 3, "widgets", 128),
        ("idle", None, 1, "hr", 2048),
        ("size", None, 3, "kb", 256),
        ("size", None, 64, "kb", 16),
        ("size", None, 2, "kb", 8),
        ("tenant", "eu", None, None, 261),
        ("tenant", "us", None, None, 2),
        ("took", None, 5, "ms", 32),
        ("zone", "us", None, None, 4),
    ] == list(
        tags.where(tags.notna(), None)[["key", "text", "number", "unit", "value"]].itertuples(
            index=False, name=None
        )
    )
    assert tags["fraction"].to_list() == [value / ALL for value in tags["value"]]
