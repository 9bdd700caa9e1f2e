"""Numbers of the runs of Dask's peer-to-peer shuffles; importing this patches distributed.

distributed counts them from 1 in each scheduler process. Workers continue with another supervisor,
where parts of two runs with the same number would be taken for those of one.
"""

from __future__ import annotations

import functools
import itertools
import time
from typing import Any

from distributed.shuffle._core import ShuffleRunSpec

_init = ShuffleRunSpec.__init__
_numbers = itertools.count(time.time_ns() // 10**6)


@functools.wraps(_init)
def _init_with_number(self: Any, *args: Any, **options: Any) -> None:
    """Initialise a run with a number that no run of another supervisor has."""
    _init(self, *args, **options)
    object.__setattr__(self, "run_id", next(_numbers))  # the class is frozen


ShuffleRunSpec.__init__ = _init_with_number  # type: ignore[method-assign]
