"""The account in JSON: changes between the first and the last moment, and observations."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from gomem.analysis.memory.account import QUANTITIES, Account, Part
from gomem.analysis.memory.mapped import MAPPED, THREADS
from gomem.analysis.series.shapes import SHAPES
from gomem.diagnosis.holders import Holder, holders_of
from gomem.diagnosis.observations import Observation
from gomem.text import File, Function
from gomem.views.json.table import (
    TEXT_OR_NULL,
    Key,
    inner,
    moment,
    of_class,
    plain,
    words,
    words_or_null,
)

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis


class Told(NamedTuple):
    """A part of the account, with its diagnosis."""

    part: Part
    diagnosis: Diagnosis

    @property
    def account(self) -> Account:
        """The account that has the part."""
        account = self.diagnosis.facts.account
        assert account is not None
        return account

    @property
    def holders(self) -> tuple[Holder, ...]:
        """What retains it."""
        return holders_of(self.part, self.diagnosis.case)

    @property
    def assumption(self) -> str | None:
        """The assumption behind the likely bounds."""
        return self.account.first.assumption or self.account.last.assumption or None

    @property
    def shape(self) -> str | None:
        """The shape of the series over all moments; null for too few moments."""
        rise = self.account.rise(self.part.groups)
        return None if rise is None else rise.shape


def _parts(diagnosis: Diagnosis) -> list[Told]:
    account = diagnosis.facts.account
    assert account is not None
    return [Told(part, diagnosis) for part in account.parts]


def _seconds(diagnosis: Diagnosis) -> float | None:
    account = diagnosis.facts.account
    assert account is not None
    first, last = account.first.seconds, account.last.seconds
    return None if first is None or last is None else last - first


def _whole(size: float) -> int | None:
    return None if math.isnan(size) else round(size)


def _name(holder: Holder) -> str:
    """The holder's name; redaction hides names of files, but not of kinds and functions."""
    is_file = holder.name.startswith("/") and holder.name not in (THREADS, MAPPED)
    return File(holder.name) if is_file else holder.name


def _bounds(of: str, at: str, means: str, unit: str = "B") -> tuple[Key, Key]:
    """Keys of an interval in whole bytes: `of_low` and `of_high`."""
    low, high = attrgetter(f"{at}low"), attrgetter(f"{at}high")
    prefix = f"{of}_" if of else ""
    return (
        plain(
            f"{prefix}low", "int64", unit, f"{means}: lower bound.", lambda part: round(low(part))
        ),
        plain(
            f"{prefix}high", "int64", unit, "The same: upper bound.", lambda part: round(high(part))
        ),
    )


ACCOUNT = inner(
    "account", "Memory by owner, and its changes; null if no snapshot has a size.",
    plain("quantity", "str", "",
          "The total of the parts: RSS, memory reserved by Go, or memory in use.",
          "facts.account.quantity", **words(QUANTITIES)),
    moment("from", "First snapshot with the size of the process.",
           "facts.account.first.moment"),
    moment("to", "Last snapshot with the size of the process.", "facts.account.last.moment"),
    plain("seconds", "float64", "s", "Time between the two; null if unknown.", _seconds),
    plain("change_bytes", "int64", "B", "Change of the total.",
          "facts.account.change_bytes"),
    inner(
        "parts", "Parts, in the finest detail that both snapshots have.",
        plain("group", "str", "", "Groups of memory that are reported together, joined by `+`.",
              lambda told: "+".join(sorted(told.part.groups))),
        *_bounds("from", "part.before.", "Value at the first snapshot"),
        *_bounds("to", "part.after.", "Value at the last snapshot"),
        *_bounds("change", "part.change.", "Change, as a 95 % interval"),
        *_bounds("change_certain", "part.certain.", "Change, as certain bounds"),
        *of_class(Told, "assumption shape", shape=words_or_null(SHAPES)),
        inner(
            "holders", "Holders, the largest first.",
            plain("name", "str", "", "A function, a kind of mapping, or a file.", _name),
            plain("own_function", "str", "",
                  "The program's own function to look at; null if unknown.",
                  lambda holder: (None if holder.own_function is None
                                  else Function(holder.own_function)),
                  **TEXT_OR_NULL),
            plain("low", "Int64", "B", "Lower bound of the change; null if unknown.",
                  lambda holder: _whole(holder.low)),
            plain("high", "Int64", "B", "The same: upper bound.",
                  lambda holder: _whole(holder.high)),
            many=True,
        ),
        get=_parts, many=True,
    ),
    inner(
        "observations", "Observations, whether or not anything is wrong.",
        *of_class(Observation, "sentence group"),
        *_bounds("change", "change_", "Change, in bytes or goroutines", ""),
        plain("shape", "str", "", "Shape of the change; null for too few snapshots.",
              lambda observation: observation.shape or None, **words_or_null(SHAPES)),
        moment("moment", "Last snapshot that shows the change.", nullable=True), many=True,
    ),
    get=lambda diagnosis: None if diagnosis.facts.account is None else diagnosis, nullable=True,
)  # fmt: skip
