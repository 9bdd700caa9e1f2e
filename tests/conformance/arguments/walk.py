"""The walk through the tables: which arguments ours take in another way than the references."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from marsdask.core.config import option_context
from tests.conformance.arguments import table
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.reasons import excuse, reason
from tests.conformance.arguments.subjects import SUBJECTS
from tests.conformance.arguments.values import value_of


@functools.cache
def cases(title: str) -> tuple[Case, ...]:
    """Return the functions of a subject."""
    return tuple(SUBJECTS[title]())


def faults(title: str) -> list[str]:
    """Return the arguments of a subject's functions that are at fault, and why."""
    rows = table.read(title)
    with option_context({"verify": False}):
        return [x for case in cases(title) for x in _faults(case, rows.get(case.name, {}))]


def _faults(case: Case, row: dict[str, tuple[str, ...]]) -> Iterator[str]:
    default = functools.cache(case.returned)
    for parameter, texts in row.items():
        for text in texts if not reason(case.name, parameter) else ():
            verdict = case.verdict(parameter, value_of(text), default)
            if verdict and not excuse(case.name, f"{parameter}={text}", verdict):
                yield f"{case.name}({parameter}={text}): {verdict}"


def missing(title: str) -> dict[str, list[str]]:
    """Return the functions whose table differs from their signatures, with the keywords of both."""
    signatures = {case.name: case.parameters() for case in cases(title)}
    rows = {name: list(row) for name, row in table.read(title).items()}
    names = [x for x in {**signatures, **rows} if signatures.get(x) != rows.get(x)]
    return {name: [*signatures.get(name, ()), "/", *rows.get(name, ())] for name in names}
