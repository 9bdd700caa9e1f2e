"""Write docs/coming-from-dask.md: what dask.array's own tests find different here.

``python docs/from_dask.py`` after differences have come or gone; a test compares.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "coming-from-dask.md"
FACTS = HERE.parent / "tests/compat/array_differences.toml"

HEAD = """# Coming from Dask

A program of dask.array runs with `import marsdask.tensor as da`. Dask's own tests of arrays,
which its wheel ships, say where it does not: `make compat COMPAT="--suite array"` runs them with
our functions under their imports. Tests that name what is internal to Dask are set apart, with
the name (`--internal` lists them). Below are the {count} tests of which at least one form fails
(this page is written by `docs/from_dask.py`). Where Dask and NumPy differ, NumPy's values win.

With `compute(scheduler=)` and Dask's other verbs, an operation whose tasks depend on the data
(`zeros_like` of unknown lengths, `x[x.nonzero()]`) is refused: call `execute()` or `compute()`
without `scheduler`.

Of the tests of arrays that count and can run without optional packages, 3,431 of 3,899 pass
(88.0 %, November 2026, dask 2026.8.0): 136 of the others want an error where a result is returned.

## xarray

With the extra `xarray`, `chunk(chunked_array_type="marsdask")` and `open_zarr(...,
chunked_array_type="marsdask")` make tensors, and the verbs of xarray keep them. Three things are
xarray's own:

* `interp` cuts coordinates by the default manager: set
  `xarray.set_options(chunk_manager="marsdask")`, which also makes `chunked_array_type=`
  unnecessary;
* `xarray.map_blocks` builds Dask's graphs, and returns Dask's arrays of the right values;
* a `chunk` without `chunked_array_type` keeps tensors, but the length of an axis, written as a
  number, leaves the chunks of that axis as they are if other axes are cut. Write `-1`.

`make compat COMPAT="--suite xarray"` runs xarray's own tests of arrays in chunks with tensors in
their place; what differs is in `tests/compat/xarray_differences.toml`, with the reasons.
"""


def page() -> str:
    """Return the text of the page."""
    groups: dict[str, list[dict[str, Any]]] = tomllib.loads(FACTS.read_text(encoding="utf-8"))
    count = sum(len(group["tests"]) for part in groups.values() for group in part)
    lines = [HEAD.format(count=count)]
    for group in groups["difference"]:
        lines += [f"## {group['title']}\n", f"{group['reason']}\n"]
        lines += [", ".join(map(_name, group["tests"])) + ".\n"]
    lines += ["## Open\n", "Not yet as in Dask:\n", "| test | call | here |", "|---|---|---|"]
    for row in groups["open"]:
        cells = (_name(row["tests"][0]), f"`{row['call']}`" if row["call"] else "", row["reason"])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _name(pattern: str) -> str:
    file, _, test = pattern.removesuffix("[[]*").partition("::")
    return f"`{file.removeprefix('test_').removesuffix('.py')}: {test.removeprefix('test_')}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
