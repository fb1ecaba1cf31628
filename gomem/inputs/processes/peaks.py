"""A command's peak RSS, from GNU time -v, from time -l of macOS and BSD, or from getrusage.

GNU           Maximum resident set size (kbytes): 2913044
macOS         2982957056  maximum resident set size               bytes
              1935360000  peak memory footprint                   only on macOS
BSD           1935360  maximum resident set size                  KiB
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Quoted, Text, joined, text
from gomem.units import KIB

_GNU = re.compile(rb"\bMaximum resident set size \(kbytes\): (\d{1,12})\b")
_BSD = re.compile(rb"^[ \t]*(\d{1,15})  ?maximum resident set size[ \t]*\r?$", re.MULTILINE)
_FOOTPRINT = re.compile(rb"^[ \t]*(\d{1,15})  ?peak memory footprint[ \t]*\r?$", re.MULTILINE)
_ASK = (
    "it does not say what was in it; a Go command shows its heap over time with GODEBUG=gctrace=1 "
    "COMMAND 2> gc.log, and what allocated it by pprof.WriteHeapProfile at its end, or go test "
    "-memprofile heap.pb.gz"
)


def peak_of_time(head: bytes, _: str) -> Resemblance | None:
    """Describe the peak RSS that time printed, of one or several runs."""
    footprints = [int(size) for size in _FOOTPRINT.findall(head)]
    by_gnu = [int(size) * KIB for size in _GNU.findall(head)]
    by_bsd = list(map(int, _BSD.findall(head)))
    said = [text("{} of RSS at most", _runs(by_gnu))] * bool(by_gnu)
    if footprints:  # only macOS prints it
        said += [text("{} of RSS at most", _runs(by_bsd))] * bool(by_bsd)
        said += [text("a footprint of {}", _runs(footprints))]
    elif by_bsd:
        sizes = Quoted(", then ".join(map(str, dict.fromkeys(by_bsd))))
        said += [text("{} of RSS at most, in bytes on macOS, in KiB on BSD", sizes)]
    if not said:
        return None
    what = text("what time printed of a command: {}", joined(", ", said))
    return Resemblance(what, _ASK, is_evidence=True)


def _runs(sizes: list[int]) -> Text:
    return joined(", then ", map(Bytes, dict.fromkeys(sizes)))
