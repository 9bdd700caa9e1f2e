"""Frames whose chunks are at hand as relations."""

from __future__ import annotations

import pandas as pd

from marsdask.core.node import Node

from .expression import Column, is_supported
from .relation import Input, Table


def held(node: Node, *, numbered: bool = False) -> Table | None:
    """Return the rows of a frame or a series; ``numbered`` says that its labels are 0, 1, ...

    The types of its chunks have to be those of its meta: what is still to be computed may differ.
    """
    meta = node.meta
    if isinstance(meta, pd.DataFrame):
        dtypes = list(meta.dtypes)
    elif isinstance(meta, pd.Series):
        dtypes = [meta.dtype]
    else:
        return None
    columns = tuple(
        Column(f"{node.name}:{place}", dtype) if is_supported(dtype) else None
        for place, dtype in enumerate(dtypes)
    )
    labels = None if numbered else (None,) * meta.index.nlevels
    return Table(Input(node.name, columns), columns, labels)
