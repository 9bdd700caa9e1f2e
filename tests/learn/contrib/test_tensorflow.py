"""Names of Mars for TensorFlow say what to use."""

import pytest

from marsdask.learn.contrib import tensorflow


def test_both_are_refused():
    """With another way."""
    with pytest.raises(NotImplementedError, match=r"remote\.run_script"):
        tensorflow.run_tensorflow_script("script.py", n_workers=2)
    with pytest.raises(NotImplementedError, match="from_generator"):
        tensorflow.gen_tensorflow_dataset([])
