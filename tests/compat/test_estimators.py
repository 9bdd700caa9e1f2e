"""The keywords that scikit-learn removed and Mars's programs may still use."""

from __future__ import annotations

import importlib
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import marsdask.compat
from marsdask.compat import estimators

X = np.array([[0.0, 1.0], [1.0, 0.0], [8.0, 9.0], [9.0, 8.0]])


def module(name: str) -> Any:
    return importlib.import_module(f"mars.learn.{name}")


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    marsdask.compat.install()
    before = {path: dict(vars(module(path))) for path in estimators.KEYWORDS}
    ours = {path: importlib.import_module(f"marsdask.learn.{path}") for path in before}
    yield
    marsdask.compat.uninstall()
    for path, titles in estimators.KEYWORDS.items():
        changed = [k for k, old in before[path].items() if vars(ours[path])[k] is not old]
        assert sorted(changed) == sorted(title for title in titles if "." not in title)
    bagging = importlib.import_module("marsdask.learn.ensemble").BaggingClassifier
    with pytest.raises(TypeError, match="base_estimator"):
        bagging(base_estimator=None)


#: By what they warn of: what programs do, and what scikit-learn does today.
CALLS: dict[str, tuple[Callable[[], Any], Any]] = {
    "BaggingClassifier(base_estimator=)": (
        lambda: clone(module("ensemble").BaggingClassifier(base_estimator="e")).estimator,
        "e",
    ),
    "BaggingRegressor(base_estimator=)": (
        lambda: module("ensemble").BaggingRegressor(base_estimator="e").estimator,
        "e",
    ),
    "LogisticRegression(multi_class=)": (
        lambda: module("linear_model").LogisticRegression(multi_class="auto", C=2.0).C,
        2.0,
    ),
    "LinearRegression(normalize=)": (
        lambda: module("linear_model").LinearRegression(normalize=False).fit_intercept,
        True,
    ),
    "KMeans.predict(sample_weight=)": (
        lambda: len(module("cluster").KMeans(2, random_state=0).fit(X).predict(X, sample_weight=X)),
        4,
    ),
    "log_loss(eps=)": (
        lambda: round(module("metrics").log_loss([0, 1], np.array([0.0, 1.0]), eps=0.01), 6),
        0.01005,
    ),
    "manhattan_distances(sum_over_features=)": (
        lambda: module("metrics.pairwise").manhattan_distances(X=X, sum_over_features=True)[0, 2],
        16.0,
    ),
    "check_array(force_all_finite=)": (
        lambda: module("utils").check_array([[1.0, np.inf]], force_all_finite=False).tolist(),
        [[1.0, np.inf]],
    ),
    "check_X_y(force_all_finite=)": (
        lambda: module("utils").check_X_y([[np.inf]], [1], force_all_finite=False)[0][0, 0],
        np.inf,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_old_keywords_work_and_warn(name: str) -> None:
    """Each is taken, and the warning has the word of today."""
    call, expected = CALLS[name]
    with pytest.warns(DeprecationWarning, match=re.escape(f"{name} is gone from scikit-learn: ")):
        assert call() == expected


def test_each_old_keyword_is_tried() -> None:
    """The table above has all keywords of the module."""
    titles = {
        f"{title.removesuffix('.__init__')}({keyword}=)"
        for members in estimators.KEYWORDS.values()
        for title, keywords in members.items()
        for keyword in keywords
    }
    assert titles == CALLS.keys()


def test_values_without_a_counterpart_are_refused() -> None:
    """The message names what to use."""
    with (
        pytest.warns(DeprecationWarning, match="normalize="),
        pytest.raises(NotImplementedError, match="scale the samples by StandardScaler"),
    ):
        module("linear_model").LinearRegression(normalize=True)


def test_probabilities_are_clipped_wherever_they_are() -> None:
    """As the second argument or by either name, lazy or in memory."""
    log_loss, mt = module("metrics").log_loss, importlib.import_module("mars.tensor")
    labels, sure = np.array([0, 1]), np.array([0.0, 1.0])
    expected = log_loss(labels, np.array([0.1, 0.9]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for how in ({"y_proba": sure}, {"y_proba": mt.tensor(sure, chunk_size=1)}):
            assert float(log_loss(y_true=labels, eps=0.1, **how)) == pytest.approx(expected)
        assert float(log_loss(labels, sure, eps="auto")) == pytest.approx(0.0, abs=1e-12)


def test_functions_are_pickled_by_name() -> None:
    """A function that takes an old keyword is still found by its name."""
    func = module("metrics").log_loss
    assert pickle.loads(pickle.dumps(func)) is func
