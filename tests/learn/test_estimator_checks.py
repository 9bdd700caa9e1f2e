"""scikit-learn's checks of all estimators, over arrays and over tensors."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import marsdask.learn
from tests.learn.checked_estimators import QUICK, SLOW, UNCHECKED
from tests.learn.over_tensors import assert_is_an_estimator


@pytest.fixture(autouse=True)
def _coalesce():
    """Run with the chunks as they are by default: how they are merged is tested elsewhere."""


@pytest.mark.parametrize("model", QUICK, ids=lambda model: type(model).__name__)
def test_it_is_an_estimator_of_scikit_learn(model):
    """All checks pass that scikit-learn's own class passes, but for those with a reason."""
    assert_is_an_estimator(model, QUICK[model])


def test_no_public_estimator_is_left_out():
    """Each class with ``fit`` is checked here, by `make estimators`, or has a reason."""
    found = set()
    for info in pkgutil.walk_packages(marsdask.learn.__path__, "marsdask.learn."):
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", ()):
            item = getattr(module, name, None)
            if inspect.isclass(item) and hasattr(item, "fit"):
                found.add(name)
    assert len(found) > 60
    checked = {type(model).__name__ for model in (*QUICK, *SLOW)}
    assert found - {"RowsEstimator"} == checked | set(UNCHECKED)
