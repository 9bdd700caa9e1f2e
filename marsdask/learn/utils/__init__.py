"""scikit-learn's checks of arguments, for lazy ones too."""

from sklearn.utils import gen_batches

from .checks import assert_all_finite
from .shuffle import shuffle
from .validation import (
    check_array,
    check_consistent_length,
    check_X_y,
    column_or_1d,
    indexable,
)

__all__ = [
    "assert_all_finite",
    "check_X_y",
    "check_array",
    "check_consistent_length",
    "column_or_1d",
    "gen_batches",
    "indexable",
    "shuffle",
]
