"""What a server's API answers, or why that is none of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.message import DecodeError

from gomem.errors import CaptureError
from gomem.inputs.looks_like import looks_like
from gomem.live.endpoints import NoAnswer
from gomem.numbered import Address
from gomem.text import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.live.endpoints import Asked, Endpoints

_Found = TypeVar("_Found")
_OTHER_ANSWERS = (
    DecodeError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
)  # fmt: skip


class NothingThere(CaptureError):  # noqa: N818 - an answer, not a fault
    """The server has nothing of what was asked for."""


class Silent(CaptureError):  # noqa: N818 - as of `NoAnswer`
    """The server does not answer, so that asking for more is no use."""


def answered(
    server: Endpoints,
    path: str,
    kind: str,
    found_in: Callable[[bytes], _Found],
    asked: Asked | None = None,
) -> _Found:
    """What `found_in` takes out of an answer.

    Args:
        server: Which is asked.
        path: For what, behind the server's base.
        kind: What server answers so, as messages name it: `Prometheus`.
        found_in: Takes the answer apart; a KeyError, ValueError, TypeError, AttributeError or
            protobuf's DecodeError says that it is none of this kind of server's.
        asked: What is sent along.

    Raises:
        NothingThere: The server has none of it.
        Silent: It does not answer.
        CaptureError: It refuses, or is of another kind.
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
    """What `found_in` takes out of the JSON of an answer; see `answered`."""
    return answered(server, path, kind, lambda data: found_in(json.loads(data)), asked)
