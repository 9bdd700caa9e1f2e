"""Names of Mars that are not supported are functions with documentation of their own."""

import pytest

from marsdask.learn.unsupported import refused


def test_a_refused_function_names_what_to_use():
    """Whatever it is given; its documentation tells why."""
    func = refused("index", "some.module", "there is none", "use another")
    assert (func.__name__, func.__module__) == ("index", "some.module")
    assert (func.__doc__ or "").startswith("Refuse: there is none.\n")
    with pytest.raises(NotImplementedError, match=r"^index\(\) is not supported; use another$"):
        func([1], k=2)
