import os

import pytest


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Results of a folder of the test's own and what ships with hone; kernels of all tests compiled once."""
    monkeypatch.delenv("HONE_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HONE_CACHE", os.environ.get("HONE_CACHE", os.path.expanduser("~/.cache/hone-tests")))
