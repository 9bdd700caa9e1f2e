"""Frames as streams of Arrow record batches, each made when it is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks

from ..batches import batches
from ..nodes.frame_node import FrameNode


@dataclass(frozen=True, eq=False)
class ArrowSchemas(FrameNode):
    """One row for each chunk: its Arrow schema, and its row labels if they are a range."""

    pins_grid = True

    a: Node

    @property
    def meta(self) -> Any:
        return pd.DataFrame({"schema": [], "labels": []}, dtype=object)

    @property
    def chunks(self) -> Chunks:
        return ((1,) * len(self.a.chunks[0]),)

    def tile(self, a: Grid) -> Grid:
        sizes = (1,) * len(a)
        return blockwise(outline, [(a, (0,))], chunks=(sizes,), meta=self.meta, itemsize=1024.0)


def outline(block: Any) -> Any:
    """Return a chunk's Arrow schema, and its row labels if they are a range."""
    import pyarrow as pa

    schema = pa.Schema.from_pandas(block, preserve_index=True).serialize().to_pybytes()
    labels = block.index if isinstance(block.index, pd.RangeIndex) else None
    return pd.DataFrame({"schema": [schema], "labels": [labels]}, dtype=object)


def stream(self: Any, requested_schema: Any = None) -> Any:
    """Compute, and return a stream of Arrow record batches: one per chunk, made when it is read.

    Row labels are stored as in pyarrow.Table.from_pandas, so ``to_pandas()`` of a table has them.
    """
    import pyarrow as pa

    rows = self.persist()
    outlines = wrap(ArrowSchemas(rows.node)).compute()
    schemas = [pa.ipc.read_schema(pa.py_buffer(buffer)) for buffer in outlines["schema"]]
    # Arrow infers the types of objects from values, and a chunk may have none.
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    labels = _range(list(outlines["labels"]))
    if labels is not None:
        schema = _with_range(schema, labels)
    records = (_batch(block, schema, labels is None) for block in batches(rows))
    return pa.RecordBatchReader.from_batches(schema, records).__arrow_c_stream__(requested_schema)


def _range(labels: list[Any]) -> pd.RangeIndex | None:
    """Return the labels of all rows if they are one range, else ``None``."""
    if any(item is None for item in labels):
        return None
    index = labels[0].append(labels[1:])
    return index if isinstance(index, pd.RangeIndex) else None


def _with_range(schema: Any, labels: pd.RangeIndex) -> Any:
    """Return a schema that has the labels as a range in its metadata, not as a column."""
    metadata = schema.pandas_metadata
    (column,) = metadata["index_columns"]
    bounds = {"start": labels.start, "stop": labels.stop, "step": labels.step}
    metadata["index_columns"] = [{"kind": "range", "name": labels.name, **bounds}]
    metadata["columns"] = [entry for entry in metadata["columns"] if entry["field_name"] != column]
    schema = schema.remove(schema.get_field_index(column))
    return schema.with_metadata({**schema.metadata, b"pandas": json.dumps(metadata).encode()})


def _batch(block: Any, schema: Any, labels: bool) -> Any:
    import pyarrow as pa

    batch = pa.RecordBatch.from_pandas(block, preserve_index=labels)
    pairs = zip(batch.columns, schema.types, strict=True)
    arrays = [array if array.type == kind else array.cast(kind) for array, kind in pairs]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def values_stream(self: Any, requested_schema: Any = None) -> Any:
    """Compute, and return the values as an Arrow stream. See pandas.Series."""
    return self.compute().__arrow_c_stream__(requested_schema)


def interchange(self: Any, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
    """Compute, and return Arrow's object of the dataframe interchange protocol."""
    import pyarrow as pa

    return pa.table(self).__dataframe__(nan_as_null, allow_copy)
