"""A log that grows is taken along line by line, also when it is cut, replaced or begun before."""

from gomem.live import session as gctrace_tail
from gomem.live.session import LogTail


def taken(tail):
    return b"".join(tail.new())


def test_whole_lines_as_they_come(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"one\ntw")
    tail = LogTail(log)

    assert b"one\n" == taken(tail)
    log.write_bytes(b"one\ntwo\n")
    assert b"two\n" == taken(tail)
    assert b"" == taken(tail)


def test_a_log_that_was_cut_begins_anew(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"one\ntwo\n")
    tail = LogTail(log)
    taken(tail)

    log.write_bytes(b"new\n")

    assert b"new\n" == taken(tail)


def test_a_log_that_was_replaced_begins_anew(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"one\n")
    tail = LogTail(log)
    taken(tail)
    (tmp_path / "other").write_bytes(b"new and longer\n")

    (tmp_path / "other").replace(log)

    assert b"new and longer\n" == taken(tail)


def test_what_was_taken_before_is_not_taken_again(tmp_path):
    """
    Unless the log is another by now.
    """
    log, copy = tmp_path / "log", tmp_path / "copy"
    log.write_bytes(b"one\ntwo\n")
    copy.write_bytes(b"one\n")
    same, other = LogTail(log), LogTail(log)

    same.after(copy)
    copy.write_bytes(b"uno\n")
    other.after(copy)

    assert (b"two\n", b"one\ntwo\n") == (taken(same), taken(other))


def test_it_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(gctrace_tail, "PIECE_BYTES", 10)
    monkeypatch.setattr(gctrace_tail, "MAX_LOG_BYTES", 25)
    log = tmp_path / "log"
    log.write_bytes(b"12345\n" * 20)

    assert len(taken(LogTail(log))) <= 25 + 10


def test_a_line_longer_than_a_piece_is_taken_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(gctrace_tail, "PIECE_BYTES", 4)
    log = tmp_path / "log"
    log.write_bytes(b"0123456789\nab\n")

    assert b"0123456789\nab\n" == taken(LogTail(log))
