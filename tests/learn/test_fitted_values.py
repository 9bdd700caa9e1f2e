"""What was learnt is NumPy's, answers as an executed tensor, and is saved as scikit-learn's."""

from __future__ import annotations

import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest
from sklearn import preprocessing

import marsdask
import marsdask.tensor as mt
from marsdask.learn.cluster import KMeans
from marsdask.learn.fitted_values import FittedArray, FittedFloat, known, plain
from marsdask.learn.preprocessing import StandardScaler
from tests.learn.samples import blobs, in_form


@pytest.mark.parametrize("value", [np.arange(6.0).reshape(2, 3), np.float64(0.5), 0.25])
def test_a_learnt_value_answers_as_an_executed_tensor(value):
    """execute, fetch and to_numpy, with a session or without; pickled it is a plain value."""
    learnt = known(value)
    assert learnt.execute(session=None) is learnt
    assert marsdask.execute(learnt) is learnt
    for found in (
        marsdask.fetch(learnt),
        learnt.fetch(),
        learnt.to_numpy(),
        pickle.loads(pickle.dumps(learnt)),
    ):
        assert not isinstance(found, FittedArray | FittedFloat)
        np.testing.assert_array_equal(found, value)
    assert np.asarray(learnt).dtype == np.float64


def test_what_is_made_of_a_learnt_array_is_plain():
    """Arithmetic, products and sums give arrays and numbers of NumPy."""
    learnt = known(np.arange(6.0).reshape(2, 3))
    for made in (learnt + 1, learnt @ learnt.T, -learnt, learnt.sum(), learnt.sum(axis=0)):
        assert not isinstance(made, FittedArray | FittedFloat)
    assert type(learnt.sum()) is np.float64
    assert known("text") == "text"


def test_the_twin_is_scikit_learns():
    """Parameters and attributes are the same; lazy ones are computed, our parameters left out."""
    samples = blobs()
    model = KMeans(3, random_state=0, init_iter=7).fit(in_form(samples, "tensor"))
    twin = model.to_sklearn()
    assert type(twin).__module__.startswith("sklearn.")
    assert twin.get_params().keys() == model.get_params().keys() - {
        "init_iter",
        "oversampling_factor",
    }
    np.testing.assert_array_equal(twin.labels_, model.labels_.compute())
    np.testing.assert_array_equal(twin.predict(samples), model.predict(samples))
    assert plain([known(np.ones(2)), {"a": known(0.5)}])[1] == {"a": 0.5}


def test_a_saved_twin_is_loaded_without_marsdask(tmp_path):
    """Joblib loads the model in a process that cannot import marsdask; ours loads ours."""
    model = StandardScaler().fit(mt.tensor(blobs(), chunk_size=17))
    path = tmp_path / "model.joblib"
    joblib.dump(model.to_sklearn(), path)
    code = (
        "import sys; sys.modules['marsdask'] = None; import joblib;"
        f"print(joblib.load({str(path)!r}).transform([[0.0] * 4]).sum())"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    expected = preprocessing.StandardScaler().fit(blobs()).transform([[0.0] * 4]).sum()
    assert float(run.stdout) == pytest.approx(expected)
    again = pickle.loads(pickle.dumps(model))
    assert isinstance(again.mean_, FittedArray)
    np.testing.assert_array_equal(again.mean_, model.mean_)
