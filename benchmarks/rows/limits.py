"""The best program for a row that is cheap to write by hand: NumPy in cache-sized blocks.

Every number comes from two threads (as many as there are cores) over blocks that stay in cache,
with no temporary of the data's size; for frames, from pyarrow's own engine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from scipy.fft import rfft
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from benchmarks.systems import Limit

Data = tuple[Any, ...]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
BLOCK = 1 << 15
POOL = ThreadPoolExecutor(CORES)


def spans(n: int, step: int) -> Iterator[slice]:
    """Cut a length into pieces of `step`."""
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def shares(n: int, parts: int = CORES * 4) -> list[slice]:
    """Cut a length into a few pieces for each core."""
    return list(spans(n, -(-n // parts)))


def spread(kernel: Callable[..., Any], pieces: list[slice], *arrays: Any) -> list[Any]:
    """Run a kernel on each piece of the first axis of the arrays."""
    return list(POOL.map(lambda piece: kernel(*(a[piece] for a in arrays)), pieces))


def t01(s: Limit, a: np.ndarray) -> Data:
    """Let BLAS use both cores."""
    return (a @ a.T,)


def t02_part(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> float:
    """Evaluate T02 block by block in two buffers."""
    one, two, total = np.empty(BLOCK), np.empty(BLOCK), 0.0
    for span in spans(a.size, BLOCK):
        x, y = one[: len(a[span])], two[: len(a[span])]
        np.sin(a[span], out=x)
        np.multiply(x, x, out=x)
        np.cos(b[span], out=y)
        np.multiply(y, c[span], out=y)
        np.add(x, y, out=x)
        np.multiply(d[span], 0.5, out=y)
        total += np.subtract(x, y, out=x).sum()
    return total


def t02(s: Limit, *arrays: np.ndarray) -> Data:
    """Spread the flat arrays over the cores."""
    flat = [a.ravel() for a in arrays]
    return (sum(spread(t02_part, shares(flat[0].size), *flat)),)


def moments(x: np.ndarray) -> Data:
    """Take the column sums, column squares, row sums and row squares of a band in one pass."""
    columns, squares = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    rows = []
    step = max(1, BLOCK // x.shape[1])
    for span in spans(len(x), step):
        block = x[span]
        columns += block.sum(0)
        squares += np.einsum("ij,ij->j", block, block)
        rows.append((block.sum(1), np.einsum("ij,ij->i", block, block)))
    return columns, squares, *(np.concatenate(part) for part in zip(*rows, strict=True))


def t03(s: Limit, x: np.ndarray) -> Data:
    """Combine the moments."""
    n, m = x.shape
    parts = list(zip(*spread(moments, shares(n), x), strict=True))
    columns, squares = sum(parts[0]) / n, sum(parts[1]) / n
    rows, row_squares = np.concatenate(parts[2]) / m, np.concatenate(parts[3]) / m
    return columns, np.sqrt(row_squares - rows**2), squares - columns**2


def t04a_part(x: np.ndarray, out: np.ndarray) -> None:
    """Transform bands of real columns and mirror the halves."""
    n = x.shape[0]
    for span in spans(x.shape[1], 32):
        half = np.abs(rfft(np.ascontiguousarray(x[:, span].T), axis=1)).T
        out[: n // 2 + 1, span] = half
        out[n // 2 + 1 :, span] = half[1 : (n + 1) // 2][::-1]


def t04a(s: Limit, x: np.ndarray) -> Data:
    """Use that the input is real."""
    out = np.empty_like(x)
    pieces = shares(x.shape[1])
    list(POOL.map(lambda piece: t04a_part(x[:, piece], out[:, piece]), pieces))
    return (out,)


def total(x: np.ndarray) -> float:
    """Sum a piece."""
    return float(x.sum())


def t04b(s: Limit, x: np.ndarray) -> Data:
    """Sum; a sum does not ask how the array is chunked."""
    return (sum(spread(total, shares(len(x)), x)),)


def products(x: np.ndarray) -> np.ndarray:
    """Take x.T @ x in bands that stay in cache."""
    with threadpool_limits(1):
        return sum(spread(lambda band: band.T @ band, list(spans(len(x), 4000)), x), np.zeros(()))


def t05a(s: Limit, x: np.ndarray) -> Data:
    """Use the Gram matrix, which the condition of these data allows."""
    return (np.sqrt(np.linalg.eigvalsh(products(x))[::-1]),)


def t05b(s: Limit, x: np.ndarray) -> Data:
    """Use the Gram matrix's Cholesky factor as R, and solve for Q band by band."""
    r = np.linalg.cholesky(products(x)).T
    inverse, q = np.linalg.inv(r), np.empty_like(x)
    with threadpool_limits(1):
        spread(lambda band, out: np.matmul(band, inverse, out=out), shares(len(x)), x, q)
    return q, r


def t06a(s: Limit, x: np.ndarray) -> Data:
    """Partition a copy at its middle and sort both halves beside each other."""
    out, middle = x.copy(), x.size // 2
    out.partition(middle)
    list(POOL.map(np.ndarray.sort, (out[:middle], out[middle:])))
    return (out,)


def t06b(s: Limit, x: np.ndarray) -> Data:
    """Let NumPy select."""
    return (np.percentile(x, [25, 50, 75]),)


def largest(x: np.ndarray) -> np.ndarray:
    """Take the hundred largest of a piece, a block at a time."""
    best = x[:100]
    for span in spans(x.size, BLOCK * 4):
        block = x[span]
        found = np.concatenate([best, block[block > best.min()]])
        best = np.partition(found, max(0, found.size - 100))[-100:]
    return best


def t06c(s: Limit, x: np.ndarray) -> Data:
    """Compare each block with the worst of the best so far."""
    return (np.sort(np.concatenate(spread(largest, shares(x.size), x)))[::-1][:100],)


def t07(s: Limit, x: np.ndarray) -> Data:
    """Weigh in one pass: a mean of running sums is a weighted sum."""
    weights = np.arange(len(x), 0, -1.0)
    parts = spread(lambda band, w: float((w @ band).sum()), shares(len(x)), x, weights)
    return (sum(parts) / x.size,)


def t08_part(x: np.ndarray) -> tuple[float, int]:
    """Sum and count what passes the filter."""
    summed, count, buffer = 0.0, 0, np.empty(BLOCK)
    for span in spans(x.size, BLOCK):
        mask = x[span] > 0.5
        summed += float(np.multiply(x[span], mask, out=buffer[: mask.size]).sum())
        count += int(np.count_nonzero(mask))
    return summed, count


def t08(s: Limit, x: np.ndarray) -> Data:
    """Do not store what the filter passes."""
    summed, count = np.sum(spread(t08_part, shares(x.size), x), axis=0)
    return (2 * summed / count + 1,)


def t09(s: Limit, a: np.ndarray, b: np.ndarray) -> Data:
    """Let BLAS use both cores."""
    return (a @ b,)


def t10(s: Limit, chunks: int) -> Data:
    """Work in blocks and not in chunks."""
    buffer, summed = np.empty(BLOCK), 0.0
    for span in spans(chunks * 100, BLOCK):
        x = buffer[: span.stop - span.start]
        x.fill(1.0)
        np.add(x, 1, out=x)
        summed += np.multiply(x, 2, out=x).sum()
    return (summed,)


def t11_part(seed: int, n: int) -> float:
    """Draw into one buffer."""
    rng, buffer = np.random.Generator(np.random.SFC64(seed)), np.empty(BLOCK)
    return sum(
        float(rng.standard_normal(out=buffer[: span.stop - span.start]).sum())
        for span in spans(n, BLOCK)
    )


def t11(s: Limit) -> Data:
    """Give each piece a stream of its own."""
    n = s.size.tall(100000000)
    pieces = shares(n)
    parts = POOL.map(t11_part, range(len(pieces)), [p.stop - p.start for p in pieces])
    return (sum(parts) / n,)


def t12a(s: Limit, x: np.ndarray) -> Data:
    """Sum the view."""
    return (sum(spread(total, shares((len(x) + 1) // 2), x[::2, ::3])),)


def t12b(s: Limit, x: np.ndarray) -> Data:
    """Count how often each column is picked, and weigh."""
    n = x.shape[1]
    picked = (np.arange(s.size.side(3000)) * 7919) % n
    weights = np.bincount(picked, minlength=n).astype(float)
    return (sum(spread(lambda band: float((band @ weights).sum()), shares(len(x)), x)),)


def t12c_part(x: np.ndarray, band: slice) -> float:
    """Add the tiles of a band to their mirror tiles, transposed in cache."""
    summed, buffer = 0.0, np.empty((128, 128))
    for rows in spans(band.stop - band.start, 128):
        i = slice(band.start + rows.start, band.start + rows.stop)
        for j in spans(len(x), 128):
            tile = buffer[: i.stop - i.start, : j.stop - j.start]
            summed += float(np.add(x[i, j], x[j, i].T, out=tile).sum())
    return summed


def t12c(s: Limit, x: np.ndarray) -> Data:
    """Read both tiles while they are in cache."""
    return (sum(POOL.map(partial(t12c_part, x), shares(len(x)))) / x.size,)


def t12d(s: Limit, x: np.ndarray) -> Data:
    """Take the columns' moments, all that a mean squared anomaly needs."""
    n = len(x)
    columns, squares, *_ = zip(*spread(moments, shares(n), x), strict=True)
    mean = sum(columns) / n
    return (float((sum(squares) / n - mean**2).mean()),)


def weighed(a: np.ndarray, b: np.ndarray) -> float:
    """Sum a product whose first factor repeats along the last axis."""
    return float(np.einsum("ij,ijk->", a[..., 0], b))


def t12e(s: Limit, dx: np.ndarray, dy: np.ndarray, u: np.ndarray, v: np.ndarray) -> Data:
    """Pad nothing: the wrapped row is one more small product."""
    n = len(u)
    parts = [
        sum(spread(weighed, shares(n), grid[:n], field)) + weighed(grid[n:], field[:1])
        for grid, field in ((dx, u), (dy, v))
    ]
    return ((parts[0] - parts[1]) / ((n + 1) * u.shape[1] * u.shape[2]),)


def t12f(s: Limit, a: np.ndarray, b: np.ndarray) -> Data:
    """Subtract the sums: a mean of differences is a difference of sums."""
    left = sum(spread(total, shares(len(a) - 1), a[1:, 1:]))
    right = sum(spread(total, shares(len(b) - 1), b[:-1, :-1]))
    return ((left - right) / ((a.shape[0] - 1) * (a.shape[1] - 1)),)


def t12g(s: Limit, x: np.ndarray) -> Data:
    """Sum the five shifted views by edges: each is the whole less two borders."""
    views = (x[:-2, 1:-1], x[2:, 1:-1], x[1:-1, :-2], x[1:-1, 2:], x[1:-1, 1:-1])
    rows = [np.concatenate(part) for part in zip(*spread(edges, shares(len(x)), x), strict=True)]
    inner, left, right = rows
    sums = (
        inner[:-2].sum(),
        inner[2:].sum(),
        left[1:-1].sum(),
        right[1:-1].sum(),
        inner[1:-1].sum(),
    )
    return ((sum(sums[:4]) - 4 * sums[4]) / views[4].size,)


def edges(x: np.ndarray) -> Data:
    """Sum each row without both ends, without its last two and without its first two."""
    inner = x[:, 1:-1].sum(1)
    return inner, inner + x[:, 0] - x[:, -2], inner + x[:, -1] - x[:, 1]


def scan(path: str, columns: list[str], keep: pc.Expression | None = None) -> pa.Table:
    """Read the columns that are needed of the rows that pass."""
    return ds.dataset(path).to_table(columns=columns, filter=keep)


def to_frame(table: pa.Table, keys: tuple[str, ...] = ()) -> Any:
    """Return pandas, with the keys as the index."""
    frame = table.to_pandas()
    return frame.set_index(list(keys)) if keys else frame


def grouped(table: pa.Table, key: str) -> Data:
    """Aggregate as D01 asks."""
    found = table.group_by(key).aggregate([("v1", "sum"), ("v3", "mean")])
    return (to_frame(found.rename_columns([key, "v1", "v3"]), (key,)),)


def d01a(s: Limit, path: str) -> Data:
    """Push the filter into the scan."""
    return grouped(scan(path, ["id1", "v1", "v3"], pc.field("v3") > 50), "id1")


def d01b(s: Limit, path: str) -> Data:
    """Read three columns."""
    return grouped(scan(path, ["id3", "v1", "v3"]), "id3")


def merge(s: Limit, left: str, right: str) -> Data:
    """Let Arrow join."""
    joined = ds.dataset(left).to_table().join(ds.dataset(right).to_table(), "key", None, "inner")
    return (to_frame(joined),)


def d04(s: Limit, path: str) -> Data:
    """Sort the keys and take."""
    table = ds.dataset(path).to_table()
    return (to_frame(table.take(np.argsort(table["key"].to_numpy()))),)


def l1(s: Limit, x: np.ndarray, start: np.ndarray) -> Data:
    """scikit-learn's own loop is blocked and threaded."""
    model = KMeans(8, init=start, n_init=1, max_iter=10, tol=0.0, algorithm="lloyd")
    return (model.fit(x).cluster_centers_,)


def gram(x: np.ndarray) -> Data:
    """Take a band's sums and products."""
    return x.sum(0), x.T @ x


def l2(s: Limit, x: np.ndarray) -> Data:
    """Decompose the covariance."""
    n = len(x)
    with threadpool_limits(1):
        sums, products = map(sum, zip(*spread(gram, list(spans(n, 4000)), x), strict=True))
    mean = sums / n
    covariance = (products - n * np.outer(mean, mean)) / (n - 1)
    return (np.linalg.eigvalsh(covariance)[::-1][:10],)


def l3a(s: Limit, x: np.ndarray, y: np.ndarray) -> Data:
    """Solve for the coefficients by the products of the columns about their means."""
    n = len(x)
    with threadpool_limits(1):
        pieces = list(spans(n, 4000))
        sums, products, last, mixed = map(sum, zip(*spread(told, pieces, x, y), strict=True))
    away = products - np.outer(sums, sums) / n
    return (np.linalg.solve(away, mixed - sums * (last / n)),)


def told(x: np.ndarray, y: np.ndarray) -> Data:
    """Take a band's sums and products, and those with the targets."""
    return x.sum(0), x.T @ x, y.sum(), x.T @ y


def slopes(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> Data:
    """Take the gradient and the Hessian of a band's logarithmic losses."""
    share = 1.0 / (1.0 + np.exp(-(x @ at[:-1] + at[-1])))
    scaled = x * np.sqrt(share * (1.0 - share))[:, np.newaxis]
    away, curved = share - y, share * (1.0 - share)
    return x.T @ away, away.sum(), scaled.T @ scaled, x.T @ curved, curved.sum()


def l3b(s: Limit, x: np.ndarray, y: np.ndarray) -> Data:
    """Take six steps of Newton's method."""
    n, width = x.shape
    at, pieces = np.zeros(width + 1), list(spans(n, 4000))
    for _ in range(6):
        with threadpool_limits(1):
            parts = spread(partial(slopes, at=at), pieces, x, y)
        totals: Any = map(sum, zip(*parts, strict=True))
        a, b, inner, edge, corner = totals
        inner = inner + np.eye(width)
        whole = np.block([[inner, edge[:, np.newaxis]], [edge[np.newaxis], np.array([[corner]])]])
        at = at - np.linalg.solve(whole, np.append(a + at[:-1], b))
    return (at[:-1],)


def l4(s: Limit, x: np.ndarray) -> Data:
    """Draw rows, and take sums and squares of bands."""
    places = np.random.default_rng(0).permutation(len(x))
    test, train = places[: len(x) // 4], places[len(x) // 4 :]
    sums, squares = map(
        sum,
        zip(*POOL.map(lambda piece: powers(x[train[piece]]), spans(len(train), 4000)), strict=True),
    )
    mean = sums / len(train)
    variance = squares / len(train) - mean * mean
    again, more = map(
        sum,
        zip(
            *POOL.map(
                lambda piece: powers((x[test[piece]] - mean) / np.sqrt(variance)),
                spans(len(test), 4000),
            ),
            strict=True,
        ),
    )
    return mean, variance, np.sqrt(more / len(test) - np.square(again / len(test)))


def powers(x: np.ndarray) -> Data:
    """Take a band's sums and squares."""
    return x.sum(0), np.square(x).sum(0)


def l4b(s: Limit, x: np.ndarray) -> Data:
    """Take extremes of bands, then scale them and add them up."""
    pieces = list(spans(len(x), 4000))
    low, high = zip(*spread(lambda a: (a.min(0), a.max(0)), pieces, x), strict=True)
    least, width = np.min(low, axis=0), np.ptp([np.min(low, axis=0), np.max(high, axis=0)], axis=0)
    return (sum(spread(lambda a: ((a - least) / width).sum(0), pieces, x)) / len(x),)


def l5(s: Limit, x: np.ndarray) -> Data:
    """Keep the five least of a band's distances from all points."""
    squares = np.square(x).sum(1)

    def nearest(a: np.ndarray) -> Any:
        away = a @ x.T * -2.0 + squares + np.square(a).sum(1)[:, np.newaxis]
        found = np.partition(np.maximum(away, 0.0), 4, axis=1)[:, :5]
        return np.sqrt(np.sort(found, axis=1))

    with threadpool_limits(1):
        return (np.concatenate(spread(nearest, list(spans(len(x), 256)), x)),)


def l6(s: Limit, x: np.ndarray) -> Data:
    """Measure a band's distances from all points, and add them up."""
    squares = np.square(x).sum(1)

    def total(a: np.ndarray) -> float:
        away = a @ x.T * -2.0 + squares + np.square(a).sum(1)[:, np.newaxis]
        return float(np.sqrt(np.maximum(away, 0.0)).sum())

    with threadpool_limits(1):
        return (np.array([sum(spread(total, list(spans(len(x), 256)), x)) / len(x) ** 2]),)


def t10a(s: Limit) -> Data:
    """Run T10 on 1e4 chunks."""
    return t10(s, s.size.tall(10000))


def t10b(s: Limit) -> Data:
    """Run T10 on 1e5 chunks."""
    return t10(s, s.size.tall(100000))


LIMITS: dict[str, Callable[..., Data]] = {
    "T01a_inner_ones": t01,
    "T01b_inner_rand": t01,
    "T02_elementwise": t02,
    "T03_reduce": t03,
    "T04a_rechunk_fft": t04a,
    "T04b_rechunk": t04b,
    "T05a_svd": t05a,
    "T05b_qr": t05b,
    "T06a_sort": t06a,
    "T06b_percentile": t06b,
    "T06c_topk": t06c,
    "T07_cumsum": t07,
    "T08_mask": t08,
    "T09_matmul": t09,
    "T10a_1e4chunks": t10a,
    "T10b_1e5chunks": t10b,
    "T11_normal": t11,
    "T12a_slice": t12a,
    "T12b_fancy": t12b,
    "T12c_transpose": t12c,
    "T12d_anom": t12d,
    "T12e_vorticity": t12e,
    "T12f_doublediff": t12f,
    "T12g_stencil": t12g,
    "D01a_filter_groupby": d01a,
    "D01b_groupby_str1e5": d01b,
    "D03a_merge_big": merge,
    "D03b_merge_small": merge,
    "D04_sort_values": d04,
    "L1_kmeans": l1,
    "L2_pca": l2,
    "L3a_linreg": l3a,
    "L3b_logreg": l3b,
    "L4_split_scale": l4,
    "L4b_minmax": l4b,
    "L5_neighbors": l5,
    "L6_pairwise": l6,
}
