"""/proc/PID/status and statm: the kernel's counters for a process as a whole.

Printed by    task_mem and proc_pid_statm, in the kernel's fs/proc.
Described in  the kernel's Documentation/filesystems/proc.rst, tables 1-2 and 1-3.
Quirks        `kB` is KiB, and MB that people convert it to is taken for MiB.
              Since 6.2 the counters are kept per CPU. Some kernels print them without
              adding up exactly, so VmRSS can differ from smaps by a few hundred KiB.
              statm counts pages and does not say how large a page is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.processes.consumed import without_units
from gomem.inputs.processes.row import rounded_size
from gomem.units import ADDRESS_SPACE_BYTES, KIB

STATE = re.compile(rb"([A-Za-z]) \([a-z ]{1,20}\)")
SIGN = rb"[ \t]*[:=][ \t]*"  # people also write `VmRSS  = 90.5 MiB`
FIELD = re.compile(rb"([A-Za-z_]\w*)" + SIGN + rb"(.*)")
BEGINNING = re.compile(rb"Name:[ \t]+[^\n]{0,4096}\n(?:[^\n]{0,4096}\n){0,40}?Pid:[ \t]+\d")
NAME = rb"\s*(?:Name:[ \t]+[^\n]{1,64}\n)?"
NOTED = rb"(?:[ \t]*\([^()\n]{0,100}\))?[ \t]*"  # a remark after a size
PRINTED = rb"(\d{1,18}(?:\.\d{1,3})? ?[kKMGT]i?B)" + NOTED
SIZE = re.compile(PRINTED)
OTHERS = rb"(?:Vm(?:Peak|Size|Lck|Pin|HWM|Data|Stk|Exe|Lib|PTE|PMD|Swap)|Rss(?:File|Shmem))"
RESIDENT = rb"(?:VmRSS|RssAnon)"
# The output of `grep Vm` or of `grep -E 'Name|Vm'`: at least two size fields, one of them resident;
# of the second, torn, its beginning.
EXCERPT = re.compile(
    NAME + rb"(?:(?:" + OTHERS + SIGN + PRINTED + rb"\n){1,12}?" + RESIDENT + SIGN
    + rb"|" + RESIDENT + SIGN + PRINTED + rb"\n(?:" + OTHERS + rb"|" + RESIDENT + rb")" + SIGN
    + rb"|" + RESIDENT + SIGN + PRINTED + rb"\n(?:(?:Vm|Rss)[^\n]{0,60}|V|Rs?)\s*\Z"
    + rb")"
)  # fmt: skip
ALONE = re.compile(NAME + rb"VmRSS" + SIGN + PRINTED + rb"\s*")  # the output of `grep VmRSS`
COUNT = re.compile(rb"\d{1,18}")
STATM = re.compile(rb"\d{1,18}(?: \d{1,18}){6}\s*")

# What is no number. The kernel writes a tab after each colon, and pasting makes blanks of it.
KERNELS = re.compile(
    r"Name|Umask|State|Groups|[UG]id|Sig\w+|ShdPnd|Cap\w+|NS\w+|(?:Cpus|Mems)_allowed\w*|Spec\w+"
    r"|untag_mask|x86_Thread_\w+"
)
NOT_OF_KERNEL = "not a field of /proc/PID/status, which has a tab after each colon"

MAX_BESIDE = 4 * KIB  # of a text that has a unit's lines beside the size
SMALLEST_PAGE_BYTES = 4 * KIB
# dropped, because reports are shared, and they are not about memory
NAMES_OF_PEOPLE = frozenset({"Uid", "Gid", "Groups"})


@dataclass(frozen=True, slots=True)
class Status:
    """One process's status."""

    sizes: dict[str, int]  # bytes by field name (`VmRSS`, `RssAnon`, …)
    counts: dict[str, int]  # plain numbers by field name (`Pid`, `Threads`, …)
    name: str | None  # the program's name, at most 15 bytes
    state: str | None = None  # its letter: R, S, D, T (stopped), t (traced), Z and others
    step: int = KIB  # what the coarsest size is rounded to, in bytes


def looks_like_status(data: bytes) -> bool:
    """Whether the content begins like /proc/PID/status, or with its `Vm…` lines and has VmRSS."""
    if len(data) < MAX_BESIDE:
        data = without_units(data)
    if len(data.strip()) < 200 and ALONE.fullmatch(data):
        return True
    return BEGINNING.match(data) is not None or EXCERPT.match(data) is not None


def looks_like_statm(data: bytes) -> bool:
    """Whether the content is the seven numbers of /proc/PID/statm."""
    return len(data) < 200 and STATM.fullmatch(data) is not None


def parse_status(data: bytes, *, source: str) -> tuple[Status, list[Damage]]:
    """Parse /proc/PID/status; non-numeric fields are dropped, except name and state."""
    status = Status({}, {}, None)
    damage: list[Damage] = []
    for number, line in enumerate(without_units(data).splitlines(), start=1):
        status, what = _with_line(status, line) if line.strip() else (status, "")
        if what:
            damage.append(Damage(source, f"line {number}", what, excerpt(line)))
    return status, damage


def _with_line(status: Status, line: bytes) -> tuple[Status, str]:
    """Return the status with one more line, and what is wrong with that line."""
    match = FIELD.fullmatch(line)
    if match is None:
        return status, "not a line of /proc/PID/status; wanted `Name: value`"
    field, value = match[1].decode("ascii"), match[2].strip()
    if field in status.sizes or field in status.counts:
        return status, f"{field} stands here again: the first counts, and files may be mixed up"
    if size := SIZE.fullmatch(value):
        return _with_size(status, field, size[1])
    if _must_be_size(field):
        return status, f"{field} has no size; wanted `number kB`; the file may be cut"
    is_kernels = KERNELS.fullmatch(field) or line.startswith(b":\t", match.end(1))
    status, is_read = _with_other(status, field, value)
    return status, "" if is_read or is_kernels else NOT_OF_KERNEL


def _with_other(status: Status, field: str, value: bytes) -> tuple[Status, bool]:
    """Return the status with a field that is no size, and whether it is of use."""
    if field == "Name":
        return replace(status, name=value.decode("utf-8", "backslashreplace")), True
    if field == "State" and (found := STATE.fullmatch(value)):
        return replace(status, state=found[1].decode("ascii")), True
    is_count = COUNT.fullmatch(value) is not None
    if is_count and field not in NAMES_OF_PEOPLE:
        status.counts[field] = int(value)
    return status, is_count


def _with_size(status: Status, field: str, size: bytes) -> tuple[Status, str]:
    known = rounded_size(size.replace(b"B", b""))
    if known is None:
        return status, f"{field} is larger than any address space; the file is corrupt"
    status.sizes[field] = known.bytes
    return replace(status, step=max(status.step, known.step_bytes)), ""


def parse_statm(data: bytes, *, source: str) -> tuple[list[int], list[Damage]]:
    """Parse /proc/PID/statm: seven numbers, in pages of unknown size.

    Raises FormatError if it is not seven numbers, or if they cannot be pages.
    """
    if STATM.fullmatch(data) is None:
        raise FormatError(source, "", "not the seven numbers of /proc/PID/statm", excerpt(data))
    pages = [int(number) for number in data.split()]
    if max(pages) > ADDRESS_SPACE_BYTES // SMALLEST_PAGE_BYTES:
        raise FormatError(source, "", "more pages than any address space has", excerpt(data))
    return pages, []


def _must_be_size(field: str) -> bool:
    return field.startswith(("Vm", "Rss")) or field == "HugetlbPages"
