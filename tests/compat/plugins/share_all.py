"""A pytest plugin: workers share all results that go from one to another, however small.

Workers in one process are each other's neighbours too, unless they speak without a network. Of the
results in distributed's own tests next to none has buffers: of those the pickle becomes one.
"""

from __future__ import annotations

import pickle
from math import inf
from typing import Any

import cloudpickle

from marsdask.scheduler.storage import shared

init: Any = shared.Pool.__init__
init.__kwdefaults__["share_from"] = 0
shared._STREAM_SHARE = inf  # of a small value most is pickle

_buffers_of = shared._encode


class _Whole:
    """Becomes the value that it has the pickle of."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (pickle.PickleBuffer(self._pickled),)


def _encode(value: Any, nbytes: int) -> tuple[bytes, list[memoryview]]:
    """Make the pickle itself the buffer of a value that has none."""
    stream, buffers = _buffers_of(value, nbytes)
    if buffers:
        return stream, buffers
    try:
        whole = _Whole(cloudpickle.dumps(value))
    except Exception:  # noqa: BLE001 - as for any value: it has other ways to be sent
        return b"", []
    return _buffers_of(whole, len(whole._pickled))


shared._encode = _encode
