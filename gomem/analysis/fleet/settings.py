"""In which settings does an instance differ from all others?

Only settings that a file states are compared. The Go release does not count as a setting: instances
of several releases are compared build by build; see `builds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.fleet.population import in_time
from gomem.analysis.fleet.thresholds import MIN_INSTANCES, MIN_SAME_SETTING

if TYPE_CHECKING:
    import pandas as pd

STATED = ("metrics", "environment")
COMPARED = ("GOGC", "GOMEMLIMIT", "GOMAXPROCS")


def setting_outliers(
    settings: pd.DataFrame,
) -> dict[tuple[str, str], dict[str, tuple[str, str]]]:
    """Return the unusual settings by service and instance, each with its value and the usual value.

    A value is unusual if nearly all other instances share a different value.
    """
    stated = settings["known_by"].isin(STATED) & settings["name"].isin(COMPARED)
    known = in_time(settings[stated])
    last = known.drop_duplicates(["service", "instance", "name"], keep="last")
    found: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for (service, name), rows in last.groupby(["service", "name"], sort=True):
        counts = rows["value"].value_counts()
        usual, most = str(counts.index[0]), int(counts.iloc[0])
        if len(rows) < MIN_INSTANCES or most < MIN_SAME_SETTING * (len(rows) - 1):
            continue
        for instance, value in zip(rows["instance"], rows["value"], strict=True):
            if value != usual:
                found.setdefault((str(service), str(instance)), {})[str(name)] = (value, usual)
    return found
