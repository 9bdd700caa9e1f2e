"""From options to checked settings: addresses, security, event loop, errors with status 2."""

import logging
import shlex

import dask.config
import pytest

from marsdask.scheduler.cli import logs
from marsdask.scheduler.cli.settings import is_loopback, read


@pytest.fixture(autouse=True)
def _unchanged(monkeypatch):
    """Nothing of what a command sets outlives the test."""
    loggers = [logging.getLogger(name) for name in logs.LOGGERS]
    before = [(logger, logger.level, logger.handlers, logger.propagate) for logger in loggers]
    for name in (
        "DASK_LOGGING__DISTRIBUTED",
        "DASK_LOGGING__MARSDASK",
        "DASK_DISTRIBUTED__ADMIN__LOG_FORMAT",
    ):
        monkeypatch.setenv(name, "")
    with dask.config.set({}):
        yield
    for logger, level, handlers, propagate in before:
        logger.level, logger.handlers, logger.propagate = level, handlers, propagate


def of(line, command="worker", **environ):
    """Return the settings of a command line."""
    return read(command, "mars-x", shlex.split(line), environ)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", ("0.0.0.0", 0, None)),
        ("-H 127.0.0.2 -p 7003", ("127.0.0.2", 7003, "127.0.0.2")),
        ("-a 127.0.0.2 -p 7003", ("0.0.0.0", 7003, "127.0.0.2")),
        ("-H 0.0.0.0", ("0.0.0.0", 0, None)),
        ("-H 127.0.0.2 -a 127.0.0.3", ("127.0.0.2", 0, "127.0.0.3")),
        ("-e 127.0.0.2:7004", ("127.0.0.2", 7004, "127.0.0.2")),
        ("-p 7003,7004", ("0.0.0.0", 7003, None)),
    ],
)
def test_addresses(line, expected):
    """Where it listens and what it is known by; a wildcard is never advertised."""
    found = of(line)
    assert (found.host, found.port, found.advertise) == expected


def test_operators_speak_through_the_environment():
    """What KubeDL injects is enough."""
    found = of("", MARS_BIND_PORT="11111", MARS_CONTAINER_IP="10.0.0.7", MARS_CPU_TOTAL="2")
    assert (found.host, found.port, found.advertise) == ("0.0.0.0", 11111, "10.0.0.7")
    assert found.given.n_cpu == "2"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-e 127.0.0.2:7004 -H 127.0.0.2", "-H"),
        ("-e 7004", "IP:PORT"),
        ("-p x", "port"),
        ("-s 127.0.0.1", "IP:PORT"),
        ("-s 127.0.0.1:7001,tcp://host", "tcp://host"),
        ("--no-such-option", "--no-such-option"),
        ("-f /gone.yml", "/gone.yml"),
        ("-c {", "JSON"),
        ("--log-level loud", "debug"),
        ("--log-conf /gone.conf", "/gone.conf"),
        ("--use-uvloop yes", "uvloop"),
        ("--tls-cert /gone.pem", "/gone.pem"),
        ("--load-modules no.such.module", "no"),
        ("-H 0.0.0.0 --require-secure", "--tls-ca-file"),
    ],
)
def test_what_is_wrong_ends_with_status_2(line, message, capsys):
    """The command says in one line what, and where to read on."""
    with pytest.raises(SystemExit) as caught:
        of(line)
    assert caught.value.code == 2
    *_, said = capsys.readouterr().err.splitlines()
    assert message in said
    assert said.endswith("--help)")


def test_tls_takes_three_files(tmp_path, capsys):
    """A part of them is refused; all of them make every address a tls:// one."""
    for name in "ack":
        (tmp_path / name).write_text("")
    with pytest.raises(SystemExit):
        of(f"--tls-cert {tmp_path}/c")
    assert "all of" in capsys.readouterr().err
    line = f"--tls-ca-file {tmp_path}/a --tls-cert {tmp_path}/c --tls-key {tmp_path}/k"
    found = of(f"{line} --require-secure")
    assert found.scheme == "tls"
    assert found.security.require_encryption
    assert of("-H 127.0.0.1").scheme == "tcp"


def test_listening_to_everybody_warns(capsys):
    """It is Mars's default, so it works, and is not silent; the loopback is nobody's business."""
    of("")
    assert "without TLS" in capsys.readouterr().err
    of("-H 127.0.0.1 --require-secure")
    assert "without TLS" not in capsys.readouterr().err
    assert [is_loopback(host) for host in ("localhost", "::1", "10.0.0.1", "host")] == [
        True,
        True,
        False,
        False,
    ]


def test_the_file_gives_options(tmp_path):
    """A key of the file counts where the command line is silent."""
    path = tmp_path / "conf.yml"
    path.write_text("web: {port: 7005}\nstorage: {disk: {root_dirs: [/a]}}\n")
    assert of(f"-f {path}", "supervisor").given.web_port == "7005"
    assert of(f"-f {path} -w 1", "supervisor").given.web_port == "1"
    assert of(f"-f {path}").given.spill_dir == ["/a"]


@pytest.mark.parametrize(
    ("command", "line", "warned"),
    [
        ("worker", "-H 127.0.0.1", None),
        ("worker", "", "0.0.0.0 without TLS"),
        ("web", "-H 127.0.0.1", None),
        ("web", "", "web service, without TLS or a token"),
        ("web", "--web-token-file {token}", None),
        ("supervisor", "-H 127.0.0.1", "web service, without TLS or a token"),
        ("supervisor", "-H 127.0.0.1 --web-token-file {token}", None),
        ("supervisor", "--web-token-file {token}", "0.0.0.0 without TLS"),
    ],
)
def test_open_ports_are_warned_of_and_refused(command, line, warned, tmp_path, caplog, capsys):
    """Each port that others reach needs TLS; for the web service a token will do."""
    token = tmp_path / "token"
    token.write_text("abc")
    line = line.format(token=token)
    of(line, command)
    said = capsys.readouterr().err + caplog.text
    if warned is None:
        assert "whoever reaches the port" not in said
        of(f"{line} --require-secure", command)
    else:
        assert warned in said
        with pytest.raises(SystemExit):
            of(f"{line} --require-secure", command)
        assert warned in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "line", "ways", "token"),
    [
        ("worker", "", ["-H 127.0.0.1"], False),
        ("web", "", ["-H 127.0.0.1"], True),
        ("supervisor", "-H 127.0.0.1", ["-D 'web.host=\"127.0.0.1\"'"], True),
        ("supervisor", "", ["-H 127.0.0.1", "-D 'web.host=\"127.0.0.1\"'"], False),
    ],
)
def test_a_refusal_names_what_helps(command, line, ways, token, tmp_path, capsys):
    """Each way that it names is enough, and it names a token only where that is."""
    with pytest.raises(SystemExit):
        of(f"{line} --require-secure", command)
    told = capsys.readouterr().err
    assert f"only with {' and '.join(ways)} (" in told
    of(f"{line} {' '.join(ways)} --require-secure", command)
    assert (", or --web-token-file," in told) is token
    if token:
        (tmp_path / "token").write_text("abc")
        of(f"{line} --web-token-file {tmp_path}/token --require-secure", command)


def test_a_token_that_cannot_be_read(tmp_path, capsys):
    """The command says which file, and that an empty one holds none."""
    (tmp_path / "empty").write_text("")
    for name, words in (("gone", "cannot read the token"), ("empty", "holds no token")):
        with pytest.raises(SystemExit):
            of(f"--web-token-file {tmp_path / name}", "web")
        told = capsys.readouterr().err
        assert words in told
        assert name in told
    with pytest.raises(SystemExit):
        of("", "worker", MARS_WEB_TOKEN_FILE=f"{tmp_path}/gone")
    assert "gone" in capsys.readouterr().err


def test_the_token_does_not_show():
    """Neither in the settings nor in what is left of the options."""
    found = of("", "web", MARS_WEB_TOKEN="hush-hush")  # noqa: S106
    assert found.token is not None
    assert "hush-hush" not in f"{found} {found.given}"
