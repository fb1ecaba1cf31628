"""Idle heap that Go keeps is told beside RSS, where a text has the two fields of it."""

import gomem


def test_idle_heap_that_is_not_returned_is_told_beside_rss(tmp_path):
    fields = "HeapAlloc=54995720 HeapIdle=148578304 HeapInuse=56057856 HeapReleased=41345024"
    row = "  PID USER     %MEM    VSZ   RSS COMMAND\n 2916 api       0.5 1879864 134992 /srv/api\n"
    path = tmp_path / "chat.txt"
    path.write_text(f"The peak is over, and it keeps the memory:\n{fields}\n```\n{row}```\n")

    said = " ".join(map(str, gomem.diagnose(path).verdict.whose)).replace("\u202f", " ")

    assert "142 MiB of the heap is idle; 102 MiB of that is not returned to the OS." in said
