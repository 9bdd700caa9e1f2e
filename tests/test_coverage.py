"""The page that says what is offered tells the truth."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

from marsdask.tensor.tensor import method
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
    """What the page says of us is so, and nothing is left for later."""
    wrong = {
        name: (row.here, now)
        for name, row in written.items()
        if row.here != (now := coverage.here(name)) or now == coverage.COMING
    }
    assert not wrong, "python docs/coverage.py writes the page anew"


def test_the_page_is_what_the_script_writes(coverage: Any) -> None:
    """With the versions of Dask and NumPy it was written with: others have other names."""
    text = coverage.PAGE.read_text(encoding="utf-8")
    if coverage.VERSIONS not in text or sys.platform != "linux":
        pytest.skip("the page was written elsewhere, where Dask and NumPy have other names")
    assert coverage.page(coverage.rows()) == text


def test_reasons_are_needed(coverage: Any, written: dict[str, Any]) -> None:
    """Each is that of some name on the page: none outlives the coming of what it excused."""
    given = {row.here for row in written.values()}
    assert set(coverage.REASONS.values()) <= given


def test_refusals_are_not_called_done(coverage: Any) -> None:
    """A function that only raises is found out; one that does more is not."""

    def refuses() -> None:
        """Do nothing."""
        raise NotImplementedError("use something else")

    assert coverage.refuses(refuses)
    assert coverage.refuses(method(refuses))
    assert not coverage.refuses(coverage.here)
    assert coverage.here("histogram") == "done"
    assert coverage.here("Inf") == "marsdask.compat"
    assert "sys.byteorder" in coverage.here("little_endian")
    assert coverage.here("no_such_name") == coverage.COMING


def test_differences_are_told() -> None:
    """By the sentence of the docstring."""
    text = (ROOT / "docs" / "api-coverage.md").read_text(encoding="utf-8")
    assert "the rest may come sorted" in text
