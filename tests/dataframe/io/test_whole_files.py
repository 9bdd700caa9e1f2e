"""ORC and Feather files are read and written as pandas does; errors name the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import orc

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table

_coalesce = one_mode.coalesce

FRAME = table(11)[["k", "f", "s", "u"]]
LAZY = md.DataFrame(FRAME, chunk_size=4)


@pytest.mark.parametrize("kind", ["orc", "feather"])
def test_files_come_back(tmp_path: Any, kind: str) -> None:
    """One for each chunk, with the columns that are asked for; their numbers are not written."""
    write, read = getattr(LAZY, f"to_{kind}"), getattr(md, f"read_{kind}")
    assert write(tmp_path / "out").rows.compute().tolist() == [4, 4, 3]
    lazy = read(tmp_path / "out")
    assert lazy.npartitions == 3
    equal(lazy, FRAME)
    equal(
        read(str(tmp_path / "out" / "*1.*"), columns=["u"]),
        FRAME[["u"]][4:8].reset_index(drop=True),
    )


#: What has other labels than the numbers of its rows, or may have.
LABELLED: dict[str, Any] = {
    "rows that are left": lambda frame: frame[frame.u != 3],
    "all rows": lambda frame: frame[frame.u >= 0],
    "another order": lambda frame: frame.sort_values("u", ascending=False),
    "texts": lambda frame: frame.set_index("s"),
    "two levels": lambda frame: frame.set_index(["s", "u"]),
    "a range": lambda frame: frame.iloc[2::3],
    "a named range": lambda frame: frame.rename_axis("row"),
    "numbered again": lambda frame: frame[frame.u > 3].reset_index(drop=True),
}


@pytest.mark.parametrize("kind", ["orc", "feather", "parquet"])
@pytest.mark.parametrize("labels", LABELLED)
def test_labels_come_back(tmp_path: Any, kind: str, labels: str) -> None:
    """They are those that pandas reads of its own file, or refused as pandas refuses them."""
    wanted, path = LABELLED[labels](FRAME), str(tmp_path / "x")
    for chunk in (3, 20):
        lazy = LABELLED[labels](md.DataFrame(FRAME, chunk_size=chunk))
        try:
            getattr(wanted, f"to_{kind}")(path)
        except ValueError:
            with pytest.raises(ValueError, match="non-default index"):
                getattr(lazy, f"to_{kind}")(tmp_path / f"lazy{chunk}")
            continue
        getattr(lazy, f"to_{kind}")(tmp_path / f"lazy{chunk}")
        read = getattr(md, f"read_{kind}")
        equal(read(tmp_path / f"lazy{chunk}"), getattr(pd, f"read_{kind}")(path))


def test_stripes(tmp_path: Any) -> None:
    """Each is a chunk, or several, or all of a file."""
    frame = pd.DataFrame({"a": range(70_000), "b": 0.5})
    path = str(tmp_path / "x.orc")
    orc.write_table(pa.table(frame), path, stripe_size=100_000, compression="uncompressed")
    stripes = orc.ORCFile(path).nstripes
    assert stripes > 2
    for each, count in ((1, stripes), (2, -(-stripes // 2)), (False, 1)):
        lazy = md.read_orc(path, split_stripes=each)
        assert lazy.npartitions == count
        equal(lazy, frame)
    with pytest.raises(NotImplementedError, match="pyarrow"):
        md.read_orc(path, engine="orc")


def test_a_truncated_file_is_named(tmp_path: Any) -> None:
    """When it is read; the session goes on."""
    LAZY.to_feather(tmp_path)
    path = tmp_path / "part-000001.feather"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(pa.ArrowInvalid) as caught:
        md.read_feather(tmp_path).compute()
    assert any(path.name in note for note in caught.value.__notes__)
    equal(LAZY, FRAME)


def test_orc_without_columns(tmp_path):
    """Rows without columns are read, too."""
    path = tmp_path / "x.orc"
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_orc(path)
    found, wanted = md.read_orc(path, columns=[]).compute(), pd.read_orc(path, columns=[])
    assert found.index.equals(wanted.index)
    assert not len(found.columns)


WRITERS: dict[str, Any] = {
    "feather": (lambda rows, path: rows.to_feather(path), pd.read_feather, md.read_feather),
    "orc": (lambda rows, path: rows.to_orc(path), pd.read_orc, md.read_orc),
    "json": (lambda rows, path: rows.to_json(path), pd.read_json, md.read_json),
}

#: Rows of files of several columns, or of several types of them.
DRIFTS: dict[str, list[Any]] = {
    "more": [{"a": [1, 2]}, {"a": [3], "b": ["x"]}, {"a": [4], "c": [0.5]}],
    "fewer": [{"a": [1, 2], "b": ["x", "y"]}, {"a": [3]}],
    "others": [{"a": [1, 2]}, {"b": [0.5]}],
    "order": [{"a": [1, 2], "b": ["x", "y"]}, {"b": ["z"], "a": [3]}],
    "floats": [{"a": [1, 2]}, {"a": [0.5]}],
    "texts": [{"a": [1, 2]}, {"a": ["x"]}],
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("case", DRIFTS)
def test_files_of_other_columns(tmp_path: Any, kind: str, case: str) -> None:
    """Columns that a file lacks are missing there, as after pandas.concat."""
    write, read, read_lazily = WRITERS[kind]
    paths = [str(tmp_path / f"{number}.{kind}") for number in range(len(DRIFTS[case]))]
    for path, columns in zip(paths, DRIFTS[case], strict=True):
        write(pd.DataFrame(columns), path)
    lazy = read_lazily(str(tmp_path / f"*.{kind}"))
    rows = [read(path) for path in paths]
    wanted = pd.concat(rows, ignore_index=kind != "json")
    equal(lazy, wanted)
    equal(lazy["a"].count(), wanted["a"].count())


#: Readers of a file without rows, by the method that writes it.
WITHOUT_ROWS = ("parquet", "csv", "feather", "orc", "json")


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_rows_of_nothing_can_be_changed(tmp_path: Path, name: str) -> None:
    """A function of the user writes to what it is given, of whatever file it comes."""
    path = tmp_path / f"rows.{name}"
    rows = pd.DataFrame({"s": pd.Series([], dtype="str"), "k": pd.Series([], dtype="int64")})
    options: Any = {"index": False} if name == "csv" else {}
    getattr(rows, f"to_{name}")(path, **options)
    lazy = getattr(md, f"read_{name}")(str(path))

    def changed(block: Any) -> Any:
        block["new"] = 1
        return pd.DataFrame({"ordinary": [type(block) is pd.DataFrame]})

    result = lazy.map_partitions(changed, meta={"ordinary": "bool"})
    assert result.compute().ordinary.tolist() == [True]
