"""What an unsupported file looks like: the result type of all recognisers."""

from __future__ import annotations

from dataclasses import dataclass

from gomem.inputs.text_lines import decoded
from gomem.text import Quoted, text

ASK_CAPTURE = "gomem capture PID -o DIR says what is in it"
TAKE_HEAP_PROFILE = "curl -s http://HOST:PORT/debug/pprof/heap > heap.pb.gz"


def quoted(said: bytes) -> Quoted:
    """Return what a text says, as it says it."""
    return Quoted(decoded(said))


@dataclass(frozen=True, slots=True)
class Resemblance:
    """What a file looks like."""

    what: str  # a noun phrase, such as `a Git LFS pointer`
    way_out: str = ""  # what to do instead, as a clause; empty if unknown
    # whether the file was recognised; if not, `what` only distinguishes text from binary
    known: bool = True
    text: str = ""  # its first line, if it is text of no known kind
    # whether it replaces the file: a remnant, or a message sent in its place
    is_stand_in: bool = False
    is_evidence: bool = False  # whether it has information on memory, though gomem does not read it

    @property
    def is_unknown_binary(self) -> bool:
        """Whether nothing is known about it, so that it can be a damaged file of any kind."""
        return not (self.known or self.text)

    @property
    def sentence(self) -> str:
        """What it is and what to do instead, as one sentence."""
        return text("{}; {}", self.what, self.way_out) if self.way_out else self.what
