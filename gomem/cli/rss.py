"""`gomem rss CAPTURE`: RSS as one pprof profile, from live heap by stack to files by name."""

from __future__ import annotations

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
    file_named_after,
    input_paths,
    tell_damage,
    tell_where,
    write,
)
from gomem.cli.progress import stages
from gomem.cli.redaction import hide
from gomem.errors import CaptureError
from gomem.sources.paths import no_such_path

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

SUFFIX = ".rss.pb.gz"


def rss(
    captures: Annotated[list[Path], typer.Argument(metavar="CAPTURE…")],
    *,
    moment: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    base_moment: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    go_version: Release = None,
    redact: Redact = False,
    output: Output = None,
    force: Force = False,
) -> None:
    """Write RSS as one pprof profile, which adds up to RSS to the byte.

    Below its root RSS are Go and what is not Go: the live heap by allocation stack, memory
    allocated since the last GC, free slots, idle heap, released memory still in RSS, goroutine
    stacks, the runtime; C by mapping, files by name, the program, the kernel. Memory that
    no file breaks down is in the frame `not broken down`. The sample type `reserved` also has
    memory that Go reserved and that is not in RSS.
    `go tool pprof -comments` says which sizes are not exact.

    Examples:
        gomem rss captures/api
        gomem rss captures/api --moment 3-later --base-moment 1-start -o grown.pb.gz

    Args:
        captures: A folder, an archive, or files of one moment.
        moment: The snapshot. Default: the last with RSS.
        base_moment: Subtract this snapshot, to show the growth of RSS since.
    """
    from gomem.capture.load import load
    from gomem.diagnosis.diagnosis import diagnose
    from gomem.views.names import hidden

    paths = input_paths(captures)
    target = output or file_named_after(str(paths[0]), SUFFIX)
    check_writable(target, force=force, inputs=paths)
    for path in paths:
        if not path.exists():
            raise no_such_path(path)
    with stages() as at:
        diagnosis = diagnose(load(*paths, go_version=go_version, progress=at.reading))
    hide(hidden(diagnosis, redact=redact))
    made = rendered(diagnosis, moment, base_moment, redact=redact)
    tell_damage(diagnosis.capture.damaged)
    write(made, target)
    tell_where(target)


def rendered(
    diagnosis: Diagnosis, moment: str | None = None, base: str | None = None, *, redact: bool
) -> bytes:
    """Return RSS at a snapshot as a profile, or its difference from a base snapshot.

    Raises CaptureError without RSS.
    """
    from gomem.views.exports.profile import render_profile
    from gomem.views.names import hidden

    if diagnosis.baseline is not None:
        raise CaptureError(
            "an RSS profile covers one capture; write a profile of each, then: go tool pprof "
            "-diff_base baseline.rss.pb.gz capture.rss.pb.gz"
        )
    profile = diagnosis.facts.rss_profile(moment)
    if base is not None:
        profile = profile.diff(diagnosis.facts.rss_profile(base))
    return render_profile(profile, hidden(diagnosis, redact=redact))
