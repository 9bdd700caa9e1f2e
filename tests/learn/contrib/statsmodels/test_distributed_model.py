"""Parts are estimated on the session and joined as statsmodels does."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt

ours = pytest.importorskip("marsdask.learn.contrib.statsmodels")
theirs = pytest.importorskip("statsmodels.base.distributed_estimation")

rng = np.random.default_rng(0)
SAMPLES = rng.normal(size=(60, 3))
TARGETS = SAMPLES @ [1.0, 2.0, -1.0] + rng.normal(size=60) / 10


@pytest.mark.parametrize("form", ["tensor", "frame", "array"])
def test_parameters_and_predictions(form):
    """Equal statsmodels' of the same parts; predictions are as lazy as the samples."""
    parts = ((TARGETS[i : i + 20], SAMPLES[i : i + 20]) for i in (0, 20, 40))
    expected = theirs.DistributedModel(3).fit(parts, {"alpha": 0.01})
    samples = {
        "tensor": mt.tensor(SAMPLES, chunk_size=(25, 2)),
        "frame": md.DataFrame(SAMPLES, chunk_size=25),
        "array": SAMPLES,
    }[form]
    model = ours.MarsDistributedModel(num_partitions=3)
    found = model.fit(mt.tensor(TARGETS, chunk_size=7), samples, alpha=0.01)
    np.testing.assert_allclose(found.params, expected.params)
    predicted = found.predict(samples)
    assert hasattr(predicted, "execute") == (form != "array")
    np.testing.assert_allclose(predicted, expected.predict(SAMPLES))
    assert type(found.model) is type(expected)


def rows_of_a_part(model, number, parts, fit_kwds):
    return model.exog.shape[0]


def largest_and_count(estimates):
    return np.array([max(estimates), len(estimates), sum(estimates)])


def test_numbers_of_parts(monkeypatch):
    """By cores, or as given, at most one for each sample."""
    seen = []

    def made(partitions, **how):
        seen.append(partitions)
        return theirs.DistributedModel(partitions, **how)

    module = pytest.importorskip("marsdask.learn.contrib.statsmodels.distributed_model")
    monkeypatch.setattr(module, "DistributedModel", made)
    with marsdask.new_session("threads", n_workers=2) as session:
        for how, count, rows in (
            ({}, 2, 60),
            ({"factor": 1.5}, 3, 60),
            ({"num_partitions": 100}, 60, 60),
            ({"num_partitions": 6}, 5, 10),  # of two rows each
        ):
            model = ours.MarsDistributedModel(
                **how, estimation_method=rows_of_a_part, join_method=largest_and_count
            )
            found = model.fit(TARGETS[:rows], mt.tensor(SAMPLES[:rows]), session=session)
            assert seen.pop() == count
            assert found.params.tolist() == [rows / count, count, rows]


def test_what_is_refused():
    """Two numbers of parts, none, other lengths, no rows."""
    with pytest.raises(ValueError, match="not both"):
        ours.MarsDistributedModel(factor=1, num_partitions=1)
    for name in ("factor", "num_partitions"):
        with pytest.raises(ValueError, match=f"{name} should be positive, got 0"):
            ours.MarsDistributedModel(**{name: 0})
    with pytest.raises(ValueError, match="no rows"):
        ours.MarsDistributedModel(num_partitions=2).fit(TARGETS[:0], mt.tensor(SAMPLES[:0]))
    with pytest.raises(ValueError, match="endog has 59 rows, exog 60"):
        ours.MarsDistributedModel().fit(TARGETS[1:], mt.tensor(SAMPLES))
