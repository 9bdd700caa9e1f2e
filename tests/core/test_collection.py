"""Collections: verbs, tuples, eager mode, what they show."""

from __future__ import annotations

import copy
import gc
import pickle
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.collection import Collection, ExecutableTuple, compute, execute, fetch, flatten
from marsdask.core.config import option_context
from marsdask.core.node import Node
from marsdask.core.results.stored import Stored
from marsdask.core.session import new_session
from marsdask.learn.fitted_values import FittedText
from tests.core.recording import recording_session
from tests.core.toys import Numbers


@pytest.fixture
def scheduler():
    with recording_session() as (_, recording):
        yield recording


def ones(n=4):
    return mt.ones((n, n), chunk_size=2)


def test_execute_returns_the_collection_itself(scheduler):
    """As in Mars; and the name stays what it was."""
    x = ones() + 1
    name = x.node.name
    assert x.execute() is x
    assert isinstance(x.node, Stored)
    assert x.node.name == name


def test_execute_and_fetch_take_several(scheduler):
    """One is returned as itself, several as a list; values come in the same order."""
    x, y = ones() + 1, ones().sum()
    assert execute(x) is x
    assert execute(x, y) == [x, y]
    assert execute([x, y]) == [x, y]
    values = fetch(x, y)
    assert isinstance(values, list)
    np.testing.assert_array_equal(values[0], np.full((4, 4), 2.0))
    assert values[1] == fetch(y) == 16
    assert fetch([y]) == [16]


def test_several_share_what_they_have_in_common(scheduler):
    """One graph computes both."""
    with option_context({"coalesce": False}):
        base = ones().map_blocks(np.sqrt, dtype=float)
        execute(base + 1, base + 2)
    assert scheduler.tasks == 4 + 2 * 4


def test_tuples_execute_together(scheduler):
    """``execute`` returns the tuple, ``fetch`` a list of values."""
    both = ExecutableTuple([ones(), ones().sum()])
    assert both.execute() is both
    values = both.fetch()
    assert isinstance(values, list)
    assert values[1] == 16
    assert both.execute(wait=False).result(30) is both


def test_named_tuples_keep_their_type(scheduler):
    """The values come as the namedtuple that the tuple derives from."""
    Pair = namedtuple("Pair", "total size")  # noqa: PYI024 - as scipy has them

    class ExecutablePair(Pair, ExecutableTuple):
        __slots__ = ()

    pair = ExecutablePair(ones().sum(), ones(2).sum())
    assert pair.execute() is pair
    assert pair.fetch() == (16, 4)
    assert pair.fetch().size == 4
    assert pair.to_object().total == 16
    assert ExecutablePair(ones().sum(), ones(2).sum()).compute().total == 16
    assert ExecutablePair(ones().sum(), ones(2).sum()).to_object(wait=False).result(30).size == 4


def test_tuples_of_a_namedtuple_have_its_names(scheduler):
    """As in Mars: items by name, the text, and values of its own type; copied and pickled, too."""
    Both = namedtuple("Both", "a b")  # noqa: PYI024 - what programs have
    items = Both(ones(2), ones().sum())
    both: Any = ExecutableTuple(items)
    assert both.a is items.a
    assert "a" in dir(both)
    assert repr(both).startswith("Both(a=Tensor <ones, shape=(2, 2)")
    with pytest.raises(AttributeError):
        _ = both.c
    values = both.execute().fetch()
    assert type(values) is Both
    assert values.b == 16
    assert both.compute().b == 16
    assert [item.fetch() for item in ExecutableTuple([FittedText("x")])] == ["x"]
    assert ExecutableTuple([FittedText("x"), ones().sum()]).execute().fetch() == ["x", 16]


def test_what_is_no_collection_is_refused():
    """At the call, with the type's name."""
    with pytest.raises(TypeError, match="int"):
        execute(1)
    with pytest.raises(TypeError, match="dict"):
        flatten([ones(), [{}]])


def test_to_numpy_executes_if_need_be(scheduler):
    """And keeps the result."""
    x = ones() + 1
    np.testing.assert_array_equal(x.to_numpy(), np.full((4, 4), 2.0))
    assert isinstance(x.node, Stored)


def test_parts_of_a_result_can_be_fetched(scheduler):
    """As in Mars: a slice of what was executed needs no execution, and leaves nothing behind."""
    x = (mt.ones((4, 6), chunk_size=2) * np.arange(6.0)).execute()
    held = scheduler.results
    np.testing.assert_array_equal(x[1:3, ::2].fetch(), [[0, 2, 4], [0, 2, 4]])
    assert x[0, 5].fetch() == 5
    assert x[0, 5].fetch(batch_size=2) == 5
    assert scheduler.results == held
    with pytest.raises(ValueError, match="execute"):
        (x + 1)[:2].fetch()
    with pytest.raises(ValueError, match="execute"):
        mt.ones((4, 6), chunk_size=3)[:2].fetch()


def test_persist_gives_another_collection(scheduler):
    """The old one stays lazy."""
    x = ones() + 1
    kept = x.persist()
    assert isinstance(kept.node, Stored)
    assert not isinstance(x.node, Stored)
    assert kept.node.name == x.node.name
    np.testing.assert_array_equal(kept.fetch(), np.full((4, 4), 2.0))


@pytest.mark.parametrize("how", ["fetch", "compute"])
@pytest.mark.parametrize("shape", [(4, 4), (1,), ()])
def test_nobody_writes_into_what_is_held(scheduler, how, shape):
    """Values handed out are the caller's own, also of a single chunk."""
    x = (mt.ones(shape) + 1).execute()
    value = np.asarray(getattr(x, how)())
    if value.flags.writeable:
        value[...] = 7
    np.testing.assert_array_equal(x.fetch(), np.full(shape, 2.0))


def test_scalars_are_scalars(scheduler):
    """A 0-d tensor's value is a NumPy scalar, as NumPy's own reductions give."""
    assert type(ones().sum().compute()) is np.float64
    assert type(ones().sum().execute().fetch()) is np.float64


def test_unknown_shapes_are_filled_in_by_executing(scheduler):
    """Nan before, numbers after."""
    x = mt.ones(10, chunk_size=5).map_chunk(np.flatnonzero, dtype=int)
    assert np.isnan(x.shape[0])
    x.execute()
    assert x.shape == (10,)
    assert x.chunks == ((5, 5),)


def test_eager_mode_executes_at_the_call(scheduler):
    """Each expression holds its values; outside of the block nothing does."""
    with option_context({"eager_mode": True}):
        x = ones() + 1
        assert isinstance(x.node, Stored)
        np.testing.assert_array_equal(x.fetch(), np.full((4, 4), 2.0))
    assert not isinstance((ones() + 2).node, Stored)


def test_eager_mode_rests_inside_of_tasks(scheduler):
    """A user's function that builds tensors gets lazy ones."""
    kinds = []

    def record(block):
        kinds.append(type((mt.ones(3) + 5).node))
        return block

    with option_context({"eager_mode": True}):
        mt.ones(2).map_blocks(record, dtype=float)
    assert kinds
    assert Stored not in kinds


def test_a_lazy_collection_shows_what_it_is():
    """The operation, the shape, the dtype and the chunks, without computing."""
    x = mt.ones((4, 6), chunk_size=(2, 3)) + 1
    assert (
        repr(x) == str(x) == ("Tensor <add, shape=(4, 6), dtype=float64, chunks=(2, 2) of (2, 3)>")
    )
    assert "shape=(nan,)" in repr(mt.ones(4).map_chunk(np.flatnonzero, dtype=int))


@pytest.mark.parametrize("shape", [(), (3,), (4, 5), (0, 2), (2000,), (60, 70), (30, 4, 40)])
def test_an_executed_tensor_shows_its_values(scheduler, shape):
    """As NumPy prints them, summarised where NumPy does."""
    array = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    x = (mt.ones(shape, chunk_size=7) * array).execute()
    assert str(x) == str(array)
    assert repr(x) == repr(array)


@pytest.mark.parametrize("dtype", ["f8", "i8", "i2", "f4", "c16", "?", "U3", "S1", "M8[s]", "O"])
@pytest.mark.parametrize("linewidth", [75, 40])
def test_long_arrays_of_each_type_look_as_numpys(scheduler, dtype, linewidth):
    """The shape and the type come as NumPy says them, on a line of their own where NumPy's do."""
    array = np.arange(300).reshape(20, 15).astype(dtype)
    with np.printoptions(threshold=50, linewidth=linewidth):
        assert repr(mt.tensor(array, chunk_size=7).execute()) == repr(array)


def test_showing_moves_the_corners_only(scheduler):
    """A repr fetches a few numbers of a large tensor, and leaves nothing behind."""
    x = mt.ones((1000, 1000), chunk_size=100).execute()
    held = scheduler.results
    before = scheduler.gathered
    repr(x)
    assert 0 < scheduler.gathered - before <= 7 * 7 * 8
    assert scheduler.results == held


def test_notebooks_get_a_table(scheduler):
    """With the values once there are any."""
    x = mt.ones((40, 50), chunk_size=10) + 1
    assert "(40, 50)" in x._repr_html_()
    assert "<pre>" not in x._repr_html_()
    assert "<pre>[[2. 2." in x.execute()._repr_html_()


def test_a_family_without_assembly_says_so():
    """The base class names the class at fault."""
    with pytest.raises(NotImplementedError, match="Collection"):
        Collection._assemble({}, None, owned=False)
    with pytest.raises(NotImplementedError, match="Collection"):
        Collection._recut(Numbers((2,)).tile(), ())


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy], ids=["shallow", "deep"])
def test_copies_share_what_never_changes(scheduler, how):
    """A copy is another collection over the same result; nothing is fetched for it."""
    x = ones().execute()
    before = scheduler.gathered
    twin = how(x)
    assert twin is not x
    assert twin.node is x.node
    assert scheduler.gathered == before
    assert twin.fetch().sum() == 16


def test_collections_pickle_by_their_node():
    """Also those whose nodes know no NumPy."""
    node: Node = Numbers((2, 2))
    assert pickle.loads(pickle.dumps(Collection(node))).node is node


def test_computing_several_gives_a_tuple(scheduler):
    """In the order of the arguments, one of them twice if asked for twice."""
    x = ones().sum()
    assert compute(x, ones(2).sum(), x) == (16, 4, 16)


def test_the_session_of_the_inputs_is_preferred():
    """What has been executed somewhere goes on there, unless told otherwise."""
    with recording_session() as (mine, _):
        x = (ones() + 1).execute()
        with recording_session() as (other, scheduler):
            x.execute()
            assert x._session is mine
            (x + 1).execute(session=other)
            assert scheduler.tasks > 0


def test_a_forgotten_session_keeps_working_for_its_results():
    """The collection holds the session that holds its chunks."""
    x = ones().execute(session=new_session("inline", default=False))
    gc.collect()
    assert x.fetch().sum() == 16
