"""Configuration files: inheritance, and what their keys mean here."""

import logging

import pytest

from marsdask.scheduler.cli.configfile import gather, load, merge, translate
from marsdask.scheduler.cli.sizes import ConfigError


@pytest.fixture
def folder(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_a_file_builds_on_another(folder):
    """Mappings join, lists follow each other, and overriding fields replace."""
    folder("base.yml", "storage:\n  backends: [a]\n  disk: {root_dirs: [/x, /y]}\nweb: {port: 1}\n")
    top = folder(
        "top.yml",
        '"@inherits": base.yml\n"@overriding_fields": [storage.disk.root_dirs]\n'
        "storage:\n  backends: [b]\n  disk: {root_dirs: [/z]}\nweb: {host: h}\n",
    )
    assert load(top) == {
        "storage": {"backends": ["a", "b"], "disk": {"root_dirs": ["/z"]}},
        "web": {"port": 1, "host": "h"},
    }


def test_what_mars_ships_is_inherited_without_being_there(folder):
    """Mars's own base file is ignored without an error."""
    assert load(folder("top.yml", '"@inherits": "@default"\nweb: {port: 1}\n')) == {
        "web": {"port": 1}
    }
    assert load(folder("empty.yml", "")) == {}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[1]", "must hold a mapping"),
        ("a: [", "cannot read"),
        ('"@inherits": top.yml', "itself"),
        ('"@inherits": gone.yml', "gone.yml"),
        ('"@inherits": 5', "invalid .@inherits"),
        ('"@inherits": [a.yml]', "invalid .@inherits"),
        ('{"@overriding_fields": 5, "@inherits": a.yml}', "invalid .@overriding_fields"),
        ('{"@overriding_fields": [5], "@inherits": a.yml}', "invalid .@overriding_fields"),
        ("{a: " * 60 + "}" * 60, "nested"),
        ("[" * 1500, "cannot read"),
        ("a: &a {b: *a}", "nested"),
    ],
)
def test_bad_files(folder, text, match):
    """They are named with what is wrong."""
    with pytest.raises(ConfigError, match=match):
        load(folder("top.yml", text))


def test_names_of_many_parts():
    """They are refused, too."""
    with pytest.raises(ConfigError, match="too many parts"):
        gather(None, None, [".a" * 2000 + "=1"])


def test_the_order_of_sources(folder):
    """-D is above -c, which is above -f."""
    path = folder("top.yml", "web: {port: 1, host: a, other: x}\n")
    found = gather(path, '{"web": {"port": 2, "host": "b"}}', ["web.port=3"])
    assert found == {"web": {"port": 3, "host": "b", "other": "x"}}


@pytest.mark.parametrize(
    "wrong",
    [
        (None, "x", []),
        (None, "[1]", []),
        (None, None, ["a"]),
        (None, None, ["a=x"]),
        (None, None, ["a=" + "[" * 100_000]),
        (None, '{"a": ' * 60 + "1" + "}" * 60, []),
    ],
    ids=range(6),
)
def test_bad_json(wrong):
    """Values that are not JSON, an object or a pair are refused."""
    with pytest.raises(ConfigError, match=r"JSON"):
        gather(*wrong)


def test_translation(caplog):
    """Keys become options or Dask's configuration; unknown ones warn and do not fail."""
    content = {
        "services": ["storage"],
        "web": {"port": 7005},
        "cluster": {"node_timeout": 30, "backend": "fixed"},
        "storage": {"disk": {"root_dirs": ["/a", "/b"]}, "plasma": {"store_memory": "20%"}},
        "distributed": {"comm": {"compression": None}},
        "metrics": {"prometheus": {}},
        "scheduling": {"autoscale": {"enabled": True, "min_workers": 1}},
        "typo": {"deep": 1},
    }
    with caplog.at_level(logging.WARNING):
        options, settings = translate(content)
    assert options == {"web_port": "7005", "spill_dir": ["/a", "/b"], "cache_mem": "20%"}
    assert settings == {
        "distributed.scheduler.worker-ttl": 30,
        "distributed.comm.compression": None,
        "marsdask.autoscale.enabled": True,
        "marsdask.autoscale.min-workers": 1,
    }
    assert caplog.messages == ["ignoring the unknown configuration key typo.deep"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("web.hsot", "web.host"),
        ("storage.disk.root_dir", "storage.disk.root_dirs"),
        ("storage.plasma.store_mem", "storage.plasma.store_memory"),
        ("session.custom_log", "session.custom_log_dir"),
        ("task.default_conf", "task.default_config"),
        ("services.x", None),
        ("metrics.prometheus.port", None),
        ("task.default_config.fuse_enabled", None),
    ],
)
def test_misspelt_keys(key, meant, caplog):
    """They are named, in sections that Mars has too; what Mars has is no news."""
    assert translate({key: 1}) == ({}, {})
    told = f"ignoring the unknown configuration key {key}. Did you mean {meant!r}?"
    assert caplog.messages == ([told] if meant else [])


def test_keys_without_a_value(caplog):
    """Mars's have their default, and a section may be empty; for Dask's it is a value."""
    content = {
        "web": None,
        "session": {"custom_log_dir": None},
        "storage": {"disk": {"root_dirs": None}, "plasma": {}},
        "cluster": {"node_timeout": None},
        "distributed": {"scheduler": {"worker-ttl": None}},
    }
    assert translate(content) == ({}, {"distributed.scheduler.worker-ttl": None})
    assert not caplog.messages
    assert translate({"web": 7005}) == ({}, {})
    assert caplog.messages == ["ignoring the unknown configuration key web"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("web.port", [1]),
        ("web.host", ["a"]),
        ("storage.plasma.store_memory", [1]),
        ("storage.disk.root_dirs", [1]),
        ("storage.plasma.plasma_directory", [1]),
        ("cluster.node_timeout", "abc"),
        ("cluster.node_timeout", [1]),
        ("distributed.scheduler.worker-ttl", "abc"),
        ("distributed.scheduler", 5),
    ],
)
def test_values_of_other_types(key, value):
    """They are refused with their key."""
    with pytest.raises(ConfigError, match=f"invalid {key}: "):
        translate({key: value})


def test_merging_does_not_change_its_inputs():
    """The inherited mapping is the same afterwards."""
    below = {"a": {"b": [1]}}
    assert merge(below, {"a": {"b": [2]}}) == {"a": {"b": [1, 2]}}
    assert below == {"a": {"b": [1]}}
