"""What a text says in its own words about memory, with or without a file that measures it.

Such numbers are not checked, so they are quoted as the text's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.capture.prose import first_quoted
from gomem.capture.release import shows_go
from gomem.capture.used_numbers import factors_of
from gomem.diagnosis.goroutine_words import is_excerpt
from gomem.facts.profiles import IN_USE, that_count
from gomem.facts.told_beside import texts_beside
from gomem.inputs.kubernetes import tells_of_kills
from gomem.inputs.machine import machine_bytes
from gomem.inputs.native_leaks import in_malloc
from gomem.inputs.processes.languages import is_not_go
from gomem.inputs.processes.row import bytes_of, rounded_size
from gomem.inputs.said_sizes import rss_in_words
from gomem.inputs.text_lines import decoded
from gomem.releases import Fact
from gomem.text import Bytes, BytesChange, Count, Quoted, Share, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.processes.consumed import UnitLimit
    from gomem.releases import GoVersion

LOG = "runtime_lines"
FAR_ABOVE = 2  # times: garbage and rounding explain less
MIN_SHARE, MAX_APART = 0.1, 0.2  # of RSS or the machine; of what is released
MAX_TOLD = 3  # pieces of a text, with a sentence each
_GIVES = {False: "gives", True: "plans"}
_SIZE = rb"(\d{1,9}(?:\.\d{1,3})? ?[kKMGT]i?B)"
_WAS_AND_IS = re.compile(
    rb"\bwas " + _SIZE + rb"\b[^.?!\n]{0,60}? is (?:now |at )?" + _SIZE + rb"\b"
)


def words_of_the_text(diagnosis: Diagnosis, facts: MomentFacts | None) -> tuple[Text, ...]:
    """All that a text says beside what the snapshot of a verdict shows."""
    capture = diagnosis.capture
    return (
        counts_words(diagnosis),
        beside_words(diagnosis, facts),
        rss_compared(diagnosis)[1],
        malloc_words(capture),
        machine_words(capture, facts),
        *told_words(capture),
    )


def told_words(capture: Capture) -> list[Text]:
    """A sentence for each table of sizes in the text, and for each change that it gives."""
    return [text("The text {}.", what) for what in capture.told_beside[:MAX_TOLD]]


def counts_answer(diagnosis: Diagnosis) -> bool:
    """Whether the text counts goroutines, and no file does, or only some of them."""
    if not diagnosis.capture.unused_counts:
        return False
    return not diagnosis.facts.goroutine_counts or is_excerpt(diagnosis)


def counts_words(diagnosis: Diagnosis) -> Text:
    """The goroutine counts in a text's sentences; empty if a file has them all, or without any."""
    if not counts_answer(diagnosis):
        return Text()
    return text("The text says: {}.", first_quoted(diagnosis.capture.unused_counts))


def _rss_said(diagnosis: Diagnosis) -> tuple[str, int]:
    """Return the largest RSS in sentences, as written and in bytes; 0 if any file has RSS."""
    capture = diagnosis.capture
    if not capture.unused_sizes or any(
        moment.rss_bytes is not None for moment in diagnosis.moments
    ):
        return "", 0
    texts = {source.whole_text for source in (file.source for file in capture.files)}
    called = {size for text in texts for size in rss_in_words(text)}
    sizes = ((size, bytes_of(size.encode())) for size in capture.unused_sizes if size in called)
    return max(sizes, key=lambda size: size[1], default=("", 0))


def rss_compared(diagnosis: Diagnosis) -> tuple[str, Text]:
    """Return RSS as a sentence has it, compared with MemStats or a profile; empty without them."""
    said, size = _rss_said(diagnosis)
    words = _beside_others(diagnosis, said, size) if size else Text()
    return said if words else "", words


def _beside_others(diagnosis: Diagnosis, said: str, size: int) -> Text:
    stats = diagnosis.capture.memstats[["Sys", "HeapReleased"]].dropna()
    if len(stats):
        whole, released = map(int, stats.iloc[-1])
        return _beside_memstats(diagnosis.capture.go_version, (said, size), whole, released)
    profiles = that_count(IN_USE, diagnosis.capture.heap_profiles)
    in_use = int([*profiles.values()][-1].total(IN_USE)) if profiles else 0
    if not 0 < FAR_ABOVE * in_use <= size:
        return Text()
    words = (
        "The text gives RSS as {}, {} times the {} of the profile, which has what was live at the "
        "last GC: the rest was freed since, is garbage or idle heap, or is no heap of Go's."
    )
    return text(words, Quoted(said), Count(round(size / in_use)), Bytes(in_use))


def machine_words(capture: Capture, facts: MomentFacts | None) -> Text:
    """RSS in a table of processes as a share of the machine that the text shows; else empty."""
    rss = facts.rss_bytes if facts is not None and facts.rss_is_listed else None
    if rss is None:
        return Text()
    whole = max((machine_bytes(source.data) for source in capture.passed_over), default=0)
    if not MIN_SHARE * whole <= rss <= whole:
        return Text()
    return text("RSS is {} of the machine's {}.", Share(rss / whole), Bytes(whole))


def malloc_words(capture: Capture) -> Text:
    """What malloc has in use by mallinfo in a text; empty without it."""
    texts = {file.source.whole_text for file in capture.files if file.kind.name == LOG}
    said = next(filter(None, map(in_malloc, texts)), None)
    return Text() if said is None else text("By the text, {}.", said)


def _beside_memstats(version: GoVersion, said: tuple[str, int], whole: int, released: int) -> Text:
    written, size = said
    beyond = size - (whole - released)
    if released < MIN_SHARE * size or abs(beyond - released) > MAX_APART * released:
        words = "The text gives RSS as {}: at most {} of it is Go's (Sys minus HeapReleased)."
        is_more = size > whole - released
        return text(words, Quoted(written), Bytes(whole - released)) if is_more else Text()
    words = "The text gives RSS as {}, about Sys ({}): the {} that Go released is still in RSS{}."
    lazily = ", as with MADV_FREE; GODEBUG=madvdontneed=1 returns it at once"
    freed = lazily * version.possibly(Fact.MADV_FREE)
    return text(words, Quoted(written), Bytes(whole), Bytes(released), freed)


def beside_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """What a text says of RSS: its limit, and what it was before; empty if it says nothing."""
    told_by = _limit_words, _before_words, _above_go_limit
    return joined(" ", filter(None, (words(diagnosis, facts) for words in told_by)))


def _above_go_limit(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """That a container uses more than GOMEMLIMIT, if no file says what is Go's; else empty."""
    listed, limit = None if facts is None else facts.listed, diagnosis.facts.settings.memory_limit
    used = 0 if listed is None else listed.working_set_bytes or 0
    bound = float(limit.value) if limit is not None else 0.0
    is_known = diagnosis.collector is not None or len(diagnosis.capture.memstats) > 0
    if listed is None or is_known or not 0 < bound < used:
        return Text()
    if is_not_go(listed.name, shows_go=shows_go(diagnosis.capture)):
        return Text()
    words = (
        "The container uses {} more than GOMEMLIMIT ({}): memory that Go does not manage (of C, "
        "page cache, other processes), or more is live than GOMEMLIMIT allows."
    )
    return text(words, Bytes(used - int(bound)), Bytes(int(bound)))


def was_and_is(diagnosis: Diagnosis) -> list[tuple[bytes, bytes]]:
    """The pairs of sizes that sentences give of an earlier time and of theirs."""
    texts = texts_beside(diagnosis.capture).values()
    return [pair for data in texts for pair in _WAS_AND_IS.findall(data)]


def said_before(pairs: Iterable[tuple[bytes, bytes]], rss: int | None) -> tuple[str, int] | None:
    """The size of an earlier time in the pair that has the RSS measured, too; None without one."""
    for pair in pairs if rss is not None else ():
        before, now = map(rounded_size, pair)
        if before is None or now is None:
            continue
        for factor in factors_of(decoded(pair[1])):
            if abs(now.bytes * factor - (rss or 0)) <= now.step_bytes:
                return decoded(pair[0]), round(before.bytes * factor)
    return None


def _before_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    rss = None if facts is None else facts.rss_bytes
    before = said_before(was_and_is(diagnosis) if rss is not None else (), rss)
    if before is None or rss is None:
        return Text()
    change = BytesChange(rss - before[1])
    return text("Before, it was {}, says the text: a change of {}.", Quoted(before[0]), change)


def _limit_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """RSS beside the limit in a unit file, and the kills that systemd logged; empty if neither."""
    unit = diagnosis.capture.unit
    if unit is None or (facts is not None and facts.cgroup_use is not None):
        return Text()
    rss = None if facts is None else facts.rss_bytes
    if unit.is_said:
        return _of_said(unit, facts) or _of_peak(unit, diagnosis) or _of_exceeded(unit, diagnosis)
    return joined(" ", filter(None, (_of_limit(unit, rss), _kills_words(unit))))


def _of_limit(unit: UnitLimit, rss: int | None) -> Text:
    if not unit.bytes:
        return Text()
    if rss is None:
        return text("The unit's limit is {}.", Quoted(unit.written))
    if rss <= unit.bytes:
        words = "RSS is {} of {}, the limit of the unit."
        return text(words, Share(rss / unit.bytes), Quoted(unit.written))
    words = "RSS is more than {}, the limit of the unit, which likely was not set then."
    return text(words, Quoted(unit.written))


def _of_said(unit: UnitLimit, facts: MomentFacts | None) -> Text:
    """RSS, and the heap goal if it is larger, beside a limit that a sentence gives."""
    if unit.is_planned or facts is None or not is_within(unit, facts):
        return Text()
    assert facts.rss_bytes is not None
    words = "RSS is {} of {}, which the text gives as a limit{}."
    goal = facts.goal
    above = Text()
    if goal is not None and goal.size_bytes > unit.bytes:
        above = text(
            "; the next GC starts when the heap reaches {}, above that limit",
            Bytes(goal.size_bytes),
        )
    return text(words, Share(facts.rss_bytes / unit.bytes), Quoted(unit.written), above)


def _of_peak(unit: UnitLimit, diagnosis: Diagnosis) -> Text:
    """The largest RSS, or heap of a log, beside a limit that a sentence gives, or plans."""
    if not is_of_peak(unit, diagnosis):
        return Text()
    peak, what = _peak(diagnosis)
    limit = text("{}, which the text {} as a limit", Quoted(unit.written), _GIVES[unit.is_planned])
    if peak <= unit.bytes:
        return text("{} reached {} of {}.", what, Share(peak / unit.bytes), limit)
    return text("{} reached {}, more than {}.", what, Bytes(peak), limit)


def _of_exceeded(unit: UnitLimit, diagnosis: Diagnosis) -> Text:
    """The highest RSS above a limit that a sentence gives of a program that is killed."""
    if not is_exceeded(unit, diagnosis):
        return Text()
    words = (
        "An RSS of {} is more than {}, which the text gives as a limit: either that was raised "
        "since, or it is another program's."
    )
    return text(words, Bytes(_highest_rss(diagnosis)), Quoted(unit.written))


def is_exceeded(unit: UnitLimit, diagnosis: Diagnosis) -> bool:
    """Whether RSS was above a limit at which a text says that a program is killed."""
    if unit.is_planned or any(facts.rss_is_of_cgroup for facts in diagnosis.moments):
        return False
    if not 0 < unit.bytes < _highest_rss(diagnosis):
        return False
    return any(map(tells_of_kills, texts_beside(diagnosis.capture).values()))


def _highest_rss(diagnosis: Diagnosis) -> int:
    """The kernel's RSS peak (VmHWM), or the largest RSS of any snapshot; 0 if unknown."""
    peaks = diagnosis.capture.status["VmHWM"].dropna()
    return max(diagnosis.facts.largest_rss_bytes or 0, *map(int, peaks), 0)


def _peak(diagnosis: Diagnosis) -> tuple[int, str]:
    """The largest RSS; without any, the largest heap of a log; 0 if unknown."""
    log, rss = diagnosis.collector, diagnosis.facts.largest_rss_bytes
    if rss or log is None:
        return rss or 0, "RSS"
    return log.cost.heap_peak_bytes or 0, "The heap"


def is_of_peak(unit: UnitLimit, diagnosis: Diagnosis) -> bool:
    """Whether a limit is compared with the peak: one that is not planned held then."""
    peak, what = _peak(diagnosis)
    if unit.is_planned:
        return peak > 0
    return what != "RSS" and 0 < peak <= unit.bytes


def is_within(unit: UnitLimit, facts: MomentFacts | None) -> bool:
    """Whether RSS is not above a limit, which then can be that of its process."""
    rss = None if facts is None or facts.rss_is_of_cgroup else facts.rss_bytes
    return rss is not None and rss <= unit.bytes


def _kills_words(unit: UnitLimit) -> Text:
    if not unit.kills:
        return Text()
    times, at = Count(unit.kills, "time"), " at that limit" if unit.bytes else ""
    words = (
        "systemd logged that {} was ended by SIGKILL ({}), which the kernel's OOM killer sends{}: "
        "journalctl -k has RSS at the kill, if it did."
    )
    return text(words, Quoted(unit.unit), times, at)
