"""What a place without a name of its own is called, in pprof's order and form."""

import pytest

from gomem.inputs.pprof.calls.names import base_name, printable_name

NOTHING = {"address": 0, "name": "", "file": "", "line": 0, "column": 0, "binary": ""}


@pytest.mark.parametrize(
    ("known", "printed"),
    [
        ({}, "<unknown>"),
        ({"binary": "/usr/bin/app"}, "[app]"),
        ({"binary": "/"}, "[/]"),
        ({"file": "/a.go", "binary": "/app"}, "/a.go"),
        ({"name": "main.f", "binary": "/app"}, "main.f"),
        ({"name": "main.f", "file": "/a.go"}, "main.f /a.go"),
        ({"name": "main.f", "file": "/a.go", "line": 7}, "main.f /a.go:7"),
        ({"file": "/a.go", "line": 7, "column": 3}, "/a.go:7:3"),
        ({"address": 0x4F, "binary": "/app"}, "000000000000004f [app]"),
        ({"address": 1 << 63, "name": "f", "line": 2}, "8000000000000000 f :2"),
    ],
)
def test_the_known_parts_of_a_place(known, printed):
    assert printed == printable_name(**NOTHING | known)


@pytest.mark.parametrize(
    ("path", "last"), [("/usr/bin/app", "app"), ("/usr/bin/", "bin"), ("app", "app"), ("//", "/")]
)
def test_the_last_element_of_a_path(path, last):
    assert last == base_name(path)
