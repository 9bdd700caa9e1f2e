"""Calls of Mars's public functions, one a line of ``calls.txt``, for Mars and for marsdask alike.

They run in an interpreter of Mars too: Python 3.9, and nothing but Mars and NumPy. The last
statement of a line is the value; names stand for what ``namespace`` gives.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def _families() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (HERE / "calls.txt").read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].isalpha():
            lines = found.setdefault(line[1:-1], [])
        elif line:
            lines.append(line)
    return found


#: The calls by family, as ``calls.txt`` has them.
CALLS = _families()


def add_one(x: Any) -> Any:
    """Return one more."""
    return x + 1


def add(x: Any, y: Any) -> Any:
    """Return the sum."""
    return x + y


def two() -> Any:
    """Return two values."""
    return 1, 2


def divide(x: Any, y: Any) -> Any:
    """Return the quotient."""
    return x / y


def namespace(mars: Any, mt: Any, mr: Any) -> dict[str, Any]:
    """Return the names of the calls, by a package and two of its modules."""
    a = np.arange(12.0).reshape(3, 4)
    dense = mt.tensor(np.array([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, 0, 1]]), chunk_size=2)

    def with_option(name: str, value: Any, does: Any) -> Any:
        with mars.config.option_context({name: value}):
            return does()

    return {
        "mars": mars,
        "mt": mt,
        "mr": mr,
        "np": np,
        "a": a,
        "f": np.asfortranarray(a),
        "x": mt.tensor(a, chunk_size=2),
        "xf": mt.tensor(np.asfortranarray(a), chunk_size=2),
        "v": mt.tensor(np.arange(4.0), chunk_size=3),
        "i": mt.tensor(np.array([1, 3, 3, 6]), chunk_size=3),
        "b8": mt.tensor(np.array([True, False, True]), chunk_size=2),
        "z": mt.tensor(np.array([1 + 2j, 3 - 1j, 0j, 2j]), chunk_size=3),
        "n": mt.tensor(np.array([[1, np.nan, 3], [np.nan, 5, 6]]), chunk_size=2),
        "s": dense.tosparse() if hasattr(dense, "tosparse") else dense,
        "u": mt.tensor(np.array([3, 1, 5, 2, 4]), chunk_size=3),
        "u2": mt.tensor(np.array([3, 1, 3, 2, 1]), chunk_size=3),
        "m": mt.tensor(np.array([[3, 1, 2], [9, 0, 4]]), chunk_size=2),
        "m2": mt.tensor(np.array([[1, 1, 2], [1, 1, 2], [0, 0, 5]]), chunk_size=2),
        "pd_": mt.tensor(np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]]), chunk_size=2),
        "tall": mt.tensor(np.vander(np.arange(1.0, 7), 3), chunk_size=(3, 3)),
        "add_one": add_one,
        "add": add,
        "two": two,
        "divide": divide,
        "with_option": with_option,
    }
