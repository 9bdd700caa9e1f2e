"""scikit-learn's checks of arguments, for lazy ones too."""

from sklearn.utils import gen_batches

from .attributes import convert_to_tensor_or_dataframe, copy_learned_attributes, get_chunk_n_rows
from .checks import assert_all_finite
from .internals import collect_ports, concat_chunks
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
    "collect_ports",
    "column_or_1d",
    "concat_chunks",
    "convert_to_tensor_or_dataframe",
    "copy_learned_attributes",
    "gen_batches",
    "get_chunk_n_rows",
    "indexable",
    "shuffle",
]
