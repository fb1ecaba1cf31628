"""Every target, by its name."""

from __future__ import annotations

from tools.fuzz.targets import binaries, captures, kernel, logs, memory, profiles

TARGETS = {
    target.name: target
    for module in (kernel, logs, memory, profiles, binaries, captures)
    for target in module.TARGETS
}
