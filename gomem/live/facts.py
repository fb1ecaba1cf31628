"""Facts about a process for the manifest, without its command line and environment."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gomem.capture.manifest import MANIFEST_SCHEMA
from gomem.inputs.buildinfo.parse import BuildInfo, build_info_of_elf
from gomem.live.folder import BUILD_INFO, stamp
from gomem.views.share import without_home

if TYPE_CHECKING:
    from gomem.live.process import Process
    from gomem.live.targets import Target

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "i686": "386", "armv7l": "arm"}
LOOPBACK_NAMES = {"127.0.0.1", "::1", "localhost"}
DELETED = " (deleted)"


def facts_of(target: Target, *, redact: bool) -> tuple[dict[str, Any], dict[str, bytes], list[str]]:
    """Return facts for the manifest, files about the whole process, and notes on missing facts."""
    facts: dict[str, Any] = {
        "schema": MANIFEST_SCHEMA,
        "collector": f"gomem {version('gomem')}",
        "endpoints": [_base(base, redact=redact) for base in target.doors.bases],
    }
    files: dict[str, bytes] = {}
    said: list[str] = []
    process = target.process
    if process is not None:
        program = (process.executable or process.name).removesuffix(DELETED)
        program = PurePosixPath(program).name if redact else without_home(program)
        build, why = _build_info(process)
        number = re.match(r"[0-9.]*[0-9]", platform.release())
        facts |= {
            "goos": platform.system().lower(),
            "goarch": ARCHITECTURES.get(platform.machine(), platform.machine()),
            "kernel": number[0] if number else "",
            "page_size": os.sysconf("SC_PAGE_SIZE"),
            "pid": process.pid,
            "started": stamp(process.started),
            "program": program,
        }
        if build is None:
            said.append(f"no build info: {why}")
        else:
            # `go1.24.2 X:nocoverageredesign` also names the experiments.
            release = build.go_version
            release = release.partition(" ")[0] if release.startswith("go") else release
            facts |= {"go_version": release, "main": build.main}
            files[BUILD_INFO] = build.text(program).encode()
    if "go_version" not in facts and target.doors.go_version:
        facts["go_version"] = target.doors.go_version
    return facts, files, said


def _build_info(process: Process) -> tuple[BuildInfo | None, str]:
    try:
        file = process.open("exe")
    except PermissionError:
        return None, process.denied
    except OSError as error:
        return None, f"the executable cannot be read: {error.strerror}"
    try:
        build = build_info_of_elf(lambda offset, length: os.pread(file, length, offset))
    finally:
        os.close(file)
    return (
        build,
        "" if build else "the executable has none: not built by Go, or by Go 1.12 or older",
    )


def _base(base: str, *, redact: bool) -> str:
    """An address; with redaction, the host of another machine is hidden."""
    parts = urlsplit(base)
    if not redact or parts.hostname in LOOPBACK_NAMES:
        return base
    return f"{parts.scheme}://HOST{f':{parts.port}' if parts.port else ''}"
