"""Names of functions, files, packages and modules, as `go tool pprof` shows them."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

STANDARD_LIBRARY = "std"
TOOLCHAIN = "golang.org/toolchain"  # the module of a downloaded Go release; its packages are std's
CGO_STUB = "._Cfunc_"  # in the names of the stubs that cgo writes for calls into C
# The roots of every stack of the main goroutine: they have all below them.
STARTS = frozenset({"main.main", "runtime.main", "runtime.goexit"})
NO_PACKAGE = "<no package>"  # of functions without a package, such as C functions


# Packages whose frames are the runtime's own; up to Go 1.4 C functions were written `runtime·park`.
_RUNTIME = ("runtime.", "runtime\u00b7", "internal/runtime/", "runtime/internal/")

# First elements of the standard library's import paths: folders of GOROOT/src in all releases.
# fmt: off
_STANDARD = frozenset({
    "archive", "arena", "bufio", "builtin", "bytes", "cmp", "compress", "container", "context",
    "crypto", "database", "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go",
    "hash", "html", "image", "index", "internal", "io", "iter", "log", "maps", "math", "mime",
    "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "simd", "slices", "sort",
    "strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "type:",
    "unicode", "unique", "unsafe", "vendor", "weak",
})
# fmt: on
_MODULE_IN_PATH = re.compile(r"(?:.*/pkg/mod/|^(?!/))([^@]+)@v[0-9][^/]*/")
_GOROOT = re.compile(
    r"(?:/|@v0\.0\.1-)(go1\.[0-9]+(?:\.[0-9]+)?(?:rc[0-9]+|beta[0-9]+)?)(?:\.[a-z0-9]+-[a-z0-9]+)?/src/"
    # as CI services, Homebrew and version managers name it: go/1.22.0/x64/src/
    r"|/go/(1\.[0-9]+(?:\.[0-9]+)?)(?:/(?:x64|x86|arm64|libexec|go))?/src/runtime/"
)
_ESCAPED = re.compile("!([a-z])")  # a capital letter in the module cache
_MAJOR_VERSION = re.compile(r"v[0-9]+")
_REPOSITORY_ELEMENTS = {
    **dict.fromkeys(("github.com", "gitlab.com", "bitbucket.org", "golang.org"), 2),
    **dict.fromkeys(("google.golang.org", "go.uber.org", "k8s.io", "gopkg.in"), 1),
}


_SHORTENED = re.compile(r"(?:[\w./-]*/)?<[\w .-]*>/")  # a path that somebody left out of a Go name


@lru_cache(maxsize=1 << 16)
def shown_name(name: str, system_name: str) -> str:
    """Return a function's name as pprof shows it."""
    # If name and system name are the same, pprof takes names that look like C++ for C++, and drops
    # parameters in `()` and `<>`. Go names stay as they are, unless they have such brackets but no
    # method receiver. Mangled names stay as they are.
    if name and system_name != name:
        return name
    text = system_name
    if ".<" in text or "])." in text or _SHORTENED.match(text):
        return text
    if "::" in text or not set("<>[]").isdisjoint(text):
        return _without_pairs(_without_pairs(text, "(", ")"), "<", ">")
    return text


def _without_pairs(text: str, opening: str, closing: str) -> str:
    """Remove outermost brackets with their contents, up to a closing bracket without a partner."""
    kept: list[str] = []
    depth = begin = first = 0
    for place, character in enumerate(text):
        if character == opening:
            first = place if depth == 0 else first
            depth += 1
        elif character == closing:
            depth -= 1
            if depth < 0:
                break
            if depth == 0:
                kept.append(text[begin:first])
                begin = place + 1
    return "".join(kept) + text[begin:]


@lru_cache(maxsize=1 << 16)
def clean_path(path: str) -> str:
    """Return the shortest path to the same file: without `.`, `..` and doubled slashes."""
    if not path:
        return path
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned


def base_name(path: str) -> str:
    """Return the last element of a path."""
    stripped = path.rstrip("/")
    return stripped.rpartition("/")[2] if stripped else "/"


@lru_cache(maxsize=1 << 16)
def package_of(function: str) -> str:
    """Return the import path of a Go function's package."""
    # The package ends at the first dot after the last slash, not counting those in type arguments:
    # `example.com/m/pkg.Map[go.shape.int].func1` is in `example.com/m/pkg`. Dots in the path's last
    # element are written `%2e` in symbol names.
    plain = function.partition("[")[0].partition("(")[0]
    slash = plain.rfind("/") + 1
    dot = plain.find(".", slash)
    if dot < 0:
        return NO_PACKAGE
    return plain[:dot].replace("%2e", ".") or NO_PACKAGE


@lru_cache(maxsize=1 << 16)
def module_of(function: str, file: str) -> str:
    """Return a Go function's module, derived from its name and file."""
    # A file's path in the module cache, or in a build with -trimpath, names the module before its
    # version. Otherwise, an import path without a host name is the standard library's; for a known
    # host, the module is the repository; for an unknown host, the package.
    cached = _MODULE_IN_PATH.search(file)
    if cached and cached[1] != TOOLCHAIN:
        return _ESCAPED.sub(lambda letter: letter[1].upper(), cached[1])
    package = package_of(function).rpartition("/vendor/")[2]
    host, *rest = package.split("/")
    if package in ("main", NO_PACKAGE):
        return package
    if "." not in host:
        return STANDARD_LIBRARY
    count = _REPOSITORY_ELEMENTS.get(host, len(rest))
    version = rest[count : count + 1]
    if count < len(rest) and _MAJOR_VERSION.fullmatch(version[0]):
        count += 1
    return "/".join([host, *rest[:count]])


def release_in_path(text: str) -> str | None:
    """Return the Go release in the first path of the standard library; None if there is none."""
    # The library's files are below the GOROOT of the release that built the program, unless it was
    # built with -trimpath or its GOROOT has another name.
    found = _GOROOT.search(text)
    return None if found is None else found[1] or f"go{found[2]}"


def in_standard_library(function: str) -> bool:
    """Whether a function belongs to Go's standard library, by its name."""
    # The path's first element decides, because a program's own module need not have a dot either.
    return package_of(function).partition("/")[0] in _STANDARD


def of_the_runtime(function: str) -> bool:
    """Whether a frame of a goroutine's stack is the runtime's.

    A stack has no frames without a package but `panic` and, up to Go 1.4, the runtime's C functions
    (`MHeap_Grow`, `largealloc`).
    """
    return function.startswith(_RUNTIME) or package_of(function) == NO_PACKAGE


def can_be_mended(function: str) -> bool:
    """Whether a function is named and neither a cgo stub nor in the standard library."""
    return bool(function) and CGO_STUB not in function and not in_standard_library(function)


def can_be_called(function: str) -> bool:
    """Whether a function is named, and not in an internal package of the standard library."""
    is_internal = "internal" in package_of(function).split("/")
    return bool(function) and not (is_internal and in_standard_library(function))


def of_others(functions: Sequence[str], files: Sequence[str]) -> frozenset[str]:
    """Return the functions that belong to third-party modules, by the path of their file.

    Such a file is in the module cache, below `vendor`, or has module and version in its path, as in
    a build with -trimpath. A program built by `go install` is itself in the module cache: the
    module of its package main is its own.
    """
    modules = [_module_in(file) for file in files]
    own = {
        module
        for name, module in zip(functions, modules, strict=True)
        if package_of(name) == "main"
    }
    found = zip(functions, modules, strict=True)
    return frozenset(name for name, module in found if module and module not in own)


def _module_in(file: str) -> str:
    """Return the module in a file's path; empty if there is none."""
    cached = _MODULE_IN_PATH.search(file)
    if cached and cached[1] != TOOLCHAIN:
        return cached[1]
    return file.rpartition("/vendor/")[2] if "/vendor/" in file else ""


def own_function(functions: Sequence[str], others: Collection[str] = ()) -> str:
    """Return the program's own innermost function in a stack (innermost first)."""
    # If none is the program's own, as in a goroutine started by a library, return the innermost
    # function outside the standard library; empty if all are inside.
    outside = [name for name in functions if can_be_mended(name)]
    return next((name for name in outside if name not in others), next(iter(outside), ""))


def printable_name(address: int, name: str, file: str, line: int, column: int, binary: str) -> str:  # noqa: PLR0917 - as in keys
    """Join the known parts of a place in pprof's order and form; 0 and empty mean unknown."""
    parts: list[str] = []
    if address:
        parts.append(f"{address & 0xFFFF_FFFF_FFFF_FFFF:016x}")
    if name:
        parts.append(name)
    if line:
        parts.append(f"{file}:{line}:{column}" if column else f"{file}:{line}")
    elif file:
        parts.append(file)
    elif not name:
        parts.append(f"[{base_name(binary)}]" if binary else "<unknown>")
    return " ".join(parts)
