"""What a diagnosis says, and whether two diagnoses agree, or one says less than the other.

If nothing was lost, both must say the same: the verdict, every finding with its words, numbers and
evidence, and every part of every ledger, to the byte.

If something was lost, less may be said, and nothing that contradicts the whole capture:

- No warning of a cause that the whole does not have, and none of a higher severity. But if the
  whole warns about the cost of GC, another cause of that cost may be possible; and a warning may be
  one step more severe if the share of CPU behind it changed by less than a tenth.
- No cause with more confidence than the whole at the same moment. (A cause is reported at the last
  moment that shows it, so at another one if that moment's files are missing.)
- If two warnings of the same moment and size are in both, their order stays.
- A number from a field of an artefact, and a part of a ledger from the same source, stay the same.
  An exception is a part that is a remainder or inferred, and marked so: the less is known, the
  larger the remainder.
- A cause explains the same number of bytes at a moment; or it has less confidence; or a title calls
  its size a bound ("at least", "up to"), and the other's size is within the bound.
- An estimate over all moments or a whole log changes by less than a third; growth over another
  length of time, also of goroutines, is compared by its rate.
- Growth that ended in the whole may be possible if its end is lost.
- Growth that the whole attributes to leaking goroutines may be possible if nothing shows the leak
  any more, or shows it less surely, or shows that they hold as much as grew.
- A reading of the same moment from another file has other values in the fields that prove it. It
  may differ as much as two files of a moment do, relative to what was read: if a process allocates
  as fast as it can, the remainders of two readings differ by more of their own size. The same holds
  for the parts of a ledger by MemStats of another file. Sums over mappings that were recognised by
  shape and place change by less than a tenth.
- RSS stays the same. If it comes from another of the kernel's files, it may differ by rounding, or
  by as much as these files differ in the whole; a control group's, which excludes file pages that
  others read first, by the size of those pages.

Findings about the data (`data-*`) report a loss, so they may appear and disappear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.analysis.memory.totals import ROUNDING
from gomem.causes.finding import CONFIDENCES, Severity
from gomem.views.names import hidden
from gomem.views.report.verdict import verdict
from gomem.views.share import share
from tools.said_bounds import bounds_said

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import gomem

DATA_PREFIX = "data-"
GROWTH, LEAK = "heap-growth", "goroutine-leak"
ESTIMATED = frozenset({"allocation-spike", "gc-pressure", "goroutine-leak", "heap-growth"})
BY_SHAPE = frozenset({"anonymous-mapping", "native-memory"})
MOVED, RECOGNISED, READ_AGAIN = 1 / 3, 1 / 10, 1 / 50
FILE_PARTS = frozenset({"binary", "libraries", "mapped_files", "shared_memory"})
# derived from RSS, whichever of the kernel's files it is from
INFERRED = frozenset({"worst_case_bytes"})
SLOPE, WATCHED = "slope", "time watched"  # fields in the evidence of growth
SHARE = "fraction"
LINE = ": line"  # a line number in a file; a code fence shifts it
# The ledger's sources for remainders, and for mappings that were recognised by shape and place with
# the help of the moment's other files.
UNCOUNTED = frozenset({"left over", "inferred"})
LEFT_OVER = ", less the parts"
FROM_MEMSTATS = "MemStats"


@dataclass(frozen=True)
class Told:
    """What a diagnosis says.

    Attributes:
        moments: The moments' names, in order.
        verdict: The sentences of the verdict.
        findings: The findings in order, as rows; evidence by artefact, field and unit.
        ledgers: The ledgers' rows by moment.
        rss: RSS by moment.
        apart: The difference in RSS between the kernel's files, by moment.
        of_group: The moments for which the ledger says that RSS is the control group's.
        read: The kind of artefact with the MemStats, by moment.
        damaged: The files that could not be read completely.
    """

    moments: tuple[str, ...]
    verdict: tuple[str, ...]
    findings: tuple[dict[str, Any], ...]
    ledgers: Mapping[str, dict[str, dict[str, Any]]]
    rss: Mapping[str, int | None]
    apart: Mapping[str, int]
    of_group: frozenset[str]
    damaged: frozenset[str]
    read: Mapping[str, str | None]


def told_by(diagnosis: gomem.Diagnosis, moments: Sequence[str] = ()) -> Told:
    """Return what a diagnosis says, with the moments renamed to those of the whole capture.

    Args:
        diagnosis: The diagnosis.
        moments: The moments' names in the whole capture; their own names, if fewer.
    """
    own = list(diagnosis.capture.by_moment)
    renamed = set(own) - set(moments) and len(own) == len(moments)
    names = dict(zip(own, moments, strict=True)) if renamed else {name: name for name in own}
    # A file named by a plain word, such as smaps, cannot be told from the word. A command that
    # writes a file can name it without its folder.
    sources = [file.source.name for file in diagnosis.capture.files]
    sources += [name.rpartition("/")[2] for name in sources]
    files = {name: "a file" for name in sources if re.search(r"[./\d]", name)}
    in_names = _renamer(files | names)

    def words(text: str) -> str:
        return in_names(re.sub(r"\bsnapshot (?=\d)", "", text))  # before a name that is a number

    headline = share(verdict(diagnosis), hidden(diagnosis))
    kinds = {file.source.name: file.kind.name for file in diagnosis.capture.files}
    return Told(
        moments=tuple(names.values()),
        verdict=tuple(map(words, (headline.label, headline.sentence, *headline.details))),
        findings=tuple(_finding(finding, names, words) for finding in diagnosis.findings),
        ledgers={
            names[moment]: {row["part"]: row for row in ledger.parts.to_dict("records")}
            for moment, ledger in diagnosis.ledgers.items()
        },
        rss={names[moment]: ledger.rss_bytes for moment, ledger in diagnosis.ledgers.items()},
        apart={
            names[moment]: max((abs(size) for size in ledger.checks["difference_bytes"]), default=0)
            for moment, ledger in diagnosis.ledgers.items()
        },
        of_group=frozenset(
            names[moment]
            for moment, ledger in diagnosis.ledgers.items()
            if ledger.rss_source.startswith("cgroup")
        ),
        damaged=frozenset(place.source for place in diagnosis.capture.damaged),
        read={
            names[moment.name]: kinds.get(moment.path("memstats")) for moment in diagnosis.moments
        },
    )


def _renamer(names: Mapping[str, str]) -> Callable[[str], str]:
    if all(old == new for old, new in names.items()):
        return str
    ordered = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, ordered))})(?![\w-])")
    return lambda text: pattern.sub(lambda found: names[found[0]], text)


def _finding(
    finding: gomem.Finding, names: Mapping[str, str], words: Callable[[str], str]
) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "moment": names.get(finding.moment or "", finding.moment),
        "moments": tuple(names[moment] for moment in finding.moments),
        "now": finding.now,
        "bytes": finding.bytes,
        "cpu_fraction": finding.cpu_fraction,
        "title": words(finding.title),
        "next_step": words(finding.next_step),
        "mechanism": words(finding.mechanism),
        "evidence": [
            (_artefact(each.artefact), words(each.field), _value(each.value, words), each.unit)
            for each in finding.evidence
            if not each.field.endswith(LINE)
        ],
    }


def _artefact(path: str) -> str:
    """Reduce an artefact to whether it is a file or gomem's own name, because files get renamed."""
    return "" if re.search(r"[./\d]|smaps|status|statm", path) else path


def _value(value: float | str, words: Callable[[str], str]) -> float | str:
    return words(value) if isinstance(value, str) else value


def differences(whole: Told, other: Told, *, clock: bool = True) -> list[str]:
    """Return the differences between two diagnoses that must agree.

    Args:
        whole: The diagnosis of the recorded capture.
        other: The diagnosis of the transformed capture.
        clock: Whether both know when each file was read; if not, skew is ignored.
    """
    said: list[str] = []
    if whole.moments != other.moments:
        return [f"moments {other.moments}, not {whole.moments}"]
    mine, yours = whole.findings, other.findings
    if not clock:
        mine, yours = _sound(mine), _sound(yours)
    if len(mine) == len(whole.findings):  # otherwise the verdict can be about the data
        said += _unlike("verdict", whole.verdict, other.verdict)
    codes, others = [*map(_heading, mine)], [*map(_heading, yours)]
    said += _unlike("findings", codes, others)
    if codes == others:
        for expected, actual in zip(mine, yours, strict=True):
            said += _unlike_findings(expected, actual, clock=clock)
    said += _unlike("rss", whole.rss, other.rss)
    for moment, parts in whole.ledgers.items():
        mine, yours = _bytes(parts, clock), _bytes(other.ledgers.get(moment, {}), clock)
        said += _unlike(f"ledger of {moment}", mine, yours)
    said += _unlike("damaged", sorted(whole.damaged), sorted(other.damaged))
    return said


def _unlike_findings(whole: dict[str, Any], other: dict[str, Any], *, clock: bool) -> list[str]:
    """Return where two findings differ; without the manifest, ignore the release's source."""
    pairs = {key: (whole[key], other[key]) for key in whole}
    if not clock:
        mine, yours = pairs["evidence"]
        pairs["evidence"] = (_numbers(mine), _numbers(yours))
    code = whole["code"]
    return [
        f"{code} {key}: {actual!r}, not {expected!r}"
        for key, (expected, actual) in pairs.items()
        if expected != actual
    ]


def _numbers(evidence: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [each for each in evidence if not isinstance(each[2], str)]


def _sound(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [finding for finding in findings if not finding["code"].startswith(DATA_PREFIX)]


def _heading(finding: dict[str, Any]) -> tuple[Any, ...]:
    return finding["code"], str(finding["severity"]), finding["moment"]


def _bytes(parts: Mapping[str, dict[str, Any]], clock: bool) -> dict[str, tuple[Any, ...]]:
    """Return parts to the byte; with clocks, also the source of each."""
    keys = ("bytes", "claimed_bytes", "source") + (("confidence",) if clock else ())
    return {part: tuple(str(row[key]) for key in keys) for part, row in parts.items()}


def _unlike(what: str, whole: Any, other: Any) -> list[str]:
    return [] if whole == other else [f"{what}: {other!r}, not {whole!r}"]


def contradictions(whole: Told, less: Told) -> list[str]:
    """Return where the diagnosis of a reduced capture contradicts that of the whole."""
    mine, yours = _sound(whole.findings), _sound(less.findings)
    said = []
    for finding in yours:
        known = [other for other in mine if other["code"] == finding["code"]]
        excused = _costs_as_much(finding, mine) or _is_nobodys(finding, mine, yours)
        excused = excused or _lost_its_end(finding, whole) or _is_at_the_edge(finding, known)
        said += [] if excused else _too_much(finding, known)
        for other in known:
            if other["moment"] == finding["moment"]:
                said += _unlike_numbers(other, finding)
    return said + _out_of_order(mine, yours) + _other_ledgers(whole, less)


def _too_much(finding: dict[str, Any], known: Sequence[dict[str, Any]]) -> list[str]:
    said = []
    severity = max((other["severity"] for other in known), default=Severity.INFO)
    if finding["severity"] > severity:
        said.append(
            f"{finding['severity']} {finding['code']} at {finding['moment']}: {finding['title']}"
        )
    surest = min(
        (_sureness(other) for other in known if other["moment"] == finding["moment"]), default=0
    )
    if _sureness(finding) < surest:
        said.append(f"{finding['code']} is {finding['confidence']}, which the whole is not")
    return said


def _costs_as_much(finding: dict[str, Any], whole: Sequence[dict[str, Any]]) -> bool:
    """Whether the finding is possible, and another cause in the whole costs as much GC CPU."""
    if finding["confidence"] != CONFIDENCES[-1] or finding["cpu_fraction"] is None:
        return False
    costs = [other for other in whole if other["cpu_fraction"] is not None]
    return any(other["severity"] >= finding["severity"] for other in costs)


def _is_nobodys(
    finding: dict[str, Any], whole: Sequence[dict[str, Any]], less: Sequence[dict[str, Any]]
) -> bool:
    """Whether it is possible growth that the whole attributes to goroutines, now less certain."""
    if (finding["code"], finding["confidence"]) != (GROWTH, CONFIDENCES[-1]):
        return False
    known, left = (
        min((_sureness(other) for other in told if other["code"] == LEAK), default=len(CONFIDENCES))
        for told in (whole, less)
    )
    holds_less = any(
        other["code"] == LEAK and (other["bytes"] or 0) < finding["bytes"] for other in less
    )
    return GROWTH in {other["code"] for other in whole} and (known < left or holds_less)


def _lost_its_end(finding: dict[str, Any], whole: Told) -> bool:
    """Whether it is possible growth whose moments end earlier than those of the whole."""
    is_possible = (finding["code"], finding["confidence"]) == (GROWTH, CONFIDENCES[-1])
    return is_possible and finding["moment"] not in (None, *whole.moments[-1:])


def _is_at_the_edge(finding: dict[str, Any], known: Sequence[dict[str, Any]]) -> bool:
    """Whether it is critical, and a warning of the whole has nearly the same share of CPU."""
    warned = [other for other in known if other["severity"] == Severity.WARNING]
    if finding["severity"] != Severity.CRITICAL or not warned:
        return False
    shares = [(mine, yours) for other in warned for mine, yours in _shares(finding, other)]
    return bool(shares) and all(abs(mine - yours) <= RECOGNISED * yours for mine, yours in shares)


def _shares(finding: dict[str, Any], other: dict[str, Any]) -> list[tuple[float, float]]:
    """Return the shares of CPU in both, by field, ignoring the moment they start from."""
    mine, yours = (
        {field.partition(", since")[0]: value for _, field, value, unit in each if unit == SHARE}
        for each in (finding["evidence"], other["evidence"])
    )
    return [(float(mine[field]), float(yours[field])) for field in mine.keys() & yours.keys()]


def _sureness(finding: dict[str, Any]) -> int:
    return CONFIDENCES.index(finding["confidence"])


def _unlike_numbers(whole: dict[str, Any], less: dict[str, Any]) -> list[str]:
    code = f"{less['code']} at {less['moment']}"
    said = []
    like = _alike(less, whole) or _bounds(less, whole) or _bounds(whole, less)
    like = like or _grow_alike(less, whole)
    if not like and _sureness(less) <= _sureness(whole):
        said.append(f"{code}: {less['bytes']} bytes, not {whole['bytes']}, and as sure of it")
    if less["code"] in ESTIMATED:
        return said
    known = {each[:2]: each[2] for each in whole["evidence"] if not isinstance(each[2], str)}
    said += [
        f"{code}: {artefact} {field} is {value}, not {known[artefact, field]}"
        for artefact, field, value, _ in less["evidence"]
        if artefact and field not in INFERRED and known.get((artefact, field), value) != value
    ]
    return said


def _alike(finding: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both explain as many bytes; for an estimate, nearly as many."""
    if not finding["bytes"] or not other["bytes"]:
        return bool(finding["bytes"] == other["bytes"])
    is_of_a_log = finding["moment"] is None and other["moment"] is None
    room = MOVED if finding["code"] in ESTIMATED or is_of_a_log else 0.0
    if finding["code"] in BY_SHAPE:
        room = RECOGNISED
    read = READ_AGAIN * _read_again(finding, other)
    return bool(abs(finding["bytes"] - other["bytes"]) <= max(room * other["bytes"], read))


def _read_again(finding: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the largest change in a field read from another file of the moment; 0 if none."""
    values = {field: value for _, field, value, unit in finding["evidence"] if unit == "B"}
    others = (each for each in other["evidence"] if values.get(each[1], each[2]) != each[2])
    return max((float(value) for _, _, value, _ in others), default=0.0)


def _grow_alike(less: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether growth over different lengths of time has rates that agree."""
    if less["code"] == LEAK:
        mine, yours = (_of_goroutines(each) for each in (less, whole))
        return bool(mine and yours and abs(mine - yours) <= MOVED * yours)
    (mine, time), (yours, other) = (
        (_evidence(each, SLOPE), _evidence(each, WATCHED)) for each in (less, whole)
    )
    if mine is None or yours is None or time == other:
        return False
    return abs(mine - yours) <= MOVED * yours


def _of_goroutines(finding: dict[str, Any]) -> float | None:
    """Return the growth with goroutines per second; None if the time is unknown."""
    seconds = _evidence(finding, WATCHED)
    return float(finding["bytes"] or 0) / seconds if seconds else None


def _evidence(finding: dict[str, Any], field: str) -> float | None:
    """Return a field's number in the evidence; None if missing."""
    return next((float(each[2]) for each in finding["evidence"] if each[1] == field), None)


def _bounds(finding: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the title calls its size a bound, and the other size is within it."""
    said = bounds_said(finding)
    return said is not None and bool(other["bytes"]) and said[0] <= other["bytes"] <= said[1]


def _out_of_order(whole: Sequence[dict[str, Any]], less: Sequence[dict[str, Any]]) -> list[str]:
    """Report a warning out of order: the whole's first warning comes first, if it is unchanged."""
    mine, yours = _warnings(whole), _warnings(less)
    kept = [warning for warning in mine if warning in yours]
    if not kept or yours[0] == kept[0] or yours[0] not in mine:
        return []
    return [f"the first warning is {yours[0][0]}, and {kept[0][0]} stands behind it"]


def _warnings(findings: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (finding["code"], finding["moment"], finding["bytes"])
        for finding in findings
        if finding["severity"] > Severity.INFO
    ]


def _other_ledgers(whole: Told, less: Told) -> list[str]:
    said = []
    for moment, parts in less.ledgers.items():
        rss, known = less.rss[moment], whole.rss.get(moment)
        room = max(ROUNDING, whole.apart.get(moment, 0))
        if moment in less.of_group:
            rows = whole.ledgers.get(moment, {})
            room += sum(row["bytes"] for part, row in rows.items() if part in FILE_PARTS)
        if rss is not None and known is not None and abs(rss - known) > room:
            said.append(f"RSS at {moment}: {rss}, not {known}")
        again = whole.read.get(moment) != less.read.get(moment)
        most = READ_AGAIN * sum(row["bytes"] for row in parts.values()) if again else 0
        same = {
            part: (row["bytes"], whole.ledgers[moment][part]["bytes"])
            for part, row in parts.items()
            if moment in whole.ledgers
            and part in whole.ledgers[moment]
            and whole.ledgers[moment][part]["source"] == row["source"]
            and not _is_left_over(row)
        }
        said += [
            f"{part} at {moment}: {a}, not {b}"
            for part, (a, b) in same.items()
            if abs(a - b) > (most if FROM_MEMSTATS in parts[part]["source"] else 0)
        ]
    return said


def _is_left_over(row: Mapping[str, Any]) -> bool:
    """Whether a part is a remainder of others, even if all of them are doubtful."""
    return row["confidence"] in UNCOUNTED or LEFT_OVER in row["source"]
