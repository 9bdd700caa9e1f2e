"""The page that says what is offered tells the truth."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

import pytest

import marsdask
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
    """With the versions of Dask, NumPy and pandas it was written with: others have other names."""
    text = coverage.PAGE.read_text(encoding="utf-8")
    if coverage.VERSIONS not in text or sys.platform != "linux":
        pytest.skip("the page was written elsewhere, where Dask, NumPy and pandas have other names")
    assert coverage.page(coverage.rows()) == text, "python docs/coverage.py writes the page anew"


def test_chapters_tell_what_is_there_from_what_is_not(coverage: Any) -> None:
    """By the objects themselves: methods of classes, accessors and groups, options, modules."""
    said = {
        f"{chapter}.{name.name}": name.here
        for chapter in coverage.CHAPTERS
        for name in coverage.names(chapter)
    }
    for name in (
        "dataframe.DataFrame.merge",
        "dataframe.groupby.SeriesGroupBy.sum",
        "dataframe.Series.dt.year",
        "dataframe.Series.dt.total_seconds",
        "dataframe.Series.str.upper",
        "learn.cluster.KMeans.fit_predict",
        "remote.spawn",
        "session.config.options.chunk_size",
        "session.session.SyncSession.session_id",
        "session.deploy.kubernetes.new_cluster",
        "session.new_session",
        "session.deploy.oscar.local.new_cluster",
        "dataframe.Series.append",
    ):
        assert said[name] == "done", name
    assert said["dataframe.DataFrame.to_vineyard"] == "raises"
    assert said["session.deploy.oscar.RayClusterBackend"] == "raises"
    assert said["dataframe.Categorical.execute"] == coverage.COMING


def test_what_is_not_there_is_not_promised() -> None:
    """Modules that are counted as missing fail to import, as any other that does not exist."""
    with pytest.raises(ModuleNotFoundError, match=r"marsdask\.deploy\.yarn"):
        importlib.import_module("marsdask.deploy.yarn")
    assert not hasattr(marsdask.deploy, "yarn")


def test_the_first_page_counts_as_this_one(coverage: Any) -> None:
    """README's numbers of names are the tables'."""
    done, known = coverage.of_mars(coverage.rows())
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{done} of Mars's {known} names" in text
    for chapter in ("session", "learn"):
        states = [name.here for name in coverage.names(chapter)]
        assert f"{states.count('done')} of Mars's {len(states)} names" in text


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
    assert "the other elements may be sorted" in text
