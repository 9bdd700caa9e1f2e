"""The tables of arguments are whole, and a walk through them sees what is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.arguments import table, walk
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.subjects import SUBJECTS


@pytest.mark.parametrize("title", SUBJECTS)
def test_tables_are_whole(title: str) -> None:
    """Each function has its line, and each keyword of its signature.

    What is missing is made by ``python -m tests.conformance.arguments``.
    """
    assert walk.missing(title) == {}


def _sum(rows: list[float], start: float = 0, *, sign: int = 1) -> float:
    if sign not in (1, -1):
        raise ValueError(f"sign is 1 or -1, not {sign}")
    return sign * sum(rows, start)


def _dropping(rows: list[float], start: float = 0, *, sign: int = 1) -> float:
    return _sum(rows, start)


def _wrong(rows: list[float], start: float = 0, *, sign: int = 1) -> float:
    return _sum(rows, start) * (2 if sign == -1 else 1)


def _refusing(rows: list[float], start: float = 0, *, sign: int = 1) -> float:
    if sign != 1:
        raise NotImplementedError("_refusing(sign=) is not supported; use a minus")
    return _sum(rows, start)


@pytest.mark.parametrize(
    ("ours", "taken", "refused"),
    [
        (_sum, "", ""),
        (_refusing, "", ""),
        (_dropping, "dropped", "taken, for ValueError"),
        (_wrong, "another value", "taken, for ValueError"),
    ],
)
def test_verdicts(ours: Any, taken: str, refused: str) -> None:
    """An argument that is dropped is seen, and one of another effect; a refusal is fair."""
    case = Case("sum", _sum, ours, _sum, ([1.0, 2.0],))
    assert case.parameters() == ["start", "sign"]
    assert case.verdict("sign", -1, case.returned) == taken
    assert case.verdict("sign", 3, case.returned) == refused


def test_a_keyword_without_a_line_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new function, and a new keyword, turn the tables' test red."""
    rows = table.read("windows")
    rows["rolling.sum"] = {"engine": ()}
    del rows["rolling.mean"]
    monkeypatch.setattr(table, "read", lambda _: rows)
    assert set(walk.missing("windows")) == {"rolling.sum", "rolling.mean"}
