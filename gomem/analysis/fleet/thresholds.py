"""Every threshold for comparing instances of a fleet."""

from __future__ import annotations

from gomem.units import MIB

# A population
MIN_INSTANCES = 4  # three others have a median and a spread
MIN_OF_BUILD = 6  # instances of one build: fewer are compared with those of all builds
MAX_OUTLIERS_SHARE = 0.25  # of a population: more of them are a second kind, not outliers
# An outlier
MIN_DISTANCE = 6.0  # spreads: normally distributed values are never so far off
MIN_TIMES = 2.0  # times the typical value: less is normal variation between instances
MIN_SPREAD = 0.1  # of the median: nearly equal values have hardly any spread
# For sizes compared as ratios, a natural logarithm: the loads of instances differ by factors.
MIN_LOG_SPREAD = 0.1
# Smaller differences do not matter, whatever the spread.
MIN_DIFFERENCE = {
    "count": 100.0,
    "B": 8.0 * MIB,
    "fraction": 0.05,
    "s": 0.01,
    "B/s": 64.0 * MIB,
    "Hz": 5.0,
}
MIN_THREADS = 32.0  # each has a C stack and a kernel stack
MIN_GCS = 20  # for a rate of an outlier: a start-up's few are not representative
MIN_COUNT_TIMES = 10.0  # for a count: then other rises are attributed to what is counted
MIN_SAME_SETTING = 0.9  # of the others have the same setting, for another value to be unusual
RANKED_LIKE_ALL_CPU = 640.0 * MIB  # so that 64 MiB rank equal to a tenth of the CPU
# Over time
MIN_CAPTURES = 6  # per instance, for a slope
MIN_DRIFT = 0.2  # of the first value, over the whole time: less is no drift
MAX_POINTS = 48  # for a slope, which is the median over all pairs
# Builds
MIN_CHANGE = 0.05  # of the median: smaller differences of builds are not reported
# Near a limit
NEAR_LIMIT = 0.9  # of the limit
