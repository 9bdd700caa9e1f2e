"""T01 to T12, each written once for every system that follows NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.rows import Workload
from benchmarks.systems import System

Data = tuple[Any, ...]


def square(s: System, n: int, chunk: int, count: int = 1) -> Data:
    """Hold `count` square arrays in square chunks."""
    n, chunk = s.size.side(n), s.size.side(chunk)
    return tuple(s.array((n, n), (chunk, chunk), seed) for seed in range(count))


def line(s: System, n: int, chunk: int) -> Data:
    """Hold one 1-d array."""
    return (s.array((s.size.tall(n),), (s.size.tall(chunk),)),)


def t01a_data(s: System) -> Data:
    """Hold a matrix of ones, as the first snippet of Mars's documents does."""
    n, chunk = s.size.side(2000), s.size.side(200)
    return (s.hold(s.ones((n, n), (chunk, chunk)))[0],)


def t01b_data(s: System) -> Data:
    """Hold the same size of other numbers."""
    return square(s, 2000, 200)


def t01(s: System, a: Any) -> Data:
    """Multiply a matrix by itself transposed."""
    return (s.inner(a, a),)


def t02_data(s: System) -> Data:
    """Hold four arrays of 200 MB."""
    return square(s, 5000, 1000, 4)


def t02(s: System, a: Any, b: Any, c: Any, d: Any) -> Data:
    """Evaluate a chain of elementwise operations and sum it."""
    xp = s.xp
    return ((xp.sin(a) ** 2 + xp.cos(b) * c - d / 2).sum(),)


def t03_data(s: System) -> Data:
    """Hold one array of 640 MB."""
    n, m, chunk = s.size.side(10000), s.size.side(8000), s.size.side(1000)
    return (s.array((n, m), (chunk, chunk)),)


def t03(s: System, x: Any) -> Data:
    """Take three moments of one array over both axes."""
    return x.mean(0), x.std(1), x.var(0)


def t04a_data(s: System) -> Data:
    """Hold an array chunked along the axis that will be transformed."""
    n, chunk = s.size.side(4000), s.size.side(500)
    return (s.array((n, n), (chunk, n)),)


def t04a(s: System, x: Any) -> Data:
    """Transform along the chunked axis."""
    n = x.shape[0]
    return (abs(s.xp.fft.fft(s.rechunk(x, (n, s.size.side(500))), axis=0)),)


def t04b_data(s: System) -> Data:
    """Hold an array in bands of rows."""
    n, m = s.size.side(10000), s.size.side(8000)
    return (s.array((n, m), (s.size.side(1000), m)),)


def t04b(s: System, x: Any) -> Data:
    """Turn bands of rows into bands of columns and sum."""
    return (s.rechunk(x, (x.shape[0], s.size.side(800))).sum(),)


def t05_data(s: System) -> Data:
    """Hold a tall and skinny matrix."""
    return (s.array((s.size.tall(1000000), 100), (s.size.tall(100000), 100)),)


def t05a(s: System, x: Any) -> Data:
    """Take the singular values."""
    return (s.singular_values(x),)


def t05b(s: System, x: Any) -> Data:
    """Factorise into Q and R, both kept."""
    return tuple(s.xp.linalg.qr(x))


def t06_data(s: System) -> Data:
    """Hold 5e7 numbers."""
    return line(s, 50000000, 2000000)


def t06a(s: System, x: Any) -> Data:
    """Sort them."""
    return (s.xp.sort(x),)


def t06b(s: System, x: Any) -> Data:
    """Take the quartiles; Dask's are approximate."""
    return (s.xp.percentile(x, [25, 50, 75]),)


def t06c(s: System, x: Any) -> Data:
    """Take the hundred largest."""
    return (s.topk(x, 100),)


def t07_data(s: System) -> Data:
    """Hold a square of 8000."""
    return square(s, 8000, 1000)


def t07(s: System, x: Any) -> Data:
    """Accumulate down the columns and average."""
    return (x.cumsum(axis=0).mean(),)


def t08_data(s: System) -> Data:
    """Hold 8e7 numbers."""
    return line(s, 80000000, 1000000)


def t08(s: System, x: Any) -> Data:
    """Process an array of unknown length."""
    y = x[x > 0.5]
    return ((y * 2 + 1).mean(),)


def t09_data(s: System) -> Data:
    """Hold two squares of 6000."""
    return square(s, 6000, 2000, 2)


def t09(s: System, a: Any, b: Any) -> Data:
    """Multiply them."""
    return (s.xp.dot(a, b),)


def no_data(s: System) -> Data:
    """Hold nothing: the workload makes its own."""
    return ()


def t10a(s: System) -> Data:
    """Sum 1e4 chunks of 100 elements."""
    return tiny_chunks(s, s.size.tall(10000))


def t10b(s: System) -> Data:
    """Sum 1e5 chunks of 100 elements."""
    return tiny_chunks(s, s.size.tall(100000))


def tiny_chunks(s: System, chunks: int) -> Data:
    """Do nearly nothing in very many chunks."""
    return (((s.ones((chunks * 100,), (100,)) + 1) * 2).sum(),)


def t11(s: System) -> Data:
    """Average normals; the answers agree only as far as the law of large numbers says."""
    return (s.normal(s.size.tall(100000000), s.size.tall(1000000)).mean(),)


def t12a(s: System, x: Any) -> Data:
    """Sum a strided view."""
    return (x[::2, ::3].sum(),)


def t12b(s: System, x: Any) -> Data:
    """Pick scattered columns."""
    n = x.shape[1]
    picked = (np.arange(s.size.side(3000)) * 7919) % n
    return (x[:, picked].sum(),)


def t12c(s: System, x: Any) -> Data:
    """Add an array to its transpose."""
    return ((x + x.T).mean(),)


def t12d_data(s: System) -> Data:
    """Hold 20000 observations of 4000 variables."""
    n, m, chunk = s.size.side(20000), s.size.side(4000), s.size.side(1000)
    return (s.array((n, m), (chunk, chunk)),)


def t12d(s: System, x: Any) -> Data:
    """Average the squared anomaly: a reduction feeds an elementwise step over the same data."""
    return (((x - x.mean(0)) ** 2).mean(),)


def t12e_data(s: System) -> Data:
    """Hold two fields of 40 levels and two grids with one more row."""
    n = s.size.side(1000)
    field, grid = ((n, n, 40), (n, n, 1)), ((n + 1, n, 1), (n, n, 1))
    return (s.array(*grid, 0), s.array(*grid, 1), s.array(*field, 2), s.array(*field, 3))


def t12e(s: System, dx: Any, dy: Any, u: Any, v: Any) -> Data:
    """Take a vorticity: padding makes slivers that fall apart from the blocks."""
    return ((dx * s.wrap(u) - dy * s.wrap(v)).mean(),)


def t12f_data(s: System) -> Data:
    """Hold two squares of 8000."""
    return square(s, 8000, 1000, 2)


def t12f(s: System, a: Any, b: Any) -> Data:
    """Subtract arrays that are shifted against each other."""
    return ((a[1:, 1:] - b[:-1, :-1]).mean(),)


def t12g_data(s: System) -> Data:
    """Hold a square of 6000."""
    return square(s, 6000, 1000)


def t12g(s: System, x: Any) -> Data:
    """Average a 5-point stencil."""
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return ((around - 4 * x[1:-1, 1:-1]).mean(),)


ROWS = (
    Workload("T01a_inner_ones", t01a_data, t01, held=True),
    Workload("T01b_inner_rand", t01b_data, t01, held=True),
    Workload("T02_elementwise", t02_data, t02),
    Workload("T03_reduce", t03_data, t03),
    Workload("T04a_rechunk_fft", t04a_data, t04a, held=True),
    Workload("T04b_rechunk", t04b_data, t04b),
    Workload("T05a_svd", t05_data, t05a),
    Workload("T05b_qr", t05_data, t05b, held=True, signless=True),
    Workload("T06a_sort", t06_data, t06a, held=True),
    Workload("T06b_percentile", t06_data, t06b, loose={"dask": 1e-2, "dask21": 1e-2}),
    Workload("T06c_topk", t06_data, t06c),
    Workload("T07_cumsum", t07_data, t07),
    Workload("T08_mask", t08_data, t08),
    Workload("T09_matmul", t09_data, t09, held=True),
    Workload("T10a_1e4chunks", no_data, t10a),
    Workload("T10b_1e5chunks", no_data, t10b),
    Workload("T11_normal", no_data, t11, atol=5e-3),
    Workload("T12a_slice", t07_data, t12a),
    Workload("T12b_fancy", t07_data, t12b),
    Workload("T12c_transpose", t07_data, t12c),
    Workload("T12d_anom", t12d_data, t12d),
    Workload("T12e_vorticity", t12e_data, t12e),
    Workload("T12f_doublediff", t12f_data, t12f),
    Workload("T12g_stencil", t12g_data, t12g),
)
