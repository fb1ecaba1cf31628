"""`gomem what-if CAPTURE|LOG`: predict the effect of another GOGC or GOMEMLIMIT."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from gomem.cli.options import (  # noqa: TC001 - typer reads the annotations
    Force,
    Output,
    Redact,
    Release,
)
from gomem.cli.output import (
    check_writable,
    chosen_format,
    file_named_after,
    tell_damage,
    tell_where,
    write,
)
from gomem.cli.progress import stages
from gomem.cli.redaction import hide
from gomem.cli.terminal import written_as
from gomem.errors import CaptureError
from gomem.text import CaptureName, Quoted, text
from gomem.units import BYTE_UNITS, is_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.what_if.what_if import Asked

SIZE = re.compile(r"(?P<number>[0-9]{1,18}(?:\.[0-9]{1,6})?)(?P<unit>B|KiB|MiB|GiB|TiB)?")
MAX_GOGC = 100_000
MAX_NAMED = 20  # settings of one kind
MAX_SIZE = 1 << 62


Format = StrEnum("Format", "text html json csv md")  # values of `--format`
ENDINGS = {**Format.__members__, "htm": Format.html, "txt": Format.text}


def what_if(
    capture: Annotated[Path, typer.Argument(metavar="CAPTURE|LOG")],
    *,
    gogc: str = "50,100,200,400,off",
    memory_limit: str | None = None,
    container: str | None = None,
    go_version: Release = None,
    output: Output = None,
    output_format: Annotated[Format | None, typer.Option("--format")] = None,
    redact: Redact = False,
    force: Force = False,
) -> None:
    """Predict the effect of another GOGC or GOMEMLIMIT.

    The load in a GODEBUG=gctrace=1 log is replayed under each setting, with the pacer of its Go
    release. MemStats, smaps and the cgroup of a capture make the answer more precise. With a
    container's size, it recommends a GOMEMLIMIT and a GOGC. HTML goes to a file named after the
    capture, every other format to standard output, unless -o names a file.

    Examples:
        gomem what-if gctrace.log --gogc 50,100,200 --memory-limit none,512MiB

    Args:
        capture: A capture, or a gctrace log.
        gogc: GOGC values to try, such as 50,100,200,400,off.
        memory_limit: GOMEMLIMIT values to try, such as 512MiB,none.
        container: Memory limit of the container, such as 1GiB. Default: the capture's cgroup.
        output_format: Default: by the ending of -o, else text.
    """
    from gomem.capture.load import load
    from gomem.diagnosis.diagnosis import diagnose
    from gomem.views.names import hidden

    asked = _asked(gogc, memory_limit, container)
    chosen = chosen_format(output, output_format, ENDINGS) or Format.text
    target = output
    if output is None and chosen is Format.html:
        target = file_named_after(str(capture), ".what-if.html")
    check_writable(target, force=force, inputs=[capture])
    with stages() as at:
        diagnosis = diagnose(load(capture, go_version=go_version, progress=at.reading))
    names = hide(hidden(diagnosis, redact=redact))
    answer = diagnosis.facts.what_if_set(asked)
    if answer is None:
        what = "{}: has no gctrace log; wanted the stderr of a run with GODEBUG=gctrace=1"
        raise CaptureError(text(what, CaptureName(capture)))
    tell_damage(diagnosis.capture.damaged)
    if chosen is Format.json:
        from gomem.views.json.what_if import render_what_if_json

        rendered = render_what_if_json(answer, names)
    elif chosen is Format.csv:
        from gomem.views.spreadsheet import render_csv

        rendered = render_csv(answer.grid)
    else:
        from gomem.views.what_if.document import what_if_document

        rendered = written_as(chosen, what_if_document(diagnosis, answer, names), target)
    write(rendered, target)
    if target is not None:
        tell_where(target)


def _asked(gogc: str, limits: str | None, container: str | None) -> Asked:
    from gomem.analysis.what_if.what_if import Asked

    asked = Asked(gogc=[_gogc(word) for word in _listed(gogc, "--gogc")])
    if limits is not None:
        sizes = [
            math.inf if word in {"none", "off"} else _size(word, "--memory-limit", "512MiB or none")
            for word in _listed(limits, "--memory-limit")
        ]
        asked = replace(asked, limits=sizes)
    if container is not None:
        size = int(_size(container.strip(), "--container", "1GiB"))
        asked = replace(asked, container_bytes=size)
    return asked


def _listed(given: str, option: str) -> Sequence[str]:
    words = [word.strip() for word in given.split(",")]
    if len(words) > MAX_NAMED:
        raise CaptureError(f"{option}: {len(words)} values; wanted {MAX_NAMED} or fewer")
    return list(dict.fromkeys(words))


def _gogc(word: str) -> int:
    from gomem.analysis.what_if.watched import OFF

    if word == "off":
        return OFF
    if not (is_digits(word) and 1 <= int(word[:9]) <= MAX_GOGC):
        wanted = f"wanted per cents from 1 to {MAX_GOGC}, or off, as 50,100,off"
        raise CaptureError(text("--gogc: {}; {}", Quoted(repr(word)), wanted))
    return int(word)


def _size(word: str, option: str, example: str) -> float:
    found = SIZE.fullmatch(word)
    size = 0.0 if found is None else float(found["number"]) * BYTE_UNITS[found["unit"] or "B"]
    if not 0 < size < MAX_SIZE:
        wanted = f"wanted a size above 0 in B, KiB, MiB, GiB or TiB, as {example}"
        raise CaptureError(text("{}: {}; {}", option, Quoted(repr(word)), wanted))
    return float(int(size))
