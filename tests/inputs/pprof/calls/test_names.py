"""What a place without a name of its own is called, in pprof's order and form."""

import pytest

from gomem.inputs.pprof.calls.names import base_name, module_of, printable_name, shown_name

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


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ns::f(int)", "ns::f"),
        ("std::vector<int>::at(long)", "std::vector::at"),
        ("main.(*T).get", "main.(*T).get"),
        ("runtime/debug.f", "runtime/debug.f"),
    ],
)
def test_a_name_of_cpp_loses_its_parameters(name, shown):
    assert shown == shown_name(name, name)


@pytest.mark.parametrize(
    ("package", "module"),
    [
        ("github.com/a/b/c/d", "github.com/a/b"),
        ("gitlab.com/a/b/c/d", "gitlab.com/a/b"),
        ("bitbucket.org/a/b/c/d", "bitbucket.org/a/b"),
        ("golang.org/x/net/http2", "golang.org/x/net"),
        ("google.golang.org/grpc/codes", "google.golang.org/grpc"),
        ("go.uber.org/zap/zapcore", "go.uber.org/zap"),
        ("k8s.io/api/core/v1", "k8s.io/api"),
        ("github.com/a/b/v2/c", "github.com/a/b/v2"),
        ("example.com/a/b/c", "example.com/a/b/c"),
        ("net/http", "std"),
        ("main", "main"),
    ],
)
def test_a_module_is_told_from_its_host(package, module):
    assert module == module_of(f"{package}.F", "")
