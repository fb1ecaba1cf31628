"""What a diagnosis tells, and whether two tell the same, or one less than the other.

Where nothing was lost, the same must be told: the verdict, every finding in its words, numbers and
evidence, and every part of every ledger to the byte.

Where something was lost, less may be told, and nothing that contradicts the whole:

- No warning of a cause that the whole capture does not have, and none more severe; but where the
  whole warns of what the collector costs, a cause of that cost may be possible that is not its, and
  a warning may be graver by one step where the share of the CPU that it rests on moved by less than
  a tenth.
- No cause at a moment of which it is more certain than the whole. (A cause is told of the last
  moment that shows it, so of another one where that moment's files are gone.)
- Of two warnings that both have, of the same moment and size, the first stays the first.
- The number of a field of an artefact, and a part of a ledger from the same source, are the same,
  but for what is left over of a total or inferred, which it says it is: the less is known, the
  more is left over.
- A cause explains as many bytes at a moment as before, or it is less certain than before, or the
  title of one of both says that its size is a bound ("at least", "up to"), and the other's lies
  within it.
- What is estimated over all moments or a whole log moves by less than a third; growth that was
  watched for another length of time, also that of goroutines, by its rate.
- Growth that the whole saw the end of may be possible where that end is lost.
- Growth that the whole notes beside goroutines that pile up may be possible where nothing says any
  more that they do, or nothing as surely, or that they hold as much as grew.
- A reading of the same moment by another file, so with another value of a field that proves it, is
  no further off than two files of a moment are, by what was read: of a process that allocates as
  fast as it can, what is left of two readings moves by more of itself. So are the parts of a ledger
  by MemStats of another file. What is summed over mappings that were recognised by shape and place
  moves by less than a tenth.
- RSS is the same; as another of the kernel's files counts it, to within what they round, or as
  far as the whole says that these files lie apart; a control group's, which leaves out pages of
  files that others read first, to within those.

Findings about the data (`data-*`) are what a loss is told by, so they may come and go.
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
INFERRED = frozenset({"worst_case_bytes"})  # from RSS, as any of the kernel's files counts it
SLOPE, WATCHED = "slope", "time watched"  # fields of the evidence of growth
SHARE = "fraction"
LINE = ": line"  # where in a file something stands: a fence around it moves it
# The ledger's words for what the other parts leave of a total, and for mappings that were
# recognised by shape and place, which they are by the other files of the moment.
UNCOUNTED = frozenset({"left over", "inferred"})
LEFT_OVER = ", less the parts"
FROM_MEMSTATS = "MemStats"


@dataclass(frozen=True)
class Told:
    """What a diagnosis tells.

    Attributes:
        moments: Their names, in order.
        verdict: The sentences of the verdict.
        findings: The findings in their order, as rows; evidence by artefact, field and unit.
        ledgers: The ledgers' rows by moment.
        rss: RSS by moment.
        apart: By how much the kernel's files of a moment differ in RSS, by moment.
        of_group: The moments at which RSS is the control group's, and the ledger says so.
        read: The kind of artefact that MemStats are of, by moment.
        damaged: The files that could not be read whole.
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
    """What it tells; with the names of the moments in another order of names, in those.

    Args:
        diagnosis: The diagnosis.
        moments: What the moments are called in the whole capture; their own names, if fewer.
    """
    own = list(diagnosis.capture.by_moment)
    renamed = set(own) - set(moments) and len(own) == len(moments)
    names = dict(zip(own, moments, strict=True)) if renamed else {name: name for name in own}
    # A file that is called by a plain word, such as smaps, is not told from the word. A command
    # that writes a file can name it as the capture does, without its folder.
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
    """Whether it is a file of the capture or a name of ours, and no more: files get renamed."""
    return "" if re.search(r"[./\d]|smaps|status|statm", path) else path


def _value(value: float | str, words: Callable[[str], str]) -> float | str:
    return words(value) if isinstance(value, str) else value


def differences(whole: Told, other: Told, *, clock: bool = True) -> list[str]:
    """How two differ that must tell the same.

    Args:
        whole: What the capture tells as it was recorded.
        other: What it tells as it was handed on.
        clock: Whether both know when each file was read; else no skew is told.
    """
    said: list[str] = []
    if whole.moments != other.moments:
        return [f"moments {other.moments}, not {whole.moments}"]
    mine, yours = whole.findings, other.findings
    if not clock:
        mine, yours = _sound(mine), _sound(yours)
    if len(mine) == len(whole.findings):  # else the verdict may be of the data
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
    """Where two findings differ; without the manifest, also in where the release is known from."""
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
    """Parts to the byte; how each is known, where both sides' clocks are."""
    keys = ("bytes", "claimed_bytes", "source") + (("confidence",) if clock else ())
    return {part: tuple(str(row[key]) for key in keys) for part, row in parts.items()}


def _unlike(what: str, whole: Any, other: Any) -> list[str]:
    return [] if whole == other else [f"{what}: {other!r}, not {whole!r}"]


def contradictions(whole: Told, less: Told) -> list[str]:
    """Where one that lost something says what the whole does not."""
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
    """Whether it is possible, and the whole has another cause of as much of the collector's CPU."""
    if finding["confidence"] != CONFIDENCES[-1] or finding["cpu_fraction"] is None:
        return False
    costs = [other for other in whole if other["cpu_fraction"] is not None]
    return any(other["severity"] >= finding["severity"] for other in costs)


def _is_nobodys(
    finding: dict[str, Any], whole: Sequence[dict[str, Any]], less: Sequence[dict[str, Any]]
) -> bool:
    """Whether it is growth, possible, that the whole gives to goroutines, here less well known."""
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
    """Whether it is growth, possible, by moments that end before the whole's: it reads them all."""
    is_possible = (finding["code"], finding["confidence"]) == (GROWTH, CONFIDENCES[-1])
    return is_possible and finding["moment"] not in (None, *whole.moments[-1:])


def _is_at_the_edge(finding: dict[str, Any], known: Sequence[dict[str, Any]]) -> bool:
    """Whether it is critical, and a warning of the whole rests on nearly the same share of CPU."""
    warned = [other for other in known if other["severity"] == Severity.WARNING]
    if finding["severity"] != Severity.CRITICAL or not warned:
        return False
    shares = [(mine, yours) for other in warned for mine, yours in _shares(finding, other)]
    return bool(shares) and all(abs(mine - yours) <= RECOGNISED * yours for mine, yours in shares)


def _shares(finding: dict[str, Any], other: dict[str, Any]) -> list[tuple[float, float]]:
    """The fractions that both rest on, by the same field, since whichever moment."""
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
    """Whether both explain as many bytes, or, where that is an estimate, nearly as many."""
    if not finding["bytes"] or not other["bytes"]:
        return bool(finding["bytes"] == other["bytes"])
    is_of_a_log = finding["moment"] is None and other["moment"] is None
    room = MOVED if finding["code"] in ESTIMATED or is_of_a_log else 0.0
    if finding["code"] in BY_SHAPE:
        room = RECOGNISED
    read = READ_AGAIN * _read_again(finding, other)
    return bool(abs(finding["bytes"] - other["bytes"]) <= max(room * other["bytes"], read))


def _read_again(finding: dict[str, Any], other: dict[str, Any]) -> float:
    """The most bytes that another file of the moment reads anew of a field; 0 if none does."""
    values = {field: value for _, field, value, unit in finding["evidence"] if unit == "B"}
    others = (each for each in other["evidence"] if values.get(each[1], each[2]) != each[2])
    return max((float(value) for _, _, value, _ in others), default=0.0)


def _grow_alike(less: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether they were watched for different times, at rates that agree."""
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
    """What came with goroutines in a second; None where no time is known."""
    seconds = _evidence(finding, WATCHED)
    return float(finding["bytes"] or 0) / seconds if seconds else None


def _evidence(finding: dict[str, Any], field: str) -> float | None:
    """The number of a field of the evidence; None without it."""
    return next((float(each[2]) for each in finding["evidence"] if each[1] == field), None)


def _bounds(finding: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the title calls its own size a bound, and the other's size lies within it."""
    said = bounds_said(finding)
    return said is not None and bool(other["bytes"]) and said[0] <= other["bytes"] <= said[1]


def _out_of_order(whole: Sequence[dict[str, Any]], less: Sequence[dict[str, Any]]) -> list[str]:
    """The first warning is the first of the whole's that is still told as it was."""
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
    """Whether a part is what others leave, also where all of them are doubtful."""
    return row["confidence"] in UNCOUNTED or LEFT_OVER in row["source"]
