"""Rows of process tables that are recognised without their header, and its columns.

People paste a row alone, and leave out user or PID: `<pid>`, `xxx`, `****`.
"""

from __future__ import annotations

import re

# A row of ps aux: user, pid, %cpu, %mem, vsz, rss, tty, state, start, time, command.
MASKED = re.compile(rb"<[\w ]{1,16}>|[xX*]{1,10}|\?{1,10}")  # a PID or user that somebody left out
AUX = re.compile(
    rb"(?:[\w.+-]{1,32}|" + MASKED.pattern + rb") +(?:\d{1,10}|" + MASKED.pattern + rb")"
    rb" +\d{1,5}(?:\.\d)? +\d{1,3}(?:\.\d)? +\d{1,15} +\d{1,15} +(?:\?\??|-|"
    rb"pts/\d+|tty\S{1,8}|s\d{3}|console) +[DIRSTtWXZU-][\w<+]{0,5} +\S{1,8} +\d[\d:.-]{2,12} +\S.*"
)
AUX_NAMES = b"USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND".split()
_TOP_SIZE = rb" +\d{1,12}(?:[.,]\d{1,3})?[kmgtKMGT]?"
TOP_ROW = re.compile(
    rb"(?:\d{1,10}|"
    + MASKED.pattern
    + rb") +\S{1,32} +(?:-?\d{1,3}|rt) +-?\d{1,3}"
    + 3 * _TOP_SIZE
    + rb" +[DIRSTtXZ] +"
    rb"\d{1,5}(?:[.,]\d)? +\d{1,3}(?:[.,]\d)? +\d+:\d\d(?:[.:]\d\d)? +\S.*"
)
TOP_NAMES = b"PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND".split()
# The same without SHR, and with the state after the times, a common setup of procps' top.
SET_ROW = re.compile(
    rb"\d{1,10} +\S{1,32} +(?:-?\d{1,3}|rt) +-?\d{1,3}" + 2 * _TOP_SIZE + rb" +"
    rb"\d{1,5}(?:[.,]\d)? +\d{1,3}(?:[.,]\d)? +\d{1,9}:\d\d(?:[.:]\d\d)? +[DIRSTtXZ] +\S.*"
)
SET_NAMES = b"PID USER PR NI VIRT RES %CPU %MEM TIME+ S COMMAND".split()
BSD_ROW = re.compile(
    rb"\d{1,10} +\S{1,32} +\d{1,5} +-?\d{1,3} +-?\d{1,3}" + 2 * _TOP_SIZE + rb" +[A-Za-z]\S{0,9}"
    rb" +\d{1,4} +\d+:\d\d +\d{1,5}\.\d\d% +\S.*"
)
# A row of ps -eo pid,lwp,cls,rtprio,stat,vsz,rss,comm.
CLASS_ROW = re.compile(
    rb"\d{1,10} +\d{1,10} +(?:TS|FF|RR|B|IDL|DLN) +(?:-|\d{1,3}) +[DIRSTtWXZ][\w<+]{0,5} +\d{1,15}"
    rb" +\d{1,15} +\S.*"
)
CLASS_NAMES = b"PID LWP CLS RTPRIO STAT VSZ RSS COMMAND".split()
# A row of ps -F: the only other common form with RSS that ps prints.
FULL_ROW = re.compile(
    rb"[\w.+-]{1,32} +\d{1,10} +\d{1,10} +\d{1,3} +\d{1,15} +\d{1,15} +\d{1,5} +"
    rb"(?:\d\d:\d\d|[A-Z][a-z]{2} ?\d\d|\d{4}) +(?:\?\??|pts/\d+|tty\S{1,8}|console)"
    rb" +\d[\d:-]{3,12} +\S.*"
)
FULL_NAMES = b"UID PID PPID C SZ RSS PSR STIME TTY TIME CMD".split()
BSD_NAMES = b"PID USERNAME THR PRI NICE VIRT RES STATE C TIME WCPU COMMAND".split()
HEADLESS = (
    (AUX, AUX_NAMES), (TOP_ROW, TOP_NAMES), (SET_ROW, SET_NAMES), (BSD_ROW, BSD_NAMES),
    (CLASS_ROW, CLASS_NAMES), (FULL_ROW, FULL_NAMES),
)  # fmt: skip
