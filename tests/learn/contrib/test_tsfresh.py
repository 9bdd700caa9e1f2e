"""Mars's name for tsfresh says what to use."""

import pytest

from marsdask.learn.contrib.tsfresh import MarsDistributor


def test_it_is_refused():
    """With tsfresh's own class; its methods refuse, too."""
    with pytest.raises(NotImplementedError, match="ClusterDaskDistributor"):
        MarsDistributor()
    bare = MarsDistributor.__new__(MarsDistributor)
    for call in (lambda: bare.calculate_best_chunk_size(1), lambda: bare.distribute(len, [], {})):
        with pytest.raises(NotImplementedError):
            call()
