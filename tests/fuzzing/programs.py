"""Programs of some calls with keywords, drawn at random, run on NumPy or pandas and on ours.

A program is text, so that what differs can be run again by hand: each line is an expression of
``x``, the value of the line before, or changes ``x``. ``pd`` and ``np`` in it are the reference's
or ours.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.core.results.stored import Stored
from marsdask.scheduler.errors import MarsdaskError
from tests.fuzzing.templates import HISTORIES, TEMPLATES, WORDS, WRITES

#: What only running tells, so that ours executes before: types, numbers of rows, and (as the
#: documents say of squeeze() and cov()) which axes have length one.
TOLD_BY_VALUES = {"x.dtype", "x.dtypes", "x.size", "np.squeeze(x)", "np.cov(x)", "np.corrcoef(x)"}
#: For these pandas has types and errors of its own without rows, and ours if it is known that there
#: are none: functions are not called then, no label is set, and labels of repeated rows stay.
TOLD_BY_NO_ROWS = (".map(", ".apply(", ".combine(", ".loc[:", ".drop_duplicates(")
#: What NumPy returns of no elements is of a type of its own, and ours if it is known that there are
#: none.
TOLD_BY_NO_ELEMENTS = ("np.bincount(",)
#: What pandas returns without rows is of a type of its own, also if ours knows that there are none.
TYPED_BY_NO_ROWS = re.compile(
    r"\.(max|min|nunique)\(axis=True|\.resample\(.*\.mean\(|\.corrwith\(x\[|\.rolling\(.*on="
    r"|concat\(.*keys=|\.stack\(|\]\]\.(median|var|std|sem)\("
)
#: What only running tells to be of rows: without them it has other types, levels and names.
SHAPED_BY_NO_ROWS = re.compile(
    r"\.describe\(\)|groupby\(.*\.(n(largest|smallest)|diff)\(|\.join\(|\.merge\(.*_index=True"
)
#: What pandas sorts, also values that are missing: these among truth values by which occurs first.
SORTED_WITH_GAPS = re.compile(
    r"groupby\((?!.*sort=False).*dropna=False|\.(value_counts|mode)\(.*dropna=False"
)
#: What ours returns of masked tensors as ``numpy.ma`` does, as its documents say.
AS_MASKED = ("np.append(",)
#: What ``numpy.ma`` returns of the type that is asked for, or of that of short floats, if there is
#: no mask, and of another if there is one that masks nothing: which depends on the steps before.
BY_LACK_OF_MASK = re.compile(r"\.(mean|var|std)\(")
SHORT_FLOATS = "efF"
#: What pandas raises only if there are rows, or texts that are no numbers, and ours whenever types
#: tell.
OF_NO_ROWS = (
    "You are trying to merge on",
    "window must be an integer",
    "cannot interpolate with",
    "Cannot perform reduction 'quantile' with",
    "numpy boolean subtract",
    "Cannot aggregate non-numeric type: str",
    "Cannot aggregate non-numeric type: category",
    "unsupported operand type(s) for &",
    "unsupported operand type(s) for *: 'Timestamp'",
)
#: What ours refuses, and names the way out of, where other rows or chunks have other types.
OF_OTHER_ROWS = ("use execute() before to_tensor()", "which no file holds; use astype()")
#: What pandas itself raises of columns that are joined with others of equal labels, of copies but
#: not of views, or leaves for whoever asks for their types.
OF_JOINED_COLUMNS = ("Gaps in blk ref_locs",)
#: What ours raises by declared types, and pandas of values, unless all are missing.
OF_VALUES = ("Can only use .str accessor with string values", "No numeric types to aggregate")
#: What pandas raises of any label that occurs twice, and ours if it is one that is chosen.
OF_REPEATED_LABELS = ("on an axis with duplicate labels", "cannot handle a non-unique multi-index")
#: What pandas raises of times and texts unless one side has no rows.
OF_SIDES_WITH_ROWS = "Invalid comparison between dtype="
#: What is raised of some types in place of another error, depending on the order of the labels.
BY_ORDER = (
    "MultiIndex has no single backing array",
    "other must be a MultiIndex or a list of tuples",
    "Conversion failed for column None",
)
#: How far sums of 32 bits may be from those in another order, of quarters up to thousands.
CLOSE = 1e-5
#: How often a line is drawn anew that the reference refuses.
TRIES = 6
#: Histories that the reference has, too: files are written and read by each side.
ON_BOTH_SIDES = {"parquet", "csv", "copy"}
#: What makes another object of arrays, which takes writes and lies in memory without gaps.
COPIES = {"pickle": "x = x.copy('F' if x.flags.fnc else 'C')", "persist": "x = x.copy('K')"}


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
    rows = rng.choice((0, *range(13)))
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
    if rng.random() < 0.1:
        frame["f"] = np.nan
    labels = rng.choice(("range", "numbers", "texts", "times", "pairs"))
    if labels == "numbers":
        frame.index = pd.Index(draw.integers(0, 5, rows), name="row")
    elif labels == "texts":
        frame.index = pd.Index([f"r{n}" for n in draw.integers(0, 9, rows)], dtype="str")
    elif labels == "times":
        frame.index = pd.date_range("2024-01-30", periods=rows, freq="17h")
    elif labels == "pairs":
        frame.index = pd.MultiIndex.from_arrays(
            [draw.integers(0, 3, rows), draw.choice(["p", "q"], rows)], names=["row", None]
        )
    return frame


def array_of(rng: Random) -> Any:
    """Return a small array of one to three axes."""
    shape = tuple(rng.randrange(6) for _ in range(rng.choice((1, 1, 2, 2, 3))))
    draw = np.random.default_rng(rng.randrange(2**32))
    numbers = draw.integers(-4, 5, shape)
    kind = rng.choice(("int64", "float64", "float64", "float32", "int8", "bool", "complex128"))
    if kind == "float64":
        return np.where(draw.random(shape) < 0.1, np.nan, numbers / 4)
    return numbers.astype(kind)


def fill(template: str, value: Any, rng: Random) -> str:
    """Return a template with words for its braces."""
    dtypes = dict(value.dtypes.items()) if isinstance(value, pd.DataFrame) else {}
    labels = list(map(repr, dtypes))
    numbers = [
        repr(label)
        for label, dtype in dtypes.items()
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    ]
    others = {
        name: [repr(label) for label, dtype in dtypes.items() if dtype == kind]
        for name, kind in (("text_column", "str"), ("time", "datetime64[us]"))
    }
    by = [f"[{label}]" for label in labels] + labels + [f"[{', '.join(labels[:2])}]"]
    pools = {"column": labels, "columns": labels, "number": numbers, "numbers": numbers}
    pools |= {**others, "by": by if labels else []}

    def word(match: re.Match[str]) -> str:
        name = match[1]
        if name not in pools:
            return rng.choice(WORDS[name])
        among = pools[name] or ["'missing'"]
        if name == "by" or not name.endswith("s"):
            return rng.choice(among)
        return f"[{', '.join(rng.sample(among, min(len(among), rng.randint(1, 3))))}]"

    text = re.sub(r"(?<!\{)\{(\w+)\}", word, template)
    return text.replace("{{", "{").replace("}}", "}")


def compute(value: Any) -> Any:
    """Return a value of ours as the reference has it."""
    return value.compute() if callable(getattr(value, "compute", None)) else value


def check_equal(ours: Any, reference: Any) -> None:
    """Raise AssertionError if a value, a type, a label, a name or their order differs."""
    if isinstance(reference, pd.DataFrame | pd.Series):
        assert type(ours) is type(reference), f"{type(ours)}, not {type(reference)}"
        _check_labels(ours.index, reference.index)
        plain = pd.RangeIndex(len(reference))
        is_frame = isinstance(reference, pd.DataFrame)
        check: Any = pd.testing.assert_frame_equal if is_frame else pd.testing.assert_series_equal
        how: dict[str, Any] = {"atol": CLOSE}
        if is_frame and not len(reference.columns):
            how["check_column_type"] = False
        check(ours.set_axis(plain), reference.set_axis(plain), **how)
    elif isinstance(reference, pd.Index):
        _check_labels(ours, reference)
    elif isinstance(reference, pd.api.extensions.ExtensionArray):
        pd.testing.assert_extension_array_equal(ours, reference)
    elif isinstance(reference, np.ndarray | np.generic):
        _check_masks(ours, reference)
    elif pd.api.types.is_scalar(reference) and pd.isna(reference):
        assert pd.isna(ours), f"{ours!r}, not {reference!r}"
    else:
        assert np.all(ours == reference), f"{ours!r}, not {reference!r}"


def is_exact(ours: Any, reference: Any) -> bool:
    """Tell whether numbers are the same: of rounded ones texts, order and groups may differ."""
    if isinstance(reference, pd.DataFrame | pd.Series):
        return bool(ours.equals(reference))
    if isinstance(reference, np.ndarray) and reference.dtype.kind in "fc":
        return np.array_equal(ours, reference, equal_nan=True)
    return True


def _check_labels(ours: Any, reference: Any) -> None:
    """Compare labels by values, types and names: not by what pandas has inferred before."""
    assert ours.nlevels == reference.nlevels, f"{ours!r}, not {reference!r}"
    assert ours.names == reference.names, f"{ours.names}, not {reference.names}"
    for level in range(reference.nlevels):
        pair = [
            index.get_level_values(level) if isinstance(index, pd.MultiIndex) else index
            for index in (ours, reference)
        ]
        assert pair[0].dtype == pair[1].dtype, f"labels {pair[0]!r}, not {pair[1]!r}"
        values, wanted = (pd.Series(index.array).reset_index(drop=True) for index in pair)
        pd.testing.assert_series_equal(values, wanted)


def _check_masks(ours: Any, reference: Any) -> None:
    """Compare masks and what is not masked: below masks NumPy leaves what its steps have made."""
    if reference is np.ma.masked:
        assert ours is np.ma.masked, f"{ours!r}, not masked"
        return
    masks = (np.ma.getmaskarray(ours), np.ma.getmaskarray(reference))
    np.testing.assert_array_equal(*masks)
    zero: Any = np.zeros((), np.asarray(reference).dtype)
    _check_array(*(np.ma.filled(array, zero) for array in (ours, reference)))


def _check_array(ours: Any, reference: Any) -> None:
    assert ours.dtype == reference.dtype, f"{ours!r}, not {reference!r}"
    assert ours.shape == reference.shape, f"{ours!r}, not {reference!r}"
    if reference.dtype == object:
        pd.testing.assert_series_equal(pd.Series(ours.ravel()), pd.Series(reference.ravel()))
    elif reference.dtype.kind in "fc":
        loose = 1e-7 if reference.dtype in (np.float64, np.complex128) else 1e-3
        np.testing.assert_allclose(ours, reference, rtol=loose, atol=loose)
    else:
        np.testing.assert_array_equal(ours, reference)


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


@dataclass
class DrawnProgram:
    """A program that is drawn while it runs: names of values, the reference's and ours."""

    rng: Random
    folder: Path
    reference: dict[str, Any]
    ours: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    ends: bool = False

    def step(self) -> str:
        """Run one more line on both sides; return how they differ."""
        chance = self.rng.random()
        kind = kind_of(self.reference["x"])
        if chance < 0.12:
            return self._remember(self.rng.choice(sorted(HISTORIES)), kind)
        lines = WRITES[kind] if chance < 0.27 else TEMPLATES[kind]
        line, wanted = "", None
        for _ in range(TRIES):
            line = fill(self.rng.choice(lines), self.reference["x"], self.rng)
            names = dict(self.reference)
            if lines is WRITES[kind] and kind != "array":
                names["x"] = names["x"].copy()
            wanted = self._result(line, names)
            if not isinstance(wanted, Exception):
                break
        self.lines.append(line)
        if lines is WRITES[kind]:
            return self._compare(wanted, self._result(line, self.ours), writes=True)
        return self._compare(wanted, self._result(line, dict(self.ours)))

    def _remember(self, history: str, kind: str) -> str:
        """Give the value a past, such as files that it was written to and read from."""
        if kind != "frame" and history in ON_BOTH_SIDES - {"copy"}:
            return ""
        if history == "parquet" and self.reference["x"].columns.dtype == bool:
            return ""  # pandas reads False as True
        line = HISTORIES[history]
        self.lines.append(line)
        paths = (str(self.folder / f"{side}-{len(self.lines)}.{history}") for side in "ab")
        names = {**self.reference, "path": next(paths)}
        wanted: Any = self.reference
        if history in ON_BOTH_SIDES:
            wanted = self._result(line, names)
        elif kind == "array" and history in COPIES:
            wanted = self._result(COPIES[history], names)
        self.ours["path"] = next(paths)
        return self._compare(wanted, self._result(line, self.ours), writes=True)

    def _result(self, line: str, names: dict[str, Any]) -> Any:
        """Return the names after a line, of which an expression is x; or the error."""
        try:
            code = compile(line, line, "eval")
        except SyntaxError:
            code = None
        try:
            if self._tells_by_values(line) and hasattr(names["x"], "execute"):
                names["x"].execute()
            if code is None:
                exec(line, names)  # noqa: S102 - drawn from the templates
            else:
                names["x"] = eval(code, names)  # noqa: S307
            values = {name: compute(names[name]) for name in ("x", "z") if name in names}
        except Exception as error:  # noqa: BLE001 - whatever it is
            return error
        return {**names, "values": values}

    def _tells_by_values(self, line: str) -> bool:
        x = self.reference["x"]
        if line in TOLD_BY_VALUES or "x.shape" in line:
            return True
        calls = TOLD_BY_NO_ELEMENTS if kind_of(x) == "array" else TOLD_BY_NO_ROWS
        return not x.size and any(call in line for call in calls)

    def _is_by_values(self, error: Exception) -> bool:
        """Tell whether ours refuses what pandas takes only because of the values.

        It takes keys for the values of few rows, any value where none is assigned, and columns of
        any type if there are no rows.
        """
        if _names(error, OF_NO_ROWS + OF_OTHER_ROWS + OF_JOINED_COLUMNS):
            return True
        if _names(error, OF_VALUES):
            return bool(self.reference["x"].isna().all())
        if OF_SIDES_WITH_ROWS in str(error):
            return any(not len(self.reference[side]) for side in "xy")
        if isinstance(error, KeyError):
            return len(self.reference["x"]) <= FEW_ROWS
        return isinstance(error, TypeError) and str(error).startswith("Invalid value")

    def _is_typed_apart(self, line: str) -> bool:
        """Tell whether ours has other types than the reference, as its documents say."""
        x = self.reference["x"]
        is_masked = isinstance(x, np.ma.MaskedArray)
        calls = AS_MASKED if is_masked else ()
        is_typed = "dtype='" in line or (is_masked and x.dtype.char in SHORT_FLOATS)
        is_free = is_masked and not np.ma.is_masked(x)
        by_lack = is_free and is_typed and BY_LACK_OF_MASK.search(line)
        by_no_rows = not x.size and TYPED_BY_NO_ROWS.search(line)
        by_order = has_sorted_gaps(line, x)
        # Where values are among others that are not sorted follows from how they are searched.
        by_search = "x.searchsorted(" in line and not x.is_monotonic_increasing
        by_past = ".unstack(" in line and has_past_levels(x, self.ours["x"].node)
        is_by_values = by_order or by_search or by_past
        return bool(by_no_rows or by_lack) or is_by_values or any(call in line for call in calls)

    def _is_shaped_by_no_rows(self, line: str, value: Any) -> bool:
        """Tell whether a side, or the result, has no rows, which decide about labels."""
        sides = [self.reference["x"], self.reference["y"] if ".join(" in line else value]
        return bool(SHAPED_BY_NO_ROWS.search(line)) and not all(map(len, sides))

    def _compare_errors(self, wanted: Exception, found: Any) -> str:
        """Return how what ours gives differs from the error of the reference."""
        if isinstance(found, Exception):
            same = isinstance(found, type(wanted)) or isinstance(wanted, type(found))
            same |= _names(wanted, BY_ORDER)
            return "" if same else f"{found!r}, the reference raises {wanted!r}"
        if ".reindex(" in self.lines[-1] and _names(wanted, OF_REPEATED_LABELS):
            return ""
        return f"no error; the reference raises {type(wanted).__name__}: {wanted}"

    def _compare(self, wanted: Any, found: Any, *, writes: bool = False) -> str:
        if isinstance(found, NotImplementedError | MarsdaskError):
            self.ends = writes and not isinstance(wanted, Exception)
            return ""
        if isinstance(wanted, Exception):
            self.ends = True
            return self._compare_errors(wanted, found)
        if isinstance(found, Exception):
            if self._is_by_values(found):
                self.ends = True
                return ""
            return f"raises {type(found).__name__}: {found}"
        has_labels = not self._is_shaped_by_no_rows(self.lines[-1], wanted["x"])
        if self._is_typed_apart(self.lines[-1]):
            self.ends = True
            return ""
        exact = True
        for name, value in wanted.get("values", {"x": wanted["x"]}).items():
            try:
                check_equal(found["values"][name], value)
            except AssertionError as difference:
                return f"{name}: {difference}"
            exact &= is_exact(found["values"][name], value)
            if _has_type(found[name], value) and found[name].dtype != value.dtype:
                return f"{name}: declared {found[name].dtype}, not {value.dtype}"
        self.reference, self.ours = (
            {name: value for name, value in names.items() if name not in ("z", "values")}
            for names in (wanted, found)
        )
        value, lazy = self.reference["x"], self.ours["x"]
        goes_on = isinstance(value, pd.DataFrame | pd.Series | np.ndarray) and exact
        # Most functions of NumPy see what is below a mask, and of no values whether there is one.
        goes_on &= not (np.ma.is_masked(value) or (_has_mask(value) and not value.size))
        goes_on &= has_labels and not _has_masks_as_labels(value)
        self.ends = not (goes_on and hasattr(lazy, "compute")) or value.size > SIZE
        return ""


def _has_type(ours: Any, reference: Any) -> bool:
    """Tell whether a type is declared that no gap in the rows changes, as the documents say."""
    is_open = isinstance(ours, mt.Tensor) and ours.node.may_narrow
    return isinstance(reference, np.ndarray) and reference is not np.ma.masked and not is_open


def _names(error: Exception, texts: tuple[str, ...]) -> bool:
    return any(text in str(error) for text in texts)


def has_sorted_gaps(line: str, value: Any) -> bool:
    """Tell whether a line sorts the truth values and NaN of a series, or of columns it names."""
    call = SORTED_WITH_GAPS.search(line)
    frame = value.to_frame() if isinstance(value, pd.Series) else value
    if not call or not isinstance(frame, pd.DataFrame):
        return False
    by_name = value is frame and "groupby(" in call[0]
    places = (
        at
        for at, (label, dtype) in enumerate(frame.dtypes.items())
        if pd.api.types.is_object_dtype(dtype) and (not by_name or repr(label) in call[0])
    )
    return any({bool, float} <= set(map(type, frame.iloc[:, at])) for at in places)


def has_past_levels(value: Any, node: Any) -> bool:
    """Tell whether the levels of labels are as rows were before that ours has executed, or sorted.

    pandas's levels keep labels that no row has any more, and their order if rows that are sorted
    are sorted again; ours knows them as long as it knows where the rows come from.
    """
    index = value.index if isinstance(value, pd.DataFrame | pd.Series) else None
    if not isinstance(index, pd.MultiIndex):
        return False
    is_unsorted = not all(level.is_monotonic_increasing for level in index.levels)
    if is_unsorted and index.is_monotonic_increasing:
        return True
    pairs = zip(index.levels, index.remove_unused_levels().levels, strict=True)
    has_unused = any(len(level) > len(used) for level, used in pairs)
    return has_unused and any(isinstance(source, Stored) for source in Graph([node]).nodes)


def _has_masks_as_labels(value: Any) -> bool:
    """Tell whether lists of labels may be masks: pandas takes as many truth values as rows so."""
    is_frame = isinstance(value, pd.DataFrame) and value.columns.dtype == bool
    return is_frame and len(value) <= value.shape[1]


def _has_mask(value: Any) -> bool:
    return np.ma.getmask(value) is not np.ma.nomask


#: As many rows as keys may be.
FEW_ROWS = 3
#: Larger values end a program.
SIZE = 5_000


def kind_of(value: Any) -> str:
    """Return which lines a value has."""
    if isinstance(value, pd.DataFrame):
        return "frame"
    return "series" if isinstance(value, pd.Series) else "array"


def run(seed: str) -> Difference | None:
    """Draw a program and run it until its end, or something that ours gets wrong."""
    rng = Random(seed)
    names = {"pickle": cloudpickle}
    if rng.random() < 0.7:
        start, other = frame_of(rng), frame_of(rng)
        ours: dict[str, Any] = {"pd": md, "np": np, **names}
        ours |= {"x": md.DataFrame(start.copy(), chunk_size=rng.randint(1, 4))}
        ours |= {"y": md.DataFrame(other.copy(), chunk_size=rng.randint(1, 4))}
    else:
        start, other = array_of(rng), None
        ours = {"pd": md, "np": mt, "x": mt.tensor(start.copy(), chunk_size=rng.randint(1, 4))}
        ours |= names
    reference: dict[str, Any] = {"pd": pd, "np": np, "x": start, "y": other, **names}
    options = options_of(rng)
    with (
        option_context(options),
        warnings.catch_warnings(),
        tempfile.TemporaryDirectory() as folder,
    ):
        warnings.simplefilter("ignore")
        program = DrawnProgram(rng, Path(folder), reference, ours, [str(options)])
        for _ in range(rng.randint(5, 10)):
            how = program.step()
            if how:
                return Difference(seed, program.lines, how)
            if program.ends:
                break
    return None
