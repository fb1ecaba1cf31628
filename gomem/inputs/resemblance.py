"""What a file that gomem does not read looks like: the answer of every look."""

from __future__ import annotations

from dataclasses import dataclass

from gomem.text import text

TAKE_HEAP_PROFILE = "curl -s http://HOST:PORT/debug/pprof/heap > heap.pb.gz"


@dataclass(frozen=True, slots=True)
class Resemblance:
    """What a file looks like."""

    what: str  # a noun phrase, such as `a Git LFS pointer`
    way_out: str = ""  # what to do instead, as a clause; empty where nothing more is known
    known: bool = True  # whether the file was recognised; else `what` only tells text from binary
    text: str = ""  # its first line, where it is text of no known kind
    is_stand_in: bool = False  # whether it is what is left, or was sent, in place of a file
    is_evidence: bool = False  # whether it says something of memory, though gomem does not read it

    @property
    def is_unknown_binary(self) -> bool:
        """Whether nothing at all is known of it, so that it may be a damaged file of any kind."""
        return not (self.known or self.text)

    @property
    def sentence(self) -> str:
        """What it is and the way out, as a message has them."""
        return text("{}; {}", self.what, self.way_out) if self.way_out else self.what
