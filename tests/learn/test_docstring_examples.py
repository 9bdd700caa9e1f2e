"""Each public estimator shows how it is used; examples of other libraries' learners run, too.

Those of the reference's pages run in tests/test_docstrings.py.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.learn
import marsdask.tensor as mt


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: examples have their own sessions."""


def public(package: Any) -> dict[str, Any]:
    """Return the classes of ours that packages and modules offer, by module and name."""
    found = {}
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", ()):
            item = vars(module).get(name)
            if inspect.isclass(item) and item.__module__.startswith("marsdask."):
                found[f"{info.name}.{name}"] = item
    return found


def test_each_estimator_has_an_example():
    """Of the class; there are as many as users are told of."""
    estimators = {
        name: item for name, item in public(marsdask.learn).items() if hasattr(item, "fit")
    }
    assert len(estimators) > 60
    assert not [name for name, item in estimators.items() if ">>>" not in (item.__doc__ or "")]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "statsmodels"])
def test_examples_of_other_learners_run(library):
    """As they are written."""
    pytest.importorskip(library)
    module = importlib.import_module(f"marsdask.learn.contrib.{library}")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    finder = doctest.DocTestFinder(recurse=False)
    with marsdask.new_session("synchronous"):
        for name in module.__all__:
            names = {"marsdask": marsdask, "mt": mt, "md": md, "np": np}
            for example in finder.find(getattr(module, name), name, globs=names):
                assert not runner.run(example).failed, name
    assert runner.tries
