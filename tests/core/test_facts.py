"""Facts: what follows from a node's fields is computed once, however long the chain."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest

import marsdask
from marsdask.core.facts import Fact
from marsdask.core.node import Node

ASKED: Counter[str] = Counter()


@dataclass(frozen=True, eq=False)
class Link(Node):
    """A link of a chain, which counts how often its facts are computed."""

    source: Node | None
    number: int

    @property
    def meta(self) -> Any:
        ASKED["meta"] += 1
        if self.source is None:
            return 0
        # By way of another fact: neither may recurse along the chain.
        return max(self.source.meta, self.source.depth) + 1  # type: ignore[attr-defined]

    @property
    def depth(self) -> int:
        """The links below."""
        ASKED["depth"] += 1
        return 0 if self.source is None else self.source.meta + 1


@dataclass(frozen=True, eq=False)
class Shouting(Link):
    """A link whose label builds on that of its base class."""

    @property
    def label(self) -> str:
        return super().label.upper()

    @property
    def depth(self) -> int:
        return -super().depth


@dataclass(frozen=True, eq=False)
class Deep(Link):
    """A link of which only the property of its base class asks the link below."""

    @property
    def depth(self) -> int:
        return int(super().depth)

    @property
    def meta(self) -> Any:
        return self.depth


def chain(length: int) -> Link:
    """Return the end of a chain, none of whose links was asked anything but its name."""
    link = Link(None, 0)
    for number in range(1, length + 1):
        link = Link(link, number)
    return link


def links(end: Node) -> Iterator[Node]:
    """Walk down a chain."""
    while end is not None:
        yield end
        (end,) = end.inputs or (None,)  # type: ignore[assignment]


def test_each_fact_is_computed_once() -> None:
    """Asked again, of the node or of one above it, a plain property is not computed again."""
    end = chain(3)
    ASKED.clear()
    assert [end.meta, end.meta, end.depth] == [3, 3, 3]
    assert ASKED == {"meta": 4, "depth": 4}


def test_a_chain_may_be_longer_than_pythons_stack() -> None:
    """Facts of 10,000 nodes need no recursion and at most twice as many computations."""
    end = chain(10_000)
    ASKED.clear()
    assert end.meta == 10_000
    assert ASKED["meta"] + ASKED["depth"] <= 45_000


def test_what_a_base_class_says_is_not_the_fact() -> None:
    """An overriding property may ask its base class, before and after its own value is known."""
    link = Shouting(Link(None, 0), 1)
    assert (link.label, link.depth) == ("SHOUTING", -1)
    assert super(Shouting, link).depth == 1
    assert link.depth == -1


def test_errors_are_not_kept() -> None:
    """A fact that fails is computed anew; those of other threads go on."""
    node = Node()
    for _ in range(2):
        with pytest.raises(NotImplementedError, match="declares no meta"):
            _ = node.meta
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(chain(50).meta))
    thread.start()
    thread.join()
    assert found == [50]


def test_facts_do_not_travel() -> None:
    """A pickle has the fields only."""
    end = chain(30)
    before = len(pickle.dumps(end))
    assert [link.meta for link in links(end)] == list(range(30, -1, -1))
    assert len(pickle.dumps(end)) == before


def test_nodes_spell_facts_as_properties() -> None:
    """No node in the package wears ``cached_property``: the base class keeps what it says."""
    for module in pkgutil.walk_packages(marsdask.__path__, "marsdask."):
        if not module.name.startswith(("marsdask.scheduler", "marsdask.compat")):
            importlib.import_module(module.name)
    found, stack = [], [Node]
    while stack:
        kind = stack.pop()
        stack.extend(kind.__subclasses__())
        found += [
            f"{kind.__name__}.{name}"
            for name, value in vars(kind).items()
            if isinstance(value, cached_property | property)
        ]
    assert found == []
    assert isinstance(vars(Node)["meta"], Fact)


@pytest.mark.parametrize("length", range(15, 45))
def test_properties_of_base_classes_end_however_deep(length: int) -> None:
    """What is too deep below one of them is computed first, and kept."""
    link: Link = Deep(None, -1)
    for number in range(length):
        link = Deep(link, number)
    ASKED.clear()
    assert link.meta == length
    assert ASKED["depth"] < 3 * length
