"""Names that a redacted output shows as what they are of and a number, such as `build-2`.

They tell things apart, and a reader needs to know which is which, but not what they are called.
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
    """A name that a redacted output shows as what it is of and a number: `build-2`."""

    __slots__ = ()
    word: ClassVar[str] = "name"


class Collected(Numbered):
    """One of many captures."""

    __slots__ = ()
    word = "capture"


class Instance(Numbered):
    """A pod, a host or a process among others."""

    __slots__ = ()
    word = "instance"


class Service(Numbered):
    """The program that instances run, as their labels call it."""

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


class Label(Numbered):
    """A key or a value by which somebody tells things apart; a metric's name."""

    __slots__ = ()
    word = "label"


class Value(Numbered):
    """What a variable of the runtime or the build is set to."""

    __slots__ = ()
    word = "value"


class Unit(Numbered):
    """The unit of a benchmark, which it may have made up."""

    __slots__ = ()
    word = "unit"


class Metric(Numbered):
    """What is measured and compared: a benchmark, a level, and a budget on one or on a unit."""

    __slots__ = ()
    word = "case"


# What a column of text can hold, by name.
KINDS: dict[str, type[Text]] = {
    kind.__name__: kind
    for kind in (
        Text, Words, Quoted, Function, Program, File, Mapped, MomentName, CaptureName, Collected,
        Instance, Service, Build, Module, Label, Value, Unit, Metric,
    )
}  # fmt: skip
