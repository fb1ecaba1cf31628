"""Names of files: ordered as people count, and shown whatever bytes they are."""

import pytest

from gomem.sources.names import natural_key, readable_name, uncompressed_name


def test_numbers_in_names_count_as_numbers():
    assert ["a-2", "a-10", "b-1"] == sorted(["b-1", "a-10", "a-2"], key=natural_key)


def test_numbers_come_before_longer_names():
    assert ["a1", "a2b", "ab"] == sorted(["ab", "a2b", "a1"], key=natural_key)


def test_letters_count_before_the_number_behind_them():
    assert ["a", "b1"] == sorted(["b1", "a"], key=natural_key)


def test_zeros_before_a_number_do_not_count():
    assert natural_key("heap-007") == natural_key("heap-7")


def test_a_number_of_any_length_has_its_place():
    """
    Python refuses to make an integer of more than 4 300 digits.
    """
    long = "9" * 5000

    assert ["a-10", f"a-{long}", f"a-{long}0"] == sorted(
        [f"a-{long}0", f"a-{long}", "a-10"], key=natural_key
    )


def test_bytes_that_are_no_text_become_replacement_characters():
    name = b"caf\xe9/smaps".decode("utf-8", "surrogateescape")

    assert "caf\ufffd/smaps" == readable_name(name)
    assert "café/smaps" == readable_name("café/smaps")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("1/smaps.gz", "1/smaps"),
        ("gc.log.ZST", "gc.log"),
        ("heap.pb.gz.gz", "heap.pb.gz"),
        ("smaps", "smaps"),
        (".gz", ".gz"),
        ("a.gz.txt", "a.gz.txt"),
    ],
)
def test_a_compressed_name_without_its_ending(name, plain):
    assert plain == uncompressed_name(name)
