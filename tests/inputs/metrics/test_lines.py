"""runtime/metrics as lines of a name and a value."""

import math

import pytest

from gomem.inputs.kinds import kind_of
from gomem.inputs.metrics.table import read_metrics

LINES = """/gc/finalizers/executed:finalizers 240
/gc/finalizers/queued:finalizers 3873
/gc/gomemlimit:bytes 9223372036854775807
/gc/heap/live:bytes 15017048
/sched/latencies:seconds &{[0 1] [0 1 2]}
"""


@pytest.mark.parametrize("separator", [" ", "\t", "=", ": "])
def test_lines_are_read(separator):
    data = "\n".join(line.replace(" ", separator, 1) for line in LINES.split("\n")).encode()

    values = read_metrics(data).values

    assert "metrics" == kind_of(data, "dump").name
    found = dict(zip(values["name"], values["value"], strict=True))
    assert 3873 == found["/gc/finalizers/queued:finalizers"]
    assert math.isinf(found["/gc/gomemlimit:bytes"])
    assert 4 == len(found)


def test_a_name_that_occurs_again_begins_a_reading():
    values = read_metrics((LINES + LINES.replace("3873", "4000")).encode()).values

    queued = values[values["name"] == "/gc/finalizers/queued:finalizers"]
    assert [(0, 3873.0), (1, 4000.0)] == list(zip(queued["reading"], queued["value"], strict=True))


def test_a_log_with_some_such_lines_is_no_dump():
    assert kind_of((LINES + "served 5 requests\n" * 5).encode(), "x") is None
