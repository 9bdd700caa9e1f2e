"""Arrays that are written in place, read at any time, and sealed into tensors."""

from __future__ import annotations

import bisect
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from marsdask.core.session import Session

from .chunks import as_shape, normalize_chunks
from .creation.from_data import tensor

if TYPE_CHECKING:
    from .tensor import Tensor


class MutableTensor:
    """An array of a session with many writers; each write takes effect at a given time.

    ``m[i]`` and ``m[i] = value`` work immediately; ``read``, ``write`` and ``seal`` are coroutines,
    as in Mars. All writes are kept until it is sealed, so that it can be read at any time.

    Parameters
    ----------
    session : Session
        The session that holds it.
    shape : int or tuple of int
        The length of each axis.
    dtype : dtype
        The element type.
    name : str, optional
        The name for ``session.get_mutable_tensor``.
    default_value : scalar
        The value of elements without writes.
    chunk_size : int, tuple or dict, optional
        The chunks of the tensor that sealing makes.

    Examples
    --------
    >>> session = marsdask.session.get_default_session()
    >>> counts = session.create_mutable_tensor((3,), "int64")
    >>> counts[1] = 5
    >>> counts.to_tensor().fetch()
    array([0, 5, 0])
    """

    def __init__(
        self,
        session: Session,
        shape: Any,
        dtype: Any,
        name: str | None = None,
        default_value: Any = 0,
        chunk_size: Any = None,
    ) -> None:
        self._session = session
        self._shape = as_shape(shape)
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        self._chunks = normalize_chunks(chunk_size, self._shape, self._dtype)
        self._name = name or f"mutable-{uuid.uuid4().hex}"
        self._default = default_value
        self._now = self._blank()
        self._writes: list[tuple[float, Any, Any]] = []
        self._sealed = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"MutableTensor <name={self._name}, shape={self._shape}, dtype={self._dtype}>"

    @property
    def name(self) -> str:
        """The name for ``session.get_mutable_tensor``."""
        return self._name

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._shape

    @property
    def default_value(self) -> Any:
        """The value of elements without writes."""
        return self._default

    def __getitem__(self, index: Any) -> Any:
        return self._read(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._write(index, value)

    async def read(self, index: Any, timestamp: float | None = None) -> Any:
        """Return part of the values at a time.

        Parameters
        ----------
        index : index
            What NumPy takes between brackets.
        timestamp : float, optional
            The time in seconds since the epoch; by default now.

        Returns
        -------
        ndarray or scalar
            A copy of the values.

        Examples
        --------
        >>> import asyncio
        >>> session = marsdask.session.get_default_session()
        >>> counts = session.create_mutable_tensor((3,), "int64")
        >>> asyncio.run(counts.read(slice(0, 2)))
        array([0, 0])
        """
        return self._read(index, timestamp)

    async def write(self, index: Any, value: Any, timestamp: float | None = None) -> None:
        """Set part of the values, from a time on.

        Parameters
        ----------
        index : index
            What NumPy takes between brackets.
        value : array_like
            The new values.
        timestamp : float, optional
            The time in seconds since the epoch; by default now.

        Examples
        --------
        >>> import asyncio
        >>> session = marsdask.session.get_default_session()
        >>> counts = session.create_mutable_tensor((3,), "int64")
        >>> asyncio.run(counts.write(1, 5))
        >>> counts[:]
        array([0, 5, 0])
        """
        self._write(index, value, timestamp)

    async def seal(self, timestamp: float | None = None) -> Tensor:
        """Return a tensor of the values at a time; later writes raise.

        Parameters
        ----------
        timestamp : float, optional
            The time in seconds since the epoch; by default now.

        Returns
        -------
        Tensor
            An executed tensor.

        Examples
        --------
        >>> import asyncio
        >>> session = marsdask.session.get_default_session()
        >>> counts = session.create_mutable_tensor((3,), "int64", default_value=1)
        >>> asyncio.run(counts.seal()).fetch()
        array([1, 1, 1])
        """
        return self.to_tensor(timestamp)

    def to_tensor(self, timestamp: float | None = None) -> Tensor:
        """Seal at once. See :meth:`seal`.

        Parameters
        ----------
        timestamp : float, optional
            The time in seconds since the epoch; by default now.

        Returns
        -------
        Tensor
            An executed tensor.

        Examples
        --------
        >>> session = marsdask.session.get_default_session()
        >>> counts = session.create_mutable_tensor((3,), "int64")
        >>> counts.to_tensor().fetch()
        array([0, 0, 0])
        """
        with self._lock:
            self._check_open()
            values = self._as_of(timestamp)
            self._sealed = True
            self._writes.clear()
            self._session.forget_mutable_tensor(self._name)
        sealed: Tensor = tensor(values, chunk_size=self._chunks).execute(session=self._session)
        return sealed

    def _blank(self) -> Any:
        return np.full(self._shape, self._default, self._dtype)

    def _check_open(self) -> None:
        self._session.check_open()
        if self._sealed:
            raise ValueError(f"mutable tensor {self._name} was sealed: it is a tensor now")

    def _as_of(self, timestamp: float | None) -> Any:
        if timestamp is None:
            return self._now
        values = self._blank()
        for moment, index, value in self._writes:
            if moment > timestamp:
                break
            values[index] = value
        return values

    def _read(self, index: Any, timestamp: float | None = None) -> Any:
        with self._lock:
            self._check_open()
            return np.copy(self._as_of(timestamp)[index])[()]

    def _write(self, index: Any, value: Any, timestamp: float | None = None) -> None:
        with self._lock:
            self._check_open()
            when = time.time() if timestamp is None else float(timestamp)
            value = np.array(value, self._dtype)
            # A broadcast view checks whether the value fits before any change.
            np.broadcast_to(value, np.broadcast_to(self._now, self._shape)[index].shape)
            place = bisect.bisect_right(self._writes, when, key=_time_of)
            self._writes.insert(place, (when, index, value))
            if place == len(self._writes) - 1:
                self._now[index] = value
            else:
                self._now = self._as_of(float("inf"))


def _time_of(write: tuple[float, Any, Any]) -> float:
    return write[0]
