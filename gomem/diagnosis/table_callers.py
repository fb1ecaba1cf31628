"""The functions above the largest rows of a table of `go tool pprof`, by their cum values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.diagnosis.table_waits import least_telling
from gomem.facts.goroutines import GOROUTINE
from gomem.inputs.pprof.calls.names import STARTS, can_be_mended, of_the_runtime, package_of
from gomem.text import Function, Share, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.inputs.pprof.calls.nodes import Top
    from gomem.inputs.pprof.table import Profile

NAMED = 3  # functions and roots
WORTH_NAMING = 0.05  # of the total
MOSTLY, NEARLY = 0.5, 0.9  # of the total


def own_words(top: Top, total: int, is_by_cum: bool) -> list[Text]:
    """The program's own function with the smallest cum above `MOSTLY` of the total.

    In a table sorted by cum, the one with the largest cum.
    """
    cums = zip(top.function, top.cum.tolist(), strict=True)
    own = [(cum, name) for name, cum in cums if can_be_mended(name) and name not in STARTS]
    worth = [pair for pair in own if pair[0] > MOSTLY * total]
    most = max(own, default=(0, ""))
    cum, name = most if is_by_cum else min(worth, default=most)
    if cum < WORTH_NAMING * total:
        return []
    return [text("{} and its callees have {}.", Function(name), Share(cum / total))]


def by_cum_words(profile: Profile, kind: str, flat: Mapping[str, int]) -> list[Text]:
    """Of a table sorted by cum, the largest rows with their callees, one of each type or package.

    Empty for a table in the order of flat, whose largest rows are the first.
    """
    assert profile.printed is not None
    printed, total = profile.printed.cum.get(kind, {}), profile.total(kind)
    cum = {name: size for name, size in printed.items() if name in flat}
    is_sorted = list(cum.values()) == sorted(cum.values(), reverse=True)
    has_flat = any(flat.values())
    is_by_flat = not cum or (has_flat and flat[next(iter(cum))] == max(flat.values()))
    if kind == GOROUTINE or not is_sorted or is_by_flat:
        return []
    worth = [name for name, size in cum.items() if size >= WORTH_NAMING * total]
    own = [name for name in worth if can_be_mended(name) and name not in STARTS]
    if not (own or has_flat):  # only functions of libraries, which call others
        own = [name for name in worth if not of_the_runtime(name) and name not in STARTS]
    owners: dict[str, Text] = {}
    for name in own:
        owner = name.rpartition(".")[0]
        owners.setdefault(owner, text("{} ({})", Function(name), Share(cum[name] / total)))
    if not owners or (has_flat and len(owners) < 2):
        return []  # the sentence on one function says it
    words = "With {} callees, {} {} most."
    its, have = ("their", "have") if len(owners) > 1 else ("its", "has")
    return [text(words, its, joined(", ", list(owners.values())[:NAMED]), have)]


def stack_words(top: Top, total: int) -> list[Text]:
    """What most goroutines have on their stacks, one function of each package."""
    cums = sorted(zip(top.cum.tolist(), top.function, strict=True), reverse=True)
    least = max(WORTH_NAMING * total, least_telling(top, total))
    packages: dict[str, Text] = {}
    for cum, name in cums:
        if cum >= least and (package := package_of(name)) not in {"runtime", *packages}:
            packages[package] = text("{} ({})", Function(name), Share(cum / total))
    named = joined(", ", list(packages.values())[:NAMED])
    return [text("Their stacks contain {}.", named)] if packages else []
