"""How many threads there are, by the stacks that C made for them."""

import pandas as pd
import pytest

from gomem.analysis.mappings.native import stacks_of_threads


@pytest.mark.parametrize(
    ("perms", "count"),
    [(["rw-p"], None), (["rw-p", "---p", "rw-p", "---p", "rw-p"], 3)],
)
def test_a_guard_is_no_stack_and_the_first_thread_alone_says_nothing(perms, count):
    kinds = ["thread-stack"] * len(perms)
    mappings = pd.DataFrame({"kind": [*kinds, "library"], "perms": [*perms, "rw-p"]})

    assert count == stacks_of_threads(mappings)
