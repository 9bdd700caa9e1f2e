"""Numbers on the command line."""

import pytest

from marsdask.scheduler.cli.sizes import (
    ConfigError,
    parse_dirs,
    parse_list,
    parse_number,
    parse_ports,
    parse_size,
    parse_switch,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("123", 123),
        ("4g", 4 * 2**30),
        ("4G", 4 * 2**30),
        ("512m", 512 * 2**20),
        ("512MiB", 512 * 2**20),
        ("1.5k", 1536),
        (".5t", 2**39),
        ("80%", 800),
        ("0%", 0),
        (" 100% ", 1000),
    ],
)
def test_sizes(text, expected):
    """Units are powers of 1024, as Mars's are; percentages are of the total."""
    assert parse_size(text, 1000) == expected


@pytest.mark.parametrize("text", ["", "much", "4x", "-1", "101%", "-3%", "x%", "4 g g"])
def test_what_is_no_size(text):
    """It is refused with what it should be."""
    with pytest.raises(ConfigError, match="%"):
        parse_size(text, 1000)


def test_lists():
    """Both separators of directories, and no item twice."""
    assert parse_dirs("/a:/b,/c:/a") == ["/a", "/b", "/c"]
    assert parse_dirs("") == []
    assert parse_list("h:1, g:2,,h:1") == ["h:1", "g:2"]
    assert parse_ports("7003,7004") == [7003, 7004]
    assert [parse_switch(text) for text in ("1", "TRUE", "0", "")] == [True, True, False, False]


@pytest.mark.parametrize("text", ["x", "1,", "65536", "-1"])
def test_what_is_no_port(text):
    """It is refused."""
    with pytest.raises(ConfigError, match="port"):
        parse_ports(text)


def test_numbers():
    """A fraction is one; what is no number, or not finite, is refused in the name of its option."""
    assert parse_number("--x", "0.5") == 0.5
    for text in ("x", "nan", "inf", "-1", ""):
        with pytest.raises(ConfigError, match="--x takes"):
            parse_number("--x", text)
