"""Every judgement about a fleet: from where on an instance differs from the others."""

from __future__ import annotations

from gomem.units import MIB

# A population
MIN_INSTANCES = 4  # three others have a middle and a spread
MIN_OF_BUILD = 6  # instances of one build: fewer are compared with those of all builds
MAX_OUTLIERS_SHARE = 0.25  # of a population: more of them are a second kind, and no outliers
# An outlier
MIN_DISTANCE = 6.0  # spreads: of a hundred thousand normal values not one lies so far
MIN_TIMES = 2.0  # what is typical: less is within what instances differ by
MIN_SPREAD = 0.1  # of the median: nearly equal values have hardly any spread of their own
# Of sizes compared as multiples, as a natural logarithm: loads of instances differ by factors.
MIN_LOG_SPREAD = 0.1
# A smaller difference is nobody's concern, whatever the spread.
MIN_DIFFERENCE = {
    "count": 100.0,
    "B": 8.0 * MIB,
    "fraction": 0.05,
    "s": 0.01,
    "B/s": 64.0 * MIB,
    "Hz": 5.0,
}
MIN_THREADS = 32.0  # each has a stack of C's, and the kernel's own
MIN_GCS = 20  # of an outlier's rate: a start-up's few say nothing of the rest
MIN_COUNT_TIMES = 10.0  # of a count: then what else rises comes with what is counted
MIN_SAME_SETTING = 0.9  # of the others have a setting, for another value to be unlike them
RANKED_LIKE_ALL_CPU = 640.0 * MIB  # so that 64 MiB rank with a tenth of the CPU
# Over time
MIN_CAPTURES = 6  # of an instance, for a slope
MIN_DRIFT = 0.2  # of the first value, over all the time: less is no drift
MAX_POINTS = 48  # of a slope: it is the median of all pairs
# Builds
MIN_CHANGE = 0.05  # of the median: a smaller difference of builds is not named
# Near a limit
NEAR_LIMIT = 0.9  # of it
