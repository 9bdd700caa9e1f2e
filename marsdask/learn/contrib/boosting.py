"""What the learners of boosted trees share: chunks in turn, Dask's collections, predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import Collection, collect
from marsdask.core.public import public_methods
from marsdask.core.session import ensure_session
from marsdask.dataframe import DataFrame
from marsdask.learn.fitted import Twinned
from marsdask.learn.lazy import adopted, is_lazy
from marsdask.learn.methods import wrap_methods
from marsdask.learn.predictions import predictions, rows_of
from marsdask.learn.rows import held
from marsdask.learn.targets import as_labels
from marsdask.scheduler.base import HoldsFutures
from marsdask.tensor import tensor


def session_client() -> Any:
    """Return the ``distributed.Client`` of the session, ``None`` if it has none."""
    scheduler = ensure_session().scheduler
    return scheduler.client if isinstance(scheduler, HoldsFutures) else None


def in_memory(item: Any) -> Any:
    """Return the value of an argument: lazy ones are computed, also those in lists."""
    if isinstance(item, list | tuple):
        return type(item)(in_memory(one) for one in item)
    item = adopted(item)
    return item.compute() if isinstance(item, Collection) else item


def held_samples(X: Any) -> Any:
    """Return lazy samples computed, so that each pass only reads them."""
    (node,) = held(X.node)
    return collect(node)


def whole_samples(X: Any) -> Any:
    """Return samples of any form as held ones in chunks of whole rows."""
    if not is_lazy(X):
        X = DataFrame(X) if isinstance(X, pd.DataFrame) else tensor(X)
    return held_samples(X if isinstance(X.node.meta, pd.DataFrame) else X.rechunk({1: -1}))


def beside(item: Any, samples: Any) -> Any:
    """Return targets or weights as Dask's array of Futures, cut as held samples are."""
    if item is None:
        return None
    values = as_labels(adopted(item))
    return held_samples(values.rechunk((samples.node.chunks[0],))).to_dask()


def check_supported(library: str, options: dict[str, Any], supported: Sequence[str] = ()) -> None:
    """Refuse arguments of ``fit`` that lazy samples cannot have."""
    given = [name for name, item in options.items() if item is not None and name not in supported]
    if given:
        raise NotImplementedError(
            f"{', '.join(given)} of {library} are not supported with lazy samples; compute() them"
        )


class BoostedTrees(Twinned):
    """Predicts lazily for lazy samples; put it before the estimator's class.

    Each method also takes ``session`` and ``run_kwargs``.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        wrap_methods(cls)
        public_methods(cls)

    def to_local(self) -> Any:
        """Return the library's own estimator that has learnt the same; it needs no marsdask."""
        return self.to_sklearn()

    def _called(self, method: str, X: Any, **options: Any) -> Any:
        if not is_lazy(X):
            return getattr(super(), method)(X, **options)
        check_is_fitted(self)
        rows, sample = rows_of(X)
        return predictions(self.to_sklearn(), method, rows, sample, **options)
