"""RSS in a sentence is read beside a profile, if it is the only one and of this time."""

import pytest

from gomem.capture.load import load
from gomem.capture.said_rss import SaidPart
from gomem.diagnosis.diagnosis import diagnose

PROFILE = """\
File: api
Type: inuse_space
Showing nodes accounting for 38MB, 95% of 40MB total
      flat  flat%   sum%        cum   cum%
      25MB 62.50% 62.50%       26MB 65.00%  main.(*cache).add
      13MB 32.50% 95.00%       13MB 32.50%  bytes.growSlice
"""


def said_of(text, tmp_path):
    (tmp_path / "ticket.md").write_text(text)
    return load(tmp_path / "ticket.md")


@pytest.mark.parametrize(
    "sentence",
    [
        "The pod has an RSS of 718Mi by top.",
        "RSS is 718MiB.",
        "RSS: ~718 MiB",
        "**RSS:** 718MiB",
        "It has `718 MiB` RSS, but the profile says 40MB.",
    ],
)
def test_rss_in_a_sentence_is_compared_with_the_profile(sentence, tmp_path):
    capture = said_of(f"{sentence}\n\n```\n{PROFILE}```\n", tmp_path)

    (facts,) = diagnose(capture).facts.moments
    assert 718 << 20 == facts.rss_bytes
    assert () == capture.unused_sizes
    further = diagnose(capture).verdict.further
    assert "RSS is what a sentence says (line 1), perhaps of another process" in further


@pytest.mark.parametrize(
    "sentence",
    [
        "I have a pod use `718Mi` memory when I use `top` to check.",
        "The process uses about 718 MiB of memory.",
        "Our reader shows 718 MiB in top.",
    ],
)
def test_what_a_pod_or_process_uses_is_compared_too(sentence, tmp_path):
    capture = said_of(f"{sentence}\n\n```\n{PROFILE}```\n", tmp_path)

    (facts,) = diagnose(capture).facts.moments
    assert 718 << 20 == facts.rss_bytes
    assert "perhaps with page cache, or of another process" in diagnose(capture).verdict.further


@pytest.mark.parametrize(
    "sentence",
    [
        "The program uses a cache of 718 MiB memory.",
        "The process uses 718 MiB of disk.",
        "The pod used 718Mi memory before the restart.",
        "The pod uses 718Mi memory, and RSS is in the file.",
        "The process uses 718Mi memory.\n\nIn an hour the process uses 801Mi memory.",
        "RSS grows from 100 MiB to 718MiB in a day.",
        "The limit of RSS is 718MiB.",
        "RSS was 718MiB before the upgrade.",
        "RSS is not 718MiB.",
        "RSS of a is 718MiB, and RSS of b is 91MiB.",
        "RSS is 718MiB.\n\nAfter an hour RSS is 801MiB.",
        "VmRSS is in the file.",
    ],
)
def test_of_several_sizes_none_is_taken(sentence, tmp_path):
    capture = said_of(f"{sentence}\n\n```\n{PROFILE}```\n", tmp_path)

    assert not any(isinstance(file.source, SaidPart) for file in capture.files)


def test_a_file_that_has_rss_is_better_than_a_sentence(tmp_path):
    text = f"RSS is 718MiB.\n\n```\n{PROFILE}```\n\n```\nVmRSS: 71000 kB\n```\n"

    (facts,) = diagnose(said_of(text, tmp_path)).facts.moments
    assert 71000 << 10 == facts.rss_bytes
