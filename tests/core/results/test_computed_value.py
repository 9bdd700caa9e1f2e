"""Values in memory answer as executed collections do, alone and among them."""

from __future__ import annotations

import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.core.results.computed_value import Known


class Weight(float, Known):
    """A number that was learnt."""

    def _plain(self):
        return float(self)


@pytest.fixture
def session():
    with marsdask.new_session("synchronous") as session:
        yield session


def test_functions_take_known_values_among_collections(session):
    """They are returned as they are; their plain values are fetched in order."""
    weight, total = Weight(0.5), mt.arange(4).sum()
    assert marsdask.execute(weight) is weight
    assert marsdask.execute(weight, wait=False).result() is weight
    executed = marsdask.execute(weight, [total, weight])
    assert executed[0] is weight
    assert executed[1][0].fetch() == 6
    found = marsdask.fetch(weight, [total, weight])
    assert found == [0.5, 6, 0.5]
    assert [type(item) for item in found[::2]] == [float, float]
    assert type(marsdask.fetch(weight)) is type(weight.to_numpy(session)) is float
    with pytest.raises(TypeError, match="not float"):
        marsdask.execute(total, 0.5)
