"""Categories as the mean of their targets, from one pass."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn import preprocessing
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import collect, compute
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.rows import RowMap, add, check_lengths, fold, held
from marsdask.learn.tables import as_table, of_values, transformed, value_counts
from marsdask.learn.targets import as_classes, as_targets, check_given
from marsdask.learn.utils.multiclass import type_of_target
from marsdask.tensor.operands import as_node

_KINDS = ("binary", "multiclass", "continuous")


class CategorySums(NamedTuple):
    """How many samples a category has in each part, with the sums of their targets and squares.

    All samples are one category more.
    """

    count: Any
    total: Any
    squares: Any


class TargetEncoder(RowsEstimator, preprocessing.TargetEncoder):
    """Encode categories by the mean of their targets. See sklearn.preprocessing.TargetEncoder.

    Differs from scikit-learn: takes tensors and frames; only the categories are held. For
    ``fit_transform`` the part of each sample is in memory, and its class.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import TargetEncoder
    >>> frame = md.DataFrame({"a": ["x", "x", "y", "y"]}, chunk_size=3)
    >>> model = TargetEncoder(smooth=0.0).fit(frame, [1.5, 2.5, 5.5, 6.5])
    >>> model.transform(frame).compute().ravel()
    array([2., 2., 6., 6.])
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Find the categories, and the means of their targets."""
        if not is_lazy(X):
            super().fit(X, y)
            return self
        table, target = self._prepared(X, y)
        shift = self._shift(target)
        self._keep(self._sums(table, target, shift), shift)
        return self

    def fit_transform(self, X: Any, y: Any, **params: Any) -> Any:
        """Encode the samples, each by the targets of the other parts; learn from all."""
        if not is_lazy(X):
            return super().fit_transform(X, y, **params)
        if params:
            raise NotImplementedError(
                f"arguments ({', '.join(params)}) are not supported with lazy samples"
            )
        table, target = held(*self._prepared(X, y))
        check_lengths(table, target)
        parts, count = self._parts(target)
        node = as_node(parts)
        shift = self._shift(target)
        sums = self._sums(table, target, shift, node, count=count)
        self._keep(CategorySums(*(item.sum(axis=0, keepdims=True) for item in sums)), shift)
        groups = [
            CategorySums(*(item.sum(axis=0) - item[part] for item in sums)) for part in range(count)
        ]
        encodings = [self._encodings(group, shift) for group in groups]
        how = {"model": self._plain(), "learnt": encodings}
        width = len(self.encodings_)
        return collect(RowMap(encode, (table, node), np.dtype(np.float64), width, how))

    def transform(self, X: Any) -> Any:
        """Encode samples by the targets of all that were learnt from."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().transform(X)
        as_table(self, X, reset=False)
        sample = of_values(X, [column[:1] for column in self.categories_])
        return transformed(self._plain(), X, sample)

    def _plain(self) -> Any:
        return self.to_sklearn().set_output(transform="default")

    def _prepared(self, X: Any, y: Any) -> tuple[Node, Node]:
        """Find the categories and the kind of target; return the samples and the targets."""
        self._validate_params()
        check_given(self, y)
        table = as_table(self, X, reset=True)
        kind = type_of_target(y, "y") if self.target_type == "auto" else self.target_type
        if kind not in _KINDS:
            raise ValueError(
                f"Unknown label type: Target type was inferred to be {kind!r}. Only {_KINDS} are "
                "supported."
            )
        self.target_type_, self.classes_ = kind, None
        if kind == "continuous":
            target = as_targets(y, table)
        else:
            classes = as_classes(y, table)
            self.classes_, target = classes.labels, classes.codes
        values = [counts.index for counts in value_counts(table)]
        # scikit-learn finds the categories among few rows that have them all.
        how = {"handle_unknown": "ignore", "ensure_all_finite": "allow-nan"}
        self._fit(of_values(X, values), **how)
        return table, target

    def _shift(self, target: Node) -> float:
        """Return what targets are counted from, so that squares are exact: about their mean."""
        if self.target_type_ != "continuous":
            return 0.0
        total, count = fold(total_of, add, target, nbytes=16)
        if not np.isfinite(total):
            raise ValueError("Input y contains NaN or infinity.")
        return float(total / count)

    def _sums(
        self, table: Node, target: Node, shift: float, parts: Node | None = None, *, count: int = 1
    ) -> Any:
        how = {"model": self._plain(), "shift": shift, "count": count}
        cells = count * (sum(map(len, self.categories_)) + 1)
        return fold(sums_of, add, table, target, parts, nbytes=24 * cells, **how)

    def _parts(self, target: Node) -> tuple[Any, int]:
        """Return the part in which each sample is tested, and how many parts there are."""
        (samples,) = numbers(target.shape[:1])
        classes = self.target_type_ != "continuous"
        labels = compute(collect(target))[0] if classes else np.zeros(samples)
        how: dict[str, Any] = {"shuffle": self.shuffle if self.shuffle != "deprecated" else True}
        if self.random_state != "deprecated":
            how["random_state"] = self.random_state
        splits = check_cv(self.cv, labels, classifier=classes, **how)
        parts, counts, count = np.zeros(samples, np.int64), np.zeros(samples, np.int64), 0
        for _, tested in splits.split(np.zeros((samples, 1)), labels):
            parts[tested] = count
            counts[tested] += 1
            count += 1
        if not (counts == 1).all():
            raise ValueError(
                "Validation indices from `cv` must cover each sample index exactly once with no "
                "overlap. Pass a splitter with non-overlapping validation folds as `cv` or refer "
                "to the docs for other options."
            )
        return parts, count

    def _keep(self, sums: CategorySums, shift: float) -> None:
        """Learn from the sums of all samples."""
        encodings, mean = self._encodings(CategorySums(*(item[0] for item in sums)), shift)
        self.encodings_ = encodings
        self.target_mean_ = mean if self.target_type_ == "multiclass" else float(mean[0])

    def _encodings(self, sums: CategorySums, shift: float) -> tuple[list[Any], Any]:
        """Return the value of each category, and the means of the targets."""
        number, total = sums.count[-1], sums.total[-1] / sums.count[-1]
        means = shift + total
        with np.errstate(divide="ignore", invalid="ignore"):
            counts = sums.count[:-1, np.newaxis]
            if self.smooth == "auto":
                variance = sums.squares[-1] / number - np.square(total)
                own = sums.total[:-1] / counts
                residuals = np.maximum(sums.squares[:-1] - counts * np.square(own), 0.0)
                share = variance * counts / (variance * counts + residuals / counts)
                values = share * (shift + own) + (1.0 - share) * means
                values = np.where(np.isnan(share), means, values)
            else:
                weight = counts + self.smooth
                blend = (sums.total[:-1] + shift * counts + self.smooth * means) / weight
                values = np.where(weight == 0, means, blend)
        borders = np.cumsum([len(column) for column in self.categories_])[:-1]
        split = np.split(values, borders)
        return [column for part in split for column in part.T.copy()], means


def total_of(target: Any) -> tuple[Any, Any]:
    """Return the sum of the targets of a run, and how many they are."""
    return np.sum(target), float(len(target))


@kernel(scratch=4.0)
def sums_of(
    block: Any, target: Any, parts: Any = None, *, model: Any, shift: float, count: int
) -> CategorySums:
    """Return the sums of a run of samples."""
    lengths = [len(column) for column in model.categories_]
    cells = sum(lengths) + 1
    several = model.target_type_ == "multiclass"
    width = len(model.classes_) if several else 1
    if not block.shape[0]:
        empty = np.zeros((count, cells, width))
        return CategorySums(empty[:, :, 0], empty, empty)
    y = np.eye(width)[target] if several else target[:, np.newaxis] - shift
    codes = _codes(model, block) + np.cumsum([0, *lengths[:-1]])
    places = np.column_stack([codes, np.full(len(codes), cells - 1)])
    if parts is not None:
        places = places + cells * parts[:, np.newaxis]
    flat, columns = places.ravel(), places.shape[1]

    def counted(values: Any = None) -> Any:
        weights = None if values is None else np.repeat(values, columns)
        return np.bincount(flat, weights, count * cells).reshape(count, cells)

    totals, squares = (
        np.stack([counted(column) for column in values.T], axis=-1) for values in (y, np.square(y))
    )
    return CategorySums(counted().astype(float), totals, squares)


def _codes(model: Any, block: Any) -> Any:
    """Return the position of each value among the categories of its column."""
    how = {"handle_unknown": "ignore", "ensure_all_finite": "allow-nan"}
    return model._transform(block, **how)[0]


@kernel(scratch=4.0)
def encode(block: Any, parts: Any, *, model: Any, learnt: Any) -> Any:
    """Return the samples of a run, each encoded by what the others of its part tell."""
    width = len(learnt[0][0])
    result = np.empty((block.shape[0], width))
    if not block.shape[0]:
        return result
    codes = _codes(model, block)
    repeats = width // codes.shape[1]
    for part in np.unique(parts):
        rows = parts == part
        for column, values in enumerate(learnt[part][0]):
            result[rows, column] = values[codes[rows, column // repeats]]
    return result
