"""What a Go release keeps is said of most live bytes, without growth."""

import pytest

import gomem

FRAMES = {
    "ticker": ("time.NewTicker", "main.watch"),
    "after": ("time.NewTimer", "time.After", "main.follow"),
    "own": ("main.fill",),
}


def heap_text(frames, mib, release):
    """A heap profile in text, in which one stack has all that is in use."""
    lines = "".join(
        f"#\t0x{at:x}\t{name}+0x1\t/sdk/{release}.5/src/time/x.go:{at}\n"
        for at, name in enumerate(frames, 1)
    )
    addresses = " ".join(f"0x{at:x}" for at in range(1, len(frames) + 1))
    counts = f"{mib * 5000}: {mib << 20} [{mib * 5000}: {mib << 20}]"
    return f"heap profile: {counts} @ heap/1048576\n{counts} @ {addresses}\n{lines}\n"


@pytest.mark.parametrize(
    ("name", "mib", "release", "call"),
    [
        pytest.param("ticker", 40, "go1.22", "ticker.Stop()", id="a ticker"),
        pytest.param("after", 40, "go1.22", "timer.Stop()", id="time.After, above NewTimer"),
        pytest.param("ticker", 40, "go1.23", "", id="collected since Go 1.23"),
        pytest.param("own", 40, "go1.22", "", id="memory of the program"),
    ],
)
def test_live_timers_of_an_old_release_are_told_without_growth(name, mib, release, call, tmp_path):
    (tmp_path / "heap.txt").write_text(heap_text(FRAMES[name], mib, release))
    found = gomem.diagnose(gomem.load(tmp_path, go_version=f"{release}.5"))

    said = found.verdict.sentence
    assert bool(call) == ("Check for a missing" in said)
    assert call in said
    assert (name == "after") == ("calls time.After" in said)
