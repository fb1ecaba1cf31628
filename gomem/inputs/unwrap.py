r"""Removes what surrounds a pasted artefact: a fence, quotes, indentation, a prompt, a CI log.

A file that can be read as it is never gets here. Otherwise one wrapper after the other is removed,
and the rest is examined again:

Characters   a byte order mark, CRLF, non-breaking spaces, `&gt;`, terminal colours
Records      Docker's, journald's, and those of `go test -json`, whose Output is joined
Prefixes     the stamps and names that log collectors put before each line, see `wrappers`
Fences       lines of ``` or ~~~ around it, or Jira's `{code}` and `{noformat}`, with prose outside
Quotes       `> ` before each line
A diff       `-` and `+` before each line: the old text, then the new text
Indentation  shared by all lines
A shell      the prompt and command before it, and the next prompt after it
Markdown     bold words, inline code, bullets, table bars; links are always removed
A prefix     of one shape that most lines share: `node-3 app[7] INFO: `
Prose        above the head line of a profile in text

Lines keep their number in the file, so that damage is reported with its position. Text before or
after an artefact is not damage. Output of a second command is reported.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gomem.errors import Damage, FormatError
from gomem.inputs.markdown import FENCE, without_links, without_markup
from gomem.inputs.wrappers import (
    json_object,
    message_of,
    shared_prefix,
    unwrapped_lines,
    wrapper_of_line,
)
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gomem.sources.artefact import Source

Parsed = TypeVar("Parsed")

MAX_BYTES = 1 << 26  # pasted text is shorter, and all of its lines are in memory
GO_TEST = "go-test"
LAYERS = 8  # nested wrappers: a quoted fence in a CI log has three
SAMPLE_LINES = 50  # lines that decide which wrapper there is
HEAD_BYTES = 1 << 20  # searched for the start of an artefact

CHARACTERS = (
    *((b"\xef\xbb\xbf", b""), (b"\r\n", b"\n"), (b"\xc2\xa0", b" "), (b"\xe2\x80\xaf", b" ")),
    *((b"\xe2\x80\x8b", b""), (b"&nbsp;", b" "), (b"&gt;", b">"), (b"&lt;", b"<")),
    *((b"&quot;", b'"'), (b"&#34;", b'"'), (b"&#39;", b"'"), (b"&amp;", b"&")),
)
CURLED = re.compile(rb"\xe2\x80[\x9c\x9d]")  # quotation marks of word processors
COLOUR = re.compile(rb"\x1b\[[0-9;]*[mK]")
QUOTE = re.compile(rb" {0,3}> ?")
# HTML tags alone, or with a heading: `<details><summary>pmap 7</summary><pre>`.
HEAD = re.compile(rb"heap profile: *\d+: *\d+ \[|(?:goroutine|threadcreate) profile: total \d+")
TAG = re.compile(
    rb"\s*</?[A-Za-z][^<>]{0,200}>(?:\s*</?[A-Za-z][^<>]{0,200}>){0,9}\s*"
    rb"|\s*<(?:details|summary|pre|code|p|h\d)\b[^\n]{0,400}</summary>"
    rb"(?:\s*<[a-z]{1,9} ?/?>){0,4}\s*"
)
_WHERE = (
    rb"(?:[\w.+-]{1,64}@[\w.-]{1,64}[: ][^$#%>\n]{0,200}|\[[^\]\n]{1,200}\]|[/~][\w./~-]{0,200}"
    rb"|(?:ba|z|da|k)?sh(?:-\d[\d.]*)?)"
)
_COMMAND = (
    rb"(?:(?:sudo|time|kubectl|oc|docker|podman|nsenter|ssh|adb)\b[^\n]{0,500}? )?"
    rb"(?:cat|curl|wget|go test|head|less|more|grep)\b [^\n]{0,500}"
)
PROMPT = re.compile(
    rb"(?:\([\w.-]{1,50}\) )?(?:" + _WHERE + rb" ?[$#%]|\$|%|\xe2\x9d\xaf|PS [^>\n]{1,200}>)"
    rb"(?: [^\n]{0,1000})?|# ?(?:" + _COMMAND + rb")?"
)  # fmt: skip
# What a shell says of a line that somebody pasted into it with its prompt.
SHELL_SAYS = re.compile(
    rb"(?:-?(?:ba|da|z|k|a)?sh|fish)(?:: (?:line )?\d+)?: .{0,200}|.{0,100}: command not found"
)
NAMED = rb"==> [^\n]{1,500} <=="  # file names as printed by head and tail
COMMAND = re.compile(rb"\s*" + _COMMAND + rb"|" + NAMED)
# A line of a diff that is no line of either file, and a line of one.
ABOUT_DIFF = re.compile(
    rb"@@ -\d[^\n]*|(?:---|\+\+\+) \S[^\n]*|(?:diff|index) [^\n]*|\\ No newline.*"
)
BEFORE, AFTER = b"## Before", b"## After"
MARKS = re.compile(rb"[$#%>`~\xe2{]|\[/?c")  # every line added by a shell or fence has one of them

_UNREAD = "what follows another command is not read here; save it to a file of its own"


@dataclass(frozen=True)
class PlainText:
    """A text without its wrapper."""

    data: bytes  # the text
    # The file's line number of each line; None if they are unchanged.
    numbers: NDArray[np.int64] | None = None
    # The file's line from which another command's output follows, if there is one.
    left_out: int | None = None

    def place(self, where: str) -> str:
        """Convert `line 3` of the text to the line in the file."""
        word, _, number = where.partition(" ")
        if self.numbers is None or word != "line" or not is_digits(number):
            return where
        return f"line {self.lines(np.array([int(number)]))[0]}"

    def lines(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convert line numbers of the text, from 1, to those of the file."""
        if self.numbers is None or not len(self.numbers):
            return numbers
        return self.numbers[np.clip(numbers, 1, len(self.numbers)) - 1]

    def placed(self, damage: Sequence[Damage], source: str) -> list[Damage]:
        """Return damage with its place in the file, and the parts of the file left out."""
        found = [replace(fault, where=self.place(fault.where)) for fault in damage]
        if self.left_out is not None:
            found.append(Damage(source, f"line {self.left_out}", _UNREAD))
        return found


@dataclass(frozen=True)
class _Lines:
    """Lines without newlines, with their line numbers in the file."""

    texts: list[bytes]
    numbers: list[int]
    left_out: int | None = None

    def part(self, start: int, stop: int, left_out: int | None = None) -> _Lines:
        return _Lines(self.texts[start:stop], self.numbers[start:stop], left_out or self.left_out)

    @property
    def size(self) -> int:
        return sum(len(text.strip()) for text in self.texts)

    def plain(self) -> PlainText:
        data = b"".join(text + b"\n" for text in self.texts)
        return PlainText(data, np.array(self.numbers, np.int64), self.left_out)


def plain_texts(data: bytes) -> Iterator[PlainText]:
    """Yield the text without its outermost wrapper, then without the next one, and so on."""
    if len(data) > MAX_BYTES or b"\0" in data[:4096]:
        return
    seen = data
    for lines in _peeled(data):
        for part in (lines, _without_shell(lines)):
            plain = part.plain()
            if plain.data != seen:
                yield plain
                seen = plain.data


def any_plain(looks_like: Callable[[bytes], bool], data: bytes) -> bool:
    """Whether a text is of a kind, as it is or without its wrappers, judged by its beginning."""
    return looks_like(data) or any(looks_like(text.data) for text in plain_texts(data[:HEAD_BYTES]))


def read_plain(
    source: Source,
    looks_like: Callable[[bytes], bool],
    parse: Callable[..., tuple[Parsed, list[Damage]]],
) -> tuple[Parsed, tuple[Damage, ...], PlainText]:
    """Parse a text, or its unwrapped form if only that is of the kind, or has less damage.

    Returns the parser's result, the damage with places in the file, and the text that was parsed.
    Raises the parser's FormatError for the unchanged artefact.
    """
    best: tuple[Parsed, list[Damage], PlainText] | None = None
    refused: FormatError | None = None
    for text in _candidates(source.data, looks_like):
        try:
            parsed, found = parse(text.data, source=source.name)
        except FormatError as error:
            refused = refused or error
            continue
        damage = text.placed(found, source.name)
        if best is None or len(damage) < len(best[1]):
            best = parsed, damage, text
        if not damage:
            break
    if best is None:
        assert refused is not None
        raise refused
    parsed, damage, text = best
    return parsed, (*source.damage, *damage), text


def _candidates(data: bytes, looks_like: Callable[[bytes], bool]) -> Iterator[PlainText]:
    """Yield the unchanged artefact, which usually works; then its unwrapped forms of the kind."""
    yield PlainText(without_links(data))
    yield from (text for text in plain_texts(data) if looks_like(text.data))


def plain_characters(data: bytes) -> bytes:
    """Remove the characters that editors, browsers and terminals add."""
    for old, new in CHARACTERS:
        if old in data:
            data = data.replace(old, new)
    return without_links(COLOUR.sub(b"", data) if b"\x1b" in data else data)


def _peeled(data: bytes) -> Iterator[_Lines]:
    texts = plain_characters(data).split(b"\n")
    if not texts[-1]:
        texts.pop()
    lines = _Lines(texts, list(range(1, len(texts) + 1)))
    yield lines
    for _ in range(LAYERS):
        found = next((inner for peel in _PEELS if (inner := peel(lines)) is not None), None)
        if found is None or not found.texts:
            return
        lines = found
        yield lines


def _wrapped(lines: _Lines) -> _Lines | None:
    """Remove the wrapper that most lines have; other lines are unchanged."""
    wrapper = _most(lines, _wrapper_of)
    if wrapper is None:
        return None
    # output of packages tested in parallel is interleaved
    pieces: dict[str, list[tuple[int, bytes]]] = {}
    stored = ((n, text + b"\n") for n, text in zip(lines.numbers, lines.texts, strict=True))
    if wrapper == GO_TEST:
        for number, line in stored:
            package, text = _tested(line)
            pieces.setdefault(package, []).append((number, text))
    else:
        unwrapped = unwrapped_lines(stored, wrapper)
        pieces[""] = [(line.number, line.text) for line in unwrapped]
    return _joined(lines, pieces.values())


def _wrapper_of(line: bytes) -> str | None:
    if line.startswith(b"{") and b'"Action"' in line and b'"Time"' in line:
        return GO_TEST
    return wrapper_of_line(line)


def _tested(line: bytes) -> tuple[str, bytes]:
    """Return the package of a `go test -json` record, and its output."""
    record = json_object(line)
    if record is None:
        return "", line if line.strip() else b""
    output = record.get("Output") if record.get("Action") == "output" else None
    return str(record.get("Package")), message_of(output) or b""


def _most(lines: _Lines, kind_of: Callable[[bytes], str | None]) -> str | None:
    """Return the kind that most of the first lines have."""
    sample = [text for text in lines.texts if text.strip()][:SAMPLE_LINES]
    kind, count = max(Counter(map(kind_of, sample)).items(), key=itemgetter(1), default=(None, 0))
    return kind if 2 * count > len(sample) else None


def _joined(lines: _Lines, streams: Iterable[Iterable[tuple[int, bytes]]]) -> _Lines:
    """Join the pieces of each stream to lines, in the order of their first pieces."""
    texts: list[bytes] = []
    numbers: list[int] = []
    for pieces in streams:
        begins = True
        for number, piece in pieces:
            for part in piece.splitlines(keepends=True):
                if begins:
                    texts.append(b"")
                    numbers.append(number)
                texts[-1] += part.rstrip(b"\r\n")
                begins = part.endswith(b"\n")
    return _Lines(texts, numbers, lines.left_out)


def _fenced(lines: _Lines) -> _Lines | None:
    """Return the longest text in a fence, if it is most of the file, unlike a README's example."""
    marks = [place for place, text in enumerate(lines.texts) if FENCE.fullmatch(text)]
    if not marks:
        return None
    ends = [*marks[1:], len(lines.texts)]
    blocks = [lines.part(mark + 1, end) for mark, end in zip(marks, ends, strict=True)]
    longest = max(blocks[::2], key=lambda block: block.size)
    fences = sum(len(lines.texts[mark].strip()) for mark in marks)
    return longest if 2 * longest.size >= lines.size - fences else None


def _quoted(lines: _Lines) -> _Lines | None:
    """Remove the quote marks of most lines, from the first quoted line to the last.

    Markdown quotes the lines that follow a quoted one, too, up to the next blank line.
    """
    texts = lines.texts
    marked = {place for place, text in enumerate(texts) if QUOTE.match(text)}
    quoted: list[int] = []
    for place, text in enumerate(texts):
        if place in marked or (quoted and quoted[-1] == place - 1 and text.strip()):
            quoted.append(place)
    if 2 * sum(len(texts[place].strip()) for place in quoted) <= lines.size:
        return None
    part = lines.part(quoted[0], quoted[-1] + 1)
    return replace(part, texts=[QUOTE.sub(b"", text, count=1) for text in part.texts])


def _indented(lines: _Lines) -> _Lines | None:
    """Remove the indentation that all lines share."""
    filled = [text for text in lines.texts if text.strip()]
    shared = min((len(text) - len(text.lstrip(b" \t")) for text in filled), default=0)
    return replace(lines, texts=[text[shared:] for text in lines.texts]) if shared else None


def _undiffed(lines: _Lines) -> _Lines | None:
    """Return both sides of a diff, the older one first below a heading; or the only side."""
    about = [ABOUT_DIFF.fullmatch(text) is not None for text in lines.texts]
    own = [place for place, text in enumerate(lines.texts) if text.strip() and not about[place]]
    signs = {lines.texts[place][:1] for place in own}
    has_hunk = any(text.startswith(b"@@ -") for text in lines.texts)
    if not signs <= {b"-", b"+", b" "} or not signs & {b"-", b"+"}:
        return None
    has_bullets = any(lines.texts[place][1:2] == b" " for place in own)
    if not has_hunk and not {b"-", b"+"} <= signs and (signs != {b"+"} or has_bullets):
        return None  # a list, or negative numbers
    texts: list[bytes] = []
    numbers: list[int] = []
    for sign, heading in ((b"-", BEFORE), (b"+", AFTER)):
        side = [place for place in own if lines.texts[place][:1] in (sign, b" ")]
        if sign in signs:
            texts += [heading, *(lines.texts[place][1:] for place in side), b""]
            numbers += [lines.numbers[place] for place in (side[0], *side, side[-1])]
    return _Lines(texts, numbers, lines.left_out)


def _straight(lines: _Lines) -> _Lines | None:
    """Replace curly quotation marks by straight ones."""
    text = b"\n".join(lines.texts)
    straight = CURLED.sub(b'"', text)
    return None if straight == text else replace(lines, texts=straight.split(b"\n"))


def _unmarked(lines: _Lines) -> _Lines | None:
    """Remove Markdown."""
    texts = [without_markup(text) for text in lines.texts]
    return None if texts == lines.texts else replace(lines, texts=texts)


def _unprefixed(lines: _Lines) -> _Lines | None:
    """Remove the prefix that most lines share; other lines are unchanged."""
    sample = [text for text in lines.texts if text.strip()][:SAMPLE_LINES]
    prefix = shared_prefix(sample)
    if prefix is None:
        return None
    return replace(lines, texts=[prefix.sub(b"", text, count=1) for text in lines.texts])


def _headed(lines: _Lines) -> _Lines | None:
    """From the head line of a profile on, which prose stands above."""
    begin = next((place for place, text in enumerate(lines.texts) if HEAD.match(text)), 0)
    return lines.part(begin, len(lines.texts)) if begin else None


_PEELS: tuple[Callable[[_Lines], _Lines | None], ...] = (
    _wrapped, _fenced, _quoted, _undiffed, _indented, _headed, _straight, _unmarked, _unprefixed,
)  # fmt: skip


def _without_shell(lines: _Lines) -> _Lines:
    """Remove a shell's prompt and command before the artefact, and the text after it."""
    texts = lines.texts
    start = 0
    while start < len(texts) and _is_before(texts[start]):
        start += 1
    stop = next((n for n in range(start, len(texts)) if _is_behind(texts[n])), len(texts))
    others = (n for n in range(stop, len(texts)) if not _is_before(texts[n]))
    other = next(others, None)
    if (
        stop < len(texts)
        and FENCE.fullmatch(texts[stop])
        and not any(
            form.fullmatch(text) for text in texts[stop + 1 :] for form in (FENCE, PROMPT) if text
        )
    ):
        other = None  # the artefact's own fence ends here, and prose follows
    return lines.part(start, stop, None if other is None else lines.numbers[other])


def _is_before(line: bytes) -> bool:
    return not line.strip() or any(form.fullmatch(line) for form in (FENCE, TAG, PROMPT, COMMAND))


def _is_behind(line: bytes) -> bool:
    return bool(MARKS.search(line)) and any(form.fullmatch(line) for form in (FENCE, TAG, PROMPT))
