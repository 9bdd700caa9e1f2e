"""Predicting by LightGBM's models, by functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scipy.sparse import csr_matrix

from marsdask.learn.contrib.boosting import BoostedTrees
from marsdask.learn.fitted_values import as_mars
from marsdask.learn.lazy import adopted, is_lazy, running
from marsdask.learn.predictions import predictions, rows_of
from marsdask.tensor.sparse.blocks import is_sparse

_TEXT = """{summary} by a model, lazy for lazy samples.

Parameters
----------
model : {model}
    The trees.
data : array_like or frame
    The samples.
session : Session, optional
    Where to compute.
run_kwargs : dict, optional
    Arguments of ``execute``.
run : bool
    Whether a lazy result is executed.
**kwargs
    Other arguments of LightGBM's method.

Returns
-------
Tensor or array
    {result}

Examples
--------
>>> from marsdask.learn.contrib.lightgbm import LGBMClassifier, {name}
>>> X = mt.tensor([[0.0], [1.0]] * 20, chunk_size=10)
>>> model = LGBMClassifier(verbose=-1).fit(X, [0, 1] * 20)
>>> {name}(model, X[:2]).fetch().round().tolist()
{shown}
"""


@dataclass(frozen=True)
class OfMatrices:
    """A model that is given sparse rows as SciPy's matrices, since LightGBM takes no arrays."""

    model: Any

    def predict(self, X: Any, **options: Any) -> Any:
        """Return the predictions."""
        return self.model.predict(_matrix(X), **options)

    def predict_proba(self, X: Any, **options: Any) -> Any:
        """Return the probabilities."""
        return self.model.predict_proba(_matrix(X), **options)


def _matrix(X: Any) -> Any:
    return csr_matrix(X) if is_sparse(X) else X


def _by_model(name: str, **words: str) -> Callable[..., Any]:
    """Return a function of a model and samples."""

    def face(
        model: Any,
        data: Any,
        session: Any = None,
        run_kwargs: Any = None,
        run: bool = True,
        **kwargs: Any,
    ) -> Any:
        X = adopted(data)
        plain = model.to_sklearn() if isinstance(model, BoostedTrees) else model
        if not is_lazy(X):
            return getattr(plain, name)(X, **kwargs)
        with running(session, run_kwargs):
            rows, sample = rows_of(X)
            result = predictions(OfMatrices(plain), name, rows, sample, **kwargs)
            return result.execute() if run else result

    face.__name__ = face.__qualname__ = name
    face.__doc__ = _TEXT.format(name=name, **words)
    return as_mars(face)


predict = _by_model(
    "predict",
    summary="Return the prediction of each sample",
    model="lightgbm.LGBMModel or lightgbm.Booster",
    result="The predictions.",
    shown="[0, 1]",
)
predict_proba = _by_model(
    "predict_proba",
    summary="Return the probability of each sample's classes",
    model="lightgbm.LGBMClassifier",
    result="A row for each sample, a column for each class.",
    shown="[[1.0, 0.0], [0.0, 1.0]]",
)
