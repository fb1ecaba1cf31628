"""Fetch data that a Go process serves over HTTP, within limits and without leaking secrets.

The size of a response and the time for it are limited, and a redirect to another host is not
followed. No message contains a name, password, header or query of a URL.
"""

from __future__ import annotations

import json
import ssl
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import IO, TYPE_CHECKING, Any, Self
from urllib.parse import unquote, urlsplit

import httpx

from gomem.errors import CaptureError, excerpt, printable
from gomem.live.deadline import Deadline
from gomem.numbered import Address
from gomem.text import File, Quoted, Text, text
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

MAX_ANSWER_BYTES = 256 << 20
BEGINNING_BYTES = 4096
MAX_REDIRECTS = 3
GRPC_NOT_FOUND = "5"
CONNECT_SECONDS = 3.0
# Paths that a URL can have instead of the common base.
KNOWN_PATHS = ("/debug/pprof", "/debug/vars", "/metrics")
_REASONS = ("message", "error")  # keys in the APIs of Prometheus, Pyroscope and Parca
_NO_TLS = b"HTTP request to an HTTPS server"  # net/http's message
_AUTHORIZE = "give --header 'Authorization: Bearer …', --header @FILE, or --user NAME"


class NoAnswer(Exception):  # noqa: N818 - a reason, not a fault
    """There was no usable response; the message gives the reason and what to do.

    `silent` means that nothing usable arrived, so that retrying at once is useless. `late` means
    that the time ran out on an open connection: other paths might still answer. `absent` means that
    an API reports not to have the data.
    """

    def __init__(
        self, what: str, *, silent: bool = False, late: bool = False, absent: bool = False
    ) -> None:
        super().__init__(what)
        self.what = Text(what)
        self.silent = silent or late
        self.late = late
        self.absent = absent


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete response."""

    data: bytes  # the body, as sent
    time: datetime  # when it was requested
    seconds: float  # how long it took


@dataclass(frozen=True, slots=True)
class Asked:
    """The body of a POST request; a request without a body is a GET."""

    content: bytes
    content_type: str


@dataclass(frozen=True)
class Access:
    """Settings for requests: headers, user, certificates, timeout."""

    # Sent with each request; never shown.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    # Name and password for basic authentication; never shown.
    user: tuple[str, str] | None = field(default=None, repr=False)
    authority: Path | None = None  # a file of trusted certificates, instead of the system's
    insecure: bool = False  # whether any certificate is accepted
    timeout_seconds: float = 10.0  # for a whole response
    longer: str = ""  # what sets another timeout, such as `--timeout`; empty if nothing does


@dataclass(frozen=True)
class Endpoints:
    """A base URL and everything below it, with one client."""

    base: str  # prefix of all paths, without name, password or query
    _client: httpx.Client
    _timeout_seconds: float
    _longer: str = ""  # as in `Access`
    _deadline: Deadline = field(default_factory=Deadline)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(
        self,
        path: str,
        *,
        timeout_seconds: float | None = None,
        asked: Asked | None = None,
        at_first_bytes: Callable[[], None] = lambda: None,
    ) -> Answer:
        """Get the response at a path below the base; `timeout_seconds` can only shorten the wait.

        If `asked` is given, POST its body. `at_first_bytes` is called once the body begins. Raises
        NoAnswer if the response did not arrive, was refused, or is too large.
        """
        seconds = min(timeout_seconds or self._timeout_seconds, self._timeout_seconds)
        began, at = time.perf_counter(), datetime.now(UTC)
        with self._sentences(seconds):
            url, until = self.base + path, began + seconds
            pieces = self._pieces(url, until, seconds, MAX_ANSWER_BYTES, asked)
            data = b"".join(_after_first(pieces, at_first_bytes))
        return Answer(data, at, time.perf_counter() - began)

    def save(self, file: IO[bytes], max_bytes: int) -> Answer:
        """Save the response at the base URL to a file; return only the beginning of the data.

        Raises NoAnswer as `get` does; the file then has the part that arrived.
        """
        seconds = self._timeout_seconds
        began, at = time.perf_counter(), datetime.now(UTC)
        with self._sentences(seconds):
            for piece in self._pieces(self.base, began + seconds, seconds, max_bytes):
                file.write(piece)
        file.seek(0)
        return Answer(file.read(BEGINNING_BYTES), at, time.perf_counter() - began)

    def _pieces(
        self, url: str, until: float, seconds: float, max_bytes: int, asked: Asked | None = None
    ) -> Iterator[bytes]:
        options: dict[str, Any] = {
            "timeout": httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            "extensions": {"trace": self._deadline.trace},
        }
        if asked is not None:
            options["content"] = asked.content
            options["headers"] = {"Content-Type": asked.content_type}
        method = "GET" if asked is None else "POST"
        for _ in range(MAX_REDIRECTS + 1):
            with self._client.stream(method, url, **options) as response:
                if not response.is_redirect:
                    yield from _body(response, until, max_bytes)
                    return
                url = _redirect(response, url)
        raise NoAnswer(f"redirects more than {MAX_REDIRECTS} times")

    @contextmanager
    def _sentences(self, seconds: float) -> Iterator[None]:
        """Convert httpx's errors to gomem's messages; the originals can quote what was sent."""
        try:
            with self._deadline.within(seconds):
                yield
        except _Late as late:
            raise NoAnswer(self._late(seconds, late.size), late=True) from late
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            is_slow = isinstance(error, httpx.TimeoutException)
            is_connected = not isinstance(error, httpx.ConnectTimeout)
            if self._deadline.is_late or (is_slow and is_connected):
                raise NoAnswer(self._late(seconds, 0), late=True) from error
            what = _broken(error)
            unknown = f"request failed ({type(error).__name__})"
            raise NoAnswer(what or unknown, silent=what is not None) from error

    def _late(self, seconds: float, size: int) -> str:
        """How long was waited, and what waits longer."""
        said = f"took longer than {seconds:g} s"
        said += f" ({size} bytes arrived and were discarded)" if size else ""
        if seconds < self._timeout_seconds:
            return f"{said}; name the URL to wait up to {self._timeout_seconds:g} s"
        return f"{said}; {self._longer} {3 * seconds:g}s waits longer" if self._longer else said


def open_endpoints(url: str, access: Access, *, whole: bool = False) -> Endpoints:
    """Return a client for the URL of a service, of one of its endpoints, or of their parent path.

    With `whole`, the client is for this exact path and query. A name and password in the URL take
    precedence over `access`. Raises CaptureError if `url` is not an HTTP URL, or if the
    certificates cannot be read.
    """
    base, user = split_url(url, whole=whole)
    context = ssl.create_default_context()
    if access.insecure:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if access.authority is not None:
        try:
            context.load_verify_locations(access.authority)
        except (OSError, ssl.SSLError) as error:
            what = "no readable certificate; a PEM file is required"
            raise CaptureError(text("{}: {}", File(access.authority), what)) from error
    try:
        client = httpx.Client(
            headers={"Accept-Encoding": "identity", "User-Agent": "gomem", **access.headers},
            auth=user or access.user,
            verify=context,
            trust_env=False,
            follow_redirects=False,
        )
    except (ValueError, TypeError, UnicodeError) as error:
        raise CaptureError("--header: not a header; write 'Name: value'") from error
    return Endpoints(base, client, access.timeout_seconds, access.longer)


def split_url(url: str, *, whole: bool = False) -> tuple[str, tuple[str, str] | None]:
    """Split the URL of a service or an endpoint into the base, and the user name with password.

    With `whole`, the base is the URL itself without name and password. Raises CaptureError if `url`
    is not a URL.
    """
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"}:
        wanted = "give a PID, or a URL such as http://127.0.0.1:6060"
        raise CaptureError(text("{}: {}", Address(printable(without_secrets(url))), wanted))
    path = parts.path.rstrip("/")
    for known in () if whole else KNOWN_PATHS:
        before, found, after = path.partition(known)
        if found and (not after or after.startswith("/")):
            path = before
    shown = f"[{host}]" if ":" in host else host
    base = f"{parts.scheme}://{shown}{f':{port}' if port else ''}{path}"
    base += f"?{parts.query}" if whole and parts.query else ""
    user = parts.username and (unquote(parts.username), unquote(parts.password or ""))
    return printable(base), user or None


def without_secrets(url: str) -> str:
    """Remove from a URL, even an invalid one, all before an @ and all after a ? or #."""
    scheme, mark, rest = url.partition("://")
    rest = (rest if mark else scheme).partition("?")[0].partition("#")[0].rpartition("@")[2]
    return f"{scheme}://{rest}" if mark else rest


class _Late(Exception):  # noqa: N818 - a reason, not a fault
    """The time ran out within the body; `size` bytes arrived."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def _after_first(pieces: Iterator[bytes], call: Callable[[], None]) -> Iterator[bytes]:
    """The pieces; `call` is called when the first has come."""
    first = next(pieces, b"")
    call()
    yield first
    yield from pieces


def _body(response: httpx.Response, until: float, max_bytes: int) -> Iterator[bytes]:
    if response.status_code != HTTPStatus.OK:
        raise NoAnswer(_status(response))
    refuse_as_grpc(response.headers)
    size = 0
    for piece in response.iter_raw():
        yield piece
        size += len(piece)
        if size > max_bytes:
            raise NoAnswer(f"answers with more than {max_bytes >> 20} MiB")
        if time.perf_counter() > until:
            raise _Late(size)
    declared = response.headers.get("content-length", "")
    if is_digits(declared) and size < int(declared):
        raise NoAnswer(f"ended after {size} of {declared} bytes")


def _status(response: httpx.Response) -> str:
    code = response.status_code
    words = HTTPStatus(code).phrase if code in set(HTTPStatus) else ""
    said = f"answered {code} {words}".rstrip()
    if code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"{said}; {_AUTHORIZE}"
    is_json = response.headers.get("content-type", "").startswith("application/json")
    reads_on = is_json or code == HTTPStatus.BAD_REQUEST
    beginning = next(response.iter_raw(), b"")[:BEGINNING_BYTES] if reads_on else b""
    if _NO_TLS in beginning:
        return "speaks TLS: use https://"
    why = _said_in(beginning) if is_json else ""
    return text("{}: {}", said, Quoted(why)) if why else said


def _said_in(body: bytes) -> str:
    """The error message in a server's JSON response; empty if there is none."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    said = content if isinstance(content, dict) else {}
    why = next((said[key] for key in _REASONS if isinstance(said.get(key), str)), "")
    return excerpt(printable(why))


def refuse_as_grpc(headers: Mapping[str, str]) -> None:
    """Raise NoAnswer if the headers, or gRPC's trailers, report an error."""
    status = headers.get("grpc-status", "0")
    if status != "0":
        why = Quoted(excerpt(printable(unquote(headers.get("grpc-message", "")))))
        what = text("refuses, with gRPC's status {}: {}", Quoted(excerpt(printable(status))), why)
        raise NoAnswer(what, absent=status == GRPC_NOT_FOUND)


def _redirect(response: httpx.Response, url: str) -> str:
    """The target of a redirect, if it is on the same host."""
    if response.next_request is None:
        raise NoAnswer("redirects without a target")
    target, here = response.next_request.url, httpx.URL(url)
    if (target.scheme, target.host, target.port) != (here.scheme, here.host, here.port):
        what = "redirects to {}, another host, which is not followed; give its URL"
        raise NoAnswer(text(what, Address(printable(target.host))))
    return str(target)


def _broken(error: Exception) -> str | None:
    """What an error of httpx says of the address; None if it says nothing about it."""
    kinds = {
        httpx.ConnectTimeout: "does not answer: no connection in time",
        httpx.ConnectError: _connection(error),
        httpx.RemoteProtocolError: (
            "closed the connection before the end of the answer, or does not speak HTTP"
        ),
        httpx.NetworkError: "the connection broke before the end of the answer",
    }
    return next((what for kind, what in kinds.items() if isinstance(error, kind)), None)


def _connection(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = printable(cause.verify_message or "certificate not trusted")
            what = "its certificate is not trusted ({}); give --ca FILE, or --insecure"
            return text(what, Quoted(why))
        if isinstance(cause, ssl.SSLError):
            return "does not speak TLS; use http:// in place of https://?"
        if isinstance(cause, ConnectionRefusedError):
            return "refuses the connection: nothing listens there"
        cause = cause.__cause__ or cause.__context__
    return "cannot be reached"
