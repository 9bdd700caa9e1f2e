"""What tests of clusters share."""

from __future__ import annotations

import pytest

from marsdask.scheduler.testing import Gate


@pytest.fixture
def gate():
    """Return a gate that tasks wait at; it is closed at the end."""
    gate = Gate()
    yield gate
    gate.close()
