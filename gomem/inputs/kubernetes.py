"""Memory data in Kubernetes objects: a container's limit and request, and OOM kills.

Printed by    kubectl describe     Reason: OOMKilled, Limits: memory: 90Mi, Restart Count: 4
              kubectl get pod      api-5d9c  1/2  OOMKilled  2  5m58s
              YAML, JSON           limits: / memory: 90Mi, "limits": {"memory": "90Mi"}
                                   reason: OOMKilled, startedAt: '2026-11-27T07:44:25Z'
              jsonpath, -o wide    api map[cpu:200m memory:200Mi]
              kubectl oomd         POD CONTAINER REQUEST LIMIT TERMINATION TIME (a plug-in)
              kubelet              Container api was using 2913044Ki, request is 1Gi, …
None but the last shows the memory used by the container: it reached its limit, or it was the
process that the kernel chose on a node without memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from gomem.inputs.pods import pods_again
from gomem.inputs.processes.row import Rounded, quantity, rounded_size
from gomem.inputs.resemblance import Resemblance
from gomem.inputs.text_lines import decoded
from gomem.inputs.used_of_limit import enough_in, limits_in_words, uses_in_words
from gomem.text import Bytes, Count, Quoted, Seconds, Share, Text, joined, text

NAMED = 3  # containers shown
_REASON = re.compile(rb"^[ \t]*+Reason:[ \t]+OOMKilled\s*$", re.MULTILINE)
# `memory creeps up to 50Mi, then the pod is killed by Kubernetes`
_KILLED_BY = (
    rb"\b(?i:memory|RAM)\b[^\n]{0,200}?(?<!not )(?<!never )\b(?i:killed) (?i:by (?:the )?"
    rb"(?:kubernetes|k8s|kubelet|kernel|OOM\b))"
)
# A kill in a sentence, not in a field of JSON or YAML.
_SAID_KILLED = re.compile(
    rb"(?P<before>[^.;\n|]{0,60})"
    rb"(?:\b(?i:OOM[ -]?killed)\b(?![\"`*]{0,3}\s*[:=])|Container killed due to memory usage"
    rb"|" + _KILLED_BY + rb")"
)
_RAN_OUT = re.compile(
    rb"(?P<before>[^.;\n|]{0,60}?)(?:\b(?i:OOM[ -]?kill(?:s|ed|er|ing)?)\b(?![\"`*]{0,3}\s*[:=])"
    rb"|\bOOM(?:s|ed|'d)\b|\b(?i:out[ -]of[ -]memory)\b"
    rb"|\bexit(?:ed|s)?(?: code| status| with)?:? 137\b|" + _KILLED_BY + rb")"
)
# What stands before a kill that a sentence denies: `is not being`, `no container was`.
_DENIED = re.compile(
    rb"(?i:\b(?:not|never|without|neither|nor|cannot)|n't|n\xe2\x80\x99t)"
    rb"(?:[ *_`\"']+(?:be|been|being|get|gets|got|getting|actually|really|even|yet|always|the|an?"
    rb"|any|reported|marked|shown|as|to)\b){0,3}[ *_`\"']*\Z"
    rb"|(?i:\bno)(?:[ *_`\"']+[\w-]{1,40})??(?:[ *_`\"']+(?:is|was|are|were|gets?|got|has|been))"
    rb"{0,2}[ *_`\"']*\Z"
)
_ROW = re.compile(rb"^ *(\S{1,253}) +\d+/\d+ +OOM ?Killed +(\d{1,6})\b", re.MULTILINE)
_OOMD_HEAD = re.compile(rb"POD +CONTAINER +REQUEST +LIMIT +TERMINATION TIME\b")
_OOMD_ROW = re.compile(
    rb"^ *\S{1,253} +(\S{1,253}) +(\S{1,20}) +(\S{1,20}) +\d{4}-\d\d-\d\d[ T]\d", re.MULTILINE
)
_STATUS = re.compile(
    rb"^[ \t>]*[\"']?reason[\"']?:[ \t]+[\"']?OOMKilled[\"']?,?[ \t]*\r?$"
    rb"|^[ \t]*\"OOMKilled\"[ \t]*\r?$",  # of jq, for a reason
    re.MULTILINE,
)
_RESTARTS = re.compile(
    rb"^[ \t]*+(?:Restart Count|[\"']?restartCount[\"']?):[ \t]+(\d{1,6}),?[ \t]*\r?$", re.MULTILINE
)
_LIVED = re.compile(
    rb"^[ \t>]*Reason:[ \t]+OOMKilled[ \t]*\r?\n(?:[ \t>]*Exit Code:[^\n]{0,40}\n)?"
    rb"[ \t>]*Started:[ \t]+(?P<begun>\w{3}, \d[^\n]{10,40}?)[ \t]*\r?\n"
    rb"[ \t>]*Finished:[ \t]+(?P<ended>\w{3}, \d[^\n]{10,40}?)[ \t]*\r?$",
    re.MULTILINE,
)
_DOCKER_KILLED = re.compile(rb"\"OOMKilled\":\s*true\b")  # of docker inspect
_DOCKER_LIMIT = re.compile(rb"\"Memory\":\s*([1-9]\d{0,15})\b")
# The times of a terminated container in YAML and JSON, in the order of its fields.
_FIELDS = 6  # lines between a reason and a time
_TIME = re.compile(rb"^[ \t>]*[\"']?(startedAt|finishedAt)[\"']?:[ \t]*[\"']?([\dTZ:.+-]{19,35})")
_SIZE = rb"[\"']?(\d[\d.]{0,15}(?:[KMGT]i?|[kmgt]i?)?)\b"
_BLOCK = re.compile(
    rb"[\"']?\b(limits|requests)[\"']?:[ \t]*+\{?\s*"
    rb"(?:[\"']?[\w.-]+[\"']?:[ \t]*\S+,?\s+){0,4}?[\"']?memory[\"']?:[ \t]*" + _SIZE,
    re.IGNORECASE,
)
_MEM_LIMIT = re.compile(rb"(?<![\w.-])[\"']?mem_limit[\"']?:[ \t]*" + _SIZE)  # of Compose
_MAP = re.compile(rb"^(?:(\S{1,100})[ \t]+)?map\[(?:[a-z.-]+:\S+ )*?memory:" + _SIZE, re.MULTILINE)
_COMPOSE = re.compile(rb"^[ \t>]*(?:deploy|services|reservations):[ \t]*\r?$", re.MULTILINE)
_EVICTED = re.compile(rb"The node was low on resource: memory\.(?P<rest>[^\n]{0,1000})")
_QUANTITY = rb"(\d[\d.]{0,15}(?:[KMGT]i?)?)"
_WAS_USING = re.compile(
    rb"[Cc]ontainer (\S{1,200}) was using " + _QUANTITY
    + rb", (?:which exceeds its )?request(?: is| of)? " + _QUANTITY
)  # fmt: skip
_ASK_EVICTED = (
    "that is the working set, which page cache in use is part of, and a request is no limit; "
    "gomem capture PID -o DIR says what is in it"
)
NO_SIZES = (
    "kubectl top pod NAME --containers, or docker stats --no-stream NAME, has what the container "
    "uses now, gomem capture PID -o DIR what is in it"
)
WHY_AGAIN = (
    "kubectl get pod NAME -o yaml says in lastState whether it was killed for want of memory "
    "(OOMKilled); "
)
AFTER_A_KILL = (
    "it reached its limit, or the node was full; before the next kill, kubectl top pod NAME "
    "--containers has what it uses, gomem capture PID --every 10s -o DIR what is in it: then raise "
    "the limit, or set GOMEMLIMIT about 10 % below it, which helps against garbage alone"
)


def described(head: bytes, _: str) -> Resemblance | None:
    """Describe a container that was killed at its memory limit, or else just the limit."""
    is_described = _REASON.search(head) is not None
    bounds = _bounds(head)
    if not (_has_a_kill(head) or (bounds and says_killed(head))):
        if not bounds:
            return None
        again = _restarts(head)
        what = text("a container with {}{}", _bounds_words(bounds), again)
        return Resemblance(what, WHY_AGAIN + NO_SIZES if again else NO_SIZES, is_evidence=True)
    who = "kubectl describe" if is_described else "Kubernetes"
    words = "what {} says of a container that was killed for want of memory (OOMKilled){}{}"
    of = text(", with {}", _bounds_words(bounds)) if bounds else Text()
    said = text("{}{}", _restarts(head), _lived_words(head))
    return Resemblance(text(words, who, of, said), AFTER_A_KILL, is_evidence=True)


@dataclass(frozen=True)
class OomKilled:
    """What a description says of a container that was killed for want of memory.

    Attributes:
        limit_bytes: Its memory limit; None if it has none, or if several differ.
        seconds: How long it ran; None if unknown.
        restarts: How often it was restarted; None if unknown.
        by_docker: Whether docker inspect describes it, and so has its limit, too.
    """

    limit_bytes: int | None
    seconds: float | None
    restarts: int | None
    by_docker: bool = False


def oom_killed(head: bytes) -> OomKilled | None:
    """Return the kill that the fields or a row of a description have; None without one."""
    by_docker = _DOCKER_KILLED.search(head) is not None
    if not (by_docker or _has_a_kill(head)):
        return None
    said = [size for name, size in _BLOCK.findall(head) if name.lower() == b"limits"]
    said += _DOCKER_LIMIT.findall(head) if by_docker else []
    sizes = {size.bytes for each in said if (size := _bound(each, head)) is not None}
    counts = [row[1] for row in _ROW.findall(head)] + _RESTARTS.findall(head)
    return OomKilled(
        limit_bytes=sizes.pop() if len(sizes) == 1 else None,
        seconds=_lived_seconds(head),
        restarts=max(map(int, counts), default=None),
        by_docker=by_docker,
    )


def _has_a_kill(head: bytes) -> bool:
    """Whether a field or a row of kubectl, not a sentence, says that a container was killed."""
    return any(form.search(head) is not None for form in (_REASON, _ROW, _STATUS))


def _lived_words(head: bytes) -> Text:
    """How long the killed container ran; empty if it does not say."""
    seconds = _lived_seconds(head)
    return Text() if seconds is None else text(", {} after its start", Seconds(seconds))


def _lived_seconds(head: bytes) -> float | None:
    found, begun, ended = _LIVED.search(head), None, None
    try:
        if found is not None:
            times = (found[part].decode() for part in ("begun", "ended"))
            begun, ended = map(parsedate_to_datetime, times)
        elif (status := _STATUS.search(head)) is not None:
            begun, ended = _times_beside(head, status)
        seconds = (ended - begun).total_seconds() if begun and ended else -1
    except (ValueError, TypeError):
        return None
    return seconds if seconds >= 0 else None


def _times_beside(head: bytes, status: re.Match[bytes]) -> tuple[datetime | None, datetime | None]:
    """When a terminated container started and finished, by the fields around its reason."""
    above = head[: status.start()].split(b"\n")[:-1][-_FIELDS:]
    below = head[status.end() :].split(b"\n")[1 : _FIELDS + 1]
    inside = len(status[0]) - len(status[0].lstrip())
    times: dict[bytes, datetime] = {}
    for fields in (reversed(above), below):
        for line in fields:
            if len(line) - len(line.lstrip()) != inside:
                break  # of another object
            if (field := _TIME.match(line)) is not None:
                times[field[1]] = datetime.fromisoformat(field[2].decode())
    return times.get(b"startedAt"), times.get(b"finishedAt")


def said_of_a_kill(head: bytes) -> Text:
    """Return what the sentences and rows of a text say beside a kill: the limit, the restarts."""
    if not (_has_a_kill(head) or says_killed(head)):
        return Text()
    limits = [] if _bounds(head) else limits_in_words(head)
    is_clear = len({size.bytes for said in limits if (size := rounded_size(said.encode()))}) == 1
    said = [text("a sentence names a limit of {}", Quoted(limits[0]))] if is_clear else []
    said += [text("a sentence says that it ran with {}", Quoted(size)) for size in enough_in(head)]
    if again := pods_again(head):
        said.append(text("pods restarted: {}", again))
    return joined("; ", said)


def use_beside_limit(head: bytes) -> Text:
    """Compare a text's only limit with what its sentences say is used; empty if one is unclear."""
    limits = {size for name, size in _BLOCK.findall(head) if name.lower() == b"limits"}
    uses = uses_in_words(head) if len(limits) == 1 else []
    limit = _bound(limits.pop(), head) if len(uses) == 1 else None
    used = rounded_size(uses[0].encode()) if limit else None
    if limit is None or used is None:
        return Text()
    said = text("a sentence says that {} is used", Quoted(uses[0]))
    if used.bytes > limit.bytes:
        return text("{}, more than the limit", said)
    return text("{}, {} of the limit", said, Share(used.bytes / max(limit.bytes, 1)))


def limits_set(head: bytes) -> dict[str, int]:
    """Return the memory limits that files of Kubernetes and Compose in a text set, in bytes."""
    written = [size for name, size in _BLOCK.findall(head) if name.lower() == b"limits"]
    read = [(each, _bound(each, head)) for each in written]
    read += [(each, rounded_size(each)) for each in _MEM_LIMIT.findall(head)]
    return {decoded(each): size.bytes for each, size in read if size is not None and size.bytes}


def killed_of_oomd(head: bytes, _: str) -> Resemblance | None:
    """Describe the kills that a plug-in of kubectl lists, with the limits of the containers."""
    begun = _OOMD_HEAD.search(head)
    kills = _OOMD_ROW.findall(head, begun.end()) if begun is not None else []
    if not kills:
        return None
    words = "{} killed for want of memory (OOMKilled), by kubectl oomd: {}"
    alike = list(dict.fromkeys(kills))
    said = (
        text(
            "{} at a limit of {} (request {})",
            *(Quoted(cell.decode("utf-8", "replace")) for cell in cells),
        )
        for cells in ((name, limit, request) for name, request, limit in alike[:NAMED])
    )
    count = Count(len(kills), "container")
    return Resemblance(text(words, count, joined(", ", said)), AFTER_A_KILL, is_evidence=True)


def says_killed(head: bytes) -> bool:
    """Whether a sentence says that a container was killed; `is not OOMKilled` does not."""
    return any(_DENIED.search(said["before"]) is None for said in _SAID_KILLED.finditer(head))


def tells_of_kills(head: bytes) -> bool:
    """Whether a text says in any words that memory ran out for a program: `OOM-kills`, `OOMs`."""
    return any(_DENIED.search(said["before"]) is None for said in _RAN_OUT.finditer(head))


def evicted(head: bytes, _: str) -> Resemblance | None:
    """Describe a pod that the kubelet evicted, because the node had too little memory."""
    message = _EVICTED.search(head)
    if message is None:
        return None
    used = [
        (name.decode("utf-8", "replace"), size, asked)
        for name, size, asked in _WAS_USING.findall(message["rest"])
    ]
    said = (
        text(", {} used {} with a request of {}", Quoted(name), _size(size), Quoted(asked.decode()))
        for name, size, asked in used[:NAMED]
    )
    what = text(
        "what the kubelet says of a pod that it evicted, as the node was short of memory{}",
        joined("", said),
    )
    return Resemblance(what, _ASK_EVICTED if used else NO_SIZES, is_evidence=True)


def _size(said: bytes) -> Text:
    size = quantity(said)
    return text("{}", Bytes(size.bytes) if size else Quoted(said.decode("ascii")))


def _bound(size: bytes, head: bytes) -> Rounded | None:
    """Read a limit: `3G` is decimal in Kubernetes, and binary in a file of Docker Compose."""
    return rounded_size(size) if _COMPOSE.search(head) else quantity(size)


def without_bounds(data: bytes) -> bytes:
    """Return a text without its descriptions of limits and requests, whose lines are blank."""
    return _BLOCK.sub(lambda block: b"\n" * block[0].count(b"\n"), data)


def _bounds(head: bytes) -> dict[str, list[Text]]:
    """Return limits and requests in the order of the text, with names if there are several."""
    found: dict[str, list[Text]] = {}
    for name, size in _BLOCK.findall(head):
        kind = f"a {name.decode().lower().removesuffix('s')} of"
        said = text("{}", Quoted(size.decode()))
        if said not in found.setdefault(kind, []):
            found[kind].append(said)
    for name, size in _MAP.findall(head):
        said = text("{}", Quoted(size.decode()))
        said = text("{} for {}", said, Quoted(name.decode("utf-8", "replace"))) if name else said
        found.setdefault(_asked(head), []).append(said)
    return found


def _asked(head: bytes) -> str:
    """Return what a map stands for, from the command or the line before it."""
    asked = {name for name in (b"limits", b"requests") if name in head}
    return f"a {asked.pop().decode().removesuffix('s')} of" if len(asked) == 1 else "memory of"


def _bounds_words(bounds: dict[str, list[Text]]) -> Text:
    said = (text("{} {}", kind, joined(", ", sizes[:NAMED])) for kind, sizes in bounds.items())
    return joined(" and ", said)


def _restarts(head: bytes) -> Text:
    """Return the restart count and the pod, if a row or field has them."""
    killed = _REASON.search(head) or _STATUS.search(head)
    row, count = _ROW.search(head), _RESTARTS.search(head, killed.end() if killed else 0)
    if row is not None:
        name = Quoted(row[1].decode("utf-8", "replace"))
        return text(", of {} with restarts: {}", name, row[2].decode())
    return text(", restarts: {}", count[1].decode()) if count else Text()
