"""The main job on real data: tensors, photographs, Dask, a table, queries, functions, a Pipeline.

Run it with ``make quickstart`` or ``python examples/quickstart.py``; pictures go to
``quickstart-output/``. Every result is checked against NumPy, pandas or a second scheduler.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import dask
import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster
from matplotlib.figure import Figure
from PIL import Image
from sklearn import decomposition, linear_model, preprocessing
from sklearn.datasets import load_breast_cancer, load_sample_images, load_wine
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.pipeline import Pipeline, make_pipeline

import marsdask.dataframe as md
import marsdask.remote as mr
import marsdask.tensor as mt
from marsdask import new_session
from marsdask.learn.decomposition import PCA
from marsdask.learn.linear_model import LogisticRegression
from marsdask.learn.metrics import confusion_matrix
from marsdask.learn.preprocessing import StandardScaler

Array: TypeAlias = np.ndarray[Any, Any]


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


def below_each_other(photos: list[Array]) -> Array:
    """Return the colours of all photographs as one matrix, one below the other."""
    return np.concatenate(
        [photo.transpose(2, 0, 1).reshape(-1, photo.shape[1]) for photo in photos]
    )


def compressed(matrix: Array, rank: int) -> Any:
    """Return the lazy best approximation of a matrix by ``rank`` singular triples."""
    tensor = mt.tensor(matrix, chunk_size=(400, matrix.shape[1])) / 255
    u, s, v = mt.linalg.svd(tensor)
    return mt.dot(u[:, :rank] * s[:rank], v[:rank])


def write_pair(photo: Array, matrix: Array, path: Path) -> None:
    """Write a photograph and, beside it on its right, what is left of it in a matrix."""
    height, width, colours = photo.shape
    values = matrix.reshape(colours, height, width).transpose(1, 2, 0)
    approximation = (np.clip(values, 0, 1) * 255).round().astype(np.uint8)
    Image.fromarray(np.concatenate([photo, approximation], axis=1)).save(path)


def photographs(rank: int, shrink: int, out: Path) -> tuple[Any, Array]:
    """Compress scikit-learn's photographs, all colours of both at once, and write them as PNG.

    Returns the expression and its value.
    """
    print(f"2. photographs compressed to rank {rank} by a singular value decomposition")
    photos = [photo[::shrink, ::shrink] for photo in load_sample_images().images]
    matrix = below_each_other(photos)
    lazy = compressed(matrix, rank)
    print(f"  a matrix of {matrix.shape} in chunks of {lazy.chunks[0][0]} rows")
    with timed("SVD and product"):
        found = compressed(matrix, rank).execute(show_progress=True).fetch()
    error = np.linalg.norm(found - matrix / 255) / np.linalg.norm(matrix / 255)
    kept = rank * (1 + sum(matrix.shape)) / matrix.size
    print(f"  relative error {error:.3f} with {kept:.1%} of the numbers")
    parts = np.split(found, len(photos))
    for name, photo, part in zip(("china", "flower"), photos, parts, strict=True):
        write_pair(photo, part, out / f"{name}.png")
        print(f"  {out / name}.png: the original, and beside it the approximation")
    return lazy, found


def same_on_dask(lazy: Any, found: Array) -> None:
    """Run the same expression through Dask's own verb on Dask's own cluster."""
    print("3. the same expression by dask.compute on a LocalCluster of two processes")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
        timed("dask.compute"),
    ):
        (value,) = dask.compute(lazy)
    np.testing.assert_allclose(value, found, atol=1e-8)
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


def tpch(name: str, scale: float, folder: Path) -> Path:
    """Return a file of a table of TPC-H, with floats for decimals and timestamps for dates."""
    command = shutil.which("tpchgen-cli") or Path(sys.executable).with_name("tpchgen-cli")
    where = ["--tables", name, "--output-dir", folder]
    subprocess.run([command, "parquet", "-s", str(scale), *where], check=True)
    path = folder / f"{name}.parquet"
    rows = pq.read_table(path)
    for number, field in enumerate(rows.schema):
        if pa.types.is_decimal(field.type):
            rows = rows.set_column(number, field.name, rows[number].cast(pa.float64()))
        elif pa.types.is_date(field.type):
            rows = rows.set_column(number, field.name, rows[number].cast(pa.timestamp("us")))
    pq.write_table(rows, path)
    return path


def pricing_summary(lineitem: Any) -> Any:
    """Ask TPC-H's first question, as one does in pandas."""
    rows = lineitem[lineitem.l_shipdate <= pd.Timestamp("1998-09-02")]
    rows = rows.assign(price=rows.l_extendedprice * (1 - rows.l_discount))
    groups = rows.groupby(["l_returnflag", "l_linestatus"])
    return groups.agg(quantity=("l_quantity", "sum"), price=("price", "sum"))


def shipping_priority(orders: Any, lineitem: Any) -> Any:
    """Ask which orders of before a day, of which something came after it, are worth most."""
    day = pd.Timestamp("1995-03-15")
    late = lineitem[lineitem.l_shipdate > day]
    late = late.assign(revenue=late.l_extendedprice * (1 - late.l_discount))
    joined = orders[orders.o_orderdate < day].merge(
        late, left_on="o_orderkey", right_on="l_orderkey"
    )
    totals = joined.groupby(["l_orderkey", "o_orderdate"]).agg(revenue=("revenue", "sum"))
    return totals.reset_index().sort_values("revenue", ascending=False).head(3)


def queries(scale: float) -> None:
    """Ask two questions about the tables of TPC-H, and show how the second one is answered."""
    print(f"5. two queries of TPC-H at scale {scale:g}")
    with TemporaryDirectory() as folder:
        paths = [tpch(name, scale, Path(folder)) for name in ("orders", "lineitem")]
        orders, lineitem = map(pd.read_parquet, paths)
        wanted = pricing_summary(lineitem), shipping_priority(orders, lineitem)
        orders, lineitem = map(md.read_parquet, paths)
        lazy = pricing_summary(lineitem), shipping_priority(orders, lineitem)
        plan = lazy[1].explain()  # before they are computed: then there is nothing to plan
        with timed("both queries"):
            found = [one.execute().fetch() for one in lazy]
        for one, other in zip(found, wanted, strict=True):
            pd.testing.assert_frame_equal(one, other)
            print(one)
        print(plan[plan.index("Runs of relations") : plan.index("Nodes that are tiled")])


def functions() -> None:
    """Call functions as tasks, one of which calls others."""
    print("6. functions as tasks")
    counts = [mr.spawn(count_primes, (i * 1000, (i + 1) * 1000)) for i in range(8)]
    assert mr.spawn(sum, (counts,)).execute().fetch() == 1007
    assert mr.spawn(by_halves, (0, 8000)).execute().fetch() == 1007


def count_primes(start: int, stop: int) -> int:
    """Count the prime numbers in a range."""
    return sum(n > 1 and all(n % k for k in range(2, int(n**0.5) + 1)) for n in range(start, stop))


def by_halves(start: int, stop: int) -> Any:
    """Count the prime numbers in a range by counting those in its halves."""
    if stop - start <= 2000:
        return count_primes(start, stop)
    middle = (start + stop) // 2
    halves = [mr.spawn(by_halves, (start, middle)), mr.spawn(by_halves, (middle, stop))]
    return sum(mr.ExecutableTuple(halves).execute().fetch())


def of_steps(scaler: Any, pca: Any, classifier: Any) -> Pipeline:
    """Return a pipeline of three kinds of estimators."""
    return make_pipeline(scaler(), pca(10), classifier(solver="newton-cholesky", tol=1e-8))


#: Loads a pipeline where there is no marsdask, and classifies a sample.
LOADED = """
import sys
sys.modules["marsdask"] = None
import joblib
from sklearn.datasets import load_breast_cancer
model = joblib.load(sys.argv[1])
found = model.predict(load_breast_cancer().data[:1])
print("  loaded by scikit-learn:", type(model[-1]).__module__, found)
"""


def classified(rows: int, out: Path) -> None:
    """Learn from many samples, as scikit-learn does; save the model, and draw its errors."""
    print(f"7. a Pipeline learns from scikit-learn's table of tumours, {rows} rows of it drawn")
    table = load_breast_cancer()
    drawn = mt.random.RandomState(0).randint(0, len(table.target), rows, chunk_size=rows // 16)
    places = drawn.compute()
    budget = max(2**22, table.data[places].nbytes // 2)
    with new_session(memory_limit=budget), timed(f"fit and predict within {budget >> 20} MiB"):
        samples, target = mt.tensor(table.data)[drawn], mt.tensor(table.target)[drawn]
        samples.execute()  # twice the budget: what does not fit is on disk
        ours = of_steps(StandardScaler, PCA, LogisticRegression).fit(samples, target)
        found = ours.predict(samples)  # lazy
        counts = confusion_matrix(target, found)
    theirs = of_steps(
        preprocessing.StandardScaler, decomposition.PCA, linear_model.LogisticRegression
    ).fit(table.data[places], table.target[places])
    np.testing.assert_allclose(
        ours.predict_proba(table.data), theirs.predict_proba(table.data), rtol=1e-4, atol=1e-9
    )
    path = out / "pipeline.joblib"
    joblib.dump(Pipeline([(name, step.to_sklearn()) for name, step in ours.steps]), path)
    subprocess.run([sys.executable, "-c", LOADED, str(path)], check=True)
    display = ConfusionMatrixDisplay(np.asarray(counts), display_labels=table.target_names)
    figure = Figure()
    display.plot(ax=figure.subplots(), colorbar=False)
    figure.savefig(out / "confusion.png")
    print(f"  {out / 'confusion.png'}: {counts[0, 1] + counts[1, 0]} of {rows} are wrong")


def old_program() -> None:
    """Run a program of Mars without a change."""
    print("8. a program of Mars, by python -m marsdask.compat program.py", flush=True)
    program = Path(__file__).with_name("old_mars_program.py")
    subprocess.run([sys.executable, "-m", "marsdask.compat", str(program)], check=True)


def main() -> None:
    """Run all eight parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=2000, help="rows of the random tensor")
    parser.add_argument("--shrink", type=int, default=1, help="take every n-th pixel")
    parser.add_argument("--rank", type=int, default=60, help="singular triples to keep")
    parser.add_argument("--scale", type=float, default=0.1, help="of TPC-H: 1 is a gigabyte")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the Pipeline")
    parser.add_argument("--out", type=Path, default=Path("quickstart-output"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with new_session():
        documents_snippet(args.size)
        lazy, found = photographs(args.rank, args.shrink, args.out)
        same_on_dask(lazy, found)
        table()
        queries(args.scale)
        functions()
        classified(args.rows, args.out)
    old_program()
    print(f"all of it: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
