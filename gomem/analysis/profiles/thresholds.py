"""When sites, lifetimes and rates of heap profiles say something, and why."""

# Objects that live longer have outlived the computation that made them: a buffer, a decoded
# message.
SHORT_LIVED_SECONDS = 0.1
# The usual timeout of an HTTP server or client: longer-lived objects belong to no single request.
REQUEST_LIVED_SECONDS = 30.0
# The maximum freed share of a site's allocation, if the site retains it forever: with more, most is
# freed later, and the site is a cache or a queue.
MAX_FREED_BY_KEEPERS = 0.5
# Minimum share of all allocation for which a pool is worth its code: below, even removing the site
# would not noticeably change the number of collections.
MIN_POOLED_SHARE = 0.05
# Minimum share of all allocated bytes that a profile must cover to be compared with another: any
# site can have allocated what is missing.
MIN_COVERED_SHARE = 0.75
# GCs between two profiles that are enough for a rate: the ages of the two can differ by one GC,
# which would be half of two GCs.
MIN_COLLECTIONS_OF_A_RATE = 3
