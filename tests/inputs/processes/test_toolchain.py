"""A build that the kernel ended is named, with the tool that was ended."""

import pytest

from gomem.inputs.looks_like import looks_like
from gomem.inputs.processes.toolchain import killed_tool


@pytest.mark.parametrize(
    ("line", "tool"),
    [
        ("go build a.org/m: /usr/lib/go/pkg/tool/linux_amd64/compile: signal: killed", "compile"),
        ("/usr/lib/go/pkg/tool/linux_arm64/link: signal: killed", "link"),
        ("link: signal: killed", "link"),
        ("go build a.org/m: /opt/go/pkg/tool/linux_386/8g: signal: killed", "8g"),
        ("#8 31.2 go build a.org/m: signal: killed", "go"),
        ("./api: signal: killed", ""),
        ("signal: killed", ""),
    ],
)
def test_the_killed_tool_is_read(line, tool):
    text = f"# a.org/m\n{line}\n".encode()

    assert tool == killed_tool(text)
    seen = looks_like(text, "build.txt")
    assert bool(tool) == ("SIGKILL ended" in f"{seen.what}")
    assert bool(tool) == ("go build -p 1" in f"{seen.way_out}")
