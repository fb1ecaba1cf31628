"""What process tables, container tables and a program's own log show about its memory.

`ps`, `docker stats`, the OOM killer and runtime lines in a log give one rounded size at a time, for
a process identified by a name or a PID. A cgroup's files say how much of its charge is page cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.cgroup import (
    ANON,
    FILE,
    PEAKS,
    SHMEM,
    first_known,
    hard_limit,
    kernel_bytes,
)
from gomem.capture.release import shows_go
from gomem.causes.commands import CAPTURE_ONCE, TAKE_SMAPS, no_go_words
from gomem.diagnosis.level_at_end import trend_words
from gomem.facts.moment import MomentFacts, seconds_of
from gomem.facts.settings import settings_written
from gomem.facts.told_beside import is_at_its_limit
from gomem.inputs.cgroup.parse import USED
from gomem.inputs.processes.containers import DOCKER_STATS, KUBECTL_TOP, OLD_DOCKER
from gomem.inputs.processes.docker_releases import CACHELESS_DOCKER
from gomem.inputs.processes.languages import is_not_go
from gomem.inputs.processes.oom import OOM
from gomem.text import (
    Bytes,
    Command,
    Count,
    MomentName,
    Program,
    Quoted,
    Seconds,
    Share,
    Text,
    joined,
    text,
)
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.analysis.memory.cgroup import PageCache
    from gomem.analysis.memory.listed import Listed
    from gomem.diagnosis.diagnosis import Diagnosis

Told = tuple[str, bool, str]  # sentences; whether the size grew by a fifth; the next step
# Of the cgroup's usage, with MIN_CACHE_BYTES: a smaller page cache is not mentioned.
MIN_CACHE_SHARE = 0.2
# Of the cgroup's usage without page cache: a process with less shares the cgroup with others. Of
# all of its usage: what no counter names.
MIN_OWN_SHARE = MIN_REST_SHARE = 0.1
# Of a control group, by the file that has its use.
TAKE_STAT = {
    "memory.current": Command("cat /sys/fs/cgroup/memory.stat"),
    "memory.usage_in_bytes": Command("cat /sys/fs/cgroup/memory/memory.stat"),
}
TAKE_ANY_STAT = Command(
    "cat /sys/fs/cgroup/memory.stat /sys/fs/cgroup/memory/memory.stat 2>/dev/null"
)
V1_NAMES = ("memory.max_usage_in_bytes", "memory.limit_in_bytes")
# By whether the cgroup is of version 1.
TAKE_USE = (
    Command("cat /sys/fs/cgroup/memory.current /sys/fs/cgroup/memory.stat"),
    Command("cd /sys/fs/cgroup/memory; cat memory.usage_in_bytes memory.stat"),
)
MIN_CACHE_BYTES = 8 * MIB
MAX_KILLED = 4  # named beside the process of the report
SMAPS_TOO = text(
    "Collect smaps and MemStats at the same time to see what is in RSS: {}.", TAKE_SMAPS
)
CONTAINER_NEXT = text("See how much of that is Go's: {}.", CAPTURE_ONCE)
UNCOUNTED_NEXT = text(
    "Read RSS from the process: {}. A Raspberry Pi counts by container only if it boots with {}.",
    Command("grep -E 'Name|Vm|Rss' /proc/PID/status"),
    Command("cgroup_enable=memory"),
)
IF_GO_NEXT = text("If this is a Go program, see how much of that is Go's: {}.", CAPTURE_ONCE)


def at_moment(diagnosis: Diagnosis, facts: MomentFacts) -> Text:
    """The moment that a sentence is about, if there are several."""
    has_several = len(diagnosis.capture.by_moment) > 1
    return text(" at {}", MomentName(facts.name)) if has_several else Text()


def listed_words(listed: Listed) -> Text:
    """The process or container that a table's number belongs to, and the source."""
    pid = text(", PID {}", str(listed.pid)) if listed.pid is not None else Text()
    rounded = text(", rounded to {}", Bytes(listed.step_bytes)) * listed.is_coarse
    tool = f"the {listed.tool}" if listed.tool == OOM else listed.tool
    nouns = ("process", "processes") if listed.rss_bytes else ("container", "containers")
    if listed.tool == KUBECTL_TOP and "/" not in listed.name:
        nouns = ("pod", "pods")
    others = Text()
    if listed.is_candidate:
        words = "; the largest of {} of its table, which do not show whom it killed"
        others = text(words, Count(listed.others + 1, "row"))
    elif listed.is_largest:
        others = text("; the largest of {}", Count(listed.others + 1, *nouns))
    elif listed.others:
        others = text("; {} listed", Count(listed.others, *(f"other {noun}" for noun in nouns)))
    is_container = listed.rss_bytes is None
    name = Quoted(listed.name) if is_container else Program(listed.name or "a process")
    return text("{}{}, by {}{}{}{}", name, pid, tool, rounded, others, _also_killed(listed))


def _also_killed(listed: Listed) -> Text:
    """Name the other processes that the kernel killed, with their sizes; empty without any."""
    named = [text("{} at {}", Program(name), Bytes(size)) for name, size in listed.also_killed]
    left = len(named) - MAX_KILLED
    more = text(" and {} more", str(left)) if left > 0 else ""
    return text("; also killed: {}{}", joined(", ", named[:MAX_KILLED]), more) if named else Text()


def address_space_words(facts: MomentFacts | None) -> Text:
    """That VSZ is not memory, if the table has a VSZ far above RSS; else empty."""
    listed = None if facts is None else facts.listed
    if facts is None or listed is None or not facts.rss_is_listed or listed.tool == OOM:
        return Text()
    size = listed.mapped_bytes or 0
    if size < VIRTUAL_RATIO * (listed.rss_bytes or size + 1):
        return Text()
    column = "VIRT" if "top" in listed.tool else "VSZ"
    words = "{}, {}, is address space: most of it is reserved and uses no memory."
    return text(words, column, Bytes(size))


def shared_words(facts: MomentFacts) -> Text:
    """The part of RSS in files and shared memory, from top's SHR column."""
    listed = facts.listed
    if listed is None or not facts.rss_is_listed or listed.shared_bytes is None:
        return Text()
    rss = listed.rss_bytes or 0
    shared = min(listed.shared_bytes, rss)
    words = "{} of it is files and shared memory (SHR), the other {} is anonymous"
    return text(words, Bytes(shared), Bytes(rss - shared))


VIRTUAL_RATIO = 2.5  # VSZ per RSS, from which it is said what VSZ is
_BY_DOCKER = frozenset({DOCKER_STATS, CACHELESS_DOCKER, OLD_DOCKER})
_COUNTED = "A working set is RSS plus active page cache and kernel memory."
_COUNTED_BY = {
    OLD_DOCKER: (
        "This is the whole usage of the cgroup, with all page cache, as docker's CLI counted it "
        "before 17.06; later versions exclude inactive_file."
    ),
    CACHELESS_DOCKER: (
        "Docker's CLI of 17.06 to 19.03 counts the cgroup's usage minus all page cache: shared "
        "memory and tmpfs are not in it, but the limit counts them."
    ),
    DOCKER_STATS: (
        "A working set is RSS plus active page cache and kernel memory; docker's CLI of 17.06 to "
        "19.03 left out all page cache, with shared memory and tmpfs, and before counted all of it."
    ),
}
_WHOLE_USE = frozenset({OLD_DOCKER, CACHELESS_DOCKER})  # tools that show no working set


def by_container(diagnosis: Diagnosis, facts: MomentFacts | None) -> Told | None:
    """The working set, which is not RSS, from docker stats or kubectl top."""
    listed = None if facts is None else facts.listed
    if facts is None or listed is None or listed.working_set_bytes is None:
        return None
    unit = diagnosis.capture.unit
    of, whose = _of_limit(listed, listed.working_set_bytes, unit.described if unit else frozenset())
    size, at = Bytes(listed.working_set_bytes), at_moment(diagnosis, facts)
    before, grew = _before(diagnosis, listed)
    is_go = shows_go(diagnosis.capture)
    if is_not_go(listed.name, shows_go=is_go):
        step = no_go_words(listed, settings_written(diagnosis.facts))
    elif _is_mostly_no_process(diagnosis, listed.working_set_bytes):
        step = text("See what is not of that process: {}.", TAKE_ANY_STAT)
    else:
        step = CONTAINER_NEXT if is_go else IF_GO_NEXT
    what = "The container uses" if listed.tool in _WHOLE_USE else "The working set is"
    first = text("{} {}{} ({}){}.", what, size, at, listed_words(listed), of)
    counted = _COUNTED_BY.get(listed.tool, _COUNTED)
    return joined(" ", filter(None, (first, whose, before, counted))), grew, step


def _of_limit(listed: Listed, used: int, known: frozenset[int]) -> tuple[Text, Text]:
    """The share of the limit that a table shows; and whose that can be, if it is not known."""
    if not listed.limit_bytes:
        return Text(), Text()
    share, limit = Share(used / listed.limit_bytes), Bytes(listed.limit_bytes)
    if listed.shares_limit:
        words = "All containers show {} as limit: it is likely the machine's memory."
        return text(", {} of {}", share, limit), text(words, limit)
    if listed.tool in _BY_DOCKER and not listed.others and listed.limit_bytes not in known:
        words = "{} is its limit, or the machine's memory if it has none."
        return text(", {} of {}", share, limit), text(words, limit)
    return text(", {} of its limit of {}", share, limit), Text()


def _before(diagnosis: Diagnosis, listed: Listed) -> tuple[Text, bool]:
    """The first and highest size of a container listed several times; whether it grew."""
    known = diagnosis.facts.containers
    same = [row for row in known if (row.tool, row.name) == (listed.tool, listed.name)]
    sizes = same[0].sizes if len(same) == 1 else ()
    if len(set(sizes)) < 2:
        return Text(), False
    highest = max(sizes)
    peak = text(", highest {}", Bytes(highest)) if highest > max(sizes[0], sizes[-1]) else Text()
    trend, has_stopped = trend_words(diagnosis, sizes)
    words = "It was {} in the first of {}{}{}."
    said = text(words, Bytes(sizes[0]), Count(len(sizes), "reading"), peak, trend)
    return said, diagnosis.thresholds.has_grown(sizes[0], sizes[-1]) and not has_stopped


def by_uncounted_container(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Why docker stats shows 0 B for each container: the kernel does not count their memory."""
    rows = diagnosis.capture.processes
    sizes = rows["working_set_bytes"].dropna()
    if not len(sizes) or sizes.any() or rows["rss_bytes"].notna().any():
        return None
    containers = Count(rows["name"].nunique(), "container")
    words = (
        "{} shows 0 B for {}: the kernel does not count memory by container, as its memory cgroup "
        "is off{}."
    )
    stopped = Text() if rows["limit_bytes"].notna().all() else text(", or they are stopped")
    tool = str(rows["tool"].iloc[-1])
    return text(words, tool.capitalize(), containers, stopped), False, UNCOUNTED_NEXT


def _is_mostly_no_process(diagnosis: Diagnosis, used: int) -> bool:
    """Whether the largest process beside a container is far smaller than its working set."""
    runs = diagnosis.capture.other_runs
    sizes = [run.last_bytes for run in runs if run.beside_a_container]
    return bool(sizes) and used - max(sizes) >= max(MIN_CACHE_BYTES, MIN_CACHE_SHARE * used)


def by_logged_heap(diagnosis: Diagnosis, _of: MomentFacts | None) -> Told | None:
    """The heap objects that a program logs, if it does not log RSS."""
    known = [
        (moment, moment.logged, moment.logged.sizes["go_alloc"])
        for moment in diagnosis.case.facts.moments
        if moment.logged is not None and "go_alloc" in moment.logged.sizes
    ]
    if not known:
        return None
    (first, _, before), (last, logged, size) = known[0], known[-1]
    rounded = text(", rounded to {}", Bytes(logged.step_bytes)) if logged.step_bytes > 1 else Text()
    source = text(" (as {} logs it{})", logged.program, rounded)
    if first is last:
        return text("HeapAlloc is {}{}.", Bytes(size), source), False, SMAPS_TOO
    seconds = seconds_of((first, last))
    took = 0.0 if seconds is None else float(seconds[-1])
    within = text(" in {}", Seconds(took)) if took else Text()
    most = max(size for _, _, size in known)
    peak = text(", peak {}", Bytes(most)) if most > max(before, size) else Text()
    words = "HeapAlloc went from {} to {}{}{}{}."
    said = text(words, Bytes(before), Bytes(size), within, peak, source)
    return said, diagnosis.thresholds.has_grown(before, size), SMAPS_TOO


def cache_words(facts: MomentFacts | None) -> Text:
    """How much of a cgroup is page cache, if that is a large part; else empty."""
    cache = None if facts is None else facts.page_cache
    if cache is None or cache.bytes < max(MIN_CACHE_BYTES, MIN_CACHE_SHARE * cache.of_bytes):
        return Text()
    if facts is not None and _is_of_others(facts, cache):
        return Text()
    words = (
        "The cgroup uses {}{}{}: {} is page cache, which the kernel reclaims when it needs memory"
        "{}{}."
    )
    least = "" if cache.is_exact else "at least "
    use = None if facts is None else facts.cgroup_use
    full = ", its limit" if use is not None and use.is_full else ""
    tmpfs = ", except tmpfs" * cache.may_have_shmem
    is_much = cache.dirty_bytes >= MIN_CACHE_SHARE * cache.bytes
    dirty = text("; it must first write {} of that to disk", Bytes(cache.dirty_bytes)) * is_much
    return text(words, least, Bytes(cache.of_bytes), full, Bytes(cache.bytes), tmpfs, dirty)


def _is_of_others(facts: MomentFacts, cache: PageCache) -> bool:
    """Return whether a cgroup without a limit is mostly other processes', as a machine's is."""
    if facts.rss_is_of_cgroup:
        return False
    has_limit = facts.cgroup_use is not None and facts.cgroup_use.limit_bytes is not None
    others = cache.of_bytes - cache.bytes
    return (
        not has_limit and facts.rss_bytes is not None and facts.rss_bytes < MIN_OWN_SHARE * others
    )


def kernel_words(facts: MomentFacts | None) -> Text:
    """How much of a cgroup is kernel memory, if that is a large part; else empty."""
    if facts is None or not facts.cgroup:
        return Text()
    kernel = kernel_bytes(facts.cgroup)
    current = first_known(facts.cgroup, *USED)
    known = [first_known(facts.cgroup, *names) for names in (ANON, FILE)]
    named = sum(size or 0 for size in known) + kernel
    used = named if current is None else current
    if not kernel and None not in known and used - named >= MIN_REST_SHARE * used:
        words = "{} of the cgroup is neither anonymous memory nor page cache: likely the kernel's."
        return text(words, Bytes(used - named))
    if kernel < max(MIN_CACHE_BYTES, MIN_CACHE_SHARE * used):
        return Text()
    slab = first_known(facts.cgroup, "slab_reclaimable") or 0
    least = "" if current is not None else "at least "
    words = "Of {}{} in the cgroup {} is the kernel's own memory (slab, stacks, page tables)"
    back = text(", including {} of slab that the kernel reclaims when it needs memory", Bytes(slab))
    return text(f"{words}{{}}.", least, Bytes(used), Bytes(kernel), back * bool(slab))


def limit_words(facts: MomentFacts | None) -> Text:
    """Usage of a cgroup that is the only source of RSS: its limit, peak, and number of hits."""
    use = None if facts is None else facts.cgroup_use
    if use is None or facts is None or use.limit_bytes is None or not facts.rss_is_of_cgroup:
        return Text()
    if is_at_its_limit(facts):
        return Text()  # the finding says it
    current, limit = Bytes(use.current_bytes), Bytes(use.limit_bytes)
    said = text("The cgroup uses {} of its limit of {}", current, limit)
    peak = text(", at most {}", Bytes(use.peak_bytes or 0)) * (use.peak_bytes is not None)
    fails = first_known(facts.cgroup, "memory.failcnt", "max")
    times = text("it has reached the limit {}", Count(fails or 0, "time"))
    reached = text("; {}", times if fails else "it has not reached the limit") * (fails is not None)
    return text("{}{}{}.", said, peak, reached)


def charge_words(facts: MomentFacts | None) -> Text:
    """How much more than RSS a cgroup is charged, if no file says of what; else empty."""
    if facts is None or facts.page_cache is not None or facts.rss_is_of_cgroup:
        return Text()
    current, rss = first_known(facts.cgroup, *USED), facts.rss_bytes
    is_killed = facts.listed is not None and facts.listed.tool == OOM  # its cgroup can be gone
    if current is None or rss is None or is_killed:
        return Text()
    if current - rss < max(MIN_CACHE_BYTES, MIN_CACHE_SHARE * current):
        return Text()
    words = (
        "The cgroup uses {}, {} more than RSS: page cache, kernel memory or other processes; its "
        "memory.stat says which."
    )
    return text(words, Bytes(current), Bytes(current - rss))


def report_words(facts: MomentFacts | None) -> Text:
    """The cgroup of an OOM report by kind of memory; empty if the rest of the verdict says it."""
    listed = None if facts is None else facts.listed
    if facts is None or "processes" not in facts.paths or (listed and listed.tool != OOM):
        return Text()
    anonymous, file = first_known(facts.cgroup, *ANON), first_known(facts.cgroup, *FILE)
    if anonymous is None or file is None:
        return Text()
    shmem = first_known(facts.cgroup, *SHMEM) or 0
    is_known = (listed is not None and bool(listed.killed_in)) or facts.cgroup_use is not None
    if is_known and shmem < max(MIN_CACHE_BYTES, MIN_CACHE_SHARE * (anonymous + file)):
        return Text()
    words = (
        "The text is an OOM report of a cgroup with {} of anonymous memory{} and {} of page cache."
    )
    shared = text(", {} of shared memory and tmpfs", Bytes(shmem)) * bool(shmem)
    return text(words, Bytes(anonymous), shared, Bytes(max(file - shmem, 0)))


def by_cgroup(_: Diagnosis, facts: MomentFacts | None) -> Told | None:
    """The cgroup's usage, if its files do not give anonymous memory."""
    said = joined(" ", filter(None, (cache_words(facts), kernel_words(facts))))
    pages = () if facts is None else tuple(map(facts.cgroup.get, ("active_anon", "inactive_anon")))
    if not said and all(size is not None for size in pages) and pages:
        size = Bytes(sum(size or 0 for size in pages))
        words = "{} of the cgroup is anonymous or shared memory, by {}."
        said = text(words, size, "active_anon and inactive_anon")
    sizes = {} if facts is None else facts.cgroup
    if not said and (current := first_known(sizes, *USED)) is not None:
        # what it is used for is in a file that is not here
        words = text("The cgroup uses {}, with all page cache.", Bytes(current))
        stat = TAKE_STAT[next(name for name in USED if sizes.get(name) is not None)]
        return words, False, text("See how much is page cache: {}.", stat)
    return (said, False, SMAPS_TOO) if said else None


def by_peak(_: Diagnosis, facts: MomentFacts | None) -> Told | None:
    """The peak and the limit of a cgroup, if no file has its use."""
    sizes = {} if facts is None else facts.cgroup
    peak, limit = first_known(sizes, *PEAKS), hard_limit(sizes)
    if peak is None and limit is None:
        return None
    is_first = any(sizes.get(name) is not None for name in V1_NAMES)
    step = text("See what it uses now, and how much is page cache: {}.", TAKE_USE[is_first])
    if peak is None:
        words = "The cgroup's limit is {}; no file says how much of it is used."
        return text(words, Bytes(limit or 0)), False, step
    of = Text()
    if limit is not None and peak > limit:
        of = text(", more than its limit of {}", Bytes(limit))
    elif limit is not None:
        of = text(", {} of its limit of {}", Share(peak / (limit or 1)), Bytes(limit))
    words = "The cgroup used {} at its peak, with all page cache{}; no file says what it uses now."
    return text(words, Bytes(peak), of), False, step
