"""A program for Dask: only the imports name marsdask.

The modules are drop-ins; what is lazy here is a Dask collection, so Dask's own schedulers,
``delayed`` and diagnostics take it as it is.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import marsdask as dask
import marsdask.dataframe as dd
import marsdask.tensor as da


def main() -> None:
    """Standardise an array, group a frame, and compute both with a delayed call at once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows

    x = da.random.default_rng(0).normal(10, 2, size=(rows, 4), chunks=(rows // 10, 4))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    print(z)

    table = pd.DataFrame({"key": np.arange(rows) % 7, "value": np.arange(rows) / rows})
    means = dd.from_pandas(table, npartitions=4).groupby("key").agg({"value": "mean"})

    total = dask.delayed(sum)([1, 2, 3])
    spread, grouped, six = dask.compute(z.std(axis=0), means, total)
    np.testing.assert_allclose(spread, 1)
    assert six == 6
    print(grouped)

    # Dask's own scheduler computes the same.
    np.testing.assert_allclose(z.std(axis=0).compute(scheduler="threads"), spread)


if __name__ == "__main__":
    main()
