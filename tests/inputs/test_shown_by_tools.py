"""What sentences say that several tools show of a container is named, and compared."""

from gomem.inputs.shown_by_tools import sizes_by_tools

LIST = (
    "Kills despite of `kubectl top pod` and `container_memory_working_set_bytes` showed ~37Mb.\n"
    '- `container_memory_working_set_bytes{{pod="api"}} / 1048576` shows **~39Mb**\n'
    "- `kubectl top po --containers=true api shows` **40Mi**\n"
    "- `docker stats` shows **{}MiB**, it looks like the truth\n"
)


def said(text):
    return f"{sizes_by_tools(text.encode())}".replace("\u202f", " ")


def test_each_tool_has_its_last_size():
    words = said(LIST.format("41.5"))

    assert "container_memory_working_set_bytes shows 39Mb, kubectl top shows 40Mi" in words
    assert "docker stats shows 41.5MiB" in words
    assert "madvdontneed" not in words


def test_what_a_working_set_leaves_out_is_said_where_it_is_most():
    assert "inactive_file, which has page cache and what Go freed" in said(LIST.format("554.1"))


def test_a_single_tool_is_compared_with_nothing():
    assert not said("`docker stats` shows **554.1MiB**\n")
    assert not said("Is there a way to see it with docker stats or kubectl top?\n")
