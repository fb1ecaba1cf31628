"""One kind of input under fuzzing: where its seeds come from, how it is changed, what must hold."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from gomem.errors import Damage

    Mutation = Callable[[bytes, Random], bytes]

MAX_SECONDS = 5.0  # of CPU, of a reader, for an input of some kilobytes
SOURCE = "fuzz"


class Find(AssertionError):
    """An answer that is wrong: the message says what, and what a second reader has."""


@dataclass(frozen=True)
class Target:
    """One kind of input.

    Attributes:
        name: What `make fuzz ONLY=` and logs call it.
        seeds: Inputs to begin with, intact or damaged, of a few kilobytes.
        check: Reads an input. FormatError is an answer; Find, or any other exception, is a find.
        mutate: Changes an input in a way that its format knows.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    check: Callable[[bytes], None]
    mutate: Mutation

    def execute(self, data: bytes) -> None:
        """Read one input; Find where it is read wrong or takes too long."""
        begin = time.process_time()
        try:
            self.check(data)
        except FormatError as refused:
            _check_place(refused.damage, data)
        seconds = time.process_time() - begin
        if seconds > MAX_SECONDS:
            raise Find(f"took {seconds:.1f} s of CPU for {len(data)} bytes")


def parsed(parse: Callable[..., tuple[Any, list[Damage]]], data: bytes) -> tuple[Any, list[Damage]]:
    """What a parser says of an input; Find where it names a place that the input does not have."""
    answer, damage = parse(data, source=SOURCE)
    for fault in damage:
        _check_place(fault, data)
    return answer, damage


def wanted(holds: bool, what: str, *values: object) -> None:
    """Find, with the values, where something does not hold."""
    if not holds:
        raise Find(f"{what}: {', '.join(repr(value)[:300] for value in values)}")


def _check_place(fault: Damage, data: bytes) -> None:
    word, _, number = fault.where.partition(" ")
    if number.isdecimal():
        last = {"line": data.count(b"\n") + data.count(b"\r") + 1, "byte": len(data)}.get(word)
        wanted(last is None or int(number) <= last, "a place behind the end", fault.where, last)
    wanted(bool(str(fault.what)) and "\n" not in str(fault.message), "no message", fault)
