"""What lines of programs are made of."""

from __future__ import annotations

from tests.fuzzing.array_lines import ARRAY_WRITES, ARRAYS
from tests.fuzzing.frame_lines import FRAME_WRITES, FRAMES
from tests.fuzzing.group_lines import GROUPS
from tests.fuzzing.reduction_lines import REDUCTIONS
from tests.fuzzing.series_lines import SERIES, SERIES_WRITES

#: What the braces of a line are replaced by. Words that are not here are labels of x, of some kind;
#: plurals are lists of some, and `by` are keys of groups.
WORDS: dict[str, tuple[str, ...]] = {
    "agg": (
        *("'count'", "'first'", "'last'", "'max'", "'mean'", "'median'", "'min'", "'nunique'"),
        *("'prod'", "'size'", "'std'", "'sum'", "'var'"),
    ),
    "axis": ("0", "1", "-1"),
    "bool": ("True", "False"),
    "closed": ("'left'", "'right'", "'both'", "'neither'"),
    "dtype": ("'float32'", "'int8'", "'int64'", "'bool'", "'complex128'", "'uint16'"),
    "freq": ("'D'", "'2D'", "'W'", "'2W'", "'MS'", "'36h'"),
    "asof": ("'backward'", "'forward'", "'nearest'"),
    "interpolation": ("'linear'", "'lower'", "'higher'", "'nearest'", "'midpoint'"),
    "join": ("'inner'", "'outer'"),
    "keep_all": ("'first'", "'last'", "'all'"),
    "na_option": ("'keep'", "'top'", "'bottom'"),
    "window": ("'sum'", "'mean'", "'min'", "'max'", "'var'", "'count'", "'median'"),
    "float": ("0.5", "-1.25", "0.0", "2.0", "float('nan')"),
    "how": ("'inner'", "'left'", "'right'", "'outer'"),
    "int": ("-3", "-1", "0", "1", "2", "5"),
    "keep": ("'first'", "'last'", "False"),
    "mode": ("'constant'", "'edge'", "'reflect'", "'wrap'"),
    "origin": ("'start'", "'start_day'", "'epoch'", "'end'"),
    "place": ("'first'", "'last'"),
    "rank": ("'average'", "'min'", "'max'", "'first'", "'dense'"),
    "side": ("'left'", "'right'"),
    "some": ("1", "2", "3", "4"),
    "text": ("'a'", "'bb'", "''", "'A'"),
}

#: What is written and read again, and what is sent to another process.
HISTORIES = {
    "execute": "x.execute()",
    "persist": "x = x.persist()",
    "pickle": "x = pickle.loads(pickle.dumps(x))",
    "copy": "x = x.copy()",
    "parquet": "x.to_parquet(path); x = pd.read_parquet(path)",
    "csv": "x.to_csv(path, index=False); x = pd.read_csv(path)",
}

TEMPLATES = {
    "frame": (*FRAMES, *GROUPS),
    "series": SERIES,
    "array": (*ARRAYS, *REDUCTIONS),
}
WRITES = {"frame": FRAME_WRITES, "series": SERIES_WRITES, "array": ARRAY_WRITES}
