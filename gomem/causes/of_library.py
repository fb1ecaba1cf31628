"""Which library allocates the growing memory, and which own function makes it do so?

A library's own goroutine has no function of the program on its stack: a reader of a connection
allocates the messages of every subscription. The program's function is the one that holds memory
below its own calls into that library.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.facts.profiles import IN_USE, that_count
from gomem.inputs.pprof.calls.names import of_others, package_of
from gomem.inputs.pprof.calls.nodes import function_files, function_names
from gomem.text import Function, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.causes.cause import Case
    from gomem.causes.finding import Site
    from gomem.facts.callers import Caller


@dataclass(frozen=True)
class Library:
    """A package of a dependency whose own code allocates the largest part.

    Attributes:
        package: Its path.
        share: The share of all its sites.
        sites: How many of its functions are sites.
        callers: The program's own functions that hold memory below a call into it, most first.
    """

    package: str
    share: float
    sites: int
    callers: tuple[Caller, ...]

    @property
    def says_more(self) -> bool:
        """Whether the package says more than its only function."""
        return bool(self.callers) or self.sites > 1

    @property
    def words(self) -> Text:
        """The package, and which function calls it: `PACKAGE, which FUNCTION calls`."""
        name = Function(self.package.replace("%2e", "."))
        if not self.callers:
            return Text(name)
        return text("{}, which {} calls", name, Function(self.callers[0].function))


def library_of(case: Case, sites: Sequence[Site]) -> Library | None:
    """Return the library of the first site; None if that is the program's own function."""
    profiles = [*that_count(IN_USE, case.facts.profiles.in_order).values()]
    if not sites or not profiles:
        return None
    columns = profiles[-1].columns
    others = of_others(function_names(columns), function_files(columns))
    if sites[0].own_function not in others:
        return None
    package = package_of(sites[0].own_function)
    same = [site.share for site in sites if package_of(site.own_function) == package]
    spelled = re.escape(package.replace("%2e", ".")).replace(r"\.", r"(?:\.|%2e)")
    holding = case.facts.callers.holding(rf"^{spelled}\.")
    callers = tuple(by for by in holding if by.function not in others)
    return Library(package, min(1.0, sum(same)), len(same), callers)
