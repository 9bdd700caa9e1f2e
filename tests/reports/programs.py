"""All programs of the tables, by name."""

from __future__ import annotations

from tests.reports import bins, estimators, files, labels, tensors, values

TABLES = (bins, estimators, files, labels, tensors, values)
PROGRAMS = {
    f"{table.__name__.rpartition('.')[2]}: {name}": text
    for table in TABLES
    for name, text in table.PROGRAMS.items()
}
#: Programs of what no reference has, and what they give.
LITERALS = files.LITERALS | tensors.LITERALS | estimators.LITERALS
#: Programs that raise, and words of the error.
REFUSALS = labels.REFUSALS | files.CHANGES | tensors.FAILURES
