"""How functions, files and packages of a profile are called: as `go tool pprof` calls them."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

STANDARD_LIBRARY = "std"
TOOLCHAIN = "golang.org/toolchain"  # the module that a Go release is; its packages are std's
CGO_STUB = "._Cfunc_"  # what cgo writes into the package that calls C
NO_PACKAGE = "<no package>"  # C functions and others whose name has none


# What Go's own import paths begin with: the folders of GOROOT/src, of all releases.
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
_ESCAPED = re.compile("!([a-z])")  # how the module cache writes a capital letter
_MAJOR_VERSION = re.compile(r"v[0-9]+")
_REPOSITORY_ELEMENTS = {
    **dict.fromkeys(("github.com", "gitlab.com", "bitbucket.org", "golang.org"), 2),
    **dict.fromkeys(("google.golang.org", "go.uber.org", "k8s.io", "gopkg.in"), 1),
}


@lru_cache(maxsize=1 << 16)
def shown_name(name: str, system_name: str) -> str:
    """A function's name as pprof shows it."""
    # pprof takes a name that its producer has left as it was in the binary for C++ if it looks so:
    # it drops parameters in `()` and `<>`. Go's names pass as they are, except where such a pair
    # stands in one without a method's receiver. Mangled names stay as they are.
    if name and system_name != name:
        return name
    text = system_name
    if ".<" in text or "])." in text:
        return text
    if "::" in text or not set("<>[]").isdisjoint(text):
        return _without_pairs(_without_pairs(text, "(", ")"), "<", ">")
    return text


def _without_pairs(text: str, opening: str, closing: str) -> str:
    """Drop what stands between outermost brackets, with them, up to one that has no partner."""
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
    """The shortest path to the same file: without `.`, `..` and doubled slashes."""
    if not path:
        return path
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned


def base_name(path: str) -> str:
    """The last element of a path."""
    stripped = path.rstrip("/")
    return stripped.rpartition("/")[2] if stripped else "/"


@lru_cache(maxsize=1 << 16)
def package_of(function: str) -> str:
    """The import path of the package that a Go function belongs to."""
    # The package ends at the first dot after the last slash, and neither a type argument's slash
    # nor its dot counts: `example.com/m/pkg.Map[go.shape.int].func1` is of `example.com/m/pkg`.
    # Dots of the path's last element are written `%2e` in symbol names.
    plain = function.partition("[")[0].partition("(")[0]
    slash = plain.rfind("/") + 1
    dot = plain.find(".", slash)
    if dot < 0:
        return NO_PACKAGE
    return plain[:dot].replace("%2e", ".") or NO_PACKAGE


@lru_cache(maxsize=1 << 16)
def module_of(function: str, file: str) -> str:
    """The module that a Go function belongs to, as far as its name and file tell."""
    # The path of a file in the module cache, or in a build with -trimpath, names the module before
    # its version. Else it is the standard library if its import path begins without a host name,
    # and otherwise what the host is known to take for a repository; of an unknown host, the
    # package.
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


def in_standard_library(function: str) -> bool:
    """Whether a function is of Go's own library, as far as its name tells."""
    # The path's first element decides: a program's own module may be called without a dot, too.
    return package_of(function).partition("/")[0] in _STANDARD


def can_be_mended(function: str) -> bool:
    """Whether somebody wrote a function who is not Go: it is named, no stub of cgo, none of std."""
    return bool(function) and CGO_STUB not in function and not in_standard_library(function)


def of_others(functions: Sequence[str], files: Sequence[str]) -> frozenset[str]:
    """The functions of a profile that are of modules of others, as far as the file of each tells.

    Such a file lies in the module cache, has module and version in its path where the program was
    built with -trimpath, or lies under `vendor`. A program that `go install` built lies in the
    cache itself: its own module is main's.
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
    """The module that the path of a file names; empty if it names none."""
    cached = _MODULE_IN_PATH.search(file)
    if cached and cached[1] != TOOLCHAIN:
        return cached[1]
    return file.rpartition("/vendor/")[2] if "/vendor/" in file else ""


def own_function(functions: Sequence[str], others: Collection[str] = ()) -> str:
    """Of a stack, innermost first, the program's own innermost function: none of `of_others`."""
    # Where none is the program's own, as in a goroutine that a library started, it is the innermost
    # that is not of Go's library; empty if all are.
    outside = [name for name in functions if can_be_mended(name)]
    return next((name for name in outside if name not in others), next(iter(outside), ""))


def printable_name(address: int, name: str, file: str, line: int, column: int, binary: str) -> str:  # noqa: PLR0917 - as in keys
    """The parts of a place that are known, in pprof's order and form; 0 and empty are unknown."""
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
