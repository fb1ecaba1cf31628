"""RSS that rises far above any heap of the GC log is outside Go's heap."""

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose

GC = (
    "gc {n} @{at:.3f}s 1%: 0.11+0.98+0.005 ms clock, 0.23+0.24/0.63/0.41+0.043 ms cpu, "
    "{size}->{size}->19 MB, {size} MB goal, 0 MB stacks, 0 MB globals, 8 P\n"
)


def found(tmp_path, *, first, heap, sizes):
    rows = "".join(f"25700 {size << 10} 1635780 api\n" for size in sizes)
    log = "".join(GC.format(n=n, at=3.5 * n, size=heap) for n in range(first, first + 6))
    ps = f"  PID   RSS    VSZ COMMAND\n{rows}"
    text = f"what ps says of it all along:\n\n{ps}\nand gctrace:\n\n{log}"
    (tmp_path / "ticket.txt").write_text(text)
    return {each.code: each for each in diagnose(load(tmp_path)).findings}


@pytest.mark.parametrize("first", [1, 34])
def test_a_steady_rise_beyond_the_largest_heap_is_a_warning(first, tmp_path):
    findings = found(tmp_path, first=first, heap=39, sizes=range(50, 300, 25))

    native = findings["native-memory"]
    assert "possible" == native.confidence
    assert "178 MiB of the 225 MiB rise in RSS" in native.title
    assert "39 MiB" in native.title


@pytest.mark.parametrize(
    ("first", "heap", "sizes"),
    [
        pytest.param(1, 200, range(50, 300, 25), id="a heap that can have it"),
        pytest.param(34, 39, [50, 150, *[290] * 8], id="a rise before the log begins"),
        pytest.param(1, 39, [290] * 9, id="no rise"),
    ],
)
def test_what_a_heap_can_explain_is_none(first, heap, sizes, tmp_path):
    assert "native-memory" not in found(tmp_path, first=first, heap=heap, sizes=sizes)
