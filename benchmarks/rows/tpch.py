"""TPC-H's tables from tpchgen-cli, with floats for decimals and timestamps for dates."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

COMMAND = "tpchgen-cli"
#: Rows of a file, and so of a row group.
ROWS = 600_000


def table(name: str, scale: float) -> Iterator[pa.Table]:
    """Yield the rows of a table in parts."""
    command = shutil.which(COMMAND) or str(Path(sys.executable).with_name(COMMAND))
    with tempfile.TemporaryDirectory() as folder:
        where = ["--tables", name, "--output-dir", folder]
        subprocess.run([command, "parquet", "-s", str(scale), *where], check=True)
        rows = pq.ParquetFile(Path(folder) / f"{name}.parquet")
        schema = pa.schema([(field.name, plain(field.type)) for field in rows.schema_arrow])
        for batch in rows.iter_batches(ROWS):
            yield pa.Table.from_batches([batch]).cast(schema)


def plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that pandas has for an arrow type."""
    if pa.types.is_decimal(kind):
        return pa.float64()
    if pa.types.is_date(kind):
        return pa.timestamp("us")
    return pa.string() if str(kind).endswith("string_view") else kind
