"""Options: names, values, contexts."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core import config
from marsdask.core.config import OptionError, option_context, options, set_option


def test_unknown_names_are_refused_with_near_ones():
    """A misspelt option does not pass silently."""
    with pytest.raises(OptionError, match="split_every"):
        options.split_evry = 3
    with pytest.raises(AttributeError, match="no such option"):
        _ = options.nonsense


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("split_every", 0),
        ("split_every", 1.5),
        ("eager_mode", 1),
        ("show_progress", "yes"),
        ("chunk_size", "many"),
        ("chunk_size", "0MiB"),
        ("chunk_size", (4, "x")),
        ("memory_limit", "abc"),
        ("memory_limit", 0),
        ("memory_limit", True),
        ("memory_limit", float("inf")),
        ("spill_limit", "10 parsecs"),
        ("spill_limit", 0.5),
        ("spill_dirs", 3),
        ("spill_dirs", ["/tmp", ""]),
        ("spill_dirs", os.devnull),
        ("memory_limit", ""),
        ("memory_limit", "kB"),
        ("memory_limit", 1.5),
        ("memory_limit", 2),
        ("memory_limit", "1e400"),
        ("spill_limit", "12"),
        ("chunk_size", ()),
        ("chunk_size", []),
        ("chunk_size", {}),
        ("show_progress", 1),
        ("dataframe.whole", True),
        ("n_workers", "two"),
        ("chunk_store_limit", "abc"),
        ("progress_update_interval", -1),
    ],
)
def test_values_of_the_wrong_kind_are_refused(name, value):
    """Mars's own wording, with what the option takes."""
    with pytest.raises(ValueError, match="invalid value for option"):
        set_option(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory_limit", "2GiB"),
        ("memory_limit", 2**31),
        ("memory_limit", 0.5),
        ("spill_limit", "10GB"),
        ("spill_limit", None),
        ("spill_dirs", Path("folder")),
        ("spill_dirs", ["one", "two"]),
        ("spill_dirs", []),
        ("n_workers", np.int64(2)),
    ],
)
def test_values_that_are_documented_are_taken(name, value):
    """As they are given."""
    with option_context({name: value}):
        assert getattr(options, name) == value


def test_mars_names_and_ours_are_one_option():
    """``combine_size`` is ``split_every``."""
    with option_context({"combine_size": 5}):
        assert options.split_every == options.combine_size == options.tensor.combine_size == 5
    assert options.split_every == 8


def test_nested_names_read_as_attributes():
    """Dotted names are namespaces."""
    assert options.rechunk.threshold == 4
    assert options.dataframe.mode.use_inf_as_na is False


def test_contexts_nest_and_end():
    """The inner one wins, and only inside."""
    with option_context({"split_every": 3}):
        with option_context({"split_every": 4}):
            assert options.split_every == 4
        assert options.split_every == 3
    assert options.split_every == 8


def test_a_context_belongs_to_its_thread():
    """Another thread sees the defaults."""
    seen = []
    with option_context({"split_every": 3}):
        thread = threading.Thread(target=lambda: seen.append(options.split_every))
        thread.start()
        thread.join(10)
    assert seen == [8]


def test_chunk_sizes_may_be_texts():
    """Bytes of a tensor's chunks, and of a frame's."""
    with option_context({"chunk_size": "16KiB"}):
        assert mt.ones(4096).chunks == ((2048, 2048),)
        assert md.DataFrame({"x": np.arange(4096.0)}).node.chunks[0] == (2048, 2048)


@pytest.mark.parametrize(
    "name",
    ["deploy.open_browser", "tensor.rechunk.chunk_size_limit", "vineyard.enabled", "verbose"],
)
def test_options_of_mars_have_no_effect(name):
    """They can be read and set, with a warning, and are no options of ours."""
    before = options.to_dict()
    assert marsdask.get_option(name) in (True, False, 10**8)
    told = pytest.warns(DeprecationWarning, match="has no effect: it is an option of Mars")
    with told, option_context({name: 5}):
        assert marsdask.get_option(name) == 5
    assert marsdask.get_option(name) != 5
    assert options.to_dict() == before


def test_numbers_are_numpys_unless_python_scalars():
    """Values without axes are Python's numbers where the option says so, in any session."""
    total = mt.arange(4, chunk_size=2).sum()
    assert type(total.compute()) is np.int64
    with option_context({"python_scalars": True}):
        assert type(total.compute()) is int
        assert type(total.execute().fetch()) is int
        assert type(mt.arange(4).compute()) is np.ndarray


def test_options_of_programs():
    """They are added, checked, given other names, and removed; those of marsdask stay."""
    options.register_option("mine.depth", 3, validator=lambda value: value > 0)
    try:
        assert options.mine.depth == 3
        with option_context({"mine.depth": 4}):
            assert options.mine.depth == 4
        with pytest.raises(ValueError, match=r"invalid value for option mine.depth: 0"):
            options.mine.depth = 0
        options.redirect_option("depth", "mine.depth")
        options.depth = 5
        assert options.mine.depth == 5
        options.unregister_option("depth")
        with pytest.raises(OptionError, match="no such option: 'depth'"):
            _ = options.depth
        with pytest.raises(OptionError, match=r"there is an option 'mine\.depth' already"):
            options.register_option("mine.depth", 1)
    finally:
        options.unregister_option("mine.depth")
    with pytest.raises(OptionError, match="no such option of your own: 'eager_mode'"):
        options.unregister_option("eager_mode")
    assert "mine.depth" not in options.to_dict()


def test_updates_set_all_or_nothing():
    """A wrong value or name sets none; values are those of a dictionary, or of all options."""
    before = options.to_dict()
    with pytest.raises(ValueError, match="invalid value for option eager_mode"):
        options.update({"split_every": 3, "eager_mode": 1})
    assert options.to_dict() == before
    options.update({"tensor.combine_size": 3})
    assert options.split_every == 3
    options.fill_serialized(before)
    assert options.get_serializable() == before
    options.update(options)
    with pytest.raises(NotImplementedError, match=r"options.to_dict\(\)"):
        options.copy()


def test_options_are_listed_and_described():
    """Each says its values, what it does, its default and its value."""
    with option_context({"split_every": 3}):
        assert "split_every " in repr(options)
        assert repr(options.rechunk) == "rechunk.threshold  4"
        assert repr(options.dataframe.mode) == ""
        text = marsdask.describe_option("split_every", _print_desc=False)
    assert text is not None
    assert text.splitlines()[0] == "split_every : a positive int"
    assert text.endswith("[default: 8] [currently: 3]")
    every = marsdask.describe_option(_print_desc=False)
    assert every is not None
    assert all(f"{name} : " in every for name in options.to_dict())
    with pytest.raises(OptionError, match="split_every"):
        marsdask.describe_option("split_evry")


def test_contexts_take_names_and_values_in_turn():
    """As pandas's do."""
    with option_context("split_every", 3, "coalesce", False):
        assert (options.split_every, options.coalesce) == (3, False)
    with pytest.raises(ValueError, match="even amount"), option_context("split_every"):
        pass
    with pytest.raises(TypeError, match="mapping"), option_context({}, 3):
        pass


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("MARSDASK_MEMORY_LIMIT", "4GiB", "memory_limit", "4GiB"),
        ("MARSDASK_SPLIT_EVERY", "3", "split_every", 3),
        ("MARSDASK_CHUNK_SIZE", "(2, 3)", "chunk_size", (2, 3)),
        ("MARSDASK_DATAFRAME__WHOLE", "error", "dataframe.whole", "error"),
        ("MARSDASK_COALESCE", "false", "coalesce", False),
    ],
)
def test_the_environment_sets_defaults(monkeypatch, variable, text, name, value):
    """Each option has a variable, whose text is a literal of Python or a string."""
    monkeypatch.setenv(variable, text)
    assert config._at_start(name, config._OPTIONS[name]) == value
    monkeypatch.setenv(variable, "-")
    if name != "memory_limit":
        with pytest.raises(ValueError, match=f"invalid value for {variable}"):
            config._at_start(name, config._OPTIONS[name])


def test_what_is_set_by_a_context_ends_with_it():
    """Options that are set, in groups too, or registered by what the context yields."""
    with option_context({"split_every": 3}) as context:
        context.split_every = 5
        context.rechunk.threshold = 7
        context.update({"eager_mode": True})
        context.register_option("mine.depth", 1)
        context.mine.depth = 2
        assert (options.split_every, options.rechunk.threshold, options.eager_mode) == (5, 7, True)
        assert options.mine.depth == 2
        with pytest.raises(ValueError, match="invalid value for option split_every"):
            context.split_every = 0
    assert (options.split_every, options.rechunk.threshold, options.eager_mode) == (8, 4, False)
    with pytest.raises(OptionError, match="no such option"):
        _ = options.mine.depth
    assert pickle.loads(pickle.dumps(options.rechunk)).threshold == 4
