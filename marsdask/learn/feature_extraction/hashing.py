"""Features by the hashes of their names."""

from __future__ import annotations

from typing import Any

from sklearn import feature_extraction

from marsdask.core.collection import collect
from marsdask.learn.base import RowsEstimator
from marsdask.learn.metrics.operands import as_operand
from marsdask.learn.rows import RowMap
from marsdask.learn.tables import of_table


class OfItems:
    """Makes sparse rows of lazy items, each a text or a dictionary; put it first."""

    def _empty_item(self) -> Any:
        """Return an item without features."""
        return ""

    def _predictions(self, method: str, X: Any) -> Any:
        if method != "transform":
            raise NotImplementedError(
                f"{method}() is not supported with lazy samples; compute() them"
            )
        items = as_operand(X)
        if len(items.shape) != 1:
            raise ValueError(
                f"Iterable over items expected: a series or a tensor of one axis, got {X!r}"
            )
        model = self.to_sklearn()  # type: ignore[attr-defined]
        like = model.transform([self._empty_item()])[:0]
        how = {"model": model, "method": method, "like": like}
        return collect(RowMap(of_table, (items,), like.dtype, like.shape[1], how, sparse=True))


class FeatureHasher(OfItems, RowsEstimator, feature_extraction.FeatureHasher):
    """Hash names of features to columns. See sklearn.feature_extraction.FeatureHasher.

    Differs from scikit-learn: takes series, and tensors of one axis, whose items are dictionaries
    or lists; the rows of a lazy result are sparse blocks.

    Examples
    --------
    >>> from marsdask.learn.feature_extraction import FeatureHasher
    >>> items = md.Series([{"a": 1.0}, {"b": 2.0}], chunk_size=1)
    >>> FeatureHasher(n_features=4).transform(items).shape
    (2, 4)
    """

    def _empty_item(self) -> Any:
        return {} if self.input_type == "dict" else []
