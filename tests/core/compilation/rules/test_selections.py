"""Selections of few elements are planned by what they select: the rest is never made."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.compilation.passes import run_passes
from marsdask.core.config import option_context
from marsdask.core.errors import MemoryBudgetError, ResultsTooLarge
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.core.node import MultiOutput
from marsdask.tensor.lib.stride_tricks import sliding_window_view
from marsdask.tensor.spatial.distance import cdist, pdist, squareform

#: Twice or thrice each of these axes is far more than any machine has memory for.
B = 10**6
N = 10**12

#: Far more elements than these tests select, far fewer than their sources have.
FEW = 100


def assigned(tensor, key, value):
    """Return a tensor with a part assigned to."""
    tensor[key] = value
    return tensor


def lines():
    """Return ten numbers in each of very many lines."""
    return mt.arange(N).reshape(-1, 10)


def square():
    """Return a matrix that is huge along both axes."""
    return mt.arange(N).reshape(B, B)


def wide():
    """Return a thousand huge lines."""
    return mt.arange(N).reshape(1000, -1)


def points():
    """Return very many points of a line."""
    return mt.arange(B).reshape(-1, 1) * 1.0


def matrices():
    """Return very many matrices."""
    return mt.broadcast_to(mt.eye(3) * 2, (N, 3, 3))


#: The sum of the first numbers of a thousand huge lines.
FIRST_COLUMN = N // 1000 * 999 * 500

#: Programs, and what NumPy says of arrays so small that it can tell.
PROGRAMS: dict[str, tuple[Callable[[], Any], Any]] = {
    "arange": (lambda: mt.arange(10 * N)[::N], np.arange(10) * N),
    "arange-reversed": (lambda: mt.arange(10 * N)[::-N], 10 * N - 1 - np.arange(10) * N),
    "arange-end": (lambda: mt.arange(N)[-3:], N + np.arange(-3, 0)),
    "arange-of-1e15": (lambda: mt.arange(10**15)[:: 10**14], np.arange(10) * 10**14),
    "arange-list": (lambda: mt.arange(N)[[3, -1, 3]], [3, N - 1, 3]),
    "arange-slices": (lambda: mt.arange(N)[5:][::2][1:3], [7, 9]),
    "linspace": (lambda: mt.linspace(0, N - 1, N)[[0, 7, -1]], [0, 7, N - 1]),
    "linspace-arrays": (lambda: mt.linspace([0, 1], [N - 1, N], N)[[7, -1]], [[7, 8], [N - 1, N]]),
    "logspace": (lambda: mt.logspace(0, 2, N)[[0, -1]], [1, 100]),
    "geomspace": (lambda: mt.geomspace(1, 100, N)[[0, -1]], [1, 100]),
    "ones": (lambda: mt.ones((B, B))[3, 4:6], [1, 1]),
    "full": (lambda: mt.full((B, B), 3)[:: B // 2, 1], [3, 3]),
    "full-like": (lambda: mt.full_like(mt.ones((B, B)), 4)[0, -3:], [4, 4, 4]),
    "eye": (lambda: mt.eye(B)[3, 2:6], [0, 1, 0, 0]),
    "eye-steps": (lambda: mt.eye(B)[:: B // 5, :: B // 5], np.eye(5)),
    "tri": (lambda: mt.tri(B)[3, 2:6], [1, 1, 0, 0]),
    "tril": (lambda: mt.tril(mt.ones((B, B)))[3, 2:6], [1, 1, 0, 0]),
    "triu": (lambda: mt.triu(mt.ones((B, B)))[3, 2:6], [0, 1, 1, 1]),
    "tril-steps": (
        lambda: mt.tril(mt.ones((B, B)), 1)[3:9:2, 2:10:3],
        np.tril(np.ones((20, 20)), 1)[3:9:2, 2:10:3],
    ),
    "indices": (lambda: mt.indices((B, B))[0, [3, 9], 4], [3, 9]),
    "fromfunction": (
        lambda: mt.fromfunction(np.add, (B, B))[3, :: B // 5],
        3.0 + np.arange(0, B, B // 5),
    ),
    "meshgrid": (lambda: mt.meshgrid(mt.arange(B), mt.arange(B))[0][3, 4:6], [4, 5]),
    "meshgrid-views": (
        lambda: mt.meshgrid(mt.arange(B), mt.arange(B), copy=False)[1][3, 4:6],
        [3, 3],
    ),
    "mgrid": (lambda: mt.mgrid[0:B, 0:B][1, 3, 4:6], [4, 5]),
    "ogrid": (lambda: mt.ogrid[0:N, 0:B][0][4:6], [[4], [5]]),
    "broadcast_to": (lambda: mt.broadcast_to(mt.arange(B), (B, B))[3, 4:6], [4, 5]),
    "broadcast": (lambda: (mt.arange(B)[:, None] + mt.arange(B) * 2)[3, 4:6], [11, 13]),
    "where": (lambda: mt.where(mt.arange(N) % 2 == 0, 1, mt.zeros(N)).astype("f4")[3:6], [0, 1, 0]),
    "divmod": (lambda: mt.divmod(mt.arange(N), 7)[1][5:9], [5, 6, 0, 1]),
    "outer": (lambda: mt.outer(mt.arange(B), mt.arange(B))[7, 5:9], 7 * np.arange(5, 9)),
    "outer-points": (
        lambda: mt.outer(mt.arange(B), mt.arange(B))[[1, B - 1], [2, 3]],
        [2, 3 * B - 3],
    ),
    "tensordot": (lambda: mt.tensordot(mt.arange(B), mt.arange(B), 0)[3, 4:6], [12, 15]),
    "einsum": (lambda: mt.einsum("i,j->ji", mt.arange(B), mt.arange(B))[3, 4:6], [12, 15]),
    "diag": (lambda: mt.diag(mt.arange(B))[7, 5:9], [0, 0, 7, 0]),
    "diag-above": (lambda: mt.diag(mt.arange(B), 2)[7, 5:12], [0, 0, 0, 0, 7, 0, 0]),
    "diag-below": (lambda: mt.diag(mt.arange(B), -2)[9 :: B // 2, 7], [7, 0]),
    "diagonal": (lambda: mt.diagonal(mt.outer(mt.arange(B), mt.arange(B)))[3:5], [9, 16]),
    "repeat": (lambda: mt.repeat(mt.arange(1000), 10**9)[[3, 10**9 + 1]], [0, 1]),
    "repeat-steps": (lambda: mt.repeat(mt.arange(N), 10)[::N], np.arange(10) * (N // 10)),
    "repeat-end": (lambda: mt.repeat(mt.arange(N), 10)[-25:-3], N + np.arange(-25, -3) // 10),
    "repeat-axis": (lambda: mt.repeat(mt.ones((2, 3)), N, 1)[1, [0, -1]], [1, 1]),
    "tile": (lambda: mt.tile(mt.arange(10), N)[:3], [0, 1, 2]),
    "tile-list": (lambda: mt.tile(mt.arange(10), N)[[3, N + 5, -1]], [3, 5, 9]),
    "tile-steps": (lambda: mt.tile(mt.arange(10), N)[:: N + 1], np.arange(10)),
    "tile-axes": (lambda: mt.tile(mt.eye(3), (B, B))[3, 2:6], [0, 1, 0, 0]),
    "kron": (lambda: mt.kron(mt.arange(B), mt.arange(B))[B + 3 : B + 6], [3, 4, 5]),
    "pad": (lambda: mt.pad(mt.ones(5), N)[N - 2 : N + 2], [0, 0, 1, 1]),
    "vander": (lambda: mt.vander(mt.arange(N), 3)[[3, 9]], [[9, 3, 1], [81, 9, 1]]),
    "roll": (lambda: mt.roll(mt.arange(N), 2)[:4], [N - 2, N - 1, 0, 1]),
    "flip": (lambda: mt.flip(mt.arange(N))[:3], N - 1 - np.arange(3)),
    "fliplr": (lambda: mt.fliplr(mt.eye(B))[0, -3:], [0, 0, 1]),
    "transpose": (lambda: mt.ones((N, 3)).T[1, :: N // 5], np.ones(5)),
    "reshape": (lambda: mt.arange(N).reshape(B, B)[3, 4:6], 3 * B + np.array([4, 5])),
    "ravel": (lambda: mt.ravel(mt.eye(B))[[0, 1, B + 1]], [1, 0, 1]),
    "concatenate": (lambda: mt.concatenate([mt.arange(N)] * 9)[[0, N, -1]], [0, 0, N - 1]),
    "stack": (lambda: mt.stack([mt.arange(N)] * 3)[[0, 2], 4:6], [[4, 5], [4, 5]]),
    "stack-mask": (
        lambda: mt.stack([mt.arange(N)] * 3)[np.array([True, False, True]), 4:6],
        [[4, 5], [4, 5]],
    ),
    "block": (lambda: mt.block([[mt.eye(B), mt.ones((B, B))]])[3, B - 1 : B + 1], [0, 1]),
    "pad-wrap": (lambda: mt.pad(mt.arange(5), N, "wrap")[N - 2 : N + 2], [3, 4, 0, 1]),
    "pad-edge": (lambda: mt.pad(mt.arange(5), N, "edge")[-3:], [4, 4, 4]),
    "pad-reflect": (lambda: mt.pad(mt.arange(5), N, "reflect")[N - 2 : N + 2], [2, 1, 0, 1]),
    "pad-symmetric": (lambda: mt.pad(mt.arange(5), N, "symmetric")[N - 2 : N + 2], [1, 0, 0, 1]),
    "pad-mean": (lambda: mt.pad(mt.arange(5), N, "mean")[N - 2 : N + 2], [2, 2, 0, 1]),
    "insert": (lambda: mt.insert(mt.arange(N), 5, 99)[3:8], [3, 4, 99, 5, 6]),
    "insert-list": (lambda: mt.insert(mt.arange(N), [5, 7], [99, 98])[[5, 8, -1]], [99, 98, N - 1]),
    "insert-steps": (lambda: mt.insert(mt.arange(N), slice(0, None, N // 4), 7)[::N], [7, N - 4]),
    "delete": (lambda: mt.delete(mt.arange(N), 5)[3:7], [3, 4, 6, 7]),
    "delete-list": (lambda: mt.delete(mt.arange(N), [4, 5])[[3, 4, -1]], [3, 6, N - 1]),
    "delete-steps": (lambda: mt.delete(mt.arange(N), slice(None, None, 3))[3:7], [5, 7, 8, 10]),
    "delete-axis": (lambda: mt.delete(mt.ones((B, B)), 5, 0)[3:5, 2], [1, 1]),
    "repeat-each": (lambda: mt.repeat(mt.arange(3), [N, 2, 1])[[0, -3, -1]], [0, 1, 2]),
    "cumsum": (lambda: mt.cumsum(mt.arange(N))[3:6], [6, 10, 15]),
    "cumsum-list": (lambda: mt.cumsum(mt.arange(N))[[3, 5]], [6, 15]),
    "cumsum-axis": (lambda: mt.cumsum(mt.ones((3, N)), axis=0)[2, -2:], [3, 3]),
    "cumprod": (lambda: mt.cumprod(mt.ones((N, 2)), axis=0)[7], [1, 1]),
    "maximum-accumulate": (lambda: mt.maximum.accumulate(mt.arange(N))[3:5], [3, 4]),
    "diff": (lambda: mt.diff(mt.arange(N), n=2, prepend=0)[:3], [1, 0, 0]),
    "append": (lambda: mt.append(mt.arange(N), [1, 2])[-3:], [N - 1, 1, 2]),
    "pad-ramp": (
        lambda: mt.pad(mt.arange(5), N, "linear_ramp", end_values=N)[[0, N, -1]],
        [N, 0, N],
    ),
    "pad-edge-of-huge": (lambda: mt.pad(mt.arange(N), 3, "edge")[1:5], [0, 0, 0, 1]),
    "pad-reflect-of-huge": (lambda: mt.pad(mt.arange(N), 3, "reflect")[[0, -1]], [3, N - 4]),
    "pad-wrap-of-huge": (lambda: mt.pad(mt.arange(N), 3, "wrap")[[0, -1]], [N - 3, 2]),
    "setitem": (lambda: assigned(mt.arange(N), slice(3, None, 2), 7)[2:6], [2, 7, 4, 7]),
    "setitem-list": (
        lambda: assigned(mt.arange(N), [5, N - 1, 8, 5], [1, 2, 3, 4])[[4, 5, 8, -1]],
        [4, 4, 3, 2],
    ),
    "setitem-list-in-steps": (
        lambda: assigned(mt.arange(N), [5, -1, 8], mt.arange(3))[8::-3][:2],
        [2, 0],
    ),
    "setitem-list-of-lines": (
        lambda: assigned(mt.ones((N, 3)), [5, 7], [[4, 5, 6]])[4:6, 1],
        [1, 5],
    ),
    "take": (lambda: mt.take(mt.arange(N), [5, -1]), [5, N - 1]),
    "random": (lambda: mt.random.default_rng(0).integers(3, 4, N)[5:7], [3, 3]),
    "random-end": (lambda: mt.random.RandomState(0).uniform(3, 3, (B, B))[:1:-B, -2:], [[3, 3]]),
    "fftfreq": (lambda: mt.fft.fftfreq(N, 1 / N)[[5, -1]], [5, -1]),
    "rfftfreq": (lambda: mt.fft.rfftfreq(N, 1 / N)[[5, -1]], [5, N // 2]),
    "windows": (lambda: sliding_window_view(mt.arange(N), 3)[5:7], [[5, 6, 7], [6, 7, 8]]),
    "windows-wide": (lambda: sliding_window_view(mt.arange(N), B)[[7], :2], [[7, 8]]),
    "windows-axis": (lambda: sliding_window_view(mt.eye(B), 2, 1)[3, 3:1:-1], [[1, 0], [0, 1]]),
    "digitize": (lambda: mt.digitize(mt.arange(N), [5, 7])[4:8], [0, 1, 1, 2]),
    "interp": (lambda: mt.interp(mt.arange(N), [0, 10], [0, 20])[[3, -1]], [6, 20]),
    "isin": (lambda: mt.isin(mt.arange(N), [5, 7])[5:8], [1, 0, 1]),
    "convolve": (lambda: mt.convolve(mt.arange(N), [1, 2, 3])[:4], [0, 1, 4, 10]),
    "convolve-end": (lambda: mt.convolve(mt.ones(N), [1, 2, 3])[-1:-4:-1], [3, 5, 6]),
    "correlate": (lambda: mt.correlate(mt.arange(N), [1, 2, 3])[5:8], [38, 44, 50]),
    "sum-of-rows": (
        lambda: square().sum(axis=1)[5:7],
        [B * B * i + B * (B - 1) // 2 for i in (5, 6)],
    ),
    "sum-of-columns": (
        lambda: wide().sum(axis=0)[5:7],
        [FIRST_COLUMN + 5000, FIRST_COLUMN + 6000],
    ),
    "sum-of-blocks": (lambda: mt.ones((3, N, 3)).sum(axis=(0, 2), keepdims=True)[0, 5], [9]),
    "sum-of-few": (lambda: mt.ones((300, B)).sum(axis=1)[5:7], [B, B]),
    "columns-of-reshaped": (lambda: wide()[:, 5:7].sum(0).sum(), 2 * FIRST_COLUMN + 11000),
    "trace": (lambda: mt.trace(mt.eye(B)), B),
    "trace-offset": (lambda: mt.trace(mt.ones((B, B)), offset=5), B - 5),
    "trace-stack": (lambda: mt.trace(mt.ones((N, 3, 3)), axis1=1, axis2=2)[5:7], [3, 3]),
    "trace-reshaped": (lambda: mt.trace(square()) // (B + 1), B * (B - 1) // 2),
    "trace-part": (lambda: mt.trace((mt.ones((B, B)).T * 2)[5:, 5:]), 2 * (B - 5)),
    "trace-triangle": (lambda: mt.trace(mt.tril(mt.ones((B, B)), -1)), 0),
    "trace-broadcast": (lambda: mt.trace(mt.arange(B) + mt.arange(B)[:, None]), B * (B - 1)),
    "trace-diag": (lambda: mt.trace(mt.diag(mt.arange(B))), B * (B - 1) // 2),
    "mean": (lambda: lines().mean(axis=1)[5:7], [54.5, 64.5]),
    "mean-from-each": (
        lambda: (lines() - lines().mean(axis=1, keepdims=True))[5, 3:5],
        [-1.5, -0.5],
    ),
    "std": (lambda: lines().std(axis=1)[5:7], np.std(np.ones((2, 1)) * np.arange(10), axis=1)),
    "nanmax": (lambda: mt.nanmax(lines(), axis=1)[5:7], [59, 69]),
    "argmax": (lambda: lines().argmax(axis=1)[[5, -1]], [9, 9]),
    "argmin-of-columns": (lambda: wide().argmin(axis=0)[5:7], [0, 0]),
    "median": (lambda: mt.median(lines(), axis=1)[5:7], [54.5, 64.5]),
    "quantile": (lambda: mt.quantile(lines(), [0, 1], axis=1)[1, 5:7], [59, 69]),
    "nanquantile": (lambda: mt.nanquantile(lines(), 1.0, axis=1)[5:7], [59, 69]),
    "average": (lambda: mt.average(lines(), axis=1, weights=np.eye(10)[3])[5:7], [53, 63]),
    "sort": (lambda: mt.sort(-lines(), axis=1)[5:7, 0], [-59, -69]),
    "argsort-of-columns": (lambda: mt.argsort(-wide(), axis=0)[:2, 5], [999, 998]),
    "partition": (lambda: mt.partition(-lines(), 0, axis=1)[5:7, 0], [-59, -69]),
    "topk": (lambda: mt.topk(lines(), 2, axis=1)[5:7], [[59, 58], [69, 68]]),
    "reduceat": (lambda: mt.add.reduceat(lines(), [0, 9], axis=1)[5:7, 1], [59, 69]),
    "take_along_axis": (
        lambda: mt.take_along_axis(lines(), mt.ones((N // 10, 1), int), 1)[5:7],
        [[51], [61]],
    ),
    "fft": (lambda: mt.fft.fft(lines(), axis=1)[5:7, 0], [545, 645]),
    "irfft": (lambda: mt.fft.irfft(mt.ones((N, 3)), axis=1)[5:7, 0], [1, 1]),
    "fft2": (lambda: mt.fft.fft2(matrices())[5:7, 0, 0], [6, 6]),
    "inv": (lambda: mt.linalg.inv(matrices())[5:7, 0, 0], [0.5, 0.5]),
    "svd": (lambda: mt.linalg.svd(matrices())[1][5:7], [[2, 2, 2]] * 2),
    "solve": (
        lambda: mt.linalg.solve(matrices(), mt.ones((N, 3, 1)))[5:7, 0],
        [[0.5], [0.5]],
    ),
    "norm": (lambda: mt.linalg.norm(matrices(), ord=2, axis=(1, 2))[5:7], [2, 2]),
    "unpackbits": (lambda: mt.unpackbits(mt.full(N, 5, "u1"))[5:8], [1, 0, 1]),
    "unpackbits-axis": (lambda: mt.unpackbits(mt.ones((N, 2), "u1"), axis=1)[5:7, 7], [1, 1]),
    "packbits": (lambda: mt.packbits(mt.arange(N) % 2)[5:7], [85, 85]),
    "apply_along_axis": (lambda: mt.apply_along_axis(np.sum, 1, lines())[5:7], [545, 645]),
    "vectorize": (
        lambda: mt.vectorize(np.sum, signature="(n)->()")(lines())[5:7],
        [545, 645],
    ),
    "vectorize-outputs": (
        lambda: mt.vectorize(np.divmod, signature="(n),()->(n),(n)")(lines(), 7)[1][9:4:-2, 5:],
        (np.arange(90, 40, -20)[:, None] + np.arange(5, 10)) % 7,
    ),
    "coarsen": (lambda: mt.coarsen(np.sum, mt.arange(N), {0: 10})[5:7], [545, 645]),
    "coarsen-axes": (
        lambda: mt.coarsen(np.max, square(), {0: 2, 1: 5})[3, 9:5:-2],
        [7 * B + 49, 7 * B + 39],
    ),
    "map_blocks": (lambda: mt.arange(N).map_blocks(np.negative)[5:7], [-5, -6]),
    "map_blocks-broadcast": (
        lambda: mt.map_blocks(np.add, square(), mt.arange(B))[3, :: B // 2],
        [3 * B, 4 * B],
    ),
    "triu_indices": (lambda: mt.triu_indices(B)[0][[0, B - 1, B, -1]], [0, 0, 1, B - 1]),
    "tril_indices": (lambda: mt.tril_indices(B)[1][:4], [0, 0, 1, 0]),
    "triu_indices_from": (lambda: mt.triu_indices_from(square(), 1)[1][:2], [1, 2]),
    "cdist": (lambda: cdist(points(), points())[5:7, 5], [0, 1]),
    "pdist": (lambda: pdist(points())[5:7], [6, 7]),
    "pdist-rows": (lambda: pdist(points())[B - 2 : B], [B - 1, 1]),
    "pdist-end": (lambda: pdist(points())[:-4:-1], [1, 2, 1]),
    "squareform": (lambda: squareform(mt.arange(B * (B - 1) // 2))[1, :4], [0, 0, B - 1, B]),
    "squareform-vector": (
        lambda: squareform(square(), checks=False)[[0, B - 2, B - 1, -1]],
        [1, B - 1, B + 2, N - B - 1],
    ),
    "take-by-tensor": (lambda: mt.arange(B)[mt.arange(N) // 2][5:7], [2, 3]),
    "take-by-tensor-lines": (
        lambda: mt.arange(3 * B, chunk_size=B).reshape(3, B)[mt.arange(N) % 3][5:7, 1],
        [2 * B + 1, 1],
    ),
    "view": (lambda: mt.arange(N).view("i4")[5:10], [0, 3, 0, 4, 0]),
    "view-wide": (lambda: mt.ones(N, "i4").view("i8")[5:8:2], [2**32 + 1] * 2),
}


#: All elements of huge arrays, of every kind that is not computed, but lent or put together.
WHOLE: dict[str, Callable[[], Any]] = {
    "ones": lambda: mt.ones((B, B)),
    "broadcast_to": lambda: mt.broadcast_to(mt.arange(B), (B, B)),
    "meshgrid-views": lambda: mt.meshgrid(mt.arange(B), mt.arange(B), copy=False)[0],
    "transpose": lambda: mt.ones((B, B)).T,
    "rot90": lambda: mt.rot90(mt.ones((B, B))),
    "flip": lambda: mt.arange(N)[::-1],
    "reshape": lambda: mt.arange(N).reshape(B, B),
    "tile": lambda: mt.tile(mt.arange(10), N // 10),
    "resize": lambda: mt.resize(mt.arange(10), N),
    "roll": lambda: mt.roll(mt.arange(N), 2),
    "repeat": lambda: mt.repeat(mt.arange(10), N),
    "repeat-each": lambda: mt.repeat(mt.arange(3), [N, 2, N]),
    "pad": lambda: mt.pad(mt.arange(5), N),
    "pad-wrap": lambda: mt.pad(mt.arange(5), N, "wrap"),
    "pad-ramp": lambda: mt.pad(mt.arange(5), N, "linear_ramp"),
    "insert": lambda: mt.insert(mt.arange(N), 2, 3),
    "delete": lambda: mt.delete(mt.arange(N), 2),
    "cumsum": lambda: mt.cumsum(mt.arange(N)),
    "diff": lambda: mt.diff(mt.arange(N)),
    "kron": lambda: mt.kron(mt.arange(B), mt.arange(B)),
    "outer": lambda: mt.outer(mt.arange(B), mt.arange(B)),
    "diag": lambda: mt.diag(mt.arange(B)),
    "tril": lambda: mt.tril(mt.ones((B, B))),
    "indices": lambda: mt.indices((B, B)),
    "concatenate": lambda: mt.concatenate([mt.arange(N), mt.arange(N)]),
    "sum": lambda: mt.ones(10**15).sum(),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_huge_arrays_are_refused_before_anything_is_made(name):
    """The error names the limit; the client has allocated little by then."""
    with option_context({"memory_limit": 2**31}):
        tracemalloc.start()
        try:
            with pytest.raises((MemoryBudgetError, ResultsTooLarge)):
                WHOLE[name]().compute()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 100 * 2**20


def planned(collection):
    """Return the nodes that a plan keeps."""
    return run_passes(Graph([collection.node]), Plan(workers=2, budget=2**33)).nodes


def chunk_count(node):
    """Return how many chunks a node has, at most of all outputs."""
    grids = node.chunks if isinstance(node, MultiOutput) else (node.chunks,)
    return max(math.prod(map(len, chunks)) for chunks in grids)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("coalesced", [True, False])
def test_selections_of_huge_arrays_make_what_they_select(name, coalesced):
    """The values are NumPy's, and the nodes and chunks that are planned are few."""
    program, expected = PROGRAMS[name]
    with option_context({"coalesce": coalesced}):
        selection = program()
        np.testing.assert_allclose(selection.compute(), expected)
    nodes = planned(selection)
    assert len(nodes) < 60
    assert sum(map(chunk_count, nodes)) < FEW


def test_a_selection_of_what_is_computed_anyway_reads_it():
    """Nothing is made twice: neither the array nor what it is made of."""
    x = mt.sin(mt.arange(10**6, chunk_size=10**5))
    nodes = run_passes(Graph([x[:5].node, x.node]), Plan(workers=2)).nodes
    assert sum(node.label == "sin" for node in nodes) == 1


def test_parts_of_small_arrays_are_cut_from_them():
    """Planning anew takes longer than making a small array."""
    x = mt.sin(mt.arange(100))
    assert [node.label for node in planned(x[:5])][-1] == "getitem"


def test_parts_keep_the_chunks_that_users_see():
    """The plan of a part is cut like the part."""
    x = (mt.arange(10**6, chunk_size=10**5) + 1)[::1000]
    blocks = x.map_blocks(lambda block: np.full(1, len(block)), dtype=int, chunks=(1,))
    assert blocks.compute().tolist() == [100] * 10
