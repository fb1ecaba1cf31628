"""RSS as a profile in a file: what it says of the machine it was made on."""

import gzip

from gomem.inputs.pprof.read import read_pprof
from gomem.views.exports.profile import render_profile
from gomem.views.names import hidden
from tests.builders import FIXTURES, diagnosed

CAPTURE = FIXTURES / "captures" / "healthy-go1.27.3"
FILES = FIXTURES / "laboratory" / "captures" / "wxfield-a.tar.gz"


def rendered(path, *, redact):
    diagnosis = diagnosed(path)
    profile = diagnosis.facts.rss_profile()
    return profile, render_profile(profile, hidden(diagnosis, redact=redact))


def test_it_is_the_profile_with_its_files_and_comments():
    profile, made = rendered(CAPTURE, redact=False)

    again = read_pprof(made)

    assert profile.columns.comments == again.columns.comments
    assert profile.stacks.equals(again.stacks)
    assert any(comment.startswith("RSS at 3-later: 60 MiB") for comment in again.columns.comments)


def test_redacted_it_has_no_folder_and_no_moment():
    for path in (CAPTURE, FILES):
        profile, made = rendered(path, redact=True)
        name = diagnosed(path).moments[-1].name
        folders = {file.rpartition("/")[0] for file in profile.functions["file"] if "/" in file}

        text = gzip.decompress(made)

        assert folders
        assert not [folder for folder in folders if f"{folder}/".encode() in text]
        assert name.encode() not in text
        assert b"RSS at moment-" in text
        again = read_pprof(made)
        assert profile.functions["name"].tolist() == again.functions["name"].tolist()
        assert profile.values("rss").tolist() == again.values("rss").tolist()
