"""What Mars does with a thousand calls holds here, but for named differences."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

import marsdask
import marsdask.compat
from tests.source import ROOT

from .calls import CALLS
from .compare import (
    APART,
    FACTS,
    NUMPY,
    NUMPY_WORDS,
    REASONS,
    WORDS,
    differing,
    equal_facts,
    fact_here,
    facts_in,
    reason_of,
    shares,
)


@pytest.fixture(autouse=True, scope="module")
def mars() -> Iterator[None]:
    """Install the alias, with a session in process as the default one."""
    marsdask.compat.install()
    with marsdask.new_session("synchronous"):
        yield
    marsdask.compat.uninstall()


@pytest.mark.parametrize("family", CALLS)
def test_calls(family: str) -> None:
    """Values, types, order, sparseness, laziness and errors are Mars's, or differ as told."""
    untold, equal = [], []
    for line in CALLS[family]:
        here = fact_here(line)
        found = differing(FACTS[line], here)
        if found and reason_of(line, here) is None:
            untold.append((line, found, FACTS[line], here))
        if not found and line in REASONS:
            equal.append(line)
    assert not untold
    assert not equal, "these no longer differ: remove them from differences.toml"


def test_the_record_has_all_calls() -> None:
    """The calls that were recorded are those that are compared, and reasons are of these."""
    lines = [line for family in CALLS.values() for line in family]
    assert len(lines) >= 1000
    assert set(lines) == FACTS.keys()
    assert len(lines) == len(set(lines))
    assert REASONS.keys() <= FACTS.keys()


def test_shares() -> None:
    """Of the facts that Mars tells without contradicting NumPy, 98 % at least are equal."""
    heres = {line: fact_here(line) for family in CALLS.values() for line in family}
    facts, same, others = shares(heres)
    assert facts == same + sum(others.values())
    assert same / (facts - sum(others[reason] for reason in APART & others.keys())) >= 0.98
    assert WORDS not in APART
    assert shares({"x.ndim": heres["x.ndim"]})[:2] == (3, 3)
    assert shares({"x.ndim": heres["x.sum()"]})[1] < 3


def test_the_page_lists_what_differs() -> None:
    """``python docs/from_mars.py`` writes it anew."""
    spec = importlib.util.spec_from_file_location("from_mars", ROOT / "docs" / "from_mars.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert calls_of(script.PAGE.read_text("utf-8")) == calls_of(script.page())


def calls_of(page: str) -> list[str]:
    """Return the calls that a page lists, in order."""
    return [line.split("` | ")[0] for line in page.splitlines() if line.startswith(("| `", "## "))]


def test_comparing_finds_differences() -> None:
    """Each fact counts, an error that comes later too; the last digits of floats do not."""
    fact = {"lazy": True, "dtype": "int64", "values": [1, 2], "order": "CF", "shape": [2]}
    for change in ({"lazy": False}, {"dtype": "int32"}, {"values": [1, 3]}, {"shape": [1]}):
        assert differing(fact, {**fact, **change}) == list(change)
    assert differing({"values": 0.1 + 0.2}, {"values": 0.3}) == []
    assert differing({"values": True}, {"values": 1}) == ["values"]
    early = {"error": ["ValueError"], "words": "no", "when": "call"}
    late = {"error": ["MyError", "ValueError"], "words": "no", "when": "execute"}
    assert differing(late, early) == []
    assert differing(early, late) == ["when"]
    assert differing(early, {**early, "error": ["TypeError"]}) == ["error"]
    assert differing(fact, early) == ["error"]
    several = {"lazy": False, "items": [fact, {"type": "int", "values": 1}]}
    assert len(facts_in(several)) == 9
    assert equal_facts(several, several) == 9
    assert equal_facts(fact, {**fact, "values": [1, 3], "order": "C"}) == 3
    assert equal_facts(fact, early) == equal_facts(early, fact) == 0
    assert equal_facts(early, {**early, "words": "not"}) == 2
    assert len({NUMPY, NUMPY_WORDS, WORDS}) == 3
