"""The page that says what is offered tells the truth."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from tests.source import ROOT


@pytest.fixture(scope="module")
def coverage() -> Any:
    """Return the script that writes the page."""
    spec = importlib.util.spec_from_file_location("coverage_page", ROOT / "docs" / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def written(coverage: Any) -> dict[str, Any]:
    """Return the rows of the page as committed."""
    found: dict[str, Any] = coverage.read(coverage.PAGE.read_text(encoding="utf-8"))
    return found


def test_every_name_has_a_row(coverage: Any, written: dict[str, Any]) -> None:
    """Of Mars and of the standard; none is empty."""
    for source, column in (("mars", "mars"), ("array_api", "standard")):
        names = coverage.listed(source)
        assert names == {name for name, row in written.items() if getattr(row, column)}
        assert all(written[name].here for name in names)


def test_rows_are_true(coverage: Any, written: dict[str, Any]) -> None:
    """What the page says of us is so; what is said to come may have come."""
    wrong = {
        name: (row.here, now)
        for name, row in written.items()
        if row.here not in (now := coverage.here(name), coverage.COMING)
    }
    assert not wrong, "python docs/coverage.py writes the page anew"


def test_refusals_are_not_called_done(coverage: Any) -> None:
    """A function that only raises is found out; one that does more is not."""

    def refuses() -> None:
        """Do nothing."""
        raise NotImplementedError("use something else")

    assert coverage.refuses(refuses)
    assert not coverage.refuses(coverage.here)
    assert coverage.here("histogram") == "done"
    assert coverage.here("Inf") == "marsdask.compat"
    assert "sys.byteorder" in coverage.here("little_endian")
    assert coverage.here("no_such_name") == coverage.COMING


def test_differences_are_told() -> None:
    """By the sentence of the docstring."""
    text = (ROOT / "docs" / "api-coverage.md").read_text(encoding="utf-8")
    assert "the rest may come sorted" in text
