"""Get data from the API of a server, or raise an error with the reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.message import DecodeError

from gomem.errors import CaptureError
from gomem.inputs.looks_like import looks_like
from gomem.live.endpoints import Asked, Endpoints, NoAnswer
from gomem.numbered import Address
from gomem.text import text

if TYPE_CHECKING:
    from collections.abc import Callable


_Found = TypeVar("_Found")
_OTHER_ANSWERS = (
    DecodeError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
)  # fmt: skip


class NothingThere(CaptureError):  # noqa: N818 - an answer, not a fault
    """The server does not have the requested data."""


class Silent(CaptureError):  # noqa: N818 - as of `NoAnswer`
    """The server does not answer at all, so further requests are useless."""


def answered(
    server: Endpoints,
    path: str,
    kind: str,
    found_in: Callable[[bytes], _Found],
    asked: Asked | None = None,
) -> _Found:
    """Return what `found_in` extracts from the server's response.

    Args:
        server: The server.
        path: The path below the server's base.
        kind: The server's name in messages: `Prometheus`.
        found_in: Parses the response; a KeyError, ValueError, TypeError, AttributeError or
            protobuf's DecodeError means that the server is of another kind.
        asked: The request body.

    Raises:
        NothingThere: The server does not have the data.
        Silent: The server does not answer.
        CaptureError: The server refuses, or is of another kind.
    """
    data = b""
    try:
        data = server.get(path, asked=asked).data
        return found_in(data)
    except NoAnswer as error:
        raised = NothingThere if error.absent else Silent if error.silent else CaptureError
        raise raised(text("{}: {}", Address(server.base), error.what)) from error
    except _OTHER_ANSWERS as error:
        what = "{}: no answer of a {} server, but {}; check the URL"
        like = looks_like(data, "answer").what
        raise CaptureError(text(what, Address(server.base), kind, like)) from error


def answered_json(
    server: Endpoints,
    path: str,
    kind: str,
    found_in: Callable[[Any], _Found],
    asked: Asked | None = None,
) -> _Found:
    """Return what `found_in` extracts from a JSON response; see `answered`."""
    return answered(server, path, kind, lambda data: found_in(json.loads(data)), asked)
