"""One pass of a generalized linear model: loss, gradient and Hessian of all samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.rows import TILE_BYTES, add, fold, tiles
from marsdask.tensor.sparse.blocks import is_sparse

from .condensed import check_run
from .losses import Multinomial


class Totals(NamedTuple):
    """The weight of the samples, and the sums of their losses and derivatives."""

    weight: Any
    loss: Any
    gradient: Any
    hessian: Any


@dataclass(frozen=True)
class Objective:
    """The mean loss of the samples and a penalty, as a function of all coefficients.

    These are a row for each output: those of the features, and the intercept if there is one.
    """

    rows: Node
    targets: Node
    weight: Node | None
    loss: Any
    outputs: int
    intercept: bool
    class_weight: Any = None
    squared_penalty: float = 0.0

    @property
    def width(self) -> int:
        """The number of features."""
        return numbers(self.rows.shape[1:])[0]

    @property
    def shape(self) -> tuple[int, int]:
        """The outputs and the coefficients of each."""
        return self.outputs, self.width + self.intercept

    def penalized(self, strength: float) -> Objective:
        """Return the objective with a penalty on half the squared coefficients."""
        return replace(self, squared_penalty=strength)

    def penalties(self) -> Any:
        """Return the penalty of each coefficient: intercepts have none."""
        values = np.full(self.shape, self.squared_penalty)
        if self.intercept:
            values[:, -1] = 0.0
        return values.ravel()

    def sums(self, **how: Any) -> Totals:
        """Return the sums of all samples."""
        size = how["coefficients"].size
        nbytes = 8 * (size * size if how["hessian"] else size) + 64
        totals: Totals = fold(
            evaluate, add, self.rows, self.targets, self.weight, nbytes=nbytes, **how
        )
        return totals

    def of_every(self, step: int) -> OfFew:
        """Return the objective of every so many rows of each chunk, which come to this process."""
        nbytes = 8 * self.width * numbers(self.rows.shape[:1])[0] // step
        operands = (self.rows, self.targets, self.weight)
        few = fold(some_rows, joined_rows, *operands, nbytes=nbytes, step=step)
        return OfFew(
            **{name: getattr(self, name) for name in _KEPT},
            few=tuple(few) if self.weight is not None else (*few, None),
        )

    def __call__(self, coefficients: Any, *, hessian: bool = True) -> Totals:
        """Return the weight, the mean loss and its derivatives, with the penalty."""
        totals = self.sums(
            loss=self.loss,
            coefficients=coefficients.reshape(self.shape),
            class_weight=self.class_weight,
            hessian=hessian,
        )
        scale, penalties = 1.0 / (totals.weight or 1.0), self.penalties()
        return Totals(
            totals.weight,
            totals.loss * scale + 0.5 * float(penalties @ coefficients**2),
            totals.gradient * scale + penalties * coefficients,
            totals.hessian * scale + np.diag(penalties) if hessian else None,
        )


#: What objectives are made of.
_KEPT = tuple(field.name for field in fields(Objective))


@dataclass(frozen=True)
class OfFew(Objective):
    """The objective of a few rows in memory."""

    few: tuple[Any, Any, Any] = (None, None, None)

    def sums(self, **how: Any) -> Totals:
        """Return the sums of the rows."""
        totals: Totals = evaluate(*self.few, **how)
        return totals


def some_rows(*blocks: Any, step: int) -> tuple[Any, ...]:
    """Return every so many rows of a run."""
    return tuple(block[::step] for block in blocks)


def joined_rows(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the rows of both."""
    return tuple(
        sparse.vstack(pair).tocsr() if is_sparse(pair[0]) else np.concatenate(pair)
        for pair in zip(a, b, strict=True)
    )


@kernel(scratch=0.3)
def evaluate(
    block: Any,
    y: Any,
    weight: Any = None,
    *,
    loss: Any,
    coefficients: Any,
    class_weight: Any = None,
    hessian: bool,
) -> Totals:
    """Return the sums of a run of samples, tile by tile in cache."""
    size = coefficients.size
    total = Totals(0.0, 0.0, np.zeros(size), np.zeros((size, size)) if hessian else 0.0)
    of_tile = _several if isinstance(loss, Multinomial) else _single
    if class_weight is not None:
        weight = class_weight[y] if weight is None else weight * class_weight[y]
    with np.errstate(all="ignore"):
        for tile, part, w in _tiles(block, y, weight):
            total = add(total, of_tile(tile, part, w, loss, coefficients, hessian=hessian))
    if not np.isfinite(total.gradient).all() or (weight is not None and not total.loss >= 0):
        check_run(block, y, weight)
    return total


def _tiles(block: Any, y: Any, weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    if not is_sparse(block):
        yield from tiles(block, y, weight)
        return
    # Sparse rows are cut by their stored elements.
    step = max(1, TILE_BYTES * block.shape[0] // max(1, 12 * block.nnz))
    for start in range(0, block.shape[0], step):
        rows = slice(start, start + step)
        yield block[rows], y[rows], None if weight is None else weight[rows]


def _raw(tile: Any, coefficients: Any) -> Any:
    """Return the linear predictions of each output."""
    width = tile.shape[1]
    raw = tile @ coefficients[:, :width].T
    return raw + coefficients[:, width] if coefficients.shape[1] > width else raw


def _sum(weight: Any, tile: Any) -> float:
    return float(tile.shape[0] if weight is None else weight.sum())


def _single(
    tile: Any, y: Any, weight: Any, loss: Any, coefficients: Any, *, hessian: bool
) -> Totals:
    """Return the sums of a model of one output."""
    losses, slopes, curvatures = loss.terms(y, _raw(tile, coefficients)[:, 0])
    if weight is not None:
        losses, slopes, curvatures = losses * weight, slopes * weight, curvatures * weight
    intercept = coefficients.shape[1] > tile.shape[1]
    gradient = _with_intercept(tile, slopes, intercept=intercept)
    matrix = _products(tile, curvatures, intercept=intercept) if hessian else 0.0
    return Totals(_sum(weight, tile), float(losses.sum()), gradient, matrix)


def _several(
    tile: Any, y: Any, weight: Any, loss: Any, coefficients: Any, *, hessian: bool
) -> Totals:
    """Return the sums of a model of an output for each class."""
    losses, shares = loss.probabilities(y, _raw(tile, coefficients))
    outputs, size = coefficients.shape
    intercept = size > tile.shape[1]
    w = np.ones(len(y)) if weight is None else weight
    slopes = shares * w[:, np.newaxis]
    slopes[np.arange(len(y)), y] -= w
    gradient = [_with_intercept(tile, slopes[:, k], intercept=intercept) for k in range(outputs)]
    matrix: Any = np.zeros((outputs, size, outputs, size)) if hessian else 0.0
    for k in range(outputs if hessian else 0):
        for j in range(k + 1):
            curvatures = w * shares[:, k] * ((k == j) - shares[:, j])
            part = _products(tile, curvatures, intercept=intercept)
            matrix[k, :, j] = matrix[j, :, k] = part
    if hessian:
        matrix = matrix.reshape(outputs * size, outputs * size)
    return Totals(_sum(weight, tile), float(w @ losses), np.concatenate(gradient), matrix)


def _with_intercept(tile: Any, values: Any, *, intercept: bool) -> Any:
    """Return the products of the columns, and of ones, with a value for each row."""
    products = tile.T @ values
    return np.append(products, values.sum()) if intercept else products


def _products(tile: Any, weights: Any, *, intercept: bool) -> Any:
    """Return the weighted products of every two columns, ones among them."""
    if is_sparse(tile):
        inner = (tile.T @ tile.multiply(weights[:, np.newaxis]).tocsr()).toarray()
    elif weights.min(initial=0.0) < 0:
        inner = tile.T @ (tile * weights[:, np.newaxis])
    else:
        # A product with itself takes BLAS half the time.
        factor = tile * np.sqrt(weights)[:, np.newaxis]
        inner = factor.T @ factor
    if not intercept:
        return inner
    edge = tile.T @ weights
    size = len(edge) + 1
    result = np.empty((size, size))
    result[:-1, :-1], result[:-1, -1], result[-1, :-1], result[-1, -1] = (
        inner,
        edge,
        edge,
        weights.sum(),
    )
    return result
