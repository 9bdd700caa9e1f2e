"""Programs of some calls with keywords, drawn at random, run on NumPy or pandas and on ours.

A program is text, so that what differs can be run again by hand: each line is an expression of
``x``, the value of the line before. ``pd`` and ``np`` in it are the reference's or ours.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.scheduler.errors import MarsdaskError

#: What the braces of a line are replaced by. `column`, `number` and their plurals are labels of x.
WORDS: dict[str, tuple[str, ...]] = {
    "agg": (
        *("'count'", "'first'", "'last'", "'max'", "'mean'", "'median'", "'min'", "'nunique'"),
        *("'prod'", "'size'", "'std'", "'sum'", "'var'"),
    ),
    "axis": ("0", "1", "-1"),
    "bool": ("True", "False"),
    "by": ("['k']", "['k', 's']", "'c'", "['b', 'k']", "'s'", "['m']"),
    "freq": ("'D'", "'2D'", "'W'", "'2W'", "'MS'", "'36h'"),
    "float": ("0.5", "-1.25", "0.0", "2.0", "float('nan')"),
    "how": ("'inner'", "'left'", "'right'", "'outer'"),
    "int": ("-3", "-1", "0", "1", "2", "5"),
    "keep": ("'first'", "'last'", "False"),
    "mode": ("'constant'", "'edge'", "'reflect'", "'wrap'"),
    "place": ("'first'", "'last'"),
    "rank": ("'average'", "'min'", "'max'", "'first'", "'dense'"),
    "side": ("'left'", "'right'"),
    "some": ("1", "2", "3", "4"),
    "text": ("'a'", "'bb'", "''", "'A'"),
}

FRAMES = (
    "x[x[{number}] > {float}]",
    "x[x[{column}].notna()]",
    "x[{columns}]",
    "x.assign(n=x[{number}] * {int})",
    "x.drop(columns=[{column}])",
    "x.rename(columns={{{column}: 'renamed'}})",
    "x.sort_values({columns}, ascending={bool}, na_position={place}, kind='stable')",
    "x.sort_values([{column}], ascending={bool}, ignore_index={bool}, kind='stable')",
    "x.sort_index(ascending={bool}, na_position={place}, kind='stable')",
    "x.drop_duplicates({columns}, keep={keep}, ignore_index={bool})",
    "x.dropna(subset={columns}, how='any', ignore_index={bool})",
    "x.reset_index(drop={bool})",
    "x.head({int})",
    "x.tail({int})",
    "x.iloc[{int}:]",
    "x.iloc[::{int}]",
    "x.shift({int})",
    "x[{numbers}].cumsum(skipna={bool})",
    "x[{numbers}].diff({int})",
    "x[{numbers}].fillna({int})",
    "x[{numbers}].clip({int}, {some})",
    "x[{numbers}].rank(method={rank}, ascending={bool}, pct={bool})",
    "x[{numbers}].where(x[{number}] > {int}, {float})",
    "x[{numbers}].rolling({some}, min_periods={bool} + 0).sum()",
    "x[{numbers}].expanding(min_periods={some}).mean()",
    "x[{numbers}].astype('float64')",
    "x[{numbers}].agg([{agg}, 'sum'])",
    "x[{numbers}].sum(skipna={bool}, min_count={some})",
    "x[{numbers}].var(ddof={bool} + 0, skipna={bool})",
    "x[{numbers}].quantile([0.25, 0.5], interpolation='linear')",
    "x[{numbers}].describe(percentiles=[0.3])",
    "x.groupby({by}, sort={bool}, dropna={bool}, observed={bool})[{numbers}].agg({agg})",
    "x.groupby({by}, sort={bool}, as_index={bool}, observed=True)[{numbers}].sum(min_count={some})",
    "x.groupby({by}, observed=True, dropna={bool})[{number}].transform({agg})",
    "x.groupby({by}, observed=True)[{numbers}].shift({int})",
    "x.groupby({by}, observed=True)[{numbers}].cumsum()",
    "x.groupby({by}, observed=True)[{numbers}].rank(method={rank})",
    "x.groupby({by}, observed=True).head({some})",
    "x.groupby({by}, observed=True)[{number}].nlargest({some})",
    "x.groupby({by}, observed=True).size()",
    "x.merge(y, on='k', how={how}, suffixes=('', '_y'))",
    "x.merge(y, left_on='k', right_on='m', how={how}, suffixes=('_x', '_y'))",
    "x.merge(y[['k', 's']], how={how}, on=['k', 's'], indicator={bool})",
    "pd.concat([x, y], ignore_index={bool}, sort={bool})",
    "pd.concat([x, y[['k', 'f']]], join='inner')",
    "x.melt(id_vars=['k'], value_vars={numbers})",
    "x.pivot_table(index='k', columns='b', values='f', aggfunc={agg}, fill_value={int})",
    "x.nlargest({some}, {number}, keep={place})",
    "x.isin([{int}, {text}, None])",
    "x.set_index({column}, drop={bool}, append={bool})",
    "x[{numbers}].corr(min_periods={some})",
    "x.duplicated({columns}, keep={keep})",
    "x[{column}]",
    "x.value_counts(subset=['k', 'b'], sort=False, normalize={bool}, dropna={bool})",
    "x.nunique(axis=0, dropna={bool})",
    "x.mask(x.isna(), {int})[{numbers}]",
    "x.resample({freq}, closed={side}, label={side})[{numbers}].sum()",
)

SERIES = (
    "x[x.notna()]",
    "x.sort_values(ascending={bool}, na_position={place}, kind='stable')",
    "x.sort_index(ascending={bool}, kind='stable')",
    "x.value_counts(sort=False, dropna={bool}, normalize={bool})",
    "x.drop_duplicates(keep={keep})",
    "x.fillna({int})",
    "x.shift({int})",
    "x.isin([{int}, {text}, {float}])",
    "x.astype('object')",
    "x.rank(method={rank}, na_option='bottom')",
    "x.cummax(skipna={bool})",
    "x.to_frame({text})",
    "x.reset_index(drop={bool})",
    "x.reset_index(name='value')",
    "x.where(x.notna(), {int})",
    "x.map({{{int}: {float}}})",
    "x.between({int}, {some}, inclusive={side})",
    "x.groupby(x).agg({agg})",
    "x.rolling({some}, min_periods=1).max()",
    "x.replace({int}, {float})",
    "x.str.upper()",
    "x.str.len()",
    "x.str.contains({text}, regex=False)",
    "x.dt.day",
    "x.dt.floor('2D')",
    "x.diff({int})",
    "x.unique()",
    "x.mode(dropna={bool})",
    "x.head({int})",
    "x.iloc[::{int}]",
    "x.nlargest({some})",
    "x.agg([{agg}, 'max'])",
    "x.duplicated(keep={keep})",
    "x.factorize(sort={bool})[0]",
    "x.describe()",
    "x.autocorr({some})",
    "x.quantile({float})",
    "x.is_unique",
)

ARRAYS = (
    "x + {int}",
    "x * {float}",
    "x % {some}",
    "x // {some}",
    "-x",
    "x.T",
    "x[::{int}]",
    "x[..., {int}:]",
    "x[x > {int}]",
    "np.cumsum(x, axis={axis})",
    "np.cumprod(x, axis={axis}, dtype='float64')",
    "np.sort(x, axis={axis})",
    "np.argsort(x, axis={axis}, kind='stable')",
    "np.flip(x, {axis})",
    "np.roll(x, {int}, axis={axis})",
    "np.diff(x, {some}, axis={axis})",
    "np.repeat(x, {some}, axis={axis})",
    "np.tile(x, {some})",
    "np.pad(x, {some}, mode={mode})",
    "np.where(x > {int}, x, {float})",
    "np.clip(x, {int}, {some})",
    "np.concatenate([x, x], axis={axis})",
    "np.stack([x, x + 1], axis={axis})",
    "np.sum(x, axis={axis}, keepdims={bool}, dtype='float64')",
    "np.mean(x, axis={axis}, keepdims={bool})",
    "np.var(x, axis={axis}, ddof={bool} + 0)",
    "np.max(x, axis={axis}, initial={int})",
    "np.nanmin(x, axis={axis}, keepdims={bool})",
    "np.median(x, axis={axis})",
    "np.quantile(x, 0.3, axis={axis}, method='lower')",
    "np.unique(x)",
    "np.isin(x, [{int}, {some}], invert={bool})",
    "np.searchsorted(np.sort(x.ravel()), x, side={side})",
    "np.digitize(x, [0, 2, 4], right={bool})",
    "np.take(x, [0, -1], axis={axis})",
    "np.swapaxes(x, 0, -1)",
    "np.reshape(x, -1)",
    "np.expand_dims(x, {axis})",
    "np.squeeze(x)",
    "np.round(x, {int})",
    "np.sqrt(np.abs(x))",
    "np.broadcast_to(x, (2,) + x.shape)",
    "np.tensordot(x, x, axes=0)",
    "np.argmax(x, axis={axis}, keepdims={bool})",
    "np.count_nonzero(x, axis={axis})",
    "np.histogram(x, bins={some})[0]",
    "np.bincount(np.abs(x.ravel()).astype('int64'))",
    "np.nan_to_num(x, nan={float})",
    "np.insert(x, 0, {int}, axis={axis})",
    "np.delete(x, 0, axis={axis})",
    "np.triu(x, {int})",
    "np.partition(x, 0, axis={axis})[..., :1]",
    "x.astype('float32')",
    "x.astype('int8')",
    "x.astype(bool)",
    "np.gradient(x.astype('float64'), axis={axis})",
    "np.ptp(x, axis={axis})",
    "np.all(x > {int}, axis={axis}, keepdims={bool})",
)

TEMPLATES = {"frame": FRAMES, "series": SERIES, "array": ARRAYS}


@dataclass
class Difference:
    """A program whose last line gives something else, or an error only on one side."""

    seed: str
    lines: list[str]
    how: str

    def __str__(self) -> str:
        return f"seed {self.seed}: {'; '.join(self.lines)}\n  {self.how}"


def frame_of(rng: Random) -> pd.DataFrame:
    """Return a small frame of many types, with gaps and repeated keys."""
    rows = rng.randrange(13)
    draw = np.random.default_rng(rng.randrange(2**32))
    texts = np.array(["a", "bb", "A", None], dtype=object)
    frame = pd.DataFrame(
        {
            "k": draw.integers(-2, 3, rows),
            "f": np.where(draw.random(rows) < 0.3, np.nan, draw.integers(-9, 9, rows) / 4),
            "u": draw.integers(0, 9, rows).astype("float32"),
            "s": pd.Series(draw.choice(texts, rows), dtype="str").array,
            "b": draw.random(rows) < 0.5,
            "c": pd.Categorical(draw.choice(["x", "y"], rows), categories=["y", "x", "z"]),
            "m": pd.array(draw.integers(-1, 2, rows), dtype="Int64"),
            "t": pd.to_datetime(draw.integers(0, 9, rows), unit="D"),
        }
    )
    frame.loc[draw.random(rows) < 0.2, "m"] = pd.NA
    labels = rng.choice(("range", "numbers", "texts", "times"))
    if labels == "numbers":
        frame.index = pd.Index(draw.integers(0, 5, rows), name="row")
    elif labels == "texts":
        frame.index = pd.Index([f"r{n}" for n in draw.integers(0, 9, rows)], dtype="str")
    elif labels == "times":
        frame.index = pd.date_range("2024-01-30", periods=rows, freq="17h")
    return frame


def array_of(rng: Random) -> Any:
    """Return a small array of one to three axes."""
    shape = tuple(rng.randrange(6) for _ in range(rng.choice((1, 1, 2, 2, 3))))
    draw = np.random.default_rng(rng.randrange(2**32))
    numbers = draw.integers(-4, 5, shape)
    kind = rng.choice(("int64", "float64", "float32", "int8", "bool"))
    if kind == "float64":
        return np.where(draw.random(shape) < 0.1, np.nan, numbers / 4)
    return numbers.astype(kind)


def line_of(rng: Random, value: Any) -> str:
    """Return a line for a value of the reference."""
    if isinstance(value, pd.DataFrame):
        kind = "frame"
    else:
        kind = "series" if isinstance(value, pd.Series) else "array"
    return fill(rng.choice(TEMPLATES[kind]), value, rng)


def fill(template: str, value: Any, rng: Random) -> str:
    """Return a template with words for its braces."""
    dtypes = dict(value.dtypes.items()) if isinstance(value, pd.DataFrame) else {}
    labels = list(map(repr, dtypes))
    numbers = [
        repr(label)
        for label, dtype in dtypes.items()
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    ]
    pools = {"column": labels, "columns": labels, "number": numbers, "numbers": numbers}

    def word(match: re.Match[str]) -> str:
        name = match[1]
        if name not in pools:
            return rng.choice(WORDS[name])
        among = pools[name] or ["'missing'"]
        if not name.endswith("s"):
            return rng.choice(among)
        return f"[{', '.join(rng.sample(among, min(len(among), rng.randint(1, 3))))}]"

    text = re.sub(r"(?<!\{)\{(\w+)\}", word, template)
    return text.replace("{{", "{").replace("}}", "}")


def compute(value: Any) -> Any:
    """Return a value of ours as the reference has it."""
    return value.compute() if callable(getattr(value, "compute", None)) else value


def check_equal(ours: Any, reference: Any) -> None:
    """Raise AssertionError if a value, a type, a label, a name or their order differs."""
    if isinstance(reference, pd.DataFrame):
        pd.testing.assert_frame_equal(ours, reference, check_freq=False)
    elif isinstance(reference, pd.Series):
        pd.testing.assert_series_equal(ours, reference, check_freq=False)
    elif isinstance(reference, np.ndarray | np.generic):
        assert np.asarray(ours).dtype == reference.dtype, f"{ours!r}, not {reference!r}"
        loose = 1e-4 if reference.dtype == "float32" else 1e-7
        if reference.dtype == object:
            pd.testing.assert_series_equal(pd.Series(ours), pd.Series(reference))
        elif reference.dtype.kind in "fc":
            np.testing.assert_allclose(ours, np.asarray(reference), rtol=loose, atol=loose)
        else:
            np.testing.assert_array_equal(ours, reference)
    elif not (pd.api.types.is_scalar(reference) and pd.isna(reference)):
        assert np.all(ours == reference), f"{ours!r}, not {reference!r}"


def options_of(rng: Random) -> dict[str, Any]:
    """Return a mode: what users have, chunks as they are, or the kernels of one library."""
    return rng.choice(
        (
            {"verify": False},
            {"coalesce": False},
            {"coalesce": False, "dataframe.kernels": "pandas"},
            {"dataframe.kernels": "polars"},
        )
    )


def run(seed: str) -> Difference | None:
    """Draw a program and run it until its end, or something that ours refuses or gets wrong."""
    rng = Random(seed)
    if rng.random() < 0.6:
        start, other = frame_of(rng), frame_of(rng)
        ours: dict[str, Any] = {"pd": md, "np": mt}
        ours |= {"x": md.DataFrame(start, chunk_size=rng.randint(1, 4))}
        ours |= {"y": md.DataFrame(other, chunk_size=rng.randint(1, 4))}
    else:
        start, other = array_of(rng), None
        ours = {"np": mt, "x": mt.tensor(start, chunk_size=rng.randint(1, 4))}
    reference: dict[str, Any] = {"pd": pd, "np": np, "x": start, "y": other}
    options = options_of(rng)
    lines = [str(options)]
    with option_context(options), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(rng.randint(5, 10)):
            lines.append(line_of(rng, reference["x"]))
            how, stops = _step(lines[-1], reference, ours, rng)
            if how:
                return Difference(seed, lines, how)
            if stops:
                return None
    return None


def _step(
    line: str, reference: dict[str, Any], ours: dict[str, Any], rng: Random
) -> tuple[str, bool]:
    """Run a line on both sides; return what differs, and whether the program ends."""
    try:
        wanted = eval(line, dict(reference))  # noqa: S307 - drawn from the templates above
        error = None
    except Exception as raised:  # noqa: BLE001 - whatever it is
        wanted, error = None, raised
    try:
        lazy = eval(line, dict(ours))  # noqa: S307
        value = compute(lazy)
    except (NotImplementedError, MarsdaskError):
        return "", True
    except Exception as raised:  # noqa: BLE001
        how = "" if error is not None else f"raises {type(raised).__name__}: {raised}"
        return how, True
    if error is not None:
        return f"no error; the reference raises {type(error).__name__}: {error}", True
    try:
        check_equal(value, wanted)
    except AssertionError as difference:
        return str(difference), True
    reference["x"], ours["x"] = wanted, lazy
    if rng.random() < 0.2 and hasattr(lazy, "execute"):
        lazy.execute()
    goes_on = isinstance(wanted, pd.DataFrame | pd.Series | np.ndarray) and hasattr(lazy, "compute")
    return "", not goes_on or getattr(wanted, "size", 0) > 10_000
