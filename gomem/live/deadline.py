"""Set a deadline for a whole response, however slowly its bytes arrive.

httpx limits the time of each read, so a service that sends a byte of the header now and then never
times out. At the deadline, another thread shuts the connection, which ends the blocked read.
"""

from __future__ import annotations

import socket
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GRACE_SECONDS = 0.2  # for a reader that counts the body's bytes and can report how many arrived
_CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})


class Deadline:
    """A deadline for each response of a client, one response at a time."""

    def __init__(self) -> None:
        self.is_late = False  # whether the last response was cut off
        self._socket: Any = None

    def trace(self, event: str, about: Mapping[str, Any]) -> None:
        """Remember the connection; httpx calls this at each step of a request."""
        if event in _CONNECTED:
            self._socket = about["return_value"].get_extra_info("socket")

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Shut the connection if the block takes longer."""
        self.is_late = False
        timer = Timer(seconds + GRACE_SECONDS, self._shut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _shut(self) -> None:
        self.is_late = True
        with suppress(OSError, AttributeError):  # already closed, or not yet open
            self._socket.shutdown(socket.SHUT_RDWR)
