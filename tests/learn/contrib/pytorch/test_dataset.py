"""Items are rows of all operands, whatever their form; a batch is one computation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.contrib.pytorch import MarsDataset, RandomSampler, SequentialSampler

SAMPLES = np.arange(20.0).reshape(10, 2)
TARGETS = np.arange(10)


@pytest.mark.parametrize("form", ["tensor", "frame", "array", "unknown rows"])
def test_items(form):
    """One by one and by batch, in the order that is asked for."""
    lazy = mt.tensor(SAMPLES, chunk_size=(4, 1))
    samples = {
        "tensor": lazy,
        "frame": md.DataFrame(SAMPLES, chunk_size=4),
        "array": SAMPLES,
        "unknown rows": lazy[lazy[:, 0] >= 0],
    }[form]
    data = MarsDataset(samples, md.Series(TARGETS, chunk_size=3), pd.Series(TARGETS))
    assert len(data) == 10
    for place in (0, 7, -1):
        sample, target, plain = data[place]
        np.testing.assert_array_equal(sample, SAMPLES[place])
        assert target == plain == TARGETS[place]
    batch = data.__getitems__([8, 2, 2])
    assert [target for _, target, _ in batch] == [8, 2, 2]
    np.testing.assert_array_equal(np.stack([sample for sample, *_ in batch]), SAMPLES[[8, 2, 2]])


def test_operands_are_computed_once():
    """Also those that depend on each other's values."""
    calls = []

    def seen(block):
        calls.append(len(block))
        return block

    with marsdask.new_session("synchronous"):
        data = MarsDataset(mt.tensor(TARGETS, chunk_size=5).map_blocks(seen, dtype=int))
        first = len(calls)
        assert [int(data[place][0]) for place in range(10)] == list(range(10))
        assert len(calls) == first


def test_what_is_refused():
    """Too few operands, other lengths, items that are not there."""
    with pytest.raises(ValueError, match="at least one"):
        MarsDataset()
    with pytest.raises(ValueError, match=r"different lengths: \[9, 10\]"):
        MarsDataset(mt.ones(10), np.ones(9))
    with pytest.raises(IndexError, match="out of bounds"):
        MarsDataset(mt.ones(10))[10]


def test_pytorch_itself_reads_batches():
    """Its loader and our samplers give tensors of each row once, of the operands' types."""
    torch = pytest.importorskip("torch")
    data = MarsDataset(mt.tensor(SAMPLES, chunk_size=4), md.Series(TARGETS, chunk_size=3))
    generator = torch.Generator().manual_seed(0)
    for sampler in (SequentialSampler(data), RandomSampler(data, generator=generator)):
        batches = list(torch.utils.data.DataLoader(data, batch_size=4, sampler=sampler))
        samples, targets = (torch.cat(parts).numpy() for parts in zip(*batches, strict=True))
        assert (samples.dtype, sorted(targets)) == (np.float64, list(range(10)))
        np.testing.assert_array_equal(samples, SAMPLES[targets])
