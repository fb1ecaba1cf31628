"""gRPC-Web: one message in each direction in a plain HTTP request.

Described in    gRPC's PROTOCOL-WEB
Quirks          A message is preceded by five bytes: flags, and its length. HTTP/2's trailers become
                a last message with the highest flag set; without a message, they become headers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.live.endpoints import refuse_as_grpc

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTENT_TYPE = "application/grpc-web+proto"
HEAD_BYTES = 5
TRAILERS = 0x80


def framed(message: bytes) -> bytes:
    """Frame a message for sending."""
    return b"\0" + len(message).to_bytes(HEAD_BYTES - 1, "big") + message


def unframed(data: bytes) -> bytes:
    """Extract the message of a response; ValueError if invalid or cut, NoAnswer if refused."""
    found, is_whole = b"", False
    for flags, message in _messages(data):
        if flags & TRAILERS:
            lines = (line.partition(":") for line in message.decode("ascii").splitlines())
            refuse_as_grpc({name.strip().lower(): value.strip() for name, _, value in lines})
            is_whole = True
        else:
            found += message
    if not is_whole:
        raise ValueError("no end")
    return found


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place < len(data):
        stop = place + HEAD_BYTES + int.from_bytes(data[place + 1 : place + HEAD_BYTES], "big")
        if stop > len(data):
            raise ValueError("cut")
        yield data[place], data[place + HEAD_BYTES : stop]
        place = stop
