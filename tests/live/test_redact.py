"""A redacted file says the same of the memory, and nothing of folders and homes."""

import gzip
import tarfile
import zipfile

import pytest

import gomem
from gomem.cli.main import run
from gomem.live.redact import redacted
from tests.builders import CAPTURES, FIXTURES
from tests.live.services import GOOD, fake_service

HEAP = FIXTURES / "captures/healthy-go1.27.3/2-steady/heap.pb.gz"


def with_home(data):
    """The profile as if it had been built below a home directory, which is as long."""
    message = gzip.decompress(data)
    assert b"/app/healthy/" in message
    return gzip.compress(message.replace(b"/app/healthy/", b"/home/alice1/"))


def test_a_profile_keeps_everything_but_homes():
    before = with_home(HEAP.read_bytes())

    after = redacted("heap.pb.gz", before)

    assert b"/home/" not in gzip.decompress(after)
    ours, theirs = gomem.read_pprof(after), gomem.read_pprof(before)
    assert ours.damaged == theirs.damaged == ()
    assert ours.top("inuse_space").equals(theirs.top("inuse_space"))
    assert set(theirs.stacks["file"].str.replace("/home/alice1/", "~/")) == set(ours.stacks["file"])


def test_a_profile_without_homes_is_the_same_message():
    data = HEAP.read_bytes()

    assert gzip.decompress(data) == gzip.decompress(redacted("heap.pb.gz", data))


@pytest.mark.parametrize("length", [1, 2, 10, 50])
def test_what_is_no_whole_profile_is_refused(length):
    message = gzip.decompress(HEAP.read_bytes())[:-length]

    with pytest.raises(ValueError, match="not a profile"):
        redacted("heap.pb.gz", gzip.compress(message))


def test_mapped_files_lose_their_folders_and_the_system_s_do_not():
    entry = b"7f00-7f01 r--p 00000000 00:00 7      "
    lines = [entry + path for path in (
        b"/srv/secret/app", b"/usr/lib/libc.so.6", b"[heap]", b"/memfd:x (deleted)", b"/dev/zero",
        b"/srv/secret/lib my.so (deleted)",
    )]  # fmt: skip
    smaps = b"\n".join([*lines, b"Size:   4 kB", b"7f02-7f03 rw-p 00000000 00:00 0"]) + b"\n"

    after = redacted("smaps", smaps).splitlines()

    paths = [line[len(entry) :] for line in after[:6]]
    assert [b"/redacted/app", b"/usr/lib/libc.so.6", b"[heap]"] == paths[:3]
    assert [b"/memfd:x (deleted)", b"/dev/zero", b"/redacted/lib my.so (deleted)"] == paths[3:]
    assert [b"Size:   4 kB", b"7f02-7f03 rw-p 00000000 00:00 0"] == after[6:]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_redacted_smaps_has_the_same_numbers(capture):
    path = max(capture.glob("*/smaps"))

    before = gomem.read_smaps(path).mappings
    after = gomem.read_smaps(redacted("smaps", path.read_bytes())).mappings

    assert before.drop(columns="path").equals(after.drop(columns="path"))


def test_build_information_keeps_the_release_and_loses_folder_and_linker_flags():
    text = b'/srv/secret/app: go1.24.2\n\tpath\tapp\n\tbuild\t-ldflags="-X main.token=s3cr3t"\n'

    after = redacted("buildinfo.txt", text + b"\tbuild\tGOOS=linux\n")

    assert b"app: go1.24.2\n\tpath\tapp\n\tbuild\tGOOS=linux\n" == after


def test_a_log_keeps_the_collector_s_lines_alone():
    line = b"gc 1 @0.001s 8%: 0.60+0.83+0.002 ms clock, 1.2+0/0.39/0.62+0.005 ms cpu\n"

    after = redacted("gctrace.log", b"password is hunter2\n" + line + b"GC forced\nbye\n")

    assert line + b"GC forced\n" == after


def test_one_capture_in_any_wrapping_is_one_report(tmp_path, monkeypatch):
    """
    As a folder, as archives, and as loose files.
    """
    monkeypatch.chdir(tmp_path)
    with fake_service(GOOD) as service:
        run(["capture", service.pid, "-o", "api", "--every", "50ms", "--for", "150ms"])
    files = sorted(path for path in (tmp_path / "api").rglob("*") if path.is_file())
    with tarfile.open("api.tar.gz", "w:gz") as archive:
        archive.add("api")
    with zipfile.ZipFile("api.zip", "w") as archive:
        for path in files:
            archive.write(path, path.relative_to(tmp_path))

    told = [told_of(*paths) for paths in (["api"], ["api.tar.gz"], ["api.zip"], files)]

    assert [told[0]] * 4 == told


def told_of(*paths):
    diagnosis = gomem.diagnose(gomem.load(*paths))
    return (
        diagnosis.verdict.sentence,
        [(one.code, one.title) for one in diagnosis.findings],
        diagnosis.ledger.to_csv(),
        diagnosis.capture.moments.to_csv(),
        str(diagnosis.capture.go_version),
        [one.collections for one in diagnosis.capture.by_moment.values()],
    )
