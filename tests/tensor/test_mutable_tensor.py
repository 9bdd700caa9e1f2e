"""Mutable tensors: written in place, read as of any time, sealed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.errors import SessionClosed
from marsdask.core.session import Session, new_session


@pytest.fixture
def session() -> Iterator[Session]:
    """Return a session in this thread."""
    with new_session("synchronous") as made:
        yield made


def test_parts_are_written_and_read(session: Session) -> None:
    """Any of NumPy's indices names what is written, and reads are copies."""
    m = session.create_mutable_tensor((3, 4), "f4", name="m", default_value=7, chunk_size=2)
    assert (m.name, m.shape, m.dtype, m.default_value) == ("m", (3, 4), np.float32, 7)
    m[1:, 2] = [1, 2]
    m[[0, 2], [0, 0]] = 5
    m[0, 3] += 1
    expected = np.full((3, 4), 7, "f4")
    expected[1:, 2], expected[[0, 2], [0, 0]], expected[0, 3] = [1, 2], 5, 8
    np.testing.assert_array_equal(m[:], expected)
    part = m[0]
    part[:] = 0
    np.testing.assert_array_equal(m[0], expected[0])
    assert session.get_mutable_tensor("m") is m
    del m
    assert session.get_mutable_tensor("m")[0, 3] == 8


def test_sealing_gives_a_tensor(session: Session) -> None:
    """The values are there without another execution, and nothing is written any more."""
    m = session.create_mutable_tensor(5, int, chunk_size=2)
    m[::2] = [1, 2, 3]
    sealed = asyncio.run(m.seal())
    assert isinstance(sealed, mt.Tensor)
    assert sealed.chunks == ((2, 2, 1),)
    np.testing.assert_array_equal(sealed.fetch(), [1, 0, 2, 0, 3])
    np.testing.assert_array_equal((sealed + 1).compute(session=session), [2, 1, 3, 1, 4])
    with pytest.raises(ValueError, match="sealed"):
        m[0] = 1


def test_times_order_what_is_written(session: Session) -> None:
    """The latest time wins, whichever order the writes come in, and any time can be read."""
    m = session.create_mutable_tensor((2,), float)

    async def program() -> list[Any]:
        await m.write(0, 2.0, timestamp=20)
        await m.write(slice(None), 1.0, timestamp=10)
        await m.write(1, 3.0, timestamp=30)
        return [await m.read(slice(None), timestamp=t) for t in (5, 10, 20, 30, None)]

    found = [values.tolist() for values in asyncio.run(program())]
    assert found == [[0, 0], [1, 1], [2, 1], [2, 3], [2, 3]]
    assert m.to_tensor(timestamp=20).fetch().tolist() == [2, 1]


def test_bad_use_is_refused(session: Session) -> None:
    """Names are one's own, indices and values fit, and a closed session has none."""
    m = session.create_mutable_tensor((2, 2), float, name="one")
    with pytest.raises(ValueError, match="already"):
        session.create_mutable_tensor((2,), float, name="one")
    with pytest.raises(ValueError, match="no such mutable tensor"):
        session.get_mutable_tensor("two")
    with pytest.raises(IndexError):
        m[5] = 1
    with pytest.raises(ValueError, match="broadcast"):
        m[0] = [1, 2, 3]
    assert m[0].tolist() == [0, 0]
    session.close()
    with pytest.raises(SessionClosed):
        _ = m[0]
