"""How the columns of Parquet files become those of a frame."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import pandas_dtype

from ..files import Files
from ..hive import NO_KEYS, Keys
from .dictionaries import Categories, with_categories
from .drift import common_schema


@dataclass(frozen=True)
class ParquetLayout:
    """Files of rows of one schema, and how their columns become those of a frame."""

    files: Files
    keys: Keys = NO_KEYS
    backend: str | None = None
    """Whose types the columns have, if they are not NumPy's."""
    categories: Categories = field(default=(), repr=False)
    """Those of all rows."""

    @cached_property
    def schema(self) -> Any:
        """The Arrow schema of all rows, without the columns of the names of folders."""
        return common_schema(self.files)

    @cached_property
    def labels(self) -> list[str]:
        """The names of the columns that are row labels in pandas."""
        names = (self.schema.pandas_metadata or {}).get("index_columns", [])
        return [name for name in names if isinstance(name, str) and name in self.schema.names]

    @cached_property
    def empty(self) -> Any:
        """A frame of all columns without rows."""
        self._check_names()
        with self.files.reading(0):
            table = with_categories(self.schema.empty_table(), self.schema, self.categories)
            table = self.keys.added_to(table, 0, self.keys.labels)
            frame = table.to_pandas(types_mapper=types_of_backend(self.backend))
        if frame.columns.dtype == bool:  # pyarrow reads each text as True
            names = [name for name in self.schema.names if name not in self.labels]
            frame.columns = pd.Index([name == "True" for name in names], name=frame.columns.name)
        return frame

    def _check_names(self) -> None:
        """Raise pyarrow's error for names that occur twice, as of labels and of a column."""
        import pyarrow as pa

        names = self.schema.names
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                raise pa.ArrowInvalid(f"Multiple matches for FieldRef.Name({name}) in {names}")

    @cached_property
    def names(self) -> dict[Hashable, str]:
        """The name in the files of each column of the frame, which may be no text there."""
        labels = set(self.labels)
        inside = [name for name in self.schema.names if name not in labels]
        columns = map(as_key, self.empty.columns)
        return dict(zip(columns, [*inside, *self.keys.labels], strict=True))

    def like(self, columns: Iterable[Hashable]) -> Any:
        """Return a frame of some columns without rows; labels may be truth values."""
        places = {as_key(label): place for place, label in enumerate(self.empty.columns)}
        return self.empty.iloc[:, [places[as_key(label)] for label in columns]]

    def names_of(self, columns: Iterable[Hashable]) -> list[str]:
        """Return the names of columns in the files."""
        return [self.names[as_key(label)] for label in columns]

    def with_categories(self, categories: Categories) -> ParquetLayout:
        """Return the layout of columns whose categories are known."""
        layout = replace(self, categories=categories)
        layout.__dict__["schema"] = self.schema
        return layout


def as_key(label: Hashable) -> Hashable:
    """Return a label that is equal to itself: each NaN that columns give is another object."""
    return label if label == label else np.nan  # noqa: PLR0124


@lru_cache
def types_of_backend(backend: str | None) -> Any:
    """Return the function from Arrow's types to those of a backend, ``None`` for NumPy's."""
    import pyarrow as pa

    if backend != "numpy_nullable":
        return pd.ArrowDtype if backend == "pyarrow" else None
    names = (*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),)
    types: dict[Any, Any] = {getattr(pa, name)(): pandas_dtype(_nullable(name)) for name in names}
    types |= {pa.float32(): pd.Float32Dtype(), pa.float64(): pd.Float64Dtype()}
    types |= {pa.bool_(): pd.BooleanDtype()}
    types |= dict.fromkeys([pa.string(), pa.large_string()], pd.StringDtype())
    return types.get


def _nullable(name: str) -> str:
    return name.replace("uint", "UInt").replace("int", "Int")
