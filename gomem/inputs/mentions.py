"""Memory facts in a text that gomem cannot parse: processes without RSS, sizes in prose, a crash.

Rows          `  371 app      812m S    api -v` of busybox ps, and of its top: VSZ is address space
              `778m311.3`, if a narrow terminal leaves no space between VSZ and its share
States        `305 chan send`, a list of goroutines by their state
Cgroups       `memory.current was 2048086016, active_file was 1942446080`
Metrics       `go_memstats_heap_idle_bytes (grows)`, names of metrics with words for their values
Limits        `3.2 GiB of its 4 GiB limit`, see `used_of_limit`
RSS           `51 MB RSS`, `the RSS is 3.7G`, in a sentence, see `said_sizes`
JSON          `"totalAllocatedMemory": 493.16`, see `json_sizes`
Tables        `| RSS | 51 MB | 62 MB |`, `RSS went from 51 MB to 62 MB`, see `told`
Rows          `api:api 4711 0.4% 24.0MB`, rows with a size each, see `sized_rows`
Sizes         `max is 1366.2MB`, `| 33.1 MB |`, `Allocated MB: 10310`, in a log or in prose; they
              are also named beside any other form, each with what its sentence calls it
In words      `live heap: 410 MiB`, `RSS grows, the heap is flat`, see `named_sizes`
Goroutines    `12 651 goroutines in net/http.setRequestCancel.func4`
Pictures      `![image](https://…)`, `<img src=…>`, in a text that speaks of memory
Kills         `the pod is OOMKilled`
Crashes       `fatal error: runtime: out of memory`, without the stacks that name who asked

They become the second sentence of an error: what was found, and the command for the missing data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.cgroup.in_sentences import (
    THROTTLED,
    bounds_in_sentences,
    events_in_sentences,
    page_cache_of,
    used_in_sentences,
)
from gomem.inputs.cgroup.parse import USED
from gomem.inputs.gobench.in_words import bench_words
from gomem.inputs.json_sizes import sizes_in_json
from gomem.inputs.kubernetes import AFTER_A_KILL, says_killed
from gomem.inputs.named_sizes import (
    goroutine_words,
    limit_words,
    rate_words,
    said_of_sizes,
    without_limits,
)
from gomem.inputs.said_sizes import (
    MEMORY_WORDS,
    heap_in_words,
    rss_in_words,
    shares_in_words,
    sizes_in,
    virtual_in_words,
)
from gomem.inputs.sized_rows import rows_with_sizes
from gomem.inputs.system import FREEBSD, MACOS, system_of
from gomem.inputs.text_lines import decoded
from gomem.inputs.told import told_in
from gomem.inputs.used_of_limit import limits_in_words, used_of_limit, uses_in_words
from gomem.text import Bytes, Count, Quoted, Share, Text, joined, text
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMED = 3  # of each form
SIZES_NAMED = 8
MIN_WORDS, MIN_ROWS = 4, 2  # of a sentence; of a table
_STATE = rb"[DIRSTtWXZ][\w<+]{0,4}"
# A user without a name, as in images with no /etc/passwd, is a number.
_USER = rb"(?:[A-Za-z_][\w.+-]{0,31}|\d{1,10})"
_BUSYBOX_PS = re.compile(
    rb"^ *(?P<pid>\d{1,10}) +" + _USER + rb" +(?P<size>\d{1,9}(?:\.\d)?[mgMG]?) +" + _STATE
    + rb" +(?P<name>\S+)", re.MULTILINE,
)  # fmt: skip
_PER_CENT = rb"\d{1,4}(?:\.\d)?%?"
_BUSYBOX_TOP = re.compile(
    rb"^ *(?P<pid>\d{1,10}) +\d{1,10} +" + _USER + rb" +" + _STATE
    + rb" +(?P<size>\d{1,9}(?:(?:\.\d)?[mgMG](?: *(?=\d))| +))" + _PER_CENT + rb" +(?:\d{1,3} +)?"
    + _PER_CENT + rb" +(?P<name>[^\s\d]\S*)",
    re.MULTILINE,
)  # fmt: skip
_BUSYBOX_MEM = re.compile(rb"^ *Mem: (\d{1,12})K used, \d{1,12}K free", re.MULTILINE)
# `25818 nomad  nomad agent  1902068 3465640 255763`, below a head line that is not there.
_WITHOUT_HEAD = re.compile(
    rb"^ *\d{1,10} +[A-Za-z\[/][^\n]{0,200}?(?: +\d{1,12})?(?: +\d{4,12}){2}(?: +\d{1,12})? *$",
    re.MULTILINE,
)
_ASK_HEAD = "the head line of ps says which column is RSS, ps -o pid,rss,vsz,args prints it, too"
_ADDRESS_SPACE = re.compile(
    rb"\b(VSZ|VIRT|vsz|VmSize|VmPeak)[=: \t]{1,20}(\d[\d.]*(?:[kmgKMG]| kB)?)\b"
)
# `305 chan send` in a list by state, or a goroutine without its number.
_BY_STATE = re.compile(
    rb"^ *(\d{1,9}) (chan (?:send|receive)|select|IO wait|semacquire|sleep|syscall"
    rb"|sync\.[\w.]{1,30}|GC worker \(idle\))(?![\w-])", re.MULTILINE,
)  # fmt: skip
_ASK_STACKS = (
    "curl -s 'http://HOST:PORT/debug/pprof/goroutine?debug=2' has their stacks, which gomem reads"
)
_CRASH = re.compile(rb"fatal error: runtime: (?:out of memory|cannot allocate memory)")
_GO_METRIC = re.compile(
    rb"(?<![\w.])(go_memstats_\w{1,40}_bytes)\b[`*]{0,3} ?(?:\(([a-z][^()\n\d]{2,40})\)"
    rb"|(?:is|are|stays|keeps|remains) ([a-z][a-z ]{2,30}))"
)
_FIELD = re.compile(rb"\s*[\w()]+:\s+\d{1,15} kB\s*")  # of a file of /proc, which is no sentence
# Not the badge in a link at the head of a README.
_WORD = re.compile(rb"(?<![\w|])[A-Za-z][a-z']+\b")
_PICTURE = re.compile(
    rb"(?<!\[)!\[[^\]\n]{0,200}\]\([^)\s]|<img\b[^>\n]{0,500}\bsrc=", re.IGNORECASE
)
_KILLED = "it says that a container was killed for want of memory (OOMKilled)"
_PROFILER = re.compile(rb"\b(?:pprof|heap profile|inuse_space)\b")
_PROFILE_BESIDE_RSS = (
    "a heap profile has what was live at the last GC, and RSS also garbage, freed heap that is "
    "kept, and stacks"
)
_ASK_STATUS = "grep VmRSS /proc/{}/status has its RSS, gomem capture {} -o DIR what is in it"
_ASK_CAPTURE = "gomem capture PID -o DIR records what the process uses, and what for"
_ASK_GROWTH = (
    "gomem capture PID --every 10m -o DIR takes smaps, MemStats and a heap profile together, and "
    "says which of them grows"
)
_ASK_BUILDS = (
    "gomem capture PID -o DIR of each build at the same load, and gomem compare BEFORE AFTER, say "
    "what grew"
)
_OTHER_BUILD = re.compile(rb"\b(?:upgrad|updat|downgrad)\w{1,5}\b", re.IGNORECASE)
_ASK_ON = {
    system: (
        f"{command} has its memory by region, curl -s http://HOST:PORT/debug/pprof/heap what Go "
        f"retains of it; gomem capture reads the /proc of Linux, which {system} does not have"
    )
    for system, command in ((MACOS, "vmmap --summary PID"), (FREEBSD, "procstat -v PID"))
}
_ASK_LIMIT = (
    "docker stats --no-stream or kubectl top pod --containers prints it, "
    "gomem capture PID -o DIR says what it is used for"
)
_ASK_MEMSTATS = (
    "gomem reads MemStats, whose units are known: curl -s http://HOST:PORT/debug/vars > vars.json"
)
_ASK_STAT = (
    "gomem reads the cgroup's memory.stat, whose anon (version 1: total_rss) is what no page cache "
    "explains"
)
_ASK_PAGE = "gomem reads the whole page, at two times: curl -s http://HOST:PORT/metrics > 1.prom"


@dataclass(frozen=True, slots=True)
class Mention:
    """What a text mentions, and the next step."""

    what: Text
    way_out: Text

    @property
    def sentence(self) -> Text:
        """Both as one sentence."""
        return text("{}; {}", self.what, self.way_out)


def mentioned(head: bytes) -> Mention | None:
    """Return the most informative mention in a text; None if it mentions nothing about memory."""
    seen = _with_pictures(head, _mentioned(head))
    ask = _ASK_ON.get(system_of(head))
    if seen is None or ask is None or "gomem capture" not in seen.way_out:
        return seen
    return Mention(seen.what, Text(ask))


def _with_pictures(head: bytes, seen: Mention | None) -> Mention | None:
    """Add the pictures of a text that speaks of memory: they can have the numbers it lacks."""
    count = len(_PICTURE.findall(head)) if MEMORY_WORDS.search(head) else 0
    if not count:
        return seen
    what = text("it shows {}, which gomem cannot read", Count(count, "picture"))
    if seen is None:
        return Mention(what, Text(_ASK_GROWTH))
    return Mention(text("{}; {}", seen.what, what), seen.way_out)


def _mentioned(head: bytes) -> Mention | None:
    if not says_killed(head):
        return _with_sizes(head, next(_mentions(head), None))
    changed = {size for each in told_in(head) for size in each.sizes}
    in_use = head
    for limit in (limit for limit in limits_in_words(head) if limit not in changed):
        in_use = in_use.replace(limit.encode("ascii"), b"")
    seen = _with_sizes(in_use, next(_mentions(in_use), None))
    if seen is None:
        return Mention(Text(_KILLED), Text(AFTER_A_KILL))
    way_out = Text(_ASK_GROWTH) if f"{seen.way_out}" == _ASK_CAPTURE else seen.way_out
    return Mention(text("{}; {}", seen.what, _KILLED), way_out)


def _with_sizes(head: bytes, seen: Mention | None) -> Mention | None:
    """Add the sizes in sentences, and a limit that a text sets, that the mention does not name."""
    if seen is None:
        return None
    said = str(seen.what)
    lines = (line for line in head.split(b"\n") if len(_WORD.findall(line)) >= MIN_WORDS)
    sizes = _sizes_of(b"\n".join(lines))
    others = [
        named
        for size, named in sizes.items()
        if not re.search(rf"(?<![\w.]){re.escape(size)}", said)
    ]
    limit, is_beside = limit_words(head), bool(rss_in_words(head) or uses_in_words(head))
    told = (
        seen.what, _list("it names sizes, too ({})", others), limit * (str(limit) not in said),
        _shares_of(head) * ("shares of memory" not in said),
        Text(_PROFILE_BESIDE_RSS) * bool(is_beside and sizes and _PROFILER.search(head)),
    )  # fmt: skip
    return Mention(joined("; ", filter(None, told)), seen.way_out)


def _sizes_of(head: bytes) -> dict[str, Text]:
    """Return each size in a text, with what its sentence calls it; a limit that is set is none."""
    in_use = without_limits(head)
    lines = (line for line in in_use.split(b"\n") if not _FIELD.fullmatch(line))
    names = dict.fromkeys(limits_in_words(in_use), "a limit of ")
    names |= dict.fromkeys(heap_in_words(in_use), "HeapAlloc ")
    names |= dict.fromkeys(rss_in_words(in_use), "RSS ")
    names |= dict.fromkeys(virtual_in_words(in_use), "virtual ")
    found = dict.fromkeys(decoded(size) for line in lines for size in sizes_in(line))
    return {size: text("{}{}", names.get(size, ""), Quoted(size)) for size in found}


def _shares_of(head: bytes) -> Text:
    shares = [Text(Quoted(share)) for share in shares_in_words(head)]
    return _list("it names shares of memory ({})", shares)


def _list(words: str, named: Sequence[Text]) -> Text:
    """Return a sentence with a list of sizes; empty if there are none."""
    more = ", …" * (len(named) > SIZES_NAMED)
    return text(words, text("{}{}", joined(", ", named[:SIZES_NAMED]), more)) if named else Text()


def _mentions(head: bytes) -> Iterator[Mention]:
    if (listed := listed_without_rss(head)) is not None:
        yield listed
    if len(rows := _WITHOUT_HEAD.findall(head)) >= MIN_ROWS:
        words = "it has {} of processes without their head line ({})"
        largest = max(rows, key=lambda row: max(map(int, re.findall(rb" (\d+)", row))))
        said = text(words, Count(len(rows), "row"), Quoted(decoded(b" ".join(largest.split()))))
        yield Mention(said, Text(_ASK_HEAD))
    found = [] if b"VmRSS" in head else _ADDRESS_SPACE.findall(head)
    if found:
        words = "it says {}, which is address space and no RSS"
        fields = dict.fromkeys(text("{} {}", *map(Quoted, map(decoded, pair))) for pair in found)
        yield Mention(_list(words, [*fields]), text(_ASK_STATUS, "PID", "PID"))
    if virtual := virtual_in_words(head):
        words = "it names virtual memory ({}), which is address space and no RSS"
        yield Mention(_list(words, [*map(Quoted, virtual)]), text(_ASK_STATUS, "PID", "PID"))
    if counts := _BY_STATE.findall(head):
        words = "it counts goroutines by their state ({}), without the stacks that say where"
        states = [text("{} in {}", number.decode(), state.decode()) for number, state in counts]
        yield Mention(text(words, joined(", ", states[:NAMED])), Text(_ASK_STACKS))
    counted = filter(None, (goroutine_words(head), rate_words(head)))
    if said_of_them := joined("; ", counted):
        yield Mention(said_of_them, Text(_ASK_STACKS))
    if (bench := bench_words(head)) is not None:
        yield Mention(
            bench, Text("gomem compare OLD.txt NEW.txt reads what go test -bench printed")
        )
    yield from _of_cgroup(head)
    if in_json := sizes_in_json(head):
        said, has_units = in_json
        yield Mention(text("it has {}", said), Text(_ASK_CAPTURE if has_units else _ASK_MEMSTATS))
    told = list(told_in(head))
    pieces = (text("it {}", each.what) for each in told[:NAMED])
    if sized := joined("; ", filter(None, (*pieces, rows_with_sizes(head)))):
        is_by_build = any(each.is_change for each in told) and _OTHER_BUILD.search(head)
        yield Mention(sized, Text(_ASK_BUILDS if is_by_build else _ASK_GROWTH))
    yield from _of_sizes(head)


def listed_without_rss(head: bytes) -> Mention | None:
    """Name the largest process of busybox's ps or top; None without any."""
    rows = [row for form in (_BUSYBOX_TOP, _BUSYBOX_PS) for row in form.finditer(head)]
    if not rows:
        return None
    largest = max(rows, key=lambda row: _kib(row["size"]))
    pid = largest["pid"].decode()
    words = "it lists processes with VSZ alone, which is address space and no RSS ({} has {}{})"
    name, size = (Quoted(decoded(largest[part].strip())) for part in ("name", "size"))
    used = _BUSYBOX_MEM.search(head)
    whole = text(", and the whole machine uses {}", Bytes(int(used[1]) * KIB)) if used else ""
    return Mention(text(words, name, size, whole), text(_ASK_STATUS, pid, pid))


def _of_cgroup(head: bytes) -> Iterator[Mention]:
    """Yield a cgroup's numbers in prose: its use, and how often it was full."""
    said = [*_of_use(head), *_of_events(events_in_sentences(head))]
    if said:
        yield Mention(text("it says {}", joined("; ", said)), Text(_ASK_STAT))


def _of_use(head: bytes) -> Iterator[Text]:
    fields = used_in_sentences(head)
    if not fields:
        return
    name = next(name for name in USED if name in fields)
    said = text("that a cgroup uses {} ({})", Bytes(fields[name]), name)
    cache = page_cache_of(fields)
    if cache is not None and cache[0] <= fields[name]:
        words = "{}, and that {} of it ({}) is page cache ({}), which the kernel reclaims"
        share = Share(cache[0] / (fields[name] or 1))
        said = text(words, said, Bytes(cache[0]), share, " and ".join(cache[1]))
    for bound, size in bounds_in_sentences(head).items():
        is_over = bound in THROTTLED and fields[name] > size
        over = ", where the kernel throttles it" * is_over
        said = text("{}; {} is {}{}", said, bound, Bytes(size), over)
    rss = rss_in_words(head)
    beside = text("; it names RSS, too ({})", joined(", ", map(Quoted, rss))) if rss else ""
    yield text("{}{}", said, beside)


def _of_events(events: dict[str, int]) -> Iterator[Text]:
    """Yield how often a cgroup was full, and how many of its processes were killed."""
    name = next((name for name in ("oom", "max", "failcnt") if name in events), "")
    full, kills = events.get(name), events.get("oom_kill")
    said = []
    if full is not None:
        words = "a cgroup reached its limit {} and had to fail or kill (oom)"
        if name != "oom":
            words = f"a cgroup reached its limit {{}} ({name})"
        said.append(text(words, Count(full, "time")))
    if kills is not None:
        whose = "its" if said else "a cgroup's"
        killed = Count(kills, f"of {whose} processes was", f"of {whose} processes were")
        none = f"none of {whose} processes was"
        said.append(text("{} killed (oom_kill)", killed if kills else none))
    if not said:
        return
    by = "" if name == "failcnt" else "by memory.events "
    what = text("{}that {}", by, joined(", and ", said))
    if full and kills == 0:
        words = "{}: at its limit without a victim, as with an oom_score_adj of -1000"
        what = text(words, what) if name == "oom" else what
    yield what


def _of_sizes(head: bytes) -> Iterator[Mention]:
    """Yield sizes in prose, and crashes."""
    sizes = [*_sizes_of(head).values()]
    if _CRASH.search(head):
        words = "it says that a Go program ran out of memory{}, without the stacks below"
        way_out = "capture the next run while it grows: gomem capture PID --every 10s -o DIR"
        yield Mention(text(words, _list(", and names {}", sizes)), Text(way_out))
    metrics = {name: said or other for name, said, other in _GO_METRIC.findall(head)}
    if metrics:
        each = (
            text("{}: {}", decoded(name), Quoted(decoded(said.strip())))
            for name, said in metrics.items()
        )
        words = "it says in words how Go's metrics move ({}), without their numbers"
        yield Mention(text(words, joined(", ", each)), Text(_ASK_PAGE))
    if (used := used_of_limit(head)) is not None:
        yield Mention(used, Text(_ASK_LIMIT))
    if said := joined("; ", said_of_sizes(head)):
        yield Mention(said, Text(_ASK_GROWTH))
    if rss := rss_in_words(head):
        words = "it names RSS in a sentence ({}), which gomem does not read"
        yield Mention(_list(words, [*map(Quoted, rss)]), Text(_ASK_CAPTURE))
    if sizes:
        words = "it names sizes ({}), none in a form that gomem reads"
        yield Mention(_list(words, sizes), Text(_ASK_CAPTURE))
    if shares := _shares_of(head):
        yield Mention(shares, Text(_ASK_CAPTURE))
    if limit := limit_words(head):
        yield Mention(text("{}, and no size in use", limit), Text(_ASK_CAPTURE))


def _kib(size: bytes) -> int:
    size = size.strip()
    times = {b"m": 1 << 10, b"g": 1 << 20}.get(size[-1:].lower(), 1)
    return int(float(size.rstrip(b"mgMG")) * times)
