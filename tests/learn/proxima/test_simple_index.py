"""Names of Mars for Proxima say what to use."""

import pytest

from marsdask.learn.proxima import simple_index


@pytest.mark.parametrize("name", simple_index.__all__)
def test_each_is_refused(name):
    """With the exact way."""
    with pytest.raises(NotImplementedError, match=rf"{name}\(\) is not supported; .*Neighbors"):
        getattr(simple_index, name)(None)
