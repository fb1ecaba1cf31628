"""Get headers, name and password for a server from the command line."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gomem.errors import CaptureError, printable
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PASSWORD = "GOMEM_PASSWORD"  # noqa: S105 - the name of a variable


def headers_of(given: Sequence[str]) -> Mapping[str, str]:
    """Parse headers, or files of headers, by name; no error message shows a value."""
    lines: list[str] = []
    for header in given:
        if header.startswith("@"):
            try:
                lines += Path(header[1:]).read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                named = Quoted(printable(header))
                raise CaptureError(text("--header {}: cannot be read", named)) from error
        else:
            lines.append(header)
    headers = {}
    for line in filter(str.strip, lines):
        name, colon, value = line.partition(":")
        if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name.strip()):
            raise CaptureError("--header: not a header; write 'Name: value'")
        headers[name.strip()] = value.strip()
    return headers


def user_of(given: str) -> tuple[str, str]:
    """Return name and password; the password is in the option or environment, or prompted for."""
    from getpass import getpass

    name, colon, password = given.partition(":")
    if colon:
        return name, password
    if PASSWORD in os.environ:
        return name, os.environ[PASSWORD]
    if not sys.stdin.isatty():
        what = "--user {}: no password; put the password into {}"
        raise CaptureError(text(what, Quoted(printable(name)), PASSWORD))
    return name, getpass(f"Password of {printable(name)}: ")
