"""The functions whose arguments are compared, by subject: each subject has a table."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.arguments.case import Case
from tests.conformance.arguments.subjects import (
    estimators,
    frames,
    grouped,
    numbers,
    tables,
    tensors,
    texts,
)

SUBJECTS: dict[str, Callable[[], list[Case]]] = {
    "frames": frames.frames,
    "series": frames.series,
    "labels": frames.labels,
    "accessors": texts.accessors,
    "groups": grouped.groups,
    "windows": grouped.windows,
    "tables": tables.functions,
    "readers": tables.readers,
    "tensors": tensors.functions,
    "arrays": tensors.array_methods,
    "random": numbers.random,
    "algebra": numbers.algebra,
    "strings": texts.strings,
    "estimators": estimators.estimators,
}
