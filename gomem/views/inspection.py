"""What is in a capture, as text: moments, files, the Go release, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.errors import printable
from gomem.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from gomem.capture.capture import Capture


def render_inspection(capture: Capture) -> str:
    """Lines of text; whole-capture files stand behind the moments."""
    lines = [
        capture.name,
        f"Go release: {capture.go_version} ({capture.go_version.evidence})",
        "",
    ]
    for moment in capture.moments.itertuples():
        lines.append(f"{moment.moment}{_when(moment.time, moment.skew_seconds)}")
        lines += _files(capture, moment.moment)
    whole = _files(capture, "")
    if whole:
        lines += ["of the whole capture", *whole]
    lines.append("")
    lines.append(f"could not be read: {len(capture.damaged) or 'nothing'}")
    lines += [f"  {one}" for one in capture.damaged]
    return "\n".join(map(printable, lines)) + "\n"


def _when(time: pd.Timestamp, skew_seconds: float) -> str:
    if pd.isna(time):
        return ""
    return f"  {time:%Y-%m-%d %H:%M:%S} UTC, within {format_seconds(skew_seconds)}"


def _files(capture: Capture, moment: str) -> list[str]:
    rows = capture.artefacts[capture.artefacts["moment"] == moment]
    width = max((len(path) for path in rows["path"]), default=0)
    return [
        f"  {row.path:<{width}}  {row.kind or 'not read':<12}  {format_bytes(row.bytes)}"
        for row in rows.itertuples()
    ]
