"""A pytest plugin: in the tests of scikit-learn, its public classes are those of marsdask.learn.

Each public class of a module that has one of its name here is replaced in the module of its public
name, before a test imports it from there. scikit-learn's own modules stay as they are.
"""

from __future__ import annotations

import importlib
import inspect

#: Modules of scikit-learn that have a module here.
SPACES = (
    *("cluster", "compose", "decomposition", "ensemble", "feature_extraction"),
    *("feature_extraction.text", "impute", "linear_model", "model_selection", "naive_bayes"),
    *("neighbors", "preprocessing", "semi_supervised"),
)


def replaced() -> list[str]:
    """Put ours in place; return the names of the classes."""
    found = []
    for space in SPACES:
        theirs = importlib.import_module(f"sklearn.{space}")
        ours = importlib.import_module(f"marsdask.learn.{space}")
        for name in ours.__all__:
            kind, own = getattr(theirs, name, None), getattr(ours, name)
            if inspect.isclass(kind) and own is not kind:
                setattr(theirs, name, own)
                found.append(f"{space}.{name}")
    return found


REPLACED = replaced()
