"""Which operating system is a pasted text about, if it is not Linux?

A text that names two systems, or mentions Linux, is left out: it may compare them.
"""

from __future__ import annotations

import re

FREEBSD, WINDOWS, MACOS, WASM = "FreeBSD", "Windows", "macOS", "WebAssembly"
PLAN9 = "Plan 9"
BSD = "BSD or macOS"  # one of them, by what ps prints there
TINYGO = "TinyGo"  # another compiler and runtime, wherever it runs
_BY_TINYGO = re.compile(rb"\btinygo\b", re.IGNORECASE)
_NAMED = {
    FREEBSD: re.compile(
        rb"\bFreeBSD\b|\bfreebsd[/-](?:amd64|arm64|386)\b|^goos: freebsd"
        rb"|^last pid: +\d{1,7};|\bMem: \d{1,9}[KMG] Active, ", re.MULTILINE
    ),
    WINDOWS: re.compile(
        rb"\bWindows\b(?! of)|(?:\b|_)windows[/_-](?:amd64|arm64|386)\b|^goos: windows|\b[A-Z]:\\\w"
        rb"|\w\.exe\b|\berrno=1455\b", re.MULTILINE,
    ),
    MACOS: re.compile(
        rb"\bmac ?OS\b|\bOS ?X\b|(?:\b|_)darwin[/_-](?:amd64|arm64)\b|^goos: darwin|\bMacBook\b"
        rb"|\bPhysMem: |\bVM_ALLOCATE\b|/usr/bin/footprint\b|\bvmmap\b",
        re.MULTILINE | re.IGNORECASE,
    ),
    PLAN9: re.compile(
        rb"\bPlan ?9\b|(?:\b|_)plan9[/_-](?:amd64|arm|386)\b|^goos: plan9", re.MULTILINE
    ),
    WASM: re.compile(rb"\[wasm\]|\bGOARCH=wasm\b|\b(?:js|wasip1|wasi)/wasm\b"),
}  # fmt: skip
# The head of ps aux; procps has TTY and START.
_PS_OF_BSD = re.compile(rb"\bRSS +TT +STAT +STARTED\b")
_LINUX = re.compile(
    rb"\blinux\b|/proc/|\bubuntu\b|\bdebian\b|\bcentos\b|\balpine\b|\brhel\b|\bfedora\b|\bred hat\b"
    rb"|\bdocker\b|\bkube\w{1,12}\b|\bk8s\b|\bcgroups?\b|\bsmaps\b|\bVmRSS\b|OOMKilled|\bsystemd\b"
    rb"|\bsystemctl\b|\bpods?\b",
    re.IGNORECASE,
)
# What a build says of itself: it decides, whatever else the text mentions.
_PLATFORM = re.compile(
    rb"\b(?:platform|GOOS)\W{1,20}(freebsd|windows|darwin|plan9|linux)\b", re.IGNORECASE
)
_STATED = {
    b"freebsd": FREEBSD,
    b"windows": WINDOWS,
    b"darwin": MACOS,
    b"plan9": PLAN9,
    b"linux": "",
}
HEAD_BYTES = 1 << 16


def system_of(data: bytes) -> str:
    """Return the one system that a text names, or TinyGo; empty if none, several, or Linux."""
    head = data[:HEAD_BYTES]
    if _BY_TINYGO.search(head):
        return TINYGO
    stated = {name.lower() for name in _PLATFORM.findall(head)}
    if len(stated) == 1:
        return _STATED[stated.pop()]
    found = [name for name, form in _NAMED.items() if form.search(head)]
    found = found or [BSD] * (_PS_OF_BSD.search(head) is not None)
    return found[0] if len(found) == 1 and _LINUX.search(head) is None else ""
