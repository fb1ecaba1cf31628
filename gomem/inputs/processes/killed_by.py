"""What user-space OOM killers and systemd log: gomem only reports it.

earlyoom      sending SIGTERM to process 4411 uid 1000 "api": oom_score 912, VmRSS 2913 MiB, …
systemd-oomd  Killed /system.slice/api.service due to memory pressure for … being 71.21% > 50.00%
systemd       api.service: Main process exited, code=killed, status=9/KILL
              api.service: Failed with result 'oom-kill'.
              api.service: Consumed 3.1s CPU time, 1.4G memory peak, 0B memory swap peak.
Quirks        The peak that systemd logs, since 254, is of the service's cgroup: with page cache.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.consumed import killed_units, peaks_of_units
from gomem.inputs.resemblance import Resemblance, quoted
from gomem.inputs.text_lines import decoded
from gomem.text import Count, Program, Quoted, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED = 3  # services, or processes
_EARLYOOM = re.compile(
    rb"sending SIG\w{3,5} to process (\d{1,10}) (?:uid \d{1,10} )?\"([^\"\n]{1,64})\""
    rb"[^\n]{0,80}?VmRSS (\d{1,9} [KMG]iB)"
)
_OOMD = re.compile(
    rb"Killed (/\S{1,300}) due to (memory (?:pressure for \S{1,300} being [\d.]{1,8}% > [\d.]{1,8}%"
    rb"|used [^\n]{1,120}))"
)
_UNIT = re.compile(
    rb"\b(?P<unit>[\w.@\\-]{1,200}\.(?:service|scope|slice)): (?:Failed with result 'oom-kill'"
    rb"|A process of this unit has been killed by the OOM killer)"
)
_ASK = (
    "journalctl -k -g 'killed process|oom-kill' has RSS at the kill, if the kernel did it; "
    "gomem capture PID --every 30s -o DIR records the next run"
)


def killed_by_a_daemon(head: bytes, _: str) -> Resemblance | None:
    """Describe kills for want of memory that earlyoom, systemd-oomd or systemd logged."""
    said = list(_said(head))
    if not said:
        return _ended_by_a_signal(head)
    what = text("a log of kills for want of memory: {}", joined("; ", said[:NAMED]))
    return Resemblance(what, _ASK, is_evidence=True)


def _ended_by_a_signal(head: bytes) -> Resemblance | None:
    """Describe kills of units for which the log has no reason."""
    killed = list(killed_units(head).items())
    words = "{} was ended by SIGKILL ({})"
    said = [text(words, quoted(unit), Count(times, "time")) for unit, times in killed[:NAMED]]
    what = text("systemd's log: {}, by the OOM killer or a command", joined("; ", said))
    return Resemblance(what, _ASK) if said else None


def _said(head: bytes) -> Iterator[Text]:
    for kill in dict.fromkeys(_EARLYOOM.findall(head)):
        pid, name, size = map(decoded, kill)
        yield text("earlyoom ended {} (PID {}) at {} RSS", Program(name), pid, Quoted(size))
    for kill in dict.fromkeys(_OOMD.findall(head)):
        yield text("systemd-oomd ended {}: {}", *map(quoted, kill))
    peaks = {unit: runs[-1]["peak"] for unit, runs in peaks_of_units(head).items()}
    for unit in dict.fromkeys(_UNIT.findall(head)):
        words = "the OOM killer ended {}{}"
        peak = text(", whose cgroup had {} at most", quoted(peaks.get(unit, b"")))
        yield text(words, quoted(unit), peak * (unit in peaks))
