"""Lines about a process's memory that gomem only reports: no size in them is RSS.

FreeBSD       pid 3500 (api), jid 0, uid 480, was killed: out of swap space
              (sys/vm/vm_pageout.c and sys/kern/kern_sig.c; without jid before FreeBSD 12)
systemd       Memory: 10.2G (peak: 10.6G swap: 6.0G swap peak: 6.0G zswap: 1.0G)
              in the block of `systemctl status`: memory.current of the service's cgroup; also the
              line alone, as grep prints it again and again
              MemoryCurrent=1999, MemoryPeak=, MemoryMax=infinity of `systemctl show`, in bytes;
              `[not set]` or 2^64-1 where the unit has no value
"""

from __future__ import annotations

import re

from gomem.inputs.processes.row import bytes_of
from gomem.inputs.resemblance import TAKE_HEAP_PROFILE, Resemblance
from gomem.text import Bytes, Count, Program, Quoted, Text, joined, text

NAMED = 3  # programs shown
_BSD_KILL = re.compile(
    rb"\bpid (\d{1,10}) \(([^()\n]{1,64})\),(?: jid \d{1,10},)? uid \d{1,10}, was killed: "
    rb"([a-z][a-z ]{1,60})"
)
_ASK_BSD = (
    "it has no sizes; ps -o pid,rss,vsz,args -p PID and procstat -v PID have them while it runs, "
    f"of a Go program a heap profile says more: {TAKE_HEAP_PROFILE}"
)
_MEMORY = re.compile(
    rb"^ *Memory: (\d[\d.]{0,10}[BKMGT]?)(?: \(([^()\n]{1,120})\))? *$", re.MULTILINE
)
_SERVICE = re.compile(rb"^ *(?:Loaded|Main PID|Tasks|CGroup): ", re.MULTILINE)
_CGROUP_BOUND = re.compile(rb"\b(?:min|low|high|max|limit|available|peak|swap): ")
_MAIN = re.compile(rb"^ *Main PID: (\d{1,10})(?: \(([^()\n]{1,64})\))?", re.MULTILINE)
_RUNNING = re.compile(
    rb"^ *Active: active \(running\) since [^;\n]{1,80}; ([\w ]{1,40}) ago", re.MULTILINE
)
_IN_CGROUP = re.compile("^ *[├└│─ |`-]{1,12}([0-9]{1,10}) ([^\\n]{1,400})".encode(), re.MULTILINE)
_SHOWN = re.compile(
    rb"^[ \t>]*(Memory(?:Current|Peak|High|Max))=(\d{1,20}|infinity|\[not set\])[ \t]*\r?$",
    re.MULTILINE,
)
_NO_VALUE = 2**64 - 1
_UNIT = re.compile(rb"\bsystemctl show (?:-\S+ ){0,5}([A-Za-z0-9@_.:\\-]{1,200})")
_SHELL = re.compile(rb"(?:\S{0,80}/)?(?:ba|da|z|k|a)?sh\b")
_ASK_CGROUP = (
    "that is its cgroup's use with page cache, no RSS; gomem capture {} -o DIR says what is in it"
)

_ASK_WHICH = (
    "that is the use of a cgroup with {}, with page cache, no RSS; ps -o pid,rss,args -p {} says "
    "which of them is large"
)


def _way_out(head: bytes, main: bytes) -> Text:
    """Ask for the service's process; of several that are no shell, which one is large."""
    listed = dict(_IN_CGROUP.findall(head[: _end_of_block(head)]))
    pids = [pid.decode() for pid, command in listed.items() if not _SHELL.match(command)]
    if len(pids) < 2:
        return text(_ASK_CGROUP, _pid_to_ask(head, main))
    return text(_ASK_WHICH, Count(len(pids), "process", "processes"), ",".join(pids))


def _end_of_block(head: bytes) -> int:
    """Return where a second `Memory:` begins, with which another status begins."""
    second = list(_MEMORY.finditer(head))[1:2]
    return second[0].start() if second else len(head)


def _pid_to_ask(head: bytes, main: bytes) -> str:
    """Return the main PID, or its child if it is a shell; `PID` if unknown."""
    commands = dict(_IN_CGROUP.findall(head))
    started = [pid for pid, command in commands.items() if not _SHELL.match(command)]
    if _SHELL.match(commands.get(main, b"")) and len(started) == 1:
        return started[0].decode()
    return main.decode() or "PID"


def killed_on_bsd(head: bytes, _: str) -> Resemblance | None:
    """Describe FreeBSD log lines on processes killed because memory ran out."""
    kills = _BSD_KILL.findall(head)
    if not kills:
        return None
    programs = dict.fromkeys(name.decode("utf-8", "replace") for _, name, _ in kills)
    reasons = dict.fromkeys(why.decode("ascii").strip() for _, _, why in kills)
    words = "what FreeBSD's kernel logged as it killed {} ({}): {}"
    named = joined(", ", map(Program, list(programs)[:NAMED]))
    times = Count(len({pid for pid, _, _ in kills}), "process", "processes")
    what = text(words, named, times, Quoted(" and ".join(reasons)))
    return Resemblance(what, _ASK_BSD, is_evidence=True)


def status_of_a_service(head: bytes, _: str) -> Resemblance | None:
    """Describe a service's memory in `systemctl status`."""
    readings = list(_MEMORY.finditer(head))
    if not readings or not (_SERVICE.search(head) or _CGROUP_BOUND.search(readings[0][2] or b"")):
        return None
    main, is_one = _MAIN.search(head), len(set(_MAIN.findall(head))) < 2
    chosen, starts = -1 if is_one else 0, list(_RUNNING.finditer(head))
    memory, since = readings[chosen], starts[chosen] if starts else None
    who = text(" of {}", Program(main[2].decode("utf-8", "replace"))) if main and main[2] else ""
    more = text(" ({})", Quoted(memory[2].decode("utf-8", "replace"))) if memory[2] else ""
    after = text(", {} after its start", since[1].decode("ascii")) if since else Text()
    size = Quoted(memory[1].decode("ascii"))
    what = text("what systemctl status says{}: its cgroup uses {}{}{}", who, size, more, after)
    if is_one and readings[1:]:
        least, most = (Quoted(of(readings, key=_size)[1].decode("ascii")) for of in (min, max))
        what = text("{}; of {} readings, {} to {}", what, Count(len(readings)), least, most)
    return Resemblance(what, _way_out(head, main[1] if main else b""), is_evidence=True)


def _size(memory: re.Match[bytes]) -> int:
    return bytes_of(memory[1])


def shown_of_a_unit(head: bytes, _: str) -> Resemblance | None:
    """Describe a unit's memory in `systemctl show`; nothing without a number."""
    sizes = {name.decode("ascii"): said for name, said in _SHOWN.findall(head)}
    known = {name: int(said) for name, said in sizes.items() if said.isdigit()}
    known = {name: size for name, size in known.items() if size < _NO_VALUE}
    if "MemoryCurrent" not in known:
        return None
    unit = _UNIT.search(head)
    who = text(" of {}", Quoted(unit[1].decode("ascii"))) if unit else ""
    current = Bytes(known.pop("MemoryCurrent"))
    more = [text("{} is {}", name, Bytes(size)) for name, size in known.items()]
    more += [Text("MemoryMax is infinity: no limit")] * (sizes.get("MemoryMax") == b"infinity")
    words = "what systemctl show says{}: its cgroup uses {} (MemoryCurrent){}"
    what = text(words, who, current, joined("", (text("; {}", said) for said in more)))
    return Resemblance(what, text(_ASK_CGROUP, "PID"), is_evidence=True)
