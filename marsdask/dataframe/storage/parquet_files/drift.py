"""One Arrow schema for files whose columns have different types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ..files import Files
from .footers import footer


def common_schema(files: Files) -> Any:
    """Return the schema of all rows: the columns of the first file, in types that hold all files.

    As in pandas, columns that only later files have are left out.
    """
    schemas = [footer(files, number).schema.to_arrow_schema() for number in range(len(files.paths))]
    schema = schemas[0]
    variants = list(dict.fromkeys(map(_types, schemas)))[1:]
    for place, name in enumerate(schema.names):
        kinds = [kinds[name] for kinds in map(dict, variants) if name in kinds]
        kind = _common(schema.field(place), kinds, files)
        if kind != schema.field(place).type:
            schema = _changed(schema, place, kind, schemas)
    return schema


def _types(schema: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(zip(schema.names, schema.types, strict=True))


def _common(field: Any, kinds: Iterable[Any], files: Files) -> Any:
    """Return the type of a column, given the first file's and those of others."""
    kind = field.type
    for variant in kinds:
        kind = kind if kind == variant else _wider(kind, variant)
    small = _is_integer(field.type) and _is_integer(kind)
    return field.type if small and kind != field.type and _fits(field, files) else kind


def _wider(kind: Any, other: Any) -> Any:
    """Return a type that holds the values of two types, or the first one if there is none."""
    import pyarrow as pa

    if {str(kind), str(other)} >= {"uint64"} and _is_integer(kind) and _is_integer(other):
        return pa.float64() if pa.types.is_signed_integer(_another(kind, other)) else pa.uint64()
    try:
        pair = [pa.schema([("", kind)]), pa.schema([("", other)])]
        return pa.unify_schemas(pair, promote_options="permissive").field(0).type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return kind


def _another(kind: Any, other: Any) -> Any:
    return other if str(kind) == "uint64" else kind


def _is_integer(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind))


def _fits(field: Any, files: Files) -> bool:
    """Tell whether statistics say that a type of integers holds the values of all files."""
    bits, signed = field.type.bit_width, str(field.type).startswith("int")
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0, 2**bits)
    for number in range(len(files.paths)):
        data = footer(files, number)
        schema = data.schema.to_arrow_schema()
        place = schema.get_field_index(field.name)
        if place < 0 or schema.field(place).type == field.type:
            continue
        if data.num_columns != len(schema.names):
            return False
        for group in range(data.num_row_groups):
            statistics = data.row_group(group).column(place).statistics
            if statistics is None or not statistics.has_min_max:
                return False
            if statistics.min < least or statistics.max >= most:
                return False
    return True


def _changed(schema: Any, place: int, kind: Any, schemas: Sequence[Any]) -> Any:
    """Return a schema with another type of a column, and what pandas wrote of such a one."""
    field = schema.field(place).with_type(kind)
    schema = schema.set(place, field)
    metadata = schema.pandas_metadata
    if not metadata:
        return schema
    alike = [item for item in schemas if field.name in item.names]
    alike = [item for item in alike if item.field(field.name).type == kind]
    notes = _notes_of(alike[0].pandas_metadata if alike else None, field.name)
    columns = [item for item in metadata["columns"] if item not in _notes_of(metadata, field.name)]
    metadata["columns"] = [*columns, *notes]
    return schema.with_metadata({**schema.metadata, b"pandas": json.dumps(metadata).encode()})


def _notes_of(stored: Any, name: str) -> list[Any]:
    """Return what pandas wrote of a column."""
    columns = (stored or {}).get("columns", [])
    return [column for column in columns if column.get("field_name", column.get("name")) == name]


def of_schema(table: Any, schema: Any, wanted: Sequence[str], path: str) -> Any:
    """Return the wanted columns of a file in the types of all files.

    Columns that the file lacks are missing values.
    """
    import pyarrow as pa

    columns = []
    for name in wanted:
        kind = schema.field(name).type
        if name not in table.schema.names:
            columns.append(pa.nulls(table.num_rows, kind))
            continue
        column = table.column(name)
        columns.append(_cast(column, kind, name, path) if _differ(column.type, kind) else column)
    if not wanted:
        return table  # Arrow forgets how many rows a table without columns has.
    result = pa.Table.from_arrays(columns, names=list(wanted))
    return result.replace_schema_metadata(schema.metadata)


def _cast(column: Any, kind: Any, name: str, path: str) -> Any:
    """Return a column in another type, or raise an error that says where which types differ."""
    import pyarrow as pa

    rounds = pa.types.is_floating(kind) and pa.types.is_integer(column.type)
    try:
        return column.cast(kind, safe=not rounds)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise ValueError(
            f"column {name!r} has type {column.type} in {path}, but {kind} in the files before it "
            f"({error}); read the files apart and use astype(), or choose other columns with "
            "columns="
        ) from error


def _differ(kind: Any, wanted: Any) -> bool:
    """Tell whether pandas's types differ."""
    import pyarrow as pa

    texts = {pa.string(), pa.large_string()}
    codes = pa.types.is_dictionary(kind) and pa.types.is_dictionary(wanted)
    return kind != wanted and not codes and not {kind, wanted} <= texts
