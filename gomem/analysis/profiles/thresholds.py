"""The bounds between the classes of object lifetimes, and why."""

# What lives longer has outlived the computation that made it: a buffer, a decoded message.
SHORT_LIVED_SECONDS = 0.1
# The usual timeout of an HTTP server or client: what lives longer belongs to no single request.
REQUEST_LIVED_SECONDS = 30.0
# Share of what a site allocated over the watch that may be freed at most, where it keeps for ever:
# with more, most of it goes again, and the site is a cache or a queue.
MAX_FREED_BY_KEEPERS = 0.5
# Share of all allocation from which a pool is worth its code: below, not even removing the site
# would be seen in the number of collections.
MIN_POOLED_SHARE = 0.05
# GCs between two profiles from which on what was allocated between them is a rate: the ages of the
# two can differ by one GC, so of two GCs that is half.
MIN_COLLECTIONS_OF_A_RATE = 3
