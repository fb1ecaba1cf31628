"""`gomem capture PID|URL… -o DIR`: collect a running process's memory data with one command."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from gomem.cli.access import PASSWORD, headers_of, user_of
from gomem.cli.output import file_part, tell, tell_where, write
from gomem.cli.redaction import shown
from gomem.errors import CaptureError, did_you_mean, printable
from gomem.sources.packaged import text_beside
from gomem.text import Quoted, joined, text
from gomem.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.live.endpoints import Access
    from gomem.live.heap_dump import HeapDumpDoor
    from gomem.live.session import Plan, Session
    from gomem.live.targets import Target

INTERRUPTED = 130
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|min|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
MIN_SECONDS = 0.01


def capture(
    targets: Annotated[list[str] | None, typer.Argument(metavar="PID|URL…")] = None,
    *,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="DIR")] = None,
    url: list[str] | None = None,
    every: Annotated[str | None, typer.Option(metavar="DURATION")] = None,
    for_: Annotated[str | None, typer.Option("--for", metavar="DURATION")] = None,
    when: str | None = None,
    cool_down: Annotated[str, typer.Option(metavar="DURATION")] = "1m",
    pair: Annotated[bool, typer.Option("--pair")] = False,
    gctrace: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
    profiles: str = "heap,allocs,goroutine",
    heap_dump: Annotated[str | None, typer.Option(metavar="URL")] = None,
    yes: Annotated[bool, typer.Option("--yes")] = False,
    header: list[str] | None = None,
    user: Annotated[
        str | None,
        typer.Option(help=f"For basic auth; password from {PASSWORD} or a prompt."),
    ] = None,
    ca: Path | None = None,
    insecure: Annotated[bool, typer.Option("--insecure")] = False,
    timeout: Annotated[str, typer.Option(metavar="DURATION")] = "10s",
    redact: Annotated[bool, typer.Option("--redact")] = False,
    script: Annotated[bool, typer.Option("--script")] = False,
) -> None:
    """Collect the memory data of a running Go process and of the kernel, snapshot by snapshot.

    From a PID, gomem finds the addresses where the process listens on this machine and what they
    serve. From a URL on this machine, it finds the PID. If that fails, the capture has only one
    side: the kernel's for a PID, the runtime's for a URL. The folder is a readable capture at every
    instant. The command line and the environment are not recorded.

    Examples:
        gomem capture 4711 -o captures/api --every 10s --for 5m
        gomem capture http://127.0.0.1:6060 -o captures/api --when 'rss>2GiB'
        gomem capture --script | kubectl exec -i POD -- sh -s -- 1 > capture.tar

    Args:
        targets: The PID of a process, its URLs, or both.
        output: The folder to capture to.
        url: Where it serves /debug/pprof/, /debug/vars, /metrics; can be repeated.
        every: Interval between snapshots, such as 10s or 100ms.
        for_: Stop after this time. Default: on Ctrl-C.
        when: Take a snapshot only if this holds: 'rss>2GiB', 'rss>1.2*median', 'goroutines>10000'.
        cool_down: With --when, the minimum time between two snapshots.
        pair: Take one more snapshot after a collection has ended.
        gctrace: The process's GODEBUG=gctrace=1 log, to include.
        profiles: Profiles to take; an empty text for no profile.
        heap_dump: URL that serves debug.WriteHeapDump. The program stops for the dump, which can
            hold secrets.
        yes: Take the heap dump even if this Go release can end the process.
        header: 'Name: value' for each request, or @FILE with one header per line.
        ca: Trust the certificates in this PEM file.
        insecure: Trust any certificate.
        timeout: How long to wait for each response; a longer one is left out of the snapshot.
        redact: Hide folders, hosts and linker flags in the capture.
        script: Print a sh collector for hosts without Python.
    """
    if script:
        write(text_beside("gomem.live", "collect.sh"), None)  # it ships with gomem
        return
    if output is None:
        raise CaptureError("-o DIR: missing; wanted such as: gomem capture 4242 -o captures/api")
    from gomem.live.endpoints import Access
    from gomem.live.session import Plan
    from gomem.live.trigger import Trigger

    every_seconds = None if every is None else _duration("--every", every)
    plan = Plan(
        every_seconds=every_seconds or (1.0 if when or for_ else None),
        for_seconds=None if for_ is None else _duration("--for", for_),
        trigger=Trigger.of(when, _duration("--cool-down", cool_down)) if when else None,
        pair=pair,
        profiles=_profiles(profiles),
    )
    access = Access(
        headers=headers_of(header or []),
        user=None if user is None else user_of(user),
        authority=ca,
        insecure=insecure,
        timeout_seconds=_duration("--timeout", timeout),
        longer="--timeout",
    )
    named = [*(targets or []), *(url or [])]
    if not named:
        raise CaptureError("nothing to capture; give a PID or a URL: gomem capture 4242 -o DIR")
    dump = None if heap_dump is None else _dump_door(heap_dump, access, redact=redact, yes=yes)
    try:
        _run(named, access, plan, output, gctrace=gctrace, dump=dump, redact=redact)
    except KeyboardInterrupt as stopped:
        said = "interrupted; complete snapshots are kept"
        raise KeyboardInterrupt(said) from stopped


def _run(
    named: Sequence[str], access: Access, plan: Plan, output: Path, *,
    gctrace: Path | None, dump: HeapDumpDoor | None, redact: bool,
) -> None:  # fmt: skip
    from gomem.live.facts import facts_of
    from gomem.live.folder import LOG
    from gomem.live.heap_dump import check_release
    from gomem.live.session import LogTail
    from gomem.live.targets import found_target

    with _stopped_by_signals(), found_target(named, access) as target:
        if dump is not None:
            release = facts_of(target, redact=redact)[0].get("go_version", "")
            tell(check_release(dump, target, release))
        session = session_with(target, plan, output, redact=redact)
        session.heap_dump = dump
        if gctrace is not None:
            session.log = LogTail(gctrace)
            session.log.after(output / LOG)
        with _watched(session):
            why = session.run()
    _conclude(session, output, why)


def _dump_door(url: str, access: Access, *, redact: bool, yes: bool) -> HeapDumpDoor:
    """Return the heap dump's endpoint; an error with --redact, as dumps cannot be redacted."""
    from gomem.live.endpoints import split_url
    from gomem.live.heap_dump import HeapDumpDoor

    if redact:
        raise CaptureError(
            "--heap-dump: a heap dump holds the contents of the heap, which --redact cannot hide"
        )
    split_url(url)
    return HeapDumpDoor(url, access, yes)


def session_with(target: Target, plan: Plan, output: Path, *, redact: bool) -> Session:
    """Tell the user what was found, and return a session with the capture's folder."""
    from gomem.live.facts import facts_of
    from gomem.live.folder import CaptureFolder
    from gomem.live.redact import redacted
    from gomem.live.session import Session

    facts, files, unknown = facts_of(target, redact=redact)
    folder = CaptureFolder(output, facts)
    if redact:
        folder.redact, folder.shown = redacted, shown
    for sentence in (*target.said, *unknown):
        tell(sentence)
    folder.begin(files)
    return Session(target, folder, plan, tell, lambda *_: None)


def _conclude(session: Session, output: Path, why: str) -> None:
    """Report the result, and exit with the code for the way it ended."""
    from gomem.views.words import how_many

    count = session.folder.moments
    named = file_part(output)
    if not count and why != "interrupted":
        raise CaptureError(text("{}: nothing could be captured: {}", named, why))
    moments = how_many(count, "snapshot") if count else "no snapshot"
    ended = "" if why == "done" else f"; {why}"
    said: list[str] = [text("{} in {}{}", moments, named, ended)]
    if session.apart is not None:
        median, most = session.apart
        apart = format_seconds(median)
        if len(session.skews) > 1:
            apart = f"{apart} (median; 99 % within {format_seconds(most)})"
        said.append(f"MemStats and smaps {apart} apart")
    if session.crossed:
        said.append(f"a GC ended between MemStats and smaps in {session.crossed}")
    tell(joined("; ", said))
    tell_where(output)
    if why == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _duration(option: str, given: str) -> float:
    match = _DURATION.fullmatch(given.strip())
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if seconds < MIN_SECONDS:
        what = "{} {}: wanted such as 100ms, 10s, 5m or 1h"
        raise CaptureError(text(what, option, Quoted(printable(given))))
    return seconds


def _profiles(given: str) -> tuple[str, ...]:
    from gomem.live.reading import PROFILES

    names = tuple(filter(None, map(str.strip, given.split(","))))
    for name in names:
        if name not in PROFILES:
            near = did_you_mean(name, PROFILES)
            wanted = ", ".join(PROFILES)
            what = "--profiles {}: wanted of {}{}"
            raise CaptureError(text(what, Quoted(printable(name)), wanted, near))
    return names


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """End a capture on SIGTERM and SIGHUP as on Ctrl-C: complete snapshots are kept."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _watched(session: Session) -> Iterator[None]:
    """Show the number of snapshots and the last RSS, on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status("capturing") as status:

        def show(moments: int, rss_bytes: int | None) -> None:
            resident = "" if rss_bytes is None else f", RSS {format_bytes(rss_bytes)}"
            status.update(f"snapshot {moments}{resident}; Ctrl-C ends it")

        session.show = show
        yield
