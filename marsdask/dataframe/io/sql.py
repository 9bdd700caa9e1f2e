"""Read the results of queries in ranges of a column; write tables chunk by chunk."""

from __future__ import annotations

import itertools
import math
import os
import re
import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.machine.sizing import LARGEST_BLOCK
from marsdask.core.public import public_call

from ..batches import batches
from ..nodes.frame_node import row_bytes
from ..partitions.from_map import FromMap
from ..reduction.reductions import collection_of
from ..rows import empty_rows
from ..whole.fallback import function_with_fallback

if TYPE_CHECKING:
    from ..frame import DataFrame

SQLITE = "sqlite:///"
#: The rows that show columns and types.
HEAD_ROWS = 1000


def uri_of(con: Any) -> str:
    """Return the address of a database, which tasks open themselves."""
    if isinstance(con, str):
        file = con.removeprefix(SQLITE)
        is_file = con.startswith(SQLITE) and file and not file.startswith((":", "file:"))
        # Tasks may run in another folder.
        return f"{SQLITE}{os.path.abspath(file)}" if is_file else con
    if isinstance(con, sqlite3.Connection):
        _, _, file = con.execute("PRAGMA database_list").fetchone()
        if not file:
            raise NotImplementedError(
                "a database in memory is not supported, since tasks open it anew; use a file"
            )
        return f"{SQLITE}{file}"
    try:
        return str(con.engine.url.render_as_string(hide_password=False))
    except AttributeError:
        kind = type(con).__name__
        raise TypeError(
            f"con must be a URI, a sqlite3 connection or an engine of SQLAlchemy, got {kind}"
        ) from None


@contextmanager
def connected(uri: str) -> Iterator[Any]:
    """Open a database: SQLite without more, others by SQLAlchemy."""
    if uri.startswith(SQLITE):
        with closing(sqlite3.connect(uri.removeprefix(SQLITE))) as database:
            yield database
        return
    import sqlalchemy

    engine = sqlalchemy.create_engine(uri)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def read_range(
    condition: str, query: str, uri: str, options: tuple[tuple[str, Any], ...], columns: Any
) -> pd.DataFrame:
    """Return the rows of a query that meet a condition."""
    if not condition:
        return _select(query, uri, options)
    rows = _select(f"SELECT * FROM {_nested(query)}{condition}", uri, options)  # noqa: S608
    # A database may name columns of a query within another anew if they have one name.
    return rows if len(rows.columns) != len(columns) else rows.set_axis(columns, axis=1)


def _nested(query: str) -> str:
    """Return a query for use within another: on lines of its own, since a comment may end it."""
    return "(\n" + query.rstrip("; \t\r\n") + "\n) AS q"


def _first_rows(query: str, uri: str, options: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
    if not uri.startswith(SQLITE):
        # Others might send all rows.
        return _select(f"SELECT * FROM {_nested(query)} LIMIT {HEAD_ROWS}", uri, options)  # noqa: S608
    with connected(uri) as connection:
        parts: Any = pd.read_sql_query(query, connection, chunksize=HEAD_ROWS, **dict(options))
        first: pd.DataFrame = next(parts)
        return first


def _bounds(column: str, query: str, uri: str, options: tuple[tuple[str, Any], ...]) -> Any:
    """Return the number of rows of a query, and the least and the largest value of a column."""
    params = tuple(option for option in options if option[0] == "params")
    selection = f"COUNT(*) AS n, MIN({column}) AS a, MAX({column}) AS b"
    table = _select(f"SELECT {selection} FROM {_nested(query)}", uri, params)  # noqa: S608
    return table.iloc[0].astype(object)


def quoted(name: str, uri: str) -> str:
    """Return the name of a table or a column, which may be any text."""
    if uri.startswith(SQLITE):
        # In double quotes it would be text where there is no such column.
        return "`" + name.replace("`", "``") + "`"
    import sqlalchemy

    return str(sqlalchemy.make_url(uri).get_dialect()().identifier_preparer.quote(name))


def _select(query: str, uri: str, options: Any = ()) -> pd.DataFrame:
    with connected(uri) as connection:
        text: Any = query
        if not isinstance(connection, sqlite3.Connection):
            import sqlalchemy

            text = sqlalchemy.text(query)
        table: Any = pd.read_sql_query(text, connection, **dict(options))
        rows: pd.DataFrame = table
        return rows


def _conditions(column: str, limits: Sequence[Any], count: int) -> list[str]:
    """Return the conditions of the ranges of a column; the first one has missing values too."""
    low, high = limits
    if low is None or count == 1:
        return [""]
    borders = [low + (high - low) * part / count for part in range(1, count)]
    if isinstance(low, int):
        borders = sorted({math.ceil(border) for border in borders} - {low})
    texts = []
    for start, stop in itertools.pairwise([None, *borders, None]):
        bounds = [f"{column} >= {_literal(start)}"] if start is not None else []
        bounds += [f"{column} < {_literal(stop)}"] if stop is not None else []
        text = " AND ".join(bounds)
        texts.append(f" WHERE {text} OR {column} IS NULL" if start is None else f" WHERE {text}")
    return texts


def _literal(value: Any) -> str:
    return repr(value) if isinstance(value, int | float) else f"'{value}'"


@public_call
@function_with_fallback
def read_sql_query(
    sql: str,
    con: Any,
    index_col: Any = None,
    *,
    partition_col: str | None = None,
    num_partitions: int | None = None,
    npartitions: int | None = None,
    limits: tuple[Any, Any] | None = None,
    **options: Any,
) -> DataFrame:
    """Return a frame over the rows of a query. See pandas.read_sql_query.

    Each chunk runs the query with a range of the values of a column of numbers or times; without
    ``partition_col`` all rows are one chunk. Databases other than SQLite need SQLAlchemy.

    Parameters
    ----------
    sql : str
        The query.
    con : str, sqlite3.Connection or sqlalchemy.Engine
        The database, which tasks open themselves.
    index_col : str or list of str, optional
        Columns to use as row labels; one is ``partition_col`` as well, as in Dask.
    partition_col : str, optional
        The column whose ranges are chunks.
    num_partitions, npartitions : int, optional
        The number of chunks; by default as many as are needed for chunks of some MiB.
    limits : tuple, optional
        The least and the largest value of the column; computed by default.
    **options
        Other arguments of pandas.read_sql_query.
    """
    for unsaid in (
        "divisions",
        "bytes_per_chunk",
        "head_rows",
        "meta",
        "engine_kwargs",
        "chunksize",
    ):
        options.pop(unsaid, None)
    uri, arguments = uri_of(con), tuple(options.items())
    if index_col is not None:
        arguments = (*arguments, ("index_col", index_col))
    first = _first_rows(sql, uri, arguments)
    column = partition_col or (index_col if isinstance(index_col, str) else None)
    conditions = [""]
    if column is not None:
        column = quoted(column, uri)
        rows, low, high = _bounds(column, sql, uri, arguments)
        low, high = limits or _as_times(low, high)
        nbytes = int(rows) * row_bytes(empty_rows(first))
        count = num_partitions or npartitions or math.ceil(nbytes / LARGEST_BLOCK)
        conditions = _conditions(column, (low, high), max(1, count))
    how = (("query", sql), ("uri", uri), ("options", arguments), ("columns", first.columns))
    items = tuple((condition,) for condition in conditions)
    rows_of = collection_of(FromMap(read_range, items, (), how, empty_rows(first), checks=True))
    frame: DataFrame = rows_of if index_col is not None else rows_of.reset_index(drop=True)
    return frame


def _as_times(low: Any, high: Any) -> tuple[Any, Any]:
    """Return limits between which ranges can be computed: numbers, or times that text spells."""
    if isinstance(low, str):
        return pd.Timestamp(low), pd.Timestamp(high)
    if low is None or pd.isna(low):
        return None, None
    return np.asarray(low).item(), np.asarray(high).item()


@public_call
@function_with_fallback
def read_sql_table(
    table_name: str,
    con: Any,
    index_col: Any = None,
    *,
    schema: str | None = None,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> DataFrame:
    """Return a frame over a table of a database. See pandas.read_sql_table.

    Parameters
    ----------
    table_name : str
        The table.
    con : str, sqlite3.Connection or sqlalchemy.Engine
        The database, which tasks open themselves.
    index_col : str or list of str, optional
        Columns to use as row labels.
    schema : str, optional
        The schema of the table.
    columns : sequence of str, optional
        Which columns to read.
    **options
        Arguments of ``read_sql_query``.
    """
    labels = [index_col] if isinstance(index_col, str) else list(index_col or ())
    quote = partial(quoted, uri=uri_of(con))
    fields = "*" if columns is None else ", ".join(map(quote, dict.fromkeys([*labels, *columns])))
    name = ".".join(map(quote, [table_name] if schema is None else [schema, table_name]))
    frame: DataFrame = read_sql_query(f"SELECT {fields} FROM {name}", con, index_col, **options)  # noqa: S608
    return frame


@public_call
@function_with_fallback
def read_sql(sql: str, con: Any, index_col: Any = None, **options: Any) -> DataFrame:
    """Return a frame over a query or a table of a database. See pandas.read_sql.

    Parameters
    ----------
    sql : str
        A query, or the name of a table.
    con : str, sqlite3.Connection or sqlalchemy.Engine
        The database, which tasks open themselves.
    index_col : str or list of str, optional
        Columns to use as row labels.
    **options
        Arguments of ``read_sql_query`` or ``read_sql_table``.
    """
    reader = read_sql_query if re.search(r"[\s(*]", sql.strip()) else read_sql_table
    frame: DataFrame = reader(sql, con, index_col=index_col, **options)
    return frame


def to_sql(
    obj: Any,
    name: str,
    con: Any,
    *,
    schema: str | None = None,
    if_exists: str = "fail",
    **options: Any,
) -> int:
    """Write the rows to a table, one chunk after the other. See pandas.DataFrame.to_sql.

    All chunks are computed before the first is written, in one transaction: if one fails, no row
    stays. Some databases, such as MySQL, keep the empty table. Returns the number of rows.
    """
    for unsaid in ("compute", "parallel", "engine_kwargs"):
        options.pop(unsaid, None)
    rows, how = 0, if_exists
    parts = batches(obj)
    first = next(parts)
    opened = connected(con) if isinstance(con, str) else nullcontext(con)
    with opened as database, transaction(database) as connection, warnings.catch_warnings():
        # pandas takes no class but SQLite's for a connection to SQLite.
        warnings.filterwarnings("ignore", "pandas only supports SQLAlchemy")
        for block in itertools.chain([first], parts):
            block.to_sql(name, connection, schema=schema, if_exists=how, **options)
            rows, how = rows + len(block), "append"
    return rows


class Uncommitted:
    """A connection to SQLite whose user ends no transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def commit(self) -> None:
        """Do nothing: who began the transaction ends it."""

    rollback = commit


@contextmanager
def transaction(con: Any) -> Iterator[Any]:
    """Write all or nothing, and what was begun before either way."""
    if isinstance(con, sqlite3.Connection):
        began = not con.in_transaction
        con.execute("BEGIN" if began else "SAVEPOINT marsdask")
        try:
            yield Uncommitted(con)
        except BaseException:
            con.execute("ROLLBACK" if began else "ROLLBACK TO marsdask")
            raise
        con.execute("COMMIT")
    elif hasattr(con, "begin_nested"):
        # A session of statements that the user may have begun.
        with con.begin_nested():
            yield con
        con.commit()
    elif hasattr(con, "begin"):
        with con.begin() as connection:
            yield connection
    else:
        yield con
