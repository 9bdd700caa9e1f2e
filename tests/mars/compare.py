"""What differs between the facts of Mars, of marsdask and of NumPy."""

from __future__ import annotations

import importlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .calls import namespace
from .facts import fact_of

HERE = Path(__file__).parent

Fact = dict[str, Any]

#: What Mars gave, by line.
FACTS: dict[str, Fact] = json.loads((HERE / "facts.json").read_text("utf-8"))

_TABLES = tomllib.loads((HERE / "differences.toml").read_text("utf-8"))["differences"]

#: Why lines differ, by line; ``reason`` of a table counts for its ``lines``.
REASONS: dict[str, str] = {line: table["reason"] for table in _TABLES for line in table["lines"]}


@cache
def fact_here(line: str) -> Fact:
    """Return what a line gives with the alias, which has to be installed."""
    mars, mt, mr = (importlib.import_module(f"mars{name}") for name in ("", ".tensor", ".remote"))
    return _through_json(fact_of(line, namespace(mars, mt, mr)))


def fact_of_numpy(line: str) -> Fact:
    """Return what a line gives with NumPy in place of Mars; an error if it has no such thing."""
    return _through_json(fact_of(line, namespace(None, _NumPy(), None)))


def _through_json(fact: Fact) -> Fact:
    loaded: Fact = json.loads(json.dumps(fact))
    return loaded


class _NumPy:
    """NumPy and SciPy under the names of ``mars.tensor``."""

    def __getattr__(self, name: str) -> Any:
        if name in ("special", "stats", "spatial"):
            return importlib.import_module(f"scipy.{name}")
        found = getattr(np, "array" if name == "tensor" else name)
        return _without_chunks(found) if callable(found) and not isinstance(found, type) else found


def _without_chunks(function: Any) -> Any:
    def call(*args: Any, chunk_size: Any = None, **kwargs: Any) -> Any:
        del chunk_size
        return function(*args, **kwargs)

    return call


def differing(one: Fact, other: Fact, ignored: tuple[str, ...] = ()) -> list[str]:
    """Return the names of the facts that differ."""
    return sorted(set(_differing(one, other)) - set(ignored))


def _differing(one: Fact, other: Fact) -> Iterator[str]:
    if "error" in one or "error" in other:
        yield from _differing_errors(one, other)
        return
    for name in one.keys() | other.keys():
        a, b = one.get(name), other.get(name)
        if name == "items" and a is not None and b is not None and len(a) == len(b):
            for x, y in zip(a, b, strict=True):
                yield from _differing(x, y)
        elif not (_close(a, b) if name == "values" else a == b):
            yield name


def _differing_errors(one: Fact, other: Fact) -> Iterator[str]:
    if not ("error" in one and "error" in other):
        yield "error"
        return
    names, others = one["error"], other["error"]
    if names[0] not in others and others[0] not in names:
        yield "error"
    if one["when"] == "call" and other["when"] == "execute":
        yield "when"  # an error that comes earlier is as good
    if one["words"] != other["words"]:
        yield "words"


def _close(a: Any, b: Any) -> bool:
    """Tell whether values are equal but for the last digits of floats."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_close, a, b))
    if type(a) is bool or type(b) is bool or a is None or b is None:
        return a is b
    if a == b:
        return True
    try:
        x, y = complex(a), complex(b)
    except (TypeError, ValueError):  # texts
        return False
    return bool(np.isclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True))


def facts_in(fact: Fact) -> dict[tuple[Any, ...], Any]:
    """Return the single facts of a call by their names: the type of a number counts as its dtype.

    Of an error they are its classes, when it comes, and its words.
    """
    found = {}
    for name, value in fact.items():
        if name == "items":
            found["items",] = len(value)
            for place, item in enumerate(value):
                found |= {(place, *key): one for key, one in facts_in(item).items()}
        else:
            found["dtype" if name == "type" else name,] = value
    return found


def equal_facts(mars: Fact, here: Fact) -> int:
    """Return how many of the facts of Mars hold; none where only one of both raises."""
    if "error" in mars or "error" in here:
        differ = differing(mars, here)
        return 0 if ("error" in mars) != ("error" in here) else len(facts_in(mars)) - len(differ)
    others = facts_in(here)
    return sum(
        key in others
        and (_close(value, others[key]) if key[-1] == "values" else value == others[key])
        for key, value in facts_in(mars).items()
    )


#: Facts that NumPy cannot have.
NOT_OF_NUMPY = ("lazy", "when", "words")


def reason_of(line: str, here: Fact) -> str | None:
    """Return why a line differs, ``None`` if nobody says."""
    if line in REASONS:
        return REASONS[line]
    if _has_sparse(FACTS[line]):
        return None
    numpys = fact_of_numpy(line)
    if not differing(FACTS[line], here, ("words",)):
        return NUMPY_WORDS if numpys.get("words") == here["words"] else WORDS
    same = not differing(_as_scalars(numpys), _as_scalars(here), NOT_OF_NUMPY)
    return NUMPY if same else None


def _has_sparse(fact: Fact) -> bool:
    return "sparse" in fact or any(map(_has_sparse, fact.get("items", ())))


#: Reasons that are found by looking.
NUMPY = "NumPy does it this way"
NUMPY_WORDS = "the words of the error are NumPy's"
WORDS = "the words of the error are others"

#: Reasons for which a difference is no fault: Mars fails or contradicts NumPy.
APART = {NUMPY, NUMPY_WORDS, *(table["reason"] for table in _TABLES if table.get("apart"))}


def shares(heres: dict[str, Fact]) -> tuple[int, int, dict[str, int]]:
    """Return the number of all facts, of those that are equal, and of the others by reason."""
    total = equal = 0
    others: Counter[str] = Counter()
    for line, here in heres.items():
        facts = len(facts_in(FACTS[line]))
        same = equal_facts(FACTS[line], here)
        total += facts
        equal += same
        if same < facts:
            others[str(reason_of(line, here))] += facts - same
    return total, equal, dict(others.most_common())


def _as_scalars(fact: Fact) -> Fact:
    """Return facts without the difference of Python's scalars and NumPy's."""
    if "items" in fact:
        return {**fact, "items": [_as_scalars(item) for item in fact["items"]]}
    scalar = "values" in fact and "shape" not in fact and "sparse" not in fact
    return {k: v for k, v in fact.items() if k not in ("type", "dtype")} if scalar else fact
