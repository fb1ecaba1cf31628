"""How well a replay must predict its own log, and why."""

# Largest relative error of a back-test, in GC rate, GC CPU or peak heap. Logs of a steady load stay
# below it, even with 8 GCs; if the live heap grows or the load changes, one error is larger.
MAX_REPLAY_ERROR = 0.3
