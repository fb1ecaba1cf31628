"""Many threads are said beside RSS."""

import pytest

import gomem
from gomem.text import Count


@pytest.mark.parametrize(("threads", "said"), [(497, [497]), (12, [])])
def test_many_threads_are_said_beside_rss(threads, said, tmp_path):
    status = f"Name:\tapp\nVmRSS:\t16000 kB\nRssAnon:\t9000 kB\nThreads:\t{threads}\n"
    (tmp_path / "status").write_text(status)

    whose = gomem.diagnose(tmp_path).verdict.whose

    counts = [
        part for words in whose for part in getattr(words, "parts", ()) if type(part) is Count
    ]
    assert said == [part.value for part in counts]
