"""Only a quote at the start of a field hides line ends, wherever a file is cut."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.io.csv_files import lines
from tests.dataframe import one_mode

_coalesce = one_mode.as_given

#: Fields with quotes that begin, end, double, or mean inches.
FIELDS = [
    *('5" pipe', "x", '"x\ny"', "7", '"a ""b"" c"', '""', ' "q"', '"a"b', '"p\n\nq"', '""""'),
    *('5""', '"u,v"', '"\n"', '"""\n"'),
]


@pytest.mark.parametrize("seed", range(12))
def test_texts(tmp_path: Any, seed: int) -> None:
    """Files of such fields are read as by pandas, cut into any blocks."""
    draw = random.Random(seed)
    path = tmp_path / "x.csv"
    rows = [",".join(draw.choices(FIELDS, k=2)) for _ in range(draw.randint(2, 9))]
    path.write_text("a,b\n" + "\n".join(rows) + "\n")
    wanted = pd.read_csv(path, dtype=str)
    for step in (1, 5, 9, 17):
        found = md.read_csv(path, chunk_bytes=step, dtype=str).compute()
        pd.testing.assert_frame_equal(found, wanted)


def test_states() -> None:
    """The state behind a text does not depend on how the text is cut."""
    separators = b",\r\n"
    for fields in itertools.product(FIELDS, repeat=2):
        text = (",".join(fields) + "\n").encode()
        for start in lines.STATES:
            whole = lines.ends_of(b"x" + text, 1, len(text) + 1, separators)[start]
            for cut in range(1, len(text)):
                first = lines.state_after(text[:cut], start, b"x", separators)
                before = text[cut - 1 : cut]
                assert lines.state_after(text[cut:], first, before, separators) == whole


@pytest.mark.parametrize(
    ("sep", "separators"),
    [(",", b",\r\n"), (";", b";\r\n"), (r"\s+", b" \t\r\n"), ("ab", None), (None, None)],
)
def test_separators(sep: Any, separators: Any) -> None:
    """Fields begin behind one byte; files of other separators are not cut."""
    assert lines.separators_of(sep) == separators


def test_whole_lines() -> None:
    """The head of a file ends with the last line end outside of quotes."""
    assert lines.whole_lines(b"a,b\n1,2\n3", b",\r\n") == b"a,b\n1,2\n"
    assert lines.whole_lines(b'a\n5" x\n"p\nq', b",\r\n") == b'a\n5" x\n'
    assert lines.whole_lines(b"a", b",\r\n") == b"a"
