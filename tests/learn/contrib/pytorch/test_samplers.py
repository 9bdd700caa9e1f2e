"""Which items samplers draw, and in which order."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.learn.contrib.pytorch import (
    DistributedSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
)


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: samplers have no chunks to merge."""


def test_in_order():
    """As often as it is asked for."""
    sampler = SequentialSampler(range(4))
    assert list(sampler) == list(sampler) == [0, 1, 2, 3]
    assert len(sampler) == 4


def test_orders_are_drawn():
    """Each time another one, the same ones of the same seed, also of torch's generator."""

    class TorchGenerator:
        def initial_seed(self):
            return 5

    sampler = RandomSampler(range(50), generator=5)
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert list(RandomSampler(range(50), generator=TorchGenerator())) == first
    some = SubsetRandomSampler([7, 3, 9], generator=0)
    assert sorted(some) == [3, 7, 9]
    assert len(some) == 3


def test_numbers_of_draws():
    """More than there are, or several times the same."""
    assert len(list(RandomSampler(range(3), num_samples=2))) == 2
    rounds = list(RandomSampler(range(3), num_samples=7, generator=0))
    assert sorted(rounds[:3]) == sorted(rounds[3:6]) == [0, 1, 2]
    assert len(rounds) == 7
    drawn = list(RandomSampler(range(3), replacement=True, num_samples=40, generator=0))
    assert len(drawn) == 40
    assert set(drawn) == {0, 1, 2}
    with pytest.raises(ValueError, match="should be a positive integer, got 0"):
        RandomSampler(range(3), num_samples=0)
    with pytest.raises(ValueError, match="cannot draw 2 samples from an empty data set"):
        RandomSampler([], num_samples=2)
    assert list(RandomSampler([])) == []


@given(count=st.integers(1, 20), replicas=st.integers(1, 5), shuffle=st.booleans())
def test_processes_share_the_items(count, replicas, shuffle):
    """Each item goes to one of them, but for some that fill the last round or are left out."""
    for drop in (False, True):
        samplers = [
            DistributedSampler(range(count), replicas, rank, shuffle, drop_last=drop)
            for rank in range(replicas)
        ]
        parts = [list(sampler) for sampler in samplers]
        every = [place for part in parts for place in part]
        assert {len(part) for part in parts} == {len(samplers[0])}
        if drop:
            assert len(set(every)) == len(every) == count - count % replicas
        else:
            assert set(every) == set(range(count))
            assert len(every) - count < replicas


def test_epochs_and_the_environment(monkeypatch):
    """Each epoch has an order; the process and their number are those of the script."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    sampler = DistributedSampler(range(30))
    assert (sampler.rank, sampler.num_replicas) == (1, 2)
    first = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != first
    assert not np.isin(first, list(DistributedSampler(range(30), rank=0))).any()
    with pytest.raises(ValueError, match="Invalid rank 2"):
        DistributedSampler(range(3), 2, 2)


def test_samplers_import_little():
    """Each process of a script imports them: neither frames nor scikit-learn come along."""
    code = (
        "import sys; from marsdask.learn.contrib.pytorch import DistributedSampler;"
        "print(*sorted({'pandas', 'sklearn', 'torch'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "\n"
