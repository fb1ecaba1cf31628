"""A running process: its identity, the kernel's files about it, the addresses where it listens.

psutil is used where possible. The kernel's files are read through one open folder, /proc/PID. After
the process has ended, reading from that folder fails, even if the PID is reused.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

import psutil

from gomem.errors import CaptureError, printable
from gomem.numbered import Address
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from collections.abc import Sequence

PROC = Path("/proc")
MAX_FILE_BYTES = 512 << 20  # smaps of a million mappings
PIECE_BYTES = 1 << 20
LOOPBACK = ("127.0.0.1", "::1")
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "127.0.0.1"}  # noqa: S104 - addresses found, not bound


class Ended(Exception):  # noqa: N818 - what it says
    """The process no longer exists."""


class NotRead(Exception):  # noqa: N818 - a reason, not a fault
    """A kernel file could not be read; the message gives the reason and what to do."""


@dataclass(frozen=True)
class Process:
    """A process on this machine."""

    pid: int  # its PID
    name: str  # its executable's name
    started: datetime  # start time; with `pid` it identifies a process
    _process: psutil.Process
    _folder: int

    @classmethod
    def of(cls, pid: int) -> Process:
        """Return the process with this PID; CaptureError if it or /proc does not exist."""
        try:
            process = psutil.Process(pid)
            started = datetime.fromtimestamp(process.create_time(), UTC)
            name = process.name()
        except psutil.NoSuchProcess as error:
            raise CaptureError(f"{pid}: no such process; see: pgrep -a NAME") from error
        except psutil.AccessDenied as error:
            raise CaptureError(f"{pid}: permission denied; run gomem as its user") from error
        try:
            folder = os.open(PROC / str(pid), os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            what = "Linux's /proc is required; give a URL of the process instead"
            said = text("{}: {}; {}", str(PROC / str(pid)), error.strerror or "", what)
            raise CaptureError(said) from error
        if not process.is_running():
            os.close(folder)
            raise CaptureError(f"{pid}: the process ended")
        return cls(pid, printable(name), started, process, folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._folder)

    @property
    def is_running(self) -> bool:
        """Whether the process still exists, and is not a zombie."""
        try:
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    @property
    def executable(self) -> str | None:
        """The path of the executable; None without permission."""
        try:
            return self._process.exe() or None
        except (psutil.Error, OSError):
            return None

    @property
    def arguments(self) -> list[str]:
        """The command line, for comparison only; it is never reported."""
        try:
            return self._process.cmdline()
        except psutil.Error:
            return []

    @property
    def rss_bytes(self) -> int:
        """RSS in bytes, from statm; raises Ended if the process has ended."""
        try:
            return int(self._process.memory_info().rss)
        except psutil.Error as error:
            raise Ended from error

    def read(self, name: str) -> bytes:
        """Read a kernel file such as `smaps` whole; raises Ended, or NotRead if unreadable."""
        try:
            return read_whole(self.open(name))
        except PermissionError as error:
            raise NotRead(self.denied) from error
        except OSError as error:
            if not self.is_running:
                raise Ended from error
            raise NotRead(error.strerror or "cannot be read") from error

    def open(self, name: str) -> int:
        """Open a kernel file such as `exe`; the caller closes it. Raises OSError."""
        return os.open(name, os.O_RDONLY, dir_fd=self._folder)

    @property
    def denied(self) -> str:
        """Why the kernel's files cannot be read, and which user can read them."""
        able = (
            "CAP_SYS_PTRACE (sudo gomem …; in a container: capabilities.add: [SYS_PTRACE], or "
            "docker run --cap-add SYS_PTRACE)"
        )
        try:
            user = self._process.username()
            is_same = self._process.uids().effective == os.geteuid()
        except psutil.Error:
            return f"permission denied: run gomem as the process's user, or with {able}"
        if is_same:
            why = "it is of this user, but may not be traced (setuid, file capabilities or prctl)"
            return f"permission denied: {why}: run gomem with {able}"
        name = Quoted(printable(user))
        said = (
            "permission denied: PID {} belongs to user {}: run gomem as that user (sudo -u {} "
            "gomem …) or with {}"
        )
        return text(said, str(self.pid), name, name, able)

    @property
    def listening(self) -> tuple[list[tuple[str, int]], list[str]]:
        """The loopback addresses where the process listens, and notes on other addresses."""
        if not self._shares_network():
            way = f"sudo nsenter -t {self.pid} -n gomem capture {self.pid} -o DIR"
            return [], [f"it has its own network, as in a container; to capture it there: {way}"]
        try:
            found = self._process.net_connections(kind="tcp")
        except psutil.AccessDenied:
            way = "or give it: --url http://127.0.0.1:PORT"
            return [], [text("where it listens: {}; {}", self.denied, way)]
        except psutil.Error as error:
            raise Ended from error
        places = {
            conn.laddr[:2] for conn in found if conn.status == psutil.CONN_LISTEN and conn.laddr
        }
        near = {(ANY_ADDRESS.get(host, host), port) for host, port in places}
        other = sorted(place for place in near if place[0] not in LOOPBACK)
        not_tried = (
            "it also listens at {}, which is no loopback address and was not tried; if it serves "
            "pprof there: --url {}"
        )
        urls = (Address(f"http://{shown_address(host, port)}") for host, port in other)
        said: list[str] = [text(not_tried, url, url) for url in urls]
        return sorted(near - set(other), key=lambda place: (place[1], place[0])), said

    def _shares_network(self) -> bool:
        try:
            theirs = os.stat("ns/net", dir_fd=self._folder)
            ours = (PROC / "self/ns/net").stat()
        except OSError:
            return True  # unknown; the ports are tried anyway
        return (theirs.st_dev, theirs.st_ino) == (ours.st_dev, ours.st_ino)


def read_whole(descriptor: int) -> bytes:
    """Read and close a descriptor; raises OSError, or NotRead if there is too much data."""
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        pieces, size = [], 0
        while piece := file.read(PIECE_BYTES):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_FILE_BYTES:
                raise NotRead(f"larger than {MAX_FILE_BYTES >> 20} MiB")
    return b"".join(pieces)


def shown_address(host: str, port: int) -> str:
    """Format an address for URLs: `127.0.0.1:6060`, `[::1]:6060`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listeners(addresses: Sequence[str], port: int) -> tuple[list[int], bool]:
    """Return the PIDs that listen on a port of these addresses, and whether any PID is unknown."""
    try:
        found = psutil.net_connections(kind="tcp")
    except psutil.Error:
        return [], True
    near = {*addresses, *ANY_ADDRESS}
    listening = (conn for conn in found if conn.status == psutil.CONN_LISTEN)
    at_port = (conn for conn in listening if conn.laddr and conn.laddr.port == port)
    pids = {conn.pid for conn in at_port if conn.laddr and conn.laddr.ip in near}
    return sorted(pid for pid in pids if pid), None in pids


def own_addresses() -> set[str]:
    """Return all IP addresses of this machine."""
    found = chain.from_iterable(psutil.net_if_addrs().values())
    return {address.address.partition("%")[0] for address in found}
