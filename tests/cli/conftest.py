"""What tests of several commands share."""

import pytest


@pytest.fixture
def in_an_empty_folder(tmp_path, monkeypatch):
    """Reports are named after captures and written here."""
    monkeypatch.chdir(tmp_path)
