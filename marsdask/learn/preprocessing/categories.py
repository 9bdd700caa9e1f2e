"""Categories as columns and as numbers: the distinct values of each column, from one pass."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn import preprocessing
from sklearn.utils.validation import check_is_fitted

from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.tables import as_table, of_values, transformed, value_counts


class OfCategories:
    """Learns the values of the columns of lazy samples; put it after ``RowsEstimator``."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the categories of each column."""
        if not is_lazy(X):
            super().fit(X, y)  # type: ignore[misc]
            return self
        self._validate_params()  # type: ignore[attr-defined]
        if self.min_frequency is not None or self.max_categories is not None:  # type: ignore[attr-defined]
            raise NotImplementedError(
                "min_frequency and max_categories are not supported with lazy samples; name the "
                "categories by ``categories``"
            )
        table = as_table(self, X, reset=True)
        super().fit(of_values(X, [counts.index for counts in value_counts(table)]), y)  # type: ignore[misc]
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the categories, and encode them."""
        return self.fit(X, y).transform(X)

    def transform(self, X: Any) -> Any:
        """Encode samples."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().transform(X)  # type: ignore[misc]
        as_table(self, X, reset=False)
        model = self.to_sklearn()  # type: ignore[attr-defined]
        model.set_output(transform="default")
        sample = of_values(X, [column[:1] for column in self.categories_])  # type: ignore[attr-defined]
        return transformed(model, X, sample)

    def inverse_transform(self, X: Any) -> Any:
        """Return the categories of encoded samples."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().inverse_transform(X)  # type: ignore[misc]
        model = self.to_sklearn()  # type: ignore[attr-defined]
        vars(model).pop("feature_names_in_", None)
        model.set_output(transform="default")
        first = [column[0] for column in self.categories_]  # type: ignore[attr-defined]
        sample = model.transform(np.array([first], dtype=object))
        # What was unknown is None among objects.
        drops: Any = vars(self).get("drop_idx_")
        drops = [None] if drops is None else drops
        objects = self.handle_unknown != "error" and any(at is None for at in drops)  # type: ignore[attr-defined]
        return transformed(model, X, sample, "inverse_transform", object if objects else None)


class OneHotEncoder(RowsEstimator, OfCategories, preprocessing.OneHotEncoder):
    """Encode each category as a column. See sklearn.preprocessing.OneHotEncoder.

    Differs from scikit-learn: takes tensors and frames; only the categories are held. Rare
    categories of lazy samples are not grouped. Where unknown ones may be encoded,
    ``inverse_transform`` of lazy samples gives objects, whether there are some or not.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import OneHotEncoder
    >>> frame = md.DataFrame({"a": ["x", "y", "x"]}, chunk_size=2)
    >>> OneHotEncoder(sparse_output=False).fit_transform(frame).compute()
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """


class OrdinalEncoder(RowsEstimator, OfCategories, preprocessing.OrdinalEncoder):
    """Encode each category as a number. See sklearn.preprocessing.OrdinalEncoder.

    Differs from scikit-learn: takes tensors and frames; only the categories are held. Rare
    categories of lazy samples are not grouped. Where unknown ones may be encoded,
    ``inverse_transform`` of lazy samples gives objects, whether there are some or not.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import OrdinalEncoder
    >>> frame = md.DataFrame({"a": ["x", "y", "x"]}, chunk_size=2)
    >>> OrdinalEncoder().fit_transform(frame).compute().ravel()
    array([0., 1., 0.])
    """
