"""Names that redacted output replaces by a noun and a number, such as `build-2`.

A reader needs to tell the named things apart, but not to know their real names.
"""

from __future__ import annotations

from typing import ClassVar

from gomem.text import (
    CaptureName,
    File,
    Function,
    Mapped,
    MomentName,
    Name,
    Program,
    Quoted,
    Text,
    Words,
)


class Numbered(Name):
    """A name that redacted output shows as its kind and a number: `build-2`."""

    __slots__ = ()
    word: ClassVar[str] = "name"


class Collected(Numbered):
    """The name of one of many captures."""

    __slots__ = ()
    word = "capture"


class Instance(Numbered):
    """A pod, a host or a process in a group."""

    __slots__ = ()
    word = "instance"


class Service(Numbered):
    """The name of the program that several instances run, from their labels."""

    __slots__ = ()
    word = "service"


class Address(Numbered):
    """A URL, or a host."""

    __slots__ = ()
    word = "host"


class Build(Numbered):
    """A build, a version or a release."""

    __slots__ = ()
    word = "build"


class Module(Numbered):
    """The import path of a module or a package."""

    __slots__ = ()
    word = "module"


class Digest(Numbered):
    """A digest that identifies a program, a commit or a module."""

    __slots__ = ()
    word = "digest"


class Label(Numbered):
    """A label's key or value, or a metric's name."""

    __slots__ = ()
    word = "label"


class Value(Numbered):
    """The value of a runtime or build variable."""

    __slots__ = ()
    word = "value"


class Unit(Numbered):
    """The unit of a benchmark, which can be custom."""

    __slots__ = ()
    word = "unit"


class Metric(Numbered):
    """A metric that is compared: a benchmark, a level, or a budget on a metric or unit."""

    __slots__ = ()
    word = "case"


# The kinds of names that a text column can hold.
KINDS: dict[str, type[Text]] = {
    kind.__name__: kind
    for kind in (
        Text, Words, Quoted, Function, Program, File, Mapped, MomentName, CaptureName, Collected,
        Instance, Service, Build, Module, Digest, Label, Value, Unit, Metric,
    )
}  # fmt: skip
