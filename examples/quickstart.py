"""The main job on real data: tensors, photographs, a Dask cluster and a table.

Run it with ``make quickstart`` or ``python examples/quickstart.py``; pictures go to
``quickstart-output/``. Every result is checked against NumPy, pandas or a second scheduler.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from PIL import Image
from sklearn.datasets import load_sample_images, load_wine

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask import new_session, option_context


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long a step took."""
    start = time.perf_counter()
    yield
    print(f"  {what}: {time.perf_counter() - start:.2f} s")


def documents_snippet(size: int) -> None:
    """Run the program of Mars's documents."""
    print(f"1. mt.inner of a random {size} x {size} tensor, and the sums of its columns")
    a = mt.random.rand(size, size, chunk_size=size // 10)
    with timed("inner"):
        b = mt.inner(a, a).execute()
    with timed("DataFrame(a).sum()"):
        sums = md.DataFrame(a).sum().execute()
    values = a.compute()
    np.testing.assert_allclose(b.fetch(), np.inner(values, values))
    pd.testing.assert_series_equal(sums.fetch(), pd.DataFrame(values).sum())


def compressed(photo: np.ndarray[Any, Any], rank: int) -> Any:
    """Return the lazy best approximation of a photograph by ``rank`` singular triples.

    The three colours lie below each other, so that one decomposition serves all.
    """
    height, width, colours = photo.shape
    tall = photo.transpose(2, 0, 1).reshape(colours * height, width)
    tensor = mt.tensor(tall, chunk_size=(height // 2, width))
    u, s, v = mt.linalg.svd(tensor / 255)
    return mt.dot(u[:, :rank] * s[:rank], v[:rank])


def picture(matrix: np.ndarray[Any, Any], shape: tuple[int, int, int]) -> Image.Image:
    """Return the photograph behind a matrix of colours below each other."""
    height, width, colours = shape
    values = matrix.reshape(colours, height, width).transpose(1, 2, 0)
    return Image.fromarray((np.clip(values, 0, 1) * 255).round().astype(np.uint8))


def photographs(rank: int, out: Path) -> list[tuple[Any, np.ndarray[Any, Any]]]:
    """Compress scikit-learn's photographs and write them beside the originals."""
    print(f"2. photographs compressed to rank {rank} by a singular value decomposition")
    bunch = load_sample_images()
    results = []
    for name, photo in zip(("china", "flower"), bunch.images, strict=True):
        lazy = compressed(photo, rank)
        with timed(name), option_context({"show_progress": True}):
            lazy.execute()
        matrix = lazy.fetch()
        original = photo.transpose(2, 0, 1).reshape(matrix.shape) / 255
        error = np.linalg.norm(matrix - original) / np.linalg.norm(original)
        kept = rank * (1 + sum(matrix.shape)) / matrix.size
        print(f"  {name}: relative error {error:.3f} with {kept:.0%} of the numbers")
        Image.fromarray(photo).save(out / f"{name}.png")
        picture(matrix, photo.shape).save(out / f"{name}-rank{rank}.png")
        results.append((compressed(photo, rank), matrix))
    print(f"  pictures in {out}")
    return results


def same_on_dask(results: list[tuple[Any, np.ndarray[Any, Any]]]) -> None:
    """Run the same expressions through Dask's own verbs on Dask's own cluster."""
    print("3. the same expressions by dask.compute on a LocalCluster")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        timed("dask.compute"),
    ):
        values = dask.compute(*(lazy for lazy, _ in results))
    for value, (_, matrix) in zip(values, results, strict=True):
        np.testing.assert_allclose(value, matrix, atol=1e-8)
    print("  equal")


def table() -> None:
    """Group and merge a real table, and compare with pandas."""
    print("4. group-by and merge of scikit-learn's wine table")
    frame = load_wine(as_frame=True).frame
    names = pd.DataFrame({"target": [0, 1, 2], "cultivar": ["Barolo", "Grignolino", "Barbera"]})
    lazy = md.DataFrame(frame, chunk_size=40)
    columns = {"alcohol": "mean", "proline": "max"}
    with timed("group-by and merge"):
        grouped = lazy.groupby("target").agg(columns).reset_index()
        result = grouped.merge(md.DataFrame(names), on="target").execute().fetch()
    wanted = frame.groupby("target").agg(columns).reset_index().merge(names, on="target")
    pd.testing.assert_frame_equal(result, wanted)
    print(result.to_string(index=False))


def main() -> None:
    """Run all four parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=2000, help="rows of the random tensor")
    parser.add_argument("--rank", type=int, default=40, help="singular triples to keep")
    parser.add_argument("--out", type=Path, default=Path("quickstart-output"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with new_session():
        documents_snippet(args.size)
        same_on_dask(photographs(args.rank, args.out))
        table()
    print(f"all of it: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
