"""Sets of options of one's own, and Mars's validators."""

from __future__ import annotations

import pickle

import pytest

from marsdask.compat import config
from marsdask.config import OptionError


def filled() -> config.Config:
    """Return options with a group, and an older name of one."""
    options = config.Config()
    options.register_option("a.b.c", 1, validator=config.is_integer, serialize=True)
    options.register_option("a.d", "x", (config.is_string, config.is_null))
    options.redirect_option("old", "a.b.c", warn="{source} is {target} now")
    return options


@pytest.mark.parametrize("way", ["made", "copied", "pickled"])
def test_options(way: str) -> None:
    """They are read and set by their names, and are what they were in copies."""
    options = filled()
    if way != "made":
        options = options.copy() if way == "copied" else pickle.loads(pickle.dumps(options))
    assert (options.a.b.c, options.a.d) == (1, "x")
    options.a.b.c = 2
    with pytest.warns(UserWarning, match=r"old is a\.b\.c now"):
        assert options.old == 2
    with pytest.warns(UserWarning, match=r"old is a\.b\.c now"):
        options.old = 3
    assert options.to_dict() == {"a.b.c": 3, "a.d": "x"}
    assert options.get_serializable() == {"a.b.c": 3}
    assert (dir(options), dir(options.a)) == (["a", "old"], ["b", "d"])
    with pytest.raises(ValueError, match=r"Cannot set value `1\.5`"):
        options.a.b.c = 1.5
    options.a.d = None
    assert filled().a.b.c == 1


def test_names() -> None:
    """A name is taken once, and is free again once it is removed."""
    options = filled()
    with pytest.raises(OptionError, match=r"a\.b\.c, option has been set"):
        options.register_option("a.b.c", 2)
    options.unregister_option("a.b.c")
    with pytest.raises(AttributeError, match=r"no such option: 'a\.b'"):
        _ = options.a.b
    with pytest.raises(OptionError, match="not configured"):
        options.unregister_option("a.b.c")
    options.update({"a.b.c": 5, "new": 6})
    options.fill_serialized({"a.b.c": 7})
    assert (options.a.b.c, options.new) == (7, 6)
    other = config.Config({"z": 1})
    other.update(options)
    assert (other.z, other.new) == (1, 6)


def test_validators() -> None:
    """Any of several, all of them, or one of some values."""
    either = config.any_validator(config.is_bool, config.is_in(("auto",)))
    assert [either(value) for value in (True, "auto", "x")] == [True, True, False]
    both = config.all_validator(config.is_numeric, config.is_in((1, 2)))
    assert [both(value) for value in (1, 2.0, 3, "1")] == [True, True, False, False]
    assert config.get_option("eager_mode") is False
