"""No argument is taken in silence: what changes the reference's result changes ours, or raises."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from tests.conformance.arguments import table
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.reasons import excuse, reason
from tests.conformance.arguments.subjects import SUBJECTS
from tests.conformance.arguments.values import value_of

CASES = {title: cases() for title, cases in SUBJECTS.items()}
TABLES = {title: table.read(title) for title in SUBJECTS}


@pytest.mark.parametrize("title", SUBJECTS)
def test_tables_are_whole(title: str) -> None:
    """Each function has its line, and each keyword of its signature.

    What is missing is made by ``python -m tests.conformance.arguments``.
    """
    signatures = {case.name: case.parameters() for case in CASES[title]}
    assert {name: list(row) for name, row in TABLES[title].items()} == signatures


def _faults(case: Case, row: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield the arguments of a function that ours takes in another way, and what comes."""
    default = functools.cache(case.returned)
    for parameter, texts in row.items():
        for text in texts if not reason(case.name, parameter) else ():
            verdict = case.verdict(parameter, value_of(text), default)
            if verdict and not excuse(case.name, f"{parameter}={text}", verdict):
                yield f"{case.name}({parameter}={text}): {verdict}"


@pytest.mark.parametrize("title", SUBJECTS)
def test_arguments_are_heeded(title: str) -> None:
    """Each value that changes the reference's result changes ours alike, or raises."""
    rows = TABLES[title]
    faults = [x for case in CASES[title] for x in _faults(case, rows.get(case.name, {}))]
    assert faults == []
