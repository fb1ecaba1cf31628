"""The look of each part of the ledger in every figure: colour and hatching.

The colours are those of Okabe and Ito, which people with any kind of colour vision can separate.
There are fewer colours than parts, and prints are grey, so no two parts share both colour and
hatching.
"""

from __future__ import annotations

BLUE, SKY, GREEN, YELLOW = "#0072b2", "#56b4e9", "#009e73", "#f0e442"
ORANGE, VERMILLION, PURPLE = "#e69f00", "#d55e00", "#cc79a7"
GREY = "#8a8f94"
NONE = "none"
EDGE = "#17191c"  # around and in filled shapes, dark on any background; hollow shapes use INK

LOOK: dict[str, tuple[str, str]] = {
    "heap_objects": (BLUE, ""),
    "heap_slack": (SKY, "////"),
    "heap_idle": (ORANGE, ""),
    "stacks": (GREEN, ""),
    "heap_released_resident": (YELLOW, "\\\\\\\\"),
    "heap_untouched": (NONE, "///"),
    "heap_unexplained": (VERMILLION, "xxxx"),
    "runtime_metadata": (PURPLE, ""),
    "binary": (GREY, ""),
    "libraries": (GREY, "////"),
    "native_heap": (VERMILLION, ""),
    "thread_stacks": (GREEN, "////"),
    "mapped_files": (YELLOW, ""),
    "shared_memory": (SKY, "||||"),
    "kernel": (GREY, "----"),
    "anonymous_other": (GREY, "xxxx"),
}
# A group has the look of its largest part.
GROUP_LOOK: dict[str, tuple[str, str]] = {
    "go_live": (BLUE, ""),
    "go_garbage": (SKY, "||||"),
    "go_objects": (BLUE, ""),
    "go_free": (ORANGE, ""),
    "go_stacks": (GREEN, ""),
    "go_heap": (BLUE, "////"),
    "go_runtime": (PURPLE, ""),
    "native": (VERMILLION, ""),
    "files": (YELLOW, ""),
    "program": (GREY, ""),
    "undivided": (GREY, "xxxx"),
}
PART_OF_KIND = {
    "go-heap": "heap_objects",  # its largest part
    "go-runtime": "runtime_metadata",
    "binary": "binary",
    "library": "libraries",
    "native-heap": "native_heap",
    "thread-stack": "thread_stacks",
    "mapped-file": "mapped_files",
    "shared-memory": "shared_memory",
    "kernel": "kernel",
    "anonymous-other": "anonymous_other",
}


def look_of_group(key: str) -> tuple[str, str]:
    """Return colour and hatching of a group; the keys of inseparable groups are joined by `+`."""
    if key in GROUP_LOOK:
        return GROUP_LOOK[key]
    groups = set(key.split("+"))
    if all(group.startswith("go_") for group in groups):
        return BLUE, "\\\\\\\\"
    return (VERMILLION, "////") if "native" in groups else (YELLOW, "||||")


def edge_of(colour: str, ink: str) -> str:
    """Return a colour for a shape's edge and hatching that is visible on its fill."""
    return ink if colour == NONE else EDGE


def look_of_kind(kind: str) -> tuple[str, str]:
    """Return colour and hatching of a kind of mapping: those of the ledger part it belongs to."""
    return LOOK[PART_OF_KIND.get(kind, "anonymous_other")]
