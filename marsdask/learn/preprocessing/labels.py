"""Labels as numbers and as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn import preprocessing
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import collect
from marsdask.core.machine.costs import kernel
from marsdask.core.public import public_call
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.fitted_values import executed_as_mars, plain
from marsdask.learn.lazy import adopted, running
from marsdask.learn.predictions import call_method
from marsdask.learn.rows import RowMap, fold
from marsdask.learn.targets import any_values, as_labels, target_classes, typed_labels
from marsdask.scheduler.base import dtype_of
from marsdask.tensor.operands import as_node


class LabelEncoder(RowsEstimator, preprocessing.LabelEncoder):
    """Encode labels as positions among the sorted ones. See sklearn.preprocessing.LabelEncoder.

    Differs from scikit-learn: takes tensors and series; only the distinct labels are held.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import LabelEncoder
    >>> LabelEncoder().fit_transform(mt.tensor(["b", "a", "b"], chunk_size=2)).compute()
    array([1, 0, 1])
    """

    classes_: Any

    def fit(self, y: Any) -> Self:
        """Find the labels."""
        if not is_lazy(y):
            super().fit(y)
        else:
            super().fit(
                fold(labels_of, union_of_labels, as_labels(y, any_values).node, nbytes=1024)
            )
            if dtype_of(y.node.meta) == np.dtype(
                object
            ):  # labels of categories have their own type
                self.classes_ = self.classes_.astype(object)
        return self

    def fit_transform(self, y: Any) -> Any:
        """Find the labels, and encode them."""
        return self.fit(y).transform(y) if is_lazy(y) else super().fit_transform(y)

    def transform(self, y: Any) -> Any:
        """Return the position of each label."""
        return (
            self._encoded("transform", y, np.dtype(np.int64))
            if is_lazy(y)
            else super().transform(y)
        )

    def inverse_transform(self, y: Any) -> Any:
        """Return the label at each position."""
        if not is_lazy(y):
            return super().inverse_transform(y)
        check_is_fitted(self)
        return self._encoded("inverse_transform", y, self.classes_.dtype)

    def _encoded(self, method: str, y: Any, dtype: np.dtype[Any]) -> Any:
        check_is_fitted(self)
        how = {"model": self.to_sklearn(), "method": method, "like": np.empty(0, dtype)}
        return collect(RowMap(call_method, (as_labels(y, any_values).node,), dtype, None, how))


def labels_of(block: Any) -> Any:
    """Return the different labels of a run, missing ones too."""
    return typed_labels(preprocessing.LabelEncoder().fit(block).classes_)


def union_of_labels(a: Any, b: Any) -> Any:
    """Return the different labels of both."""
    return labels_of(np.concatenate([a, b]))


class LabelBinarizer(RowsEstimator, preprocessing.LabelBinarizer):
    """Encode labels as columns, one for each class. See sklearn.preprocessing.LabelBinarizer.

    Differs from scikit-learn: takes tensors and series; only the distinct labels are held. Several
    labels of a sample are not supported where they are lazy.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import LabelBinarizer
    >>> LabelBinarizer().fit_transform(mt.tensor(["b", "a", "c"], chunk_size=2)).compute()
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 1]])
    """

    def fit(self, y: Any) -> Self:
        """Find the classes."""
        super().fit(target_classes(y) if is_lazy(y) else y)
        return self

    def fit_transform(self, y: Any) -> Any:
        """Find the classes, and encode them."""
        return self.fit(y).transform(y)

    def transform(self, y: Any) -> Any:
        """Return columns of ``pos_label`` at the sample's class and ``neg_label`` elsewhere."""
        check_is_fitted(self)
        if not is_lazy(y):
            return super().transform(y)
        how = {name: getattr(self, name) for name in ("neg_label", "pos_label", "sparse_output")}
        classes = plain(self.classes_)
        return _binarized(y, classes, classes=classes, **how)

    def inverse_transform(self, Y: Any, threshold: float | None = None) -> Any:
        """Return the class of each row of columns."""
        check_is_fitted(self)
        if not is_lazy(Y):
            return super().inverse_transform(Y, threshold)
        how = {"model": self.to_sklearn(), "threshold": threshold}
        return collect(RowMap(classes_of, (as_node(Y),), self.classes_.dtype, None, how))


def classes_of(block: Any, *, model: Any, threshold: float | None) -> Any:
    """Return the classes of a run of rows."""
    if not len(block):
        return model.classes_[:0]
    return model.inverse_transform(block, threshold)


@executed_as_mars
@public_call
def label_binarize(
    y: Any,
    *,
    classes: Any,
    neg_label: int = 0,
    pos_label: int = 1,
    sparse_output: bool = False,
    session: Any = None,
    run_kwargs: Any = None,
) -> Any:
    """Return a column for each class. See sklearn.preprocessing.label_binarize."""
    y, classes = adopted(y), plain(adopted(classes))
    how = {"neg_label": neg_label, "pos_label": pos_label, "sparse_output": sparse_output}
    how["classes"] = classes
    with running(session, run_kwargs):
        if not is_lazy(y):
            return preprocessing.label_binarize(y, **how)
        # scikit-learn tells by the labels whether there are two kinds or more.
        return _binarized(y, classes if len(classes) > 2 else target_classes(y), **how)


def _binarized(y: Any, labels: Any, **options: Any) -> Any:
    """Return a column for each class; ``labels`` are as many as tell what kind all of them are."""
    labels = np.asarray(labels)
    like = preprocessing.label_binarize(labels, **options)[:0]
    how = {"like": like, "labels": labels, "options": options}
    nodes = (as_labels(y).node,)
    sparse = options["sparse_output"]
    return collect(RowMap(columns_of, nodes, like.dtype, like.shape[1], how, sparse))


@kernel(scratch=2.0)
def columns_of(block: Any, *, like: Any, labels: Any, options: Mapping[str, Any]) -> Any:
    """Return the columns of a run of labels."""
    if not len(block):
        return like
    if block.dtype == object and labels.dtype != object:
        block = block.astype(labels.dtype)
    # Labels of a run may be fewer.
    result = preprocessing.label_binarize(np.concatenate([block, labels]), **options)
    if result.shape[1] != like.shape[1]:
        raise NotImplementedError(
            f"lazy labels besides the classes {labels.tolist()} are not supported by "
            "LabelBinarizer; use label_binarize(), which looks at the labels first"
        )
    return result[: len(block)]
