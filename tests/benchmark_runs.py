"""Seconds an operation, of ten runs a side of two benchmarks with and without a sync.Pool.

They are real: `go test -bench . -benchmem -count 10` under Go 1.26.
"""

REQUEST_BEFORE = [153.3, 161.9, 195.5, 238.2, 203.2, 196.9, 199.2, 208.0, 185.1, 178.7]
REQUEST_AFTER = [13.9, 14.17, 14.07, 13.96, 13.42, 14.2, 15.51, 13.76, 13.6, 13.68]
IDLE_BEFORE = [0.2565, 0.2377, 0.2362, 0.2363, 0.2363, 0.2363, 0.2352, 0.2367, 0.2358, 0.2372]
IDLE_AFTER = [0.2884, 0.2362, 0.2725, 0.238, 0.2373, 0.2381, 0.2362, 0.2347, 0.2349, 0.2367]
