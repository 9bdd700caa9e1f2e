"""Folders for spilled results, and a store in them."""

import pytest

from marsdask.scheduler.storage.spill import SpillStore


@pytest.fixture
def folders(tmp_path):
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        path.mkdir()
    return paths


@pytest.fixture
def store(folders):
    store = SpillStore(list(map(str, folders)))
    yield store
    store.close()
