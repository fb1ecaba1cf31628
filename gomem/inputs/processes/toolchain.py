"""Builds that the kernel ended: what go build prints of its compiler or linker.

Printed by    the go command, of a tool that a signal ended: `go build example.org/m/pkg:
              /usr/local/go/pkg/tool/linux_amd64/compile: signal: killed`.
Quirks        Up to Go 1.4 the tools are 5g, 6g, 8g, 9g and 5l, 6l, 8l, 9l. `signal: killed` alone
              is what go run prints of the program itself.
"""

from __future__ import annotations

import re

from gomem.inputs.machine import of_the_machine
from gomem.inputs.resemblance import Resemblance
from gomem.text import Command, Program, text

TOOLS = frozenset(
    {"compile", "link", "asm", "cgo", "vet", "cover", "go"}
    | {f"{processor}{tool}" for processor in "5689" for tool in "glac"}
)
_TOOL_KILLED = re.compile(
    rb"^[^\n]{0,400}?(?:/pkg/tool/\w{1,40}/|(?<![\w/.-]))(\w{2,7})(?:\.exe)?: signal: killed",
    re.MULTILINE,
)
_BUILD_KILLED = re.compile(
    rb"^[^\n]{0,100}?\bgo (?:build|install|test|get|vet)\b[^\n]{0,300}?: signal: killed",
    re.MULTILINE,
)
BUILD_LESS = text(
    "give the machine more memory or swap, or build one package at a time: {}",
    Command("go build -p 1 ./..."),
)


def is_toolchain(name: str) -> bool:
    """Whether a process is the go command or one of its tools."""
    return name in TOOLS


def killed_tool(text: bytes) -> str:
    """Return the tool of a build that SIGKILL ended; empty if the text shows none."""
    names = (found[1].decode() for found in _TOOL_KILLED.finditer(text))
    tool = next((name for name in names if name in TOOLS), "")
    return tool or ("go" if _BUILD_KILLED.search(text) else "")


def killed_build(head: bytes, _: str) -> Resemblance | None:
    """Describe the output of a build whose tool was killed."""
    if not (tool := killed_tool(head)):
        return None
    words = (
        "what go build printed as SIGKILL ended {}, a tool of Go: as a rule, the kernel was out of "
        "memory ({} shows it); your program did not run"
    )
    machine = of_the_machine(head, "")
    what = text(words, Program(tool), Command("dmesg | grep -i 'killed process'"))
    if machine is not None:
        what = text("{}; {}", what, machine.what)
    return Resemblance(what, BUILD_LESS, is_evidence=True)
