"""Mars's names for TensorFlow, which say what to use."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["gen_tensorflow_dataset", "run_tensorflow_script"]


def run_tensorflow_script(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse: TensorFlow's processes need the addresses of all of them."""
    raise NotImplementedError(
        "run_tensorflow_script() is not supported; marsdask.remote.run_script() runs a script in "
        "several processes, which know RANK, WORLD_SIZE and MASTER_ADDR"
    )


def gen_tensorflow_dataset(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse: TensorFlow reads any items."""
    raise NotImplementedError(
        "gen_tensorflow_dataset() is not supported; give tf.data.Dataset.from_generator() the "
        "items of a marsdask.learn.contrib.pytorch.MarsDataset"
    )
