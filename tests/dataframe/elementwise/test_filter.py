"""Rows chosen by a mask equal pandas's, and so does what is computed of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

import marsdask.dataframe as md
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.machine.plan import Plan
from marsdask.dataframe.elementwise.filter import conditions_in
from marsdask.scheduler.base import Stage
from tests.dataframe.tables import equal, filtered, table, tables


@given(both=tables())
def test_rows_where_a_mask_is_true(both):
    """Labels and order are kept, and the length is known after running."""
    frame, lazy = both
    chosen = filtered(lazy)
    assert math.isnan(chosen.shape[0])
    equal(chosen, filtered(frame))
    assert len(filtered(lazy)) == len(filtered(frame))
    assert chosen.execute().shape == filtered(frame).shape


@given(both=tables())
def test_filters_of_filters(both):
    """Columns filtered by one mask fit together, and can be filtered again."""
    frame, lazy = both

    def program(d):
        e = d[d.k > -1]
        return e[e.f + e.u > 2].u * 2

    equal(program(lazy), program(frame))


def test_masks_by_functions():
    """A function is given the whole frame, not each chunk."""
    frame = table(12)
    equal(
        md.DataFrame(frame, chunk_size=3)[lambda d: d.u > d.u.mean()],
        frame[lambda d: d.u > d.u.mean()],
    )


def test_foreign_masks_are_refused():
    """A mask of other rows is refused at the call."""
    lazy = md.DataFrame(table(10), chunk_size=3)
    other = md.DataFrame(table(11), chunk_size=3)
    with pytest.raises(NotImplementedError, match="computed from the object"):
        lazy[other.b]
    with pytest.raises(NotImplementedError, match="other labels"):
        lazy[table(9).b]


def test_a_filter_is_one_task_a_partition(tmp_path):
    """The mask and the rows it chooses come of one chunk, read and chosen from in one task."""
    table(40).to_parquet(tmp_path / "t.parquet", row_group_size=10)
    read = md.read_parquet(tmp_path, groups_as_chunks=True)
    for df in (md.DataFrame(table(40), chunk_size=10), read):
        wide = df.assign(n=df.b * 2 + df.f)
        for made in (df[df.b > 0], wide, wide[wide.n > 3], wide[wide.n > 3][["n"]] * 2):
            stage = Compilation([made.node], plan=Plan(coalesce=False)).advance({})
            assert isinstance(stage, Stage)
            assert len(stage.graph) == 4


MASKS = {
    "one": (lambda d: d.k > 3, [("k", ">", 3)]),
    "all of several": (
        lambda d: (d.k >= 1) & (d.u < 2) & (d.f == 0),
        [("k", ">=", 1), ("u", "<", 2), ("f", "==", 0)],
    ),
    "beside others": (lambda d: (d.k > 3) & d.b, [("k", ">", 3)]),
    "any": (lambda d: (d.k > 3) | (d.u < 2), []),
    "computed": (lambda d: d.k + 1 > 3, []),
    "two columns": (lambda d: d.k > d.u, []),
    "unequal": (lambda d: d.k != 3, []),
}


@pytest.mark.parametrize("name", MASKS)
def test_conditions_that_a_mask_implies(name):
    """Comparisons of columns with constants, in order, and nothing that may be false of a row."""
    mask, conditions = MASKS[name]
    d = md.DataFrame(table(9))
    predicate = d[mask(d)].node.predicate
    assert ([] if predicate is None else list(predicate.conditions)) == conditions
    assert d.node.predicate is None


def test_masks_of_many_conditions():
    """As many as somebody's loop put together: more than Python's stack is deep."""
    d = md.DataFrame(table(9))
    mask = d.k >= 0
    for i in range(1, 2000):
        mask = mask & (d.k >= -i)
    assert len(list(conditions_in(mask.node, d.node))) == 2000


def test_conditions_are_about_the_source_itself():
    """What a mask says of another frame's columns says nothing of the source's."""
    d, other = md.DataFrame(table(9)), md.DataFrame(table(9).assign(k=1))
    assert not list(conditions_in((other.k > 3).node, d.node))
