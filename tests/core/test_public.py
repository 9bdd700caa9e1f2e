"""The face of operations: nodes within, collections without, one execution in eager mode."""

from __future__ import annotations

import inspect
import pickle
import re

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.collection import ExecutableTuple, composing, rebind, wrap
from marsdask.core.config import option_context
from marsdask.core.node import Node
from marsdask.core.public import public, public_call, public_methods
from marsdask.core.results.stored import Stored
from marsdask.core.session import Session
from marsdask.tensor.elementwise.ufuncs import add, multiply
from marsdask.tensor.named_results import EighResult
from marsdask.tensor.reduction.covariance import cov


@public
def doubled(a, /, *, times=1, offset=0):
    """Double a tensor, several times, and add an offset."""
    for _ in range(times):
        a = add.node(a, a)
    return add.node(a, offset)


@public
def both(a):
    """Return two nodes."""
    return EighResult(add.node(a, 1), add.node(a, 2))


@public
def changed(a):
    """Change a tensor in place and return another."""
    rebind(a, multiply.node(a, 5))
    return wrap(add.node(a, 1))


@public_call
def tripled(a):
    """Make tensors step by step."""
    return wrap(add.node(wrap(add.node(a, a)).node, a))


@public_methods
class WithMethods:
    """Holds a tensor."""

    def __init__(self, tensor):
        self.tensor = tensor

    def doubled(self):
        """Make tensors step by step."""
        return wrap(add.node(self._halved(), wrap(multiply.node(self.tensor, 1.5))))

    twice = doubled

    def _halved(self):
        return wrap(multiply.node(self.tensor, 0.5))

    def __radd__(self, other):
        return wrap(add.node(self._halved(), other))

    @property
    def content(self):
        """The tensor."""
        return self.tensor

    @content.setter
    def content(self, value):
        rebind(self.tensor, wrap(multiply.node(wrap(add.node(self.tensor, 1)), value)).node)


@pytest.fixture
def executions(monkeypatch):
    """Note how many nodes each execution computes."""
    noted = []
    execute = Session.execute

    def counted(self, nodes, **kwargs):
        noted.append(len(nodes))
        return execute(self, nodes, **kwargs)

    monkeypatch.setattr(Session, "execute", counted)
    return noted


def ones():
    """Return a small tensor."""
    return mt.ones((4, 4), chunk_size=2)


def test_nodes_become_collections():
    """Users get tensors; other operations get nodes."""
    assert doubled(ones(), times=2).compute().tolist() == [[4.0] * 4] * 4
    assert isinstance(doubled.node(ones().node), Node)


def test_several_nodes_keep_their_kind():
    """Named tuples stay what they are."""
    found = both(ones())
    assert isinstance(found, EighResult)
    assert isinstance(found, ExecutableTuple)
    assert [item.compute()[0, 0] for item in found] == [2, 3]


def test_it_looks_like_the_function():
    """Name, text and signature are those of what it calls."""
    assert doubled.__name__ == "doubled"
    assert doubled.__doc__ == doubled.node.__doc__
    assert str(inspect.signature(doubled)) == "(a, /, *, times=1, offset=0)"
    assert doubled.__wrapped__ is doubled.node


def test_eager_steps_execute_together(executions):
    """One execution computes what is returned, however many steps it takes."""
    x = ones()
    with option_context({"eager_mode": True}):
        assert isinstance(doubled(x, times=3).node, Stored)
        both(x)
    assert executions == [1, 2]


def test_eager_changes_execute_with_the_result(executions):
    """What is changed in place and what is returned are computed together."""
    x = ones()
    with option_context({"eager_mode": True}):
        y = changed(x)
    assert executions == [2]
    assert (x.fetch()[0, 0], y.fetch()[0, 0]) == (5, 6)


def test_an_error_ends_the_composing():
    """After a refusal the next call executes as usual."""
    x = ones()
    with option_context({"eager_mode": True}):
        with pytest.raises(ValueError, match="broadcast"):
            doubled(x, offset=mt.ones(3))
        assert composing.get() is None
        assert isinstance((x + 1).node, Stored)


def test_a_misspelt_keyword_is_told():
    """The nearest keyword is named, unless Python has done so."""
    with pytest.raises(TypeError, match=r"'tims'. Did you mean 'times'\?$"):
        doubled(ones(), tims=2)
    with pytest.raises(TypeError, match=r"'axs'. Did you mean 'axis'\?$"):
        mt.sum(ones(), axs=1)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'nothing_like_it'$"):
        doubled(ones(), nothing_like_it=2)


def test_an_error_from_within_stays():
    """A TypeError of another function is not about the caller's keywords."""

    @public
    def broken(a, offset=0):
        return doubled.node(a, tims=offset)

    with pytest.raises(TypeError, match="'tims'") as within:
        doubled.node(ones(), tims=1)
    with pytest.raises(TypeError, match=f"^{re.escape(str(within.value))}$"):
        broken(ones(), offset=1)


def test_a_wrapped_function_is_pickled_by_name():
    """What waits for lengths is called by name in other processes."""
    assert pickle.loads(pickle.dumps(cov.node)) is cov.node
    assert pickle.loads(pickle.dumps(cov)) is cov


def test_functions_that_wrap_execute_once(executions):
    """What is made inside of one that returns collections is executed with its result."""
    x = ones()
    with option_context({"eager_mode": True}):
        assert tripled(x).fetch()[0, 0] == 3
    assert executions == [1]


def test_methods_execute_once(executions):
    """So do public methods, operators and setters of a class that says so, under all names."""
    box = WithMethods(ones())
    with option_context({"eager_mode": True}):
        assert box.doubled().fetch()[0, 0] == 2
        assert (3 + box).fetch()[0, 0] == 3.5
        box.content = 5
    assert executions == [1, 1, 1]
    assert box.content.fetch()[0, 0] == 10
    assert WithMethods.twice is WithMethods.doubled


def test_what_is_private_is_no_call(executions):
    """A private method executes where a program calls it; constructors are left alone."""
    box = WithMethods(ones())
    with option_context({"eager_mode": True}):
        box._halved()
    assert executions == [1]
    assert not hasattr(WithMethods.__init__, "__wrapped__")


def test_eager_results_are_held_for_each_collection(executions):
    """Also if an equal one was executed before, which then goes."""
    values = np.array([3, 1, 3])
    with option_context({"eager_mode": True}):
        first, again = (mt.unique_counts(mt.tensor(values, chunk_size=2)) for _ in range(2))
        del first
        assert [item.shape for item in again] == [(2,), (2,)]
