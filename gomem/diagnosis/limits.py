"""How far is a capture from its limits? The facts of its snapshots, combined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.cgroup import CgroupUse, first_known
from gomem.facts.moment import MomentFacts, growth_to_limit
from gomem.inputs.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.analysis.memory.limits import AddressSpace, LimitAdvice, TimeToLimit, WorstCase


@dataclass(frozen=True, repr=False)
class Limits(Answer):
    """How far a capture's last moment is from its limits.

    Attributes:
        moment: The last moment.
        worst: RSS by moment if all mapped memory were resident.
        cgroup: Usage of the cgroup; None without its files.
        growth: When the limit will be reached; None without a limit, or with fewer than three
            moments.
        bounded: Whether only garbage grew, which the heap goal bounds; then there is no time to
        the limit.
        advice: A GOMEMLIMIT for the cgroup's limit; None without a limit.
        gomemlimit_bytes: The GOMEMLIMIT that is set; None if unset or unknown.
        address_space: Mapped memory and the process's own limit (ulimit -v); None without a limit.
        limit_hits: How often the limit was reached until the first and until the last moment; both
            0 if unknown.
    """

    moment: str
    worst: Mapping[str, WorstCase]
    cgroup: CgroupUse | None
    growth: TimeToLimit | None
    bounded: bool
    advice: LimitAdvice | None
    gomemlimit_bytes: int | None
    address_space: AddressSpace | None
    limit_hits: tuple[int, int] = (0, 0)

    @property
    def is_reached(self) -> bool:
        """Whether the cgroup reached its limit during the capture, so that the kernel reclaims."""
        first, last = self.limit_hits
        return last > first


def limits_of(moments: Sequence[MomentFacts], *, bounded: bool = False) -> Limits | None:
    """Return the limits of a capture; None if no moment has the required data."""
    worst = {moment.name: moment.worst_case for moment in moments if moment.worst_case is not None}
    telling = [
        moment
        for moment in moments
        if moment.worst_case or moment.cgroup_use or moment.address_space
    ]
    if not telling:
        return None
    last = telling[-1]
    return Limits(
        moment=last.name,
        worst=worst,
        cgroup=last.cgroup_use,
        growth=growth_to_limit(moments, last.cgroup_use),
        bounded=bounded,
        advice=last.limit_advice,
        gomemlimit_bytes=last.gomemlimit_bytes,
        address_space=last.address_space,
        limit_hits=_limit_hits(moments),
    )


def _limit_hits(moments: Sequence[MomentFacts]) -> tuple[int, int]:
    counts = (first_known(moment.cgroup, "memory.failcnt", "max") for moment in moments)
    known = [count for count in counts if count is not None]
    return (known[0], known[-1]) if known else (0, 0)
