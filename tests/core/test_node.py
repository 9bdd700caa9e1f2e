"""Nodes: identity, inputs, rewriting, pickling, and the user's line."""

from __future__ import annotations

import gc
import pickle
import weakref
from dataclasses import dataclass
from typing import Any

import pytest

from marsdask.core.node import MultiOutput, Node
from tests.core.toys import Numbers, Scaled, Total


@dataclass(frozen=True, eq=False)
class Both(MultiOutput):
    """A toy with two outputs."""

    a: Node

    @property
    def meta(self) -> Any:
        return 1.0, "text"

    @property
    def chunks(self) -> Any:
        return ((2,), (3,)), ()


def test_equal_expressions_are_one_node():
    """Hash-consing: building the same thing twice gives the same object."""
    assert Scaled(Numbers((2, 2)), 3) is Scaled(Numbers((2, 2)), 3)
    assert Scaled(Numbers((2, 2)), 3) is not Scaled(Numbers((2, 2)), 4)
    assert Scaled(Numbers((2, 2)), 3) is not Scaled(Numbers((2, 3)), 3)


def test_nodes_die_with_their_last_reference():
    """The table of nodes keeps none alive."""
    node = Numbers((7, 8, 9))
    watch = weakref.ref(node)
    del node
    gc.collect()
    assert watch() is None


def test_types_of_parameters_are_part_of_the_identity():
    """1, 1.0 and True are equal in Python but not the same parameter."""
    a = Numbers((2,))
    names = {Scaled(a, factor).name for factor in (1, 1.0, True)}
    assert len(names) == 3


def test_inputs_are_the_fields_that_are_nodes():
    """Nodes among the fields are inputs, all else is a parameter."""
    a = Numbers((2,))
    assert Scaled(a, 3).inputs == (a,)
    assert a.inputs == ()


def test_with_inputs_rebuilds_only_what_changes():
    """Rewriting leaves untouched nodes as they are."""
    a, b = Numbers((2,)), Numbers((3,))
    node = Scaled(a, 3)
    assert node.with_inputs({a: b}) is Scaled(b, 3)
    assert node.with_inputs({b: a}) is node


def test_pickle_keeps_the_identity():
    """A node unpickled where its twin lives is that twin."""
    node = Total(Scaled(Numbers((2, 2)), 3))
    assert pickle.loads(pickle.dumps(node)) is node


def test_names_are_the_same_in_every_process():
    """Names depend on content alone."""
    assert Numbers((2, 2)).name == "numbers-" + Numbers((2, 2)).name.rpartition("-")[2]
    assert pickle.loads(pickle.dumps(Numbers((5, 5)))).name == Numbers((5, 5)).name


def test_origin_is_the_users_line():
    """The node remembers where it was written, also after a rewriting."""
    node = Scaled(Numbers((41, 1)), 17)  # this line
    assert node.origin is not None
    assert "this line" in str(node.origin)
    rebuilt = node.with_inputs({node.a: Numbers((42, 1))})
    assert isinstance(rebuilt, Node)
    assert rebuilt.origin == node.origin


def test_several_outputs_are_parts():
    """Each part has the type and the chunks of its output; all together have no shape."""
    both = Both(Numbers((2, 3)))
    first, second = both.parts()
    assert (first.meta, second.meta) == (1.0, "text")
    assert (first.chunks, second.chunks) == (((2,), (3,)), ())
    with pytest.raises(NotImplementedError, match="several outputs"):
        _ = both.shape
