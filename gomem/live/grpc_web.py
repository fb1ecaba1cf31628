"""gRPC as browsers speak it: a message each way in a plain HTTP request.

Described in    gRPC's PROTOCOL-WEB
Quirks          A message has five bytes before it: flags, and its length. What HTTP/2 has in
                trailers comes as a last message with the highest flag, or in the headers where
                there is no message at all.
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
    """A message as it is sent."""
    return b"\0" + len(message).to_bytes(HEAD_BYTES - 1, "big") + message


def unframed(data: bytes) -> bytes:
    """The message of an answer; ValueError where it is none, or cut, NoAnswer where it refuses."""
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
