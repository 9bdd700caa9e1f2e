"""Transformers of frames, which stay frames: dask-ml's classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from marsdask.core.public import public_methods
from marsdask.dataframe import DataFrame
from marsdask.dataframe.reshape.categories import get_dummies
from marsdask.learn.lazy import is_lazy
from marsdask.learn.methods import wrap_methods
from marsdask.learn.tables import value_counts


class FrameTransformer(TransformerMixin, BaseEstimator):
    """Takes pandas's frames, ours and Dask's; ``session`` and ``run_kwargs`` with each method."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)
        wrap_methods(cls)
        public_methods(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the columns of a frame what the results have.

        Parameters
        ----------
        X : DataFrame
            The samples.
        y : None
            Ignored.

        Returns
        -------
        Self
            This estimator.

        Raises
        ------
        TypeError
            If the samples are no frame.
        ValueError
            If a column is missing, or has no categories and needs some.

        Examples
        --------
        >>> from marsdask.learn.preprocessing import Categorizer, DummyEncoder
        >>> frame = Categorizer().fit_transform(md.DataFrame({"a": ["x", "y"]}, chunk_size=1))
        >>> DummyEncoder().fit(frame).transformed_columns_.tolist()
        ['a_x', 'a_y']
        """
        self._learn(X, _meta(X))
        return self

    def _learn(self, X: Any, meta: pd.DataFrame) -> None:
        """Learn from a frame of these columns."""
        raise NotImplementedError


def _meta(X: Any) -> pd.DataFrame:
    """Return a frame without rows; raise TypeError for other samples."""
    meta = X.node.meta if is_lazy(X) else X
    if not isinstance(meta, pd.DataFrame):
        raise TypeError(f"Expected a DataFrame, got {type(X).__name__} instead")
    return meta.iloc[:0]


def _is_text(dtype: Any) -> bool:
    texts = isinstance(dtype, pd.StringDtype | pd.CategoricalDtype)
    return texts or (isinstance(dtype, np.dtype) and dtype.kind == "O")


class Categorizer(FrameTransformer):
    """Turn columns of texts into categories that all chunks share.

    dask-ml's class of this name. Only the categories are held in memory.

    Parameters
    ----------
    categories : dict, optional
        For columns that have them already: their ``CategoricalDtype``.
    columns : sequence, optional
        Which columns; by default those of texts, objects and categories.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import Categorizer
    >>> frame = md.DataFrame({"a": ["x", "y"], "b": [1, 2]}, chunk_size=1)
    >>> Categorizer().fit_transform(frame).compute().a.cat.categories.tolist()
    ['x', 'y']
    """

    def __init__(self, categories: Any = None, columns: Sequence[Any] | None = None) -> None:
        self.categories = categories
        self.columns = columns

    def _learn(self, X: Any, meta: pd.DataFrame) -> None:
        presets = dict(self.categories or {})
        texts = [name for name, dtype in meta.dtypes.items() if _is_text(dtype)]
        self.columns_ = pd.Index(texts if self.columns is None else self.columns)
        gaps = self.columns_.difference(meta.columns)
        if len(gaps):
            raise ValueError(f"columns are missing: {gaps.tolist()}")
        types = {n: t for n, t in meta.dtypes.items() if isinstance(t, pd.CategoricalDtype)}
        if is_lazy(X):  # pandas's unknown categories of Dask are those of a chunk
            types = {}
        sought = [name for name in self.columns_ if name not in presets and name not in types]
        columns = dict(zip(sought, _values(X, sought), strict=True)) if sought else {}
        dtypes = {name: _categories(values) for name, values in columns.items()} | types | presets
        self.categories_ = {name: dtypes[name] for name in self.columns_}

    def transform(self, X: Any) -> Any:
        """Return the frame with categories; what is none of them is missing.

        Parameters
        ----------
        X : DataFrame
            The samples.

        Returns
        -------
        DataFrame
            Lazy for lazy samples.

        Examples
        --------
        >>> from marsdask.learn.preprocessing import Categorizer
        >>> model = Categorizer().fit(md.DataFrame({"a": ["x", "y"]}, chunk_size=1))
        >>> model.transform(md.DataFrame({"a": ["y", "z"]})).compute().a.cat.codes.tolist()
        [1, -1]
        """
        check_is_fitted(self, "categories_")
        _meta(X)
        if not is_lazy(X):
            return categorized(X, categories=self.categories_)
        return X.map_chunk(categorized, categories=self.categories_)


def categorized(block: Any, *, categories: dict[Any, Any]) -> pd.DataFrame:
    """Return a run of rows with categories in some columns; what is none of them is missing."""
    result: pd.DataFrame = block.copy(deep=False)
    for name, dtype in categories.items():
        codes = dtype.categories.get_indexer(block[name])
        result[name] = pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), block.index)
    return result


def _values(X: Any, columns: list[Any]) -> list[Any]:
    """Return the different values of each column."""
    if is_lazy(X):
        return [counts.index for counts in value_counts(X[columns].node)]
    return [X[name].unique() for name in columns]


def _categories(values: Any) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(values).dropna().unique().sort_values())


class DummyEncoder(FrameTransformer):
    """Encode columns of categories as a column for each: pandas's ``get_dummies``.

    dask-ml's class of this name.

    Parameters
    ----------
    columns : sequence, optional
        Which columns; by default all categories.
    drop_first : bool
        Whether the first category has no column.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import Categorizer, DummyEncoder
    >>> frame = md.DataFrame({"a": ["x", "y"]}, chunk_size=1)
    >>> DummyEncoder().fit_transform(Categorizer().fit_transform(frame)).compute()
           a_x    a_y
    0   True  False
    1  False   True
    """

    def __init__(self, columns: Sequence[Any] | None = None, drop_first: bool = False) -> None:
        self.columns = columns
        self.drop_first = drop_first

    def _learn(self, X: Any, meta: pd.DataFrame) -> None:
        del X
        categories = [n for n, t in meta.dtypes.items() if isinstance(t, pd.CategoricalDtype)]
        names = categories if self.columns is None else list(self.columns)
        plain = [name for name in names if name not in categories]
        if plain:
            raise ValueError(f"columns {plain} have no categories; Categorizer makes some")
        self.columns_ = meta.columns
        self.categorical_columns_ = pd.Index(names)
        self.non_categorical_columns_ = meta.columns.drop(names)
        types: dict[Any, Any] = dict(meta.dtypes.items())
        self.dtypes_ = {name: types[name] for name in names}
        self.transformed_columns_ = _dummies(meta, names, drop_first=self.drop_first).columns

    def transform(self, X: Any) -> Any:
        """Return the frame with a column for each category.

        Parameters
        ----------
        X : DataFrame
            The samples.

        Returns
        -------
        DataFrame
            Lazy for lazy samples.

        Raises
        ------
        ValueError
            If the columns are others.

        Examples
        --------
        >>> from marsdask.learn.preprocessing import Categorizer, DummyEncoder
        >>> frame = Categorizer().fit_transform(md.DataFrame({"a": ["x", "y"]}, chunk_size=1))
        >>> list(DummyEncoder(drop_first=True).fit(frame).transform(frame).columns)
        ['a_y']
        """
        check_is_fitted(self, "dtypes_")
        meta = _meta(X)
        if not meta.columns.equals(self.columns_):
            raise ValueError(
                f"Columns of 'X' do not match the training columns. Got {meta.columns.tolist()!r}, "
                f"expected {self.columns_.tolist()!r}"
            )
        columns = list(self.categorical_columns_)
        dtypes = {n: t for n, t in meta.dtypes.items() if n in self.dtypes_}
        if dtypes != self.dtypes_:
            X = Categorizer(self.dtypes_, columns).fit(X).transform(X)
        return _dummies(X, columns, drop_first=self.drop_first)

    def inverse_transform(self, X: Any) -> Any:
        """Return the frame with its categories.

        Parameters
        ----------
        X : DataFrame or array_like
            Columns of categories.

        Returns
        -------
        DataFrame
            Lazy for lazy samples.

        Examples
        --------
        >>> from marsdask.learn.preprocessing import Categorizer, DummyEncoder
        >>> frame = Categorizer().fit_transform(md.DataFrame({"a": ["x", "y"]}, chunk_size=1))
        >>> model = DummyEncoder().fit(frame)
        >>> model.inverse_transform(model.transform(frame)).compute().a.tolist()
        ['x', 'y']
        """
        check_is_fitted(self, "dtypes_")
        if not isinstance(X.node.meta if is_lazy(X) else X, pd.DataFrame):
            kind = DataFrame if is_lazy(X) else pd.DataFrame
            X = kind(X, columns=self.transformed_columns_)
        how: dict[str, Any] = {
            "categories": self.dtypes_,
            "columns": self.columns_,
            "drop_first": self.drop_first,
        }
        if not is_lazy(X):
            return categories_of(X, **how)
        return X.map_chunk(categories_of, **how)


def _dummies(X: Any, columns: list[Any], *, drop_first: bool) -> Any:
    function: Callable[..., Any] = get_dummies if is_lazy(X) else pd.get_dummies
    return function(X, columns=columns, drop_first=drop_first)


def categories_of(
    block: Any, *, categories: dict[Any, Any], columns: Any, drop_first: bool
) -> pd.DataFrame:
    """Return a run of rows with the categories that columns of it stand for."""
    data = {}
    for name in columns:
        if name not in categories:
            data[name] = block[name]
            continue
        dtype = categories[name]
        labels = dtype.categories[int(drop_first) :]
        values = block[[f"{name}_{category}" for category in labels]].to_numpy(bool)
        codes = np.where(values.any(axis=1), values.argmax(axis=1) + int(drop_first), -1)
        if drop_first:  # no column tells the first category from a missing one
            codes = np.where(codes < 0, 0, codes)
        data[name] = pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), block.index)
    return pd.DataFrame(data, columns=columns)


class BlockTransformer(FrameTransformer):
    """Call a function of each chunk.

    dask-ml's class of this name: ``FunctionTransformer`` calls one of the whole.

    Parameters
    ----------
    func : callable
        A function of an array or a frame, which returns as many rows.
    validate : bool
        Accepted for dask-ml's sake; samples are given as they are.
    kw_args : dict, optional
        More arguments of the function.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import BlockTransformer
    >>> x = mt.tensor([[1.0, 4.0], [9.0, 16.0]], chunk_size=1)
    >>> BlockTransformer(np.sqrt).fit_transform(x).compute()
    array([[1., 2.],
           [3., 4.]])
    """

    def __init__(self, func: Any, *, validate: bool = False, kw_args: Any = None) -> None:
        self.func = func
        self.validate = validate
        self.kw_args = kw_args

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = tags.input_tags.sparse = tags.no_validation = True
        tags.requires_fit = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        y : None
            Ignored.

        Returns
        -------
        Self
            This estimator.

        Examples
        --------
        >>> from marsdask.learn.preprocessing import BlockTransformer
        >>> model = BlockTransformer(np.sqrt).fit(mt.ones((2, 2)))
        """
        return self

    def transform(self, X: Any) -> Any:
        """Return what the function makes of each chunk.

        Parameters
        ----------
        X : array_like or frame
            The samples.

        Returns
        -------
        Tensor, frame or array
            Lazy for lazy samples.

        Examples
        --------
        >>> from marsdask.learn.preprocessing import BlockTransformer
        >>> BlockTransformer(np.sqrt).transform(mt.tensor([[4.0]])).compute()
        array([[2.]])
        """
        options = self.kw_args or {}
        if not is_lazy(X):
            return self.func(X, **options)
        if isinstance(X.node.meta, pd.DataFrame | pd.Series):
            return X.map_partitions(self.func, **options)
        return X.map_blocks(self.func, **options)
