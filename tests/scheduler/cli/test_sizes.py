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
def test_invalid_sizes(text):
    """The error repeats the text and shows what to give."""
    kind = "percentage" if text.endswith("%") else "size"
    with pytest.raises(ConfigError, match=rf"^invalid {kind}: {text!r}; give .*%"):
        parse_size(text, 1000)


def test_a_size_beyond_all():
    """More than a number can hold is an error, too."""
    with pytest.raises(ConfigError, match="too large"):
        parse_size("9" * 400, 1000)


def test_lists():
    """Both separators of directories, and no item twice."""
    assert parse_dirs("/a:/b,/c:/a") == ["/a", "/b", "/c"]
    assert parse_dirs("") == []
    assert parse_list("h:1, g:2,,h:1") == ["h:1", "g:2"]
    assert parse_ports("7003,7004") == [7003, 7004]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abc", "invalid port: 'abc'; write 7003 or 7003,7004"),
        ("1,", "invalid port: '1,'; write 7003 or 7003,7004"),
        ("70000", "invalid port: 70000; ports end at 65535"),
        ("-1", "invalid port: -1; ports begin at 0"),
    ],
)
def test_invalid_ports(text, message):
    """The error repeats the text and says what a port is."""
    with pytest.raises(ConfigError) as raised:
        parse_ports(text)
    assert str(raised.value) == message


def test_numbers():
    """A fraction is one; the error for anything else names the option."""
    assert parse_number("--x", "0.5") == 0.5
    for text in ("x", "nan", "inf", "-1", ""):
        with pytest.raises(ConfigError, match=r"^invalid --x: "):
            parse_number("--x", text)


def test_switches():
    """They have words for yes and no; any other one is an error, which names the variable."""
    assert all(parse_switch("X", text) for text in ("1", "TRUE", "yes", " On "))
    assert not any(parse_switch("X", text) for text in ("0", "False", "no", "OFF", "", " "))
    for text in ("enabled", "y", "2"):
        with pytest.raises(ConfigError, match=f"invalid X: {text!r}"):
            parse_switch("X", text)
