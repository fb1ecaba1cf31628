"""An end for one answer, however slowly its bytes come.

httpx bounds each read, so a service that sends a byte of a header now and then is never late. At
the end, the connection is shut from another thread, which ends the read that waits.
"""

from __future__ import annotations

import socket
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GRACE_SECONDS = 0.2  # for who counts the body's pieces, and can say how much came
_CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})


class Deadline:
    """The end of a client's answers, one after the other."""

    def __init__(self) -> None:
        self.is_late = False  # whether the last answer was ended
        self._socket: Any = None

    def trace(self, event: str, about: Mapping[str, Any]) -> None:
        """Take note of the connection; httpx calls it for each step of a request."""
        if event in _CONNECTED:
            self._socket = about["return_value"].get_extra_info("socket")

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Shut the connection if what is done with it takes longer."""
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
