"""What was meant: misspelt keywords and names, whoever is given them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.display.suggestions import suggesting
from marsdask.scheduler.errors import did_you_mean

#: Calls with a misspelt keyword: what takes it, the keyword, and what was meant.
MISSPELT: dict[str, tuple[str, str, str]] = {
    "mt.add(t, t, wehre=True)": ("add", "wehre", "where"),
    "mt.exp(t, dtpye=float)": ("exp", "dtpye", "dtype"),
    "mt.isclose(t, t, rtoll=1)": ("isclose", "rtoll", "rtol"),
    "mt.clip(t, 0, 1, ott=t)": ("clip", "ott", "out"),
    "mt.sum(t, axiss=0)": ("sum", "axiss", "axis"),
    "t.sum(axiss=0)": ("sum", "axiss", "axis"),
    "t.std(dof=1)": ("std", "dof", "ddof"),
    "mt.percentile(t, 50, axs=0)": ("percentile", "axs", "axis"),
    "mt.quantile(t, 0.5, interpolatin='lower')": ("quantile", "interpolatin", "interpolation"),
    "mt.unique(t, return_invers=True)": ("unique", "return_invers", "return_inverse"),
    "mt.topk(t, 2, larges=True)": ("topk", "larges", "largest"),
    "mt.argtopk(t, 2, larges=True)": ("argtopk", "larges", "largest"),
    "mt.ones(3, dtpye=int)": ("ones", "dtpye", "dtype"),
    "mt.ones_like(t, dtpye=int)": ("ones_like", "dtpye", "dtype"),
    "mt.full(3, 1, chunksize=2)": ("full", "chunksize", "chunk_size"),
    "mt.tensor([1], chunksize=1)": ("tensor", "chunksize", "chunk_size"),
    "mt.array([1], dtpye=int)": ("array", "dtpye", "dtype"),
    "mt.from_array(np.ones(3), chunk=1)": ("from_array", "chunk", "chunks"),
    "mt.arange(3, dtpye=int)": ("arange", "dtpye", "dtype"),
    "mt.random.normal(sise=3)": ("normal", "sise", "size"),
    "mt.random.rand(3, dtpye=int)": ("rand", "dtpye", "dtype"),
    "mt.random.randint(3, sise=3)": ("randint", "sise", "size"),
    "mt.random.RandomState(0).gamma(1, sise=3)": ("gamma", "sise", "size"),
    "mt.random.default_rng(0).normal(sise=3)": ("normal", "sise", "size"),
    "mt.gufunc(np.sum, signature='(i)->()', vectorise=True)": (
        "gufunc",
        "vectorise",
        "vectorize",
    ),
    "mt.concatenate([t], axs=0)": ("concatenate", "axs", "axis"),
    "t.reshape(4, odrer='C')": ("reshape", "odrer", "order"),
    "t.rechunk(chunk_sise=1)": ("rechunk", "chunk_sise", "chunk_size"),
    "d.merge(d, hwo='left')": ("merge", "hwo", "how"),
    "md.merge(d, d, hwo='left')": ("merge", "hwo", "how"),
    "d.groupby('a', srt=True)": ("groupby", "srt", "sort"),
    "d.sort_values('a', ascend=True)": ("sort_values", "ascend", "ascending"),
    "d.a.value_counts(norm=True)": ("value_counts", "norm", "normalize"),
    "d.rename(column={})": ("rename", "column", "columns"),
    "d.set_index('a', dropp=True)": ("set_index", "dropp", "drop"),
    "d.drop(column='a')": ("drop", "column", "columns"),
    "d.sum(axiss=1)": ("sum", "axiss", "axis"),
    "d.a.sum(skipn=True)": ("sum", "skipn", "skipna"),
    "d.dropna(hwo='any')": ("dropna", "hwo", "how"),
    "d.drop_duplicates(kep='first')": ("drop_duplicates", "kep", "keep"),
    "d.reset_index(dropp=True)": ("reset_index", "dropp", "drop"),
    "d.fillna(0, limt=1)": ("fillna", "limt", "limit"),
    "d.clip(lowr=1)": ("clip", "lowr", "lower"),
    "d.where(d.a > 1, othr=1)": ("where", "othr", "other"),
    "d.head(nn=3)": ("head", "nn", "n"),
    "d.cumsum(axs=0)": ("cumsum", "axs", "axis"),
    "md.concat([d], ignore_idx=True)": ("concat", "ignore_idx", "ignore_index"),
    "md.read_csv('none.csv', seperator=';')": ("read_csv", "seperator", "sep"),
    "md.read_csv('none.csv', usecol=['a'])": ("read_csv", "usecol", "usecols"),
    "md.read_parquet('none', column=['a'])": ("read_parquet", "column", "columns"),
    "md.from_pandas(p, chunk_sise=1)": ("from_pandas", "chunk_sise", "chunk_size"),
    "md.DataFrame(p, chunk_sise=1)": ("DataFrame", "chunk_sise", "chunk_size"),
}

#: Attributes that nothing has, and the one that was meant.
UNKNOWN = {
    "t.shpae": "shape",
    "mt.concatnate": "concatenate",
    "mt.linalg.slove": "solve",
    "mt.special.gama": "gamma",
    "d.colmns": "columns",
    "d.a.vaule_counts": "value_counts",
    "md.raed_csv": "read_csv",
    "marsdask.new_sesion": "new_session",
}


@pytest.fixture
def names() -> dict[str, Any]:
    """Give the names that the calls use."""
    p = pd.DataFrame({"a": [1, 2, 3], "b": [1.0, np.nan, 3.0]})
    modules: dict[str, Any] = {"np": np, "mt": mt, "md": md, "marsdask": marsdask}
    return {**modules, "p": p, "d": md.DataFrame(p, chunk_size=2), "t": mt.arange(4, chunk_size=2)}


@pytest.mark.parametrize("call", MISSPELT)
def test_keywords(call, names):
    """The error names the function, the keyword and the one that was meant, in one style."""
    title, given, meant = MISSPELT[call]
    with pytest.raises(TypeError) as caught:
        eval(call, names)  # noqa: S307 - the calls of the table
    assert str(caught.value) == (
        f"{title}() got an unexpected keyword argument {given!r}. Did you mean {meant!r}?"
    )


@pytest.mark.parametrize("read", UNKNOWN)
def test_attributes(read, names, capsys):
    """Python names the attribute that was meant: errors know of whom it was asked."""
    with pytest.raises(AttributeError) as caught:
        eval(read, names)  # noqa: S307 - the attributes of the table
    sys.__excepthook__(caught.type, caught.value, None)
    assert f"Did you mean: {UNKNOWN[read]!r}?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "known", "meant"),
    [
        ("chunk_siz", ["axis", "chunk_size"], "chunk_size"),
        ("seperator", ["path", "sep"], "sep"),
        ("norm", ["bins", "normalize"], "normalize"),
        ("nonsense", ["axis", "dtype"], None),
        ("x", ["n", "k"], None),
        ("anything", [], None),
    ],
)
def test_names_alike(given, known, meant):
    """A name is alike if most of its letters are, or if one begins the other."""
    assert did_you_mean(given, known) == (f". Did you mean {meant!r}?" if meant else "")


def fails(message: str) -> Callable[..., None]:
    """Return a function that fails with a message."""

    def func(axis: int = 0, **rest: Any) -> None:
        raise TypeError(message)

    return suggesting(func)


def test_other_errors_stay():
    """Errors about something else, or of a function that was not called by us, are as they were."""
    for message in ("unsupported operand", "f() got an unexpected keyword argument 'other'"):
        with pytest.raises(TypeError) as caught:
            fails(message)(axi=1)
        assert str(caught.value) == message


def test_functions_of_users_keep_their_name():
    """What a user's function does not take is said of that function."""
    with pytest.raises(TypeError, match=r"^mine\(\) got an unexpected keyword argument 'axi'"):
        fails("mine() got an unexpected keyword argument 'axi'")(axi=1)
