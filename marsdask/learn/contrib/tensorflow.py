"""Mars's names for TensorFlow, which say what to use."""

from __future__ import annotations

from marsdask.learn.unsupported import refused

__all__ = ["gen_tensorflow_dataset", "run_tensorflow_script"]

run_tensorflow_script = refused(
    "run_tensorflow_script",
    __name__,
    "TensorFlow's processes need the addresses of all of them",
    "marsdask.remote.run_script() runs a script in several processes, which know RANK, WORLD_SIZE "
    "and MASTER_ADDR",
)

gen_tensorflow_dataset = refused(
    "gen_tensorflow_dataset",
    __name__,
    "TensorFlow reads any items",
    "give tf.data.Dataset.from_generator() the items of a marsdask.learn.contrib.pytorch."
    "MarsDataset",
)
