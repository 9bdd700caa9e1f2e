"""What duckdb runs as pandas does."""

from __future__ import annotations

from ..query import expressions_of, terms_of
from ..relation import FileScan, Shift, Table, walk
from .functions import is_function_of

#: What a path of files may not have: duckdb takes it for a pattern.
GLOB = frozenset("*?[")


def refusal(table: Table) -> str | None:
    """Return why duckdb cannot run a table, if that is so."""
    for relation in walk([table.relation]):
        if isinstance(relation, Shift):
            return "duckdb has no rows before others"
        if isinstance(relation, FileScan) and any(GLOB & set(path) for path in relation.paths):
            return "duckdb takes paths of files for patterns"
        if isinstance(relation, FileScan) and not relation.are_plain:
            return "duckdb does not tell the names of the columns apart"
    terms = [*terms_of(table), *(term for _, term in table.outputs)]
    for relation in walk([table.relation]):
        terms.extend(expressions_of(relation))
    return None if all(map(is_function_of, terms)) else "duckdb lacks a function or a type"
