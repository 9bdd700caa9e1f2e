"""What the docstrings of public names tell: parameters, results, and an example that runs."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.learn.cluster
import marsdask.learn.decomposition
import marsdask.learn.preprocessing
import marsdask.tensor as mt
from marsdask import session
from marsdask.core.config import Options
from marsdask.core.execution import Execution
from tests.source import ROOT

#: Sections that are missing in all docstrings of a chapter. A number may only fall.
CEILINGS = {"sessions": 0, "options": 0, "tensor": 300, "dataframe": 30, "learn": 10}

_LEARN = (marsdask.learn.cluster, marsdask.learn.decomposition, marsdask.learn.preprocessing)

#: Methods of every collection, which are sessions' business.
_VERBS = ("execute", "fetch", "compute", "persist", "to_object", "explain")


def chapters() -> dict[str, dict[str, Any]]:
    """Return the public objects of each chapter by their names."""
    options = ("get_option", "set_option", "option_context")
    verbs = {f"Collection.{name}": getattr(marsdask.Collection, name) for name in _VERBS}
    found = {name: getattr(session, name) for name in dir(session) if not name.startswith("_")}
    return {
        "sessions": {**found, **verbs, "Execution": Execution},
        "options": {"Options": Options, **{name: getattr(marsdask, name) for name in options}},
        "tensor": {name: getattr(mt, name) for name in mt.__all__},
        "dataframe": {name: getattr(md, name) for name in dir(md) if not name.startswith("_")},
        "learn": {name: getattr(place, name) for place in _LEARN for name in place.__all__},
    }


def documented(chapter: str) -> Iterator[tuple[str, Any, type | None]]:
    """Yield the functions, the classes and their public methods of a chapter, with their class."""
    for name, item in chapters()[chapter].items():
        if inspect.isclass(item) and issubclass(item, BaseException):
            continue
        if inspect.isclass(item):
            yield name, item, None
            for method, found in vars(item).items():
                if inspect.isfunction(found) and not method.startswith("_"):
                    yield f"{name}.{method}", found, item
        elif inspect.isfunction(item):
            yield name, item, None


@pytest.fixture(scope="module")
def reference() -> Any:
    """Return the hook that writes the reference pages."""
    spec = importlib.util.spec_from_file_location("reference_pages", ROOT / "docs/reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def missing(reference: Any, item: Any, owner: type | None) -> list[str]:
    """Return the sections that a docstring lacks and the reference library does not give."""
    theirs = reference.original(item, owner)
    texts = [inspect.getdoc(item) or "", inspect.getdoc(theirs) or ""]
    signature = inspect.signature(item)
    parameters = [key for key in signature.parameters if key != "self" and key[0] != "_"]
    wanted: list[tuple[str, ...]] = [("Parameters",)] if parameters else []
    if signature.return_annotation not in ("None", None) and not inspect.isclass(item):
        wanted.append(("Returns", "Yields"))
    return [
        names[0]
        for names in wanted
        if not any(reference.section(text, name) for text in texts for name in names)
    ]


@pytest.mark.parametrize("chapter", CEILINGS)
def test_docstrings_have_their_sections(chapter: str, reference: Any) -> None:
    """At most as many are missing as ever before."""
    lacking = {
        name: gaps
        for name, item, owner in documented(chapter)
        if (gaps := missing(reference, item, owner))
    }
    assert sum(map(len, lacking.values())) <= CEILINGS[chapter], lacking


@pytest.mark.parametrize("chapter", ["sessions", "options"])
def test_examples_run(chapter: str) -> None:
    """As they are written."""
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    found = 0
    with marsdask.new_session("synchronous"):
        for name, item, _ in documented(chapter):
            for example in finder.find(item, name, globs={}):
                result = runner.run(example)
                found += result.attempted
                assert not result.failed, name
    assert found


def test_the_reference_takes_parameters_from_the_installed_library(reference: Any) -> None:
    """For functions that name theirs and for estimators that extend one; others tell their own."""
    page = reference.on_page_markdown("# Title\n\n::: marsdask.learn.cluster\n")
    assert page.startswith("# Title\n\n### KMeans\n")
    assert "n_clusters : int" in page
    assert "### KMeans.predict\n" in page
    assert page.count("From sklearn's documentation of") > 4
    mean = reference.described("mean", mt.mean)
    assert "From numpy's documentation of `mean`" in mean
    assert "keepdims : bool, optional" in mean
    own = reference.described("new_session", session.new_session)
    assert "documentation of" not in own
    assert "spill_limit : int or str" in own


def test_what_a_library_lacks_is_left_out(reference: Any) -> None:
    """A name of a newer or older version gives no parameters."""

    def function() -> None:
        """Do nothing. See numpy.nothing_of_this_name."""

    assert reference.original(function) is None
    assert reference.section("Returns\n-------\nint\n\nNotes\n-----\nx", "Returns") == "int"
