"""Find the process to capture: by its PID, by a URL that it serves, or by both."""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gomem.errors import CaptureError
from gomem.live.doors import Doors, find_doors
from gomem.live.endpoints import Access, Endpoints, open_endpoints
from gomem.live.process import PROC, Process, listeners, own_addresses, shown_address
from gomem.numbered import Address
from gomem.text import Command, Program, joined, text
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


MAX_PID = 1 << 22  # the kernel's PID_MAX_LIMIT


@dataclass(frozen=True)
class Target:
    """The process to capture."""

    process: Process | None  # None if it runs on another machine, or must not be identified
    doors: Doors  # its endpoints
    said: tuple[str, ...]  # messages for the user about how it was found


@contextmanager
def found_target(named: Sequence[str], access: Access) -> Iterator[Target]:
    """Find a process by its PID, by the URLs that it serves, or by both; yield it while open.

    Raises CaptureError if there is no such process, or if several are named.
    """
    numbers = [word for word in named if is_digits(word)]
    for number in numbers:
        if len(number) > len(str(MAX_PID)) or not 0 < int(number) <= MAX_PID:
            raise CaptureError(f"{number[:20]}: not a PID; a PID is 1 to {MAX_PID}")
    pids = sorted(set(map(int, numbers)))
    if len(pids) > 1:
        listed = ", ".join(map(str, pids))
        raise CaptureError(f"{listed}: several processes; capture each to its own folder")
    urls = [word for word in named if not is_digits(word)]
    with ExitStack() as opened:
        addresses = [opened.enter_context(open_endpoints(url, access)) for url in urls]
        if pids:
            yield _of_pid(pids[0], addresses, access, opened)
        else:
            yield _of_urls(addresses, opened)


def _of_pid(pid: int, addresses: list[Endpoints], access: Access, opened: ExitStack) -> Target:
    process = opened.enter_context(Process.of(pid))
    if addresses:
        doors = find_doors(addresses, is_wanted=True)
        said = _doubts(process, doors, addresses) if doors.found else []
    else:
        listening, said = process.listening
        urls = [f"http://{shown_address(*place)}" for place in listening]
        doors = find_doors([opened.enter_context(open_endpoints(url, access)) for url in urls])
        if not listening and not said:
            said.append(f"PID {pid} has no listening port: only the kernel's side can be read")
        elif not doors.found and listening:
            tried = ", ".join(f"{host}:{port}" for host, port in listening)
            said.append(f"/debug/pprof/, /debug/vars and /metrics are not served at {tried}")
    return Target(process, doors, (*said, *doors.said))


def _doubts(process: Process, doors: Doors, addresses: Sequence[Endpoints]) -> list[str]:
    """Return doubts that a process serves the addresses.

    The kernel knows which process listens there. Raises CaptureError if that is another one; but a
    forwarder, such as kubectl's, has another command line than the one that is served.
    """
    base, is_of = doors.bases[0], doors.is_of(process.arguments, process.started)
    owner, _ = _whose(addresses)
    if owner is not None:
        with owner:
            is_forwarder = is_of and owner.arguments != process.arguments
            if owner.pid != process.pid and not is_forwarder:
                what = "{}: is served by PID {} ({}), not by PID {}; capture that one: {}"
                command = Command(f"gomem capture {owner.pid} -o DIR")
                who = str(owner.pid), Program(owner.name), str(process.pid)
                raise CaptureError(text(what, Address(base), *who, command))
    if is_of:
        return []
    words = (
        "{}: the command line served there is not that of PID {}; check that both are one process"
    )
    return [text(words, Address(base), str(process.pid))]


def _of_urls(addresses: list[Endpoints], opened: ExitStack) -> Target:
    doors = find_doors(addresses, is_wanted=True)
    if not doors.found:
        raise CaptureError(joined("; ", doors.said) or "no URL given")
    process, said = _whose(addresses)
    if process is not None:
        opened.enter_context(process)
    if process is not None and not doors.is_of(process.arguments, process.started):
        way = "{} is a way to another process, which PID {} ({}) listens for; {}"
        where = "read the kernel's side where that one runs"
        names = Address(doors.bases[0]), str(process.pid), Program(process.name)
        said = [text(way, *names, where)]
        process = None
    return Target(process, doors, (*said, *doors.said))


def _whose(addresses: Sequence[Endpoints]) -> tuple[Process | None, list[str]]:
    """The process on this machine that serves all of the addresses."""
    if not PROC.is_dir():
        return None, ["this machine has no /proc: only the runtime's side can be read"]
    found: set[int] = set()
    for address in addresses:
        host, port = _place(address.base)
        near = _addresses(host) & own_addresses()
        if not near:
            why = "{} is another machine: only the runtime's side can be read from here"
            return None, [text(why, Address(host))]
        pids, unknown = listeners(sorted(near), port)
        found.update(pids)
        if not pids:
            why = "run gomem as its user or as root, or give the PID" if unknown else "give the PID"
            return None, [f"the owner of port {port} is unknown: {why}, for the kernel's side"]
    if len(found) > 1:
        listed = ", ".join(map(str, sorted(found)))
        return None, [f"PIDs {listed} listen there: give one, for the kernel's side"]
    return Process.of(found.pop()), []


def _place(base: str) -> tuple[str, int]:
    parts = urlsplit(base)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.hostname or "", port


def _addresses(host: str) -> set[str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {str(info[4][0]).partition("%")[0] for info in found}
