"""Nodes that stand for data."""

from __future__ import annotations

import gc
import pickle

import pytest

from marsdask.core.results.stored import InMemoryBlocks, Stored
from marsdask.core.session import Session
from tests.core.recording import RecordingScheduler
from tests.core.toys import Numbers, Scaled, Total


@pytest.fixture
def scheduler():
    return RecordingScheduler()


@pytest.fixture
def session(scheduler):
    with Session(scheduler) as session:
        yield session


def test_a_result_stands_for_its_node(session):
    """Same name, label, chunks and line, and no inputs."""
    node = Scaled(Numbers((2, 2)), 3)
    (stored,) = session.execute([node])
    assert isinstance(stored, Stored)
    assert (stored.name, stored.label, stored.chunks) == (node.name, node.label, node.chunks)
    assert stored.origin is node.origin
    assert stored.inputs == ()


def test_the_last_reference_frees_the_chunks(session, scheduler):
    """Not before: another expression may still need them."""
    (stored,) = session.execute([Scaled(Numbers((2, 2)), 3)])
    above = Total(stored)
    assert scheduler.results
    del stored
    gc.collect()
    assert scheduler.results
    (total,) = session.execute([above])
    assert session.fetch(total) == [[18]]
    del above, total
    gc.collect()
    assert not scheduler.results


def test_embedded_results_carry_their_values(session):
    """They need no session, and pickle."""
    (stored,) = session.execute([Scaled(Numbers((2, 2)), 3)])
    for node in (stored.embedded(), pickle.loads(pickle.dumps(stored))):
        assert isinstance(node, InMemoryBlocks)
        assert node.name == stored.name
        with Session(RecordingScheduler()) as other:
            (total,) = other.execute([Total(node)])
            assert other.fetch(total) == [[18]]


def test_an_expression_over_a_result_is_one_node_while_its_input_is_the_same(session):
    """Equal names over another session's results are other nodes."""
    source = Numbers((2, 2))
    (stored,) = session.execute([source])
    assert Total(stored) is Total(stored)
    above = Total(stored)
    assert above.name == Total(source).name
    assert above is not Total(source)
    assert Total(source).inputs == (source,)


def test_no_cluster_no_futures(session):
    """Only schedulers that have Futures are referred to by them."""
    (stored,) = session.execute([Numbers((2, 2))])
    assert stored.as_futures() is None
