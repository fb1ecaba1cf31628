"""Lines of a profile in text form: the frames below a record, and what people shorten.

A record is `n @ 0x… 0x…`, or `n: bytes [n: bytes] @ 0x… 0x…` of a heap profile. Its addresses make
a long line, so people put dots for the last of them; the frames below have the functions.
"""

from __future__ import annotations

import re

from gomem.errors import EXCERPT

_FRAME = re.compile(
    rb"#[\t ]+0x([0-9a-f]{1,16})(?:[\t ]+(.+)\+0x[0-9a-f]+[\t ]+(.*):(\d{1,9}))?\s*"
)
# The last line, if the text ends inside the file's path: the function's name is complete.
_FRAME_OF_CUT = re.compile(rb"#[\t ]+0x([0-9a-f]{1,16})[\t ]+(.+)\+0x[0-9a-f]+[\t ]+[^\t ]*\s*")
_SHORTENED = re.compile(
    rb"(?P<record>\d.*? @(?: +0x[0-9a-f]{1,16})+)"
    rb"(?: +0x[0-9a-f]{0,16}|(?= ))? *(?:\.{2,}|\xe2\x80\xa6|[\[(](?:\.{2,}|\xe2\x80\xa6)[\])])"
)
SHORTENED = f"{EXCERPT}a record whose last addresses were left out; its frames are read"
CUT_FRAME = "a frame whose file is cut; its function is read"

Frame = tuple[bytes, bytes, int]  # function, file, line


def frame_of(line: bytes) -> tuple[int, Frame | None] | None:
    """Parse a line below a record: an address, and its frame unless it is nameless."""
    frame = _FRAME.fullmatch(line) if line.startswith(b"#") else None
    if frame is None:
        return None
    named = None if frame[2] is None else (frame[2], frame[3], int(frame[4]))
    return int(frame[1], 16), named


def cut_frame_of(line: bytes) -> tuple[int, Frame] | None:
    """Parse such a line if it ends inside the file's path, after the complete function name."""
    cut = _FRAME_OF_CUT.fullmatch(line)
    return None if cut is None else (int(cut[1], 16), (cut[2], b"", 0))


def shortened_record(line: bytes) -> bytes | None:
    """Return a record with the addresses before its dots; None for any other line."""
    record = _SHORTENED.fullmatch(line)
    return None if record is None else record["record"]
