"""Functions that Mars uses inside say what to use."""

import pytest

from marsdask.learn import utils


def test_both_are_refused():
    """With another way."""
    with pytest.raises(NotImplementedError, match=r"remote\.run_script"):
        utils.collect_ports(["host:1"])
    with pytest.raises(NotImplementedError, match=r"rechunk\(-1\)"):
        utils.concat_chunks([])
