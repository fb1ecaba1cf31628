r"""The Go runtime's variables (GOGC, GOMEMLIMIT, …) that a container's description sets.

Printed by    YAML                 env: / - name: GOGC / value: "50"
              JSON                 {"name": "GOGC", "value": "50"}
              kubectl describe     Environment: / GOGC:  50
              compose              environment: / GOGC: "50", or - GOGC=50
              docker inspect       "Env": ["GOGC=50", "PATH=/bin"]
Quirks        The image can set further variables, so one without a line is unknown, not unset.
              If several containers are described, nothing says which of them the log and the heap
              profile come from.
Secrets       All other variables are dropped while reading, as in `environ.parse`.
"""

from __future__ import annotations

import re

from gomem.inputs.environ.parse import KEPT, MAX_TEXT_BYTES

_NAME = "(" + "|".join(KEPT) + ")"
_WORD = rb"[\"']?([\w.=,+-]{1,200})[\"']?[ \t]*,?[ \t]*\r?$"
_NAMES = _NAME.encode()
_THEN_VALUE = rb"[\"']?\s{1,80}?value:[ \t]*" + _WORD
_FORMS = (  # of a name and its value
    re.compile(rb"^[ \t-]*name:[ \t]*[\"']?" + _NAMES + _THEN_VALUE, re.MULTILINE),
    re.compile(rb"\{\s*\"name\":\s*\"" + _NAMES + rb"\",\s*\"value\":\s*\"([^\"\\]{1,200})\""),
    re.compile(rb"^[ \t]+[\"']?" + _NAMES + rb"[\"']?:[ \t]+" + _WORD, re.MULTILINE),
    re.compile(rb"^[ \t]+-[ \t]*[\"']?" + _NAMES + rb"=" + _WORD, re.MULTILINE),
    re.compile(rb"(?<=[\[,\s])[\"']" + _NAMES + rb"=([^\"'\\]{1,200})[\"'](?=\s*[,\]])"),
)  # fmt: skip
_LIST = re.compile(
    rb"(?:^|[{,])[ \t-]*[\"']?(?:[Ee]nv|[Ee]nvironment)[\"']?:(?![^\s\[])", re.MULTILINE
)
_IMAGE = re.compile(rb"[\"']?\b[iI]mage[\"']?:[ \t]*[\"']?(?!sha256:)(?:[\w.:-]+/)*([\w.@:-]+)")


def container_settings(data: bytes) -> dict[str, str]:
    """Return the runtime's variables in a description of one container, by name.

    A variable with two values is left out; so are all of a text that has several images.
    """
    if len(data) > MAX_TEXT_BYTES or b"\0" in data or _LIST.search(data) is None:
        return {}
    if len({*_IMAGE.findall(data)}) > 1:
        return {}
    found: dict[str, set[str]] = {}
    for form in _FORMS:
        for name, value in form.findall(data):
            found.setdefault(name.decode(), set()).add(value.decode("utf-8", "backslashreplace"))
    return {name: values.pop() for name, values in found.items() if len(values) == 1}
