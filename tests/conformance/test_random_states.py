"""Programs leave the global generators of ``random`` and NumPy as they are."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.remote as mr
import marsdask.tensor as mt
from marsdask.learn.cluster import KMeans
from marsdask.learn.linear_model import SGDClassifier
from marsdask.learn.model_selection import train_test_split

ROWS = 600
FRAME = pd.DataFrame(
    {"o": pd.Series([f"k{row % 300}" for row in range(ROWS)], dtype=object), "v": range(ROWS)}
)
LISTS = np.array([[1] * number for number in range(300)] + [0], object)
POINTS = np.arange(400.0).reshape(100, 4) % 7

PROGRAMS: dict[str, Callable[[], Any]] = {
    "lists": lambda: mt.tensor(LISTS, chunk_size=100),
    "spawned lists": lambda: mr.spawn(lambda: [list(range(1000)) for _ in range(500)]),
    "spawned dict": lambda: mr.spawn(lambda: dict.fromkeys(range(1000), [1] * 50)),
    "groups": lambda: md.DataFrame(FRAME, chunk_size=100).groupby("o").agg("sum"),
    "sorted rows": lambda: md.DataFrame(FRAME, chunk_size=100).sort_values("o"),
    "join": lambda: md.DataFrame(FRAME, chunk_size=100).merge(md.DataFrame(FRAME), on="o"),
    "distinct": lambda: md.DataFrame(FRAME, chunk_size=100).drop_duplicates("o"),
    "labels": lambda: md.DataFrame(FRAME, chunk_size=100).set_index("o"),
    "rows": lambda: md.DataFrame(FRAME, chunk_size=100).apply(list, axis=1),
    "sampled rows": lambda: md.DataFrame(FRAME, chunk_size=100).sample(5, random_state=0),
    "sort": lambda: mt.sort(mt.tensor(np.arange(ROWS)[::-1], chunk_size=50)),
    "quantile": lambda: mt.percentile(mt.tensor(np.arange(ROWS), chunk_size=50), 30),
    "draws": lambda: mt.random.rand(ROWS, chunk_size=50),
    "seeded draws": lambda: mt.random.RandomState(0).choice(ROWS, 50),
    "permutation": lambda: mt.random.permutation(mt.arange(ROWS, chunk_size=50)),
    "clusters": lambda: KMeans(2, random_state=0, n_init=1).fit(mt.tensor(POINTS)).labels_,
    "split": lambda: train_test_split(mt.tensor(POINTS), random_state=0)[0],
    "gradients": lambda: SGDClassifier(random_state=0).fit(POINTS, POINTS[:, 0] > 3).coef_,
}


def states() -> tuple[Any, ...]:
    _, words, position, *_ = np.random.get_state()
    return random.getstate(), bytes(np.asarray(words)), position


@pytest.mark.parametrize("coalesce", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_leave_the_global_generators_alone(name: str, coalesce: bool) -> None:
    """Seeded generators of a user give the same numbers after any program."""
    before = states()
    with marsdask.option_context({"coalesce": coalesce}):
        marsdask.execute(PROGRAMS[name]())
    assert states() == before


def test_spilled_results_leave_the_global_generators_alone(tmp_path: Path) -> None:
    """Results that leave memory are measured, too."""
    before = states()
    with marsdask.new_session(memory_limit="1MiB", spill_dirs=str(tmp_path)) as session:
        lists = [mr.spawn(lambda: [[*range(9000)] for _ in range(5)]) for _ in range(6)]
        marsdask.execute(*lists, session=session)
    assert states() == before
