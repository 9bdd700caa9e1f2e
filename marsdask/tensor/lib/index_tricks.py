"""Makers of indices, under Mars's name."""

from numpy import index_exp, ndindex, s_

from marsdask.tensor.creation.index_arrays import (
    AxisConcatenator,
    c_,
    ix_,
    mgrid,
    nd_grid,
    ogrid,
    r_,
)

__all__ = [
    "AxisConcatenator",
    "c_",
    "index_exp",
    "ix_",
    "mgrid",
    "nd_grid",
    "ndindex",
    "ogrid",
    "r_",
    "s_",
]
