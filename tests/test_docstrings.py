"""What the docstrings of public names tell: parameters, results, errors, an example that runs."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import re
import textwrap
from collections import Counter
from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask import session
from tests.source import ROOT

#: The sections that only what no other library has must tell.
OURS = ("Raises", "Examples")


def _reference() -> Any:
    """Return the hook that writes the reference pages."""
    spec = importlib.util.spec_from_file_location("reference_pages", ROOT / "docs/reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _reference()
ENTRIES = {
    chapter: [entry for entry in entries if not entry.same]
    for chapter, entries in reference.entries().items()
}


def missing(entry: Any) -> list[str]:
    """Return the sections that a docstring lacks and the reference library does not give."""
    theirs = reference.source(entry.item, entry.owner)
    own = inspect.getdoc(entry.item) or ""
    texts = [own, inspect.getdoc(theirs.item) or ""] if theirs else [own]
    return [
        wanted
        for wanted in _wanted(entry, theirs)
        if not (own if wanted == "Summary" else any(_tells(text, wanted) for text in texts))
    ]


def _tells(text: str, wanted: str) -> bool:
    names = {"Returns": ("Returns", "Yields"), "Examples": ("Examples", "Example")}
    return any(reference.section(text, name) for name in names.get(wanted, (wanted,)))


def _wanted(entry: Any, theirs: Any) -> list[str]:
    """Return the sections that a docstring should have."""
    if isinstance(entry.item, property):
        return ["Summary"]
    wanted = ["Summary"]
    signature = inspect.signature(entry.item)
    parameters = list(signature.parameters)[entry.owner is not None :]
    if any(not name.startswith("_") for name in parameters) and _takes_some(theirs):
        wanted.append("Parameters")
    if signature.return_annotation not in ("None", "NoReturn", None) and not inspect.isclass(
        entry.item
    ):
        wanted.append("Returns")
    if theirs is None:
        wanted += [section for section in OURS if section != "Raises" or _raises(entry.item)]
    return wanted


def _takes_some(theirs: Any) -> bool:
    """Tell whether the library's function has parameters, if there is one."""
    if theirs is None or not inspect.isfunction(theirs.item):
        return True
    return list(inspect.signature(theirs.item).parameters) != ["self"]


def _raises(item: Any) -> bool:
    """Tell whether a function raises an error itself."""
    if inspect.isclass(item):
        return False
    code = ast.parse(textwrap.dedent(inspect.getsource(reference.identity(item))))
    return any(isinstance(node, ast.Raise) for node in ast.walk(code))


def test_each_public_object_is_seen_once() -> None:
    """In modules below the tensor, among inherited and generated methods, in one chapter only."""
    names = [entry.name for entries in ENTRIES.values() for entry in entries]
    objects = [reference.identity(e.item) for entries in ENTRIES.values() for e in entries]
    assert max(Counter(map(id, objects)).values()) == 1
    assert {"linalg.svd", "random.normal", "ma.median", "stats.skew", "special.gamma"} < set(names)
    assert {"DataFrame.groupby", "DataFrame.sum", "GroupBy.agg", "KMeans.predict"} < set(names)
    everything = {entry.name for entries in reference.entries().values() for entry in entries}
    assert {"Tensor.sum", "Array", "Series.sum", "random.RandomState.normal"} < everything
    assert set(ENTRIES) == set(reference.TITLES)


@pytest.mark.parametrize("chapter", ENTRIES)
def test_docstrings_have_their_sections(chapter: str) -> None:
    """None is missing: what the library's docstring does not tell, ours does."""
    lacking = {entry.name: gaps for entry in ENTRIES[chapter] if (gaps := missing(entry))}
    assert not lacking


def test_what_is_missing_is_found() -> None:
    """A function without a counterpart in a library needs every section that fits it."""

    def function(x: int) -> int:
        if x:
            raise ValueError(x)
        return x

    wanted = ["Summary", "Parameters", "Returns", "Raises", "Examples"]
    assert missing(reference.Entry("function", function)) == wanted


@pytest.mark.parametrize("chapter", ENTRIES)
def test_counterparts_are_named(chapter: str) -> None:
    """A reader is told which function of a library to see, not only which library."""
    vague = re.compile(rf"[Ss]ee ({'|'.join(reference.LIBRARIES)})(?!\.?\w)", re.IGNORECASE)
    found = [e.name for e in ENTRIES[chapter] if vague.search(inspect.getdoc(e.item) or "")]
    assert not found


@pytest.mark.parametrize("chapter", ENTRIES)
def test_examples_run(chapter: str) -> None:
    """As they are written."""
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    with marsdask.new_session("synchronous"):
        for entry in ENTRIES[chapter]:
            names = {"marsdask": marsdask, "mt": mt, "md": md, "np": np}
            for example in finder.find(entry.item, entry.name, globs=names):
                assert not runner.run(example).failed, entry.name


def test_the_reference_takes_parameters_from_the_installed_library() -> None:
    """For functions that name theirs and for estimators that extend one; others tell their own."""
    page = reference.chapter_page("learn")
    assert page.startswith("# Estimators\n\n### k_means\n")
    assert "\n\n### KMeans\n" in page
    assert "n_clusters : int" in page
    assert "### KMeans.predict\n" in page
    assert page.count("From the documentation of `sklearn.") > 4
    mean = reference.described(reference.Entry("mean", mt.mean))
    assert "From the documentation of `numpy.mean`" in mean
    assert "keepdims : bool, optional" in mean
    item = reference.described(reference.Entry("Tensor.item", mt.Tensor.item, mt.Tensor))
    assert "From the documentation of `numpy.ndarray.item`" in item
    own = reference.described(reference.Entry("new_session", session.new_session))
    assert "documentation of" not in own
    assert "spill_limit : int or str" in own


def test_the_reference_shows_calls_as_users_write_them() -> None:
    """Without the object of a method, private parameters, and quotes around annotations."""
    shown = reference.shown(reference.Entry("DataFrame.drop", md.DataFrame.drop, md.DataFrame))
    assert shown.startswith("DataFrame.drop(labels: Any = None, *, ")
    assert "_returns" not in reference.shown(reference.Entry("execute", marsdask.execute))


def test_the_site_has_the_documents_beside_its_folder() -> None:
    """Their links lead to pages of the site; links to code become plain text."""
    guide = reference.beside("README.md")
    assert "[docs/architecture.md](architecture.md)" in guide
    assert "[CONTRIBUTING.md](contributing.md)" in guide
    assert "(docs/" not in guide
    assert "[0001](adr/0001-record-decisions.md)" in reference.beside("CONTRIBUTING.md")
    index = reference.beside("docs/index.md")
    assert {"(guide.md)", "(reference/index.md)", "(adr/index.md)"} <= set(
        re.findall(r"\(\S+\)", index)
    )
    assert "changes/README.md)" not in reference.beside("CONTRIBUTING.md")


def test_what_a_library_lacks_is_left_out() -> None:
    """A name of a newer or older version gives no parameters."""

    def function() -> None:
        """Do nothing. See numpy.nothing_of_this_name."""

    assert reference.source(function) is None
    assert reference.section("Returns\n-------\nint\n\nNotes\n-----\nx", "Returns") == "int"
