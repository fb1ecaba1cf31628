"""Build information, against `go version -m`."""

import os
import subprocess
import sys

import pytest

from gomem.live.executable import read_build_info
from tests.live.services import built_service, has_go


def build_info(path):
    file = os.open(path, os.O_RDONLY)
    try:
        return read_build_info(file)
    finally:
        os.close(file)


@pytest.mark.go
@pytest.mark.skipif(not has_go, reason="Go is not installed")
def test_it_is_what_go_prints():
    path = str(built_service())
    printed = subprocess.run(
        ["go", "version", "-m", path], capture_output=True, text=True, check=True
    )

    build = build_info(path)

    assert printed.stdout == build.text(path)
    assert build.main.startswith("service")


def test_another_executable_has_none():
    assert build_info(sys.executable) is None


@pytest.mark.go
@pytest.mark.skipif(not has_go, reason="Go is not installed")
@pytest.mark.parametrize("length", [0, 5, 40, 64, 200, 4096, 100_000])
def test_a_cut_executable_has_none(length, tmp_path):
    (tmp_path / "cut").write_bytes(built_service().read_bytes()[:length])

    assert build_info(tmp_path / "cut") is None
