"""Random numbers, linear algebra and Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

import marsdask.tensor as mt
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.subjects.tensors import common

SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
TALL = np.array([[1.0, 2.0], [3.0, 4.5], [0.5, -1.0]])
WAVES = np.array([[1.0, 2.0, 0.5, -1.0], [0.0, 3.0, 1.5, 2.0]])

LINALG: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ["cholesky", "cond", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv"],
        (SQUARE,),
    ),
    **dict.fromkeys(["matrix_norm", "matrix_rank", "matrix_transpose", "norm", "pinv"], (SQUARE,)),
    **dict.fromkeys(["slogdet", "trace", "vector_norm"], (SQUARE,)),
    **dict.fromkeys(["qr", "svd", "svdvals"], (TALL,)),
    "lstsq": (TALL, [1.0, 2.0, 3.0]),
    "solve": (SQUARE, [1.0, 2.0, 3.0]),
    **dict.fromkeys(["matmul", "tensordot", "vecdot", "cross"], (SQUARE, SQUARE + 1)),
    "outer": ([1.0, 2.0], [3.0, 4.0]),
    "matrix_power": (SQUARE, 2),
    "multi_dot": ([SQUARE, SQUARE, TALL],),
    "tensorinv": (np.eye(4).reshape(2, 2, 2, 2),),
    "tensorsolve": (np.eye(4).reshape(2, 2, 4), np.ones((2, 2))),
}
FFT: dict[str, tuple[Any, ...]] = {"fftfreq": (6,), "rfftfreq": (6,)}
RANDOM: dict[str, dict[str, Any]] = {
    "beta": {"a": 1.0, "b": 2.0},
    "binomial": {"n": 20, "p": 0.5},
    "bytes": {"length": 4},
    "chisquare": {"df": 2.0},
    "choice": {"a": 50},
    "dirichlet": {"alpha": [1.0, 2.0]},
    "f": {"dfnum": 2.0, "dfden": 3.0},
    "gamma": {"shape": 2.0},
    "geometric": {"p": 0.05},
    "hypergeometric": {"ngood": 50, "nbad": 60, "nsample": 40},
    "logseries": {"p": 0.99},
    "multinomial": {"n": 20, "pvals": [0.5, 0.5]},
    "multivariate_normal": {"mean": [0.0, 1.0], "cov": [[2.0, 0.0], [0.0, 1.0]]},
    "negative_binomial": {"n": 20, "p": 0.5},
    "noncentral_chisquare": {"df": 2.0, "nonc": 1.0},
    "noncentral_f": {"dfnum": 2.0, "dfden": 3.0, "nonc": 1.0},
    "pareto": {"a": 2.0},
    "permutation": {"x": 9},
    "poisson": {"lam": 30.0},
    "power": {"a": 2.0},
    "randint": {"low": 100},
    "random_integers": {"low": 100},
    "standard_gamma": {"shape": 2.0},
    "standard_t": {"df": 2.0},
    "triangular": {"left": 0.0, "mode": 0.5, "right": 1.0},
    "vonmises": {"mu": 0.0, "kappa": 1.0},
    "wald": {"mean": 1.0, "scale": 1.0},
    "weibull": {"a": 2.0},
    "zipf": {"a": 1.5},
    "integers": {"low": 100},
    "permuted": {"x": np.arange(9)},
    "multivariate_hypergeometric": {"colors": [5, 6], "nsample": 4},
}
NOT_DRAWN = {
    *("default_rng", "get_state", "set_state", "seed", "shuffle", "bytes", "rand", "randn"),
    *("random_integers", "spawn", "ranf", "sample"),
}


def drawn(a: Any, b: Any) -> bool:
    """Tell whether two results have the shape and type of each other."""
    left, right = np.asarray(a), np.asarray(b)
    same = left.dtype == right.dtype or isinstance(a, float | int)
    return left.shape == right.shape and same


def random() -> list[Case]:
    """Return the functions of random numbers, and the methods of generators."""
    seeded = {
        "random": (np.random.RandomState, mt.random.RandomState, "RandomState"),
        "generator": (np.random.default_rng, mt.random.default_rng, "Generator"),
    }
    return [
        Case(
            f"{title}.{name}",
            lambda name=name, make=theirs, **how: getattr(make(3), name)(**how),
            lambda name=name, make=ours, **how: getattr(make(3), name)(**how),
            getattr(theirs(3), name),
            needed=RANDOM.get(name, {}),
            alike=drawn,
        )
        for title, (theirs, ours, kind) in seeded.items()
        for name in common(getattr(np.random, kind), getattr(mt.random, kind), NOT_DRAWN)
    ]


def algebra() -> list[Case]:
    """Return the functions of linear algebra and of Fourier transforms."""
    tables = {"linalg": LINALG, "fft": FFT}
    return [
        Case(
            f"{title}.{name}",
            getattr(getattr(np, title), name),
            getattr(getattr(mt, title), name),
            getattr(getattr(np, title), name),
            arguments.get(name, (WAVES,)),
        )
        for title, arguments in tables.items()
        for name in common(getattr(np, title), getattr(mt, title), set())
    ]
