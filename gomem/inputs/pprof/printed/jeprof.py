"""Recognises tables of jeprof, and of the Perl pprof for C++ programs: they are not about Go.

Printed by    jemalloc's bin/jeprof, after gperftools' pprof: `top` at its prompt or with --text.
Form          (jeprof) top
              Total: 768.0 MB
                 384.0  50.0%  50.0%    384.0  50.0% store::Reader::Read
Quirks        Go had the same script before 1.5. Names with `::` are C++ or Rust, not Go.
              With lg_prof_sample:30 jemalloc takes a sample every 2^30 bytes.
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Function, Quoted, Share, Text, joined, text

SHOWN = 3  # functions named in the message
MAX_LOGARITHM = 40  # of the sampling interval
_BY_JEPROF = re.compile(
    rb"\(jeprof\)|^[^\n]{0,80}\bjeprof\b[^\n]{0,80}(?:--text|--show_bytes)", re.MULTILINE
)
_TOTAL = re.compile(rb"^\s{0,16}Total: (\d[\d.]{0,15} (?:MB|GB|kB|B))\s*$", re.MULTILINE)
_ROW = re.compile(
    rb"^\s{0,16}\d[\d.]{0,15}\s{1,8}(\d{1,3}\.\d)%\s{1,8}\d{1,3}\.\d%\s{1,8}\d[\d.]{0,15}\s{1,8}"
    rb"\d{1,3}\.\d%\s{1,4}([^\n]{1,400})$",
    re.MULTILINE,
)
_NATIVE = re.compile(rb"::|^operator |^_Z\w|^__|\[clone ")
_SAMPLE = re.compile(rb"\blg_prof_sample:(\d{1,2})\b")
_ASK = (
    "jeprof names its allocation sites, and malloc_stats_print (MALLOC_CONF=stats_print:true) says "
    "how much of RSS is active, dirty and metadata; gomem reads Go programs"
)


def is_of_jemalloc(data: bytes) -> bool:
    """Whether rows have this format, and either jeprof is named or most names are not Go's."""
    rows = _ROW.findall(data)
    native = sum(_NATIVE.search(name) is not None for _, name in rows)
    return bool(rows) and (_BY_JEPROF.search(data) is not None or 2 * native > len(rows))


def table_of_jeprof(head: bytes, _: str) -> Resemblance | None:
    """Describe a table of jeprof: its total, and its largest sites; None if it is not one."""
    if not is_of_jemalloc(head):
        return None
    rows = [
        (float(share), name.strip().decode("utf-8", "replace"))
        for share, name in _ROW.findall(head)
    ]
    tool = (
        "jeprof printed of a jemalloc profile"
        if _BY_JEPROF.search(head)
        else "pprof printed of a profile of gperftools or jemalloc"
    )
    total = _TOTAL.search(head)
    whole = text(", {} in all", Quoted(total[1].decode("ascii"))) if total else Text()
    named = joined(
        ", ", (text("{} {}", Function(name), Share(share / 100)) for share, name in rows[:SHOWN])
    )
    what = text("what {} of a program that is not Go's{}: {}{}", tool, whole, named, _sampled(head))
    return Resemblance(what, _ASK, is_evidence=True)


def _sampled(head: bytes) -> Text:
    """The sampling interval, if the text has it."""
    found = _SAMPLE.search(head)
    if found is None or int(found[1]) > MAX_LOGARITHM:
        return Text()
    return text(
        "; it takes a sample every {} allocated (lg_prof_sample)", Bytes(1 << int(found[1]))
    )
