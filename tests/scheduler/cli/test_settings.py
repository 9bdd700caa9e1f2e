"""From options to checked settings: addresses, security, event loop, errors with status 2."""

import copy
import faulthandler
import logging
import os
import shlex
import subprocess
import sys

import dask.config
import pytest

from marsdask.scheduler.cli import logs
from marsdask.scheduler.cli.settings import is_loopback, read
from marsdask.scheduler.storage import private_folder
from tests.source import ROOT


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
    config = copy.deepcopy(dask.config.config)
    yield
    dask.config.config.clear()
    dask.config.config.update(config)
    for logger, level, handlers, propagate in before:
        logger.level, logger.handlers, logger.propagate = level, handlers, propagate


#: A token that cannot be guessed.
SECRET = "hush-hush-hush-hush"  # noqa: S105


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
        ("-H ::1", ("[::1]", 0, "[::1]")),
        ("-H :: -p 1", ("[::]", 1, None)),
        ("-e [::1]:7004", ("[::1]", 7004, "[::1]")),
        ("-a fd00::5", ("[::]", 0, "[fd00::5]")),
        ("-H 0.0.0.0 -a [fd00::5]", ("0.0.0.0", 0, "[fd00::5]")),
    ],
)
def test_addresses(line, expected):
    """The bound and the advertised address; a wildcard is never advertised."""
    found = of(line)
    assert (found.host, found.port, found.advertise) == expected


@pytest.mark.parametrize(
    ("line", "environ", "expected"),
    [
        ("", {"ENDPOINT": "127.0.0.3:1"}, ("127.0.0.3", 1)),
        ("", {"HOST": "127.0.0.3", "PORT": "1"}, ("127.0.0.3", 1)),
        ("-p 7003", {"HOST": "127.0.0.3"}, ("127.0.0.3", 7003)),
        ("-p 7003", {"ENDPOINT": "127.0.0.3:1"}, ("127.0.0.3", 7003)),
        ("-H 127.0.0.2", {"ENDPOINT": "127.0.0.3:1"}, ("127.0.0.2", 1)),
        ("-e 127.0.0.2:7004", {"HOST": "127.0.0.3", "PORT": "1"}, ("127.0.0.2", 7004)),
        ("-e 127.0.0.2:7004", {"ENDPOINT": "127.0.0.3:1"}, ("127.0.0.2", 7004)),
    ],
)
def test_the_command_line_says_where_to_listen(line, environ, expected):
    """In either form it is above the variables, which say what it leaves open."""
    found = of(line, **{f"MARS_BIND_{name}": value for name, value in environ.items()})
    assert (found.host, found.port) == expected


@pytest.mark.parametrize(
    ("line", "environ", "port"),
    [
        ("", {"UI_PORT": "1", "BIND_PORT": "2"}, 1),
        ("-p 1", {"UI_PORT": "2"}, 1),
        ("-e 127.0.0.2:1", {"UI_PORT": "2"}, 1),
        ("--ui-port 1", {"UI_PORT": "2", "BIND_ENDPOINT": "127.0.0.2:3"}, 1),
        ("-D web.port=2", {"UI_PORT": "1"}, 1),
        ("--ui-port 1 -p 2", {}, 1),
    ],
)
def test_the_port_of_the_web(line, environ, port):
    """It has two names and several variables; each option is above all of these."""
    found = of(line, "web", **{f"MARS_{name}": value for name, value in environ.items()})
    assert found.port == port


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", "0.0.0.0"),
        ("-H 127.0.0.2", "127.0.0.2"),
        ("-H ::1", "[::1]"),
        ("-H ::", "[::]"),
        ("-H fd00::5", "[::]"),
        ("-D 'web.host=\"::\"'", "[::]"),
    ],
)
def test_the_address_of_the_web(line, expected):
    """It is every address of the same kind, as it is appended to a port."""
    assert of(line, "supervisor").web_host == expected


def test_operators_speak_through_the_environment():
    """The variables of KubeDL are enough."""
    found = of("", MARS_BIND_PORT="11111", MARS_CONTAINER_IP="10.0.0.7", MARS_CPU_TOTAL="2")
    assert (found.host, found.port, found.advertise) == ("0.0.0.0", 11111, "10.0.0.7")
    assert found.given.n_cpu == "2"


def test_a_supervisor_stands_beside_none_that_dask_names():
    """Workers and ``mars-web`` join the one of Dask's variable."""
    environ = {"DASK_SCHEDULER_ADDRESS": "tcp://a:8786"}
    found = {name: of("", name, **environ).supervisors for name in ("supervisor", "worker", "web")}
    assert found == {"supervisor": [], "worker": ["tcp://a:8786"], "web": ["tcp://a:8786"]}


def test_crashes_tell_where(monkeypatch):
    """Those of worker processes too, which inherit the variable."""
    enabled: list[bool] = []
    monkeypatch.setattr(faulthandler, "enable", lambda: enabled.append(True))
    monkeypatch.setenv("PYTHONFAULTHANDLER", "")
    of("", MARS_ENABLE_FAULTHANDLER="0")
    assert not enabled
    of("", MARS_ENABLE_FAULTHANDLER="1")
    assert enabled
    with pytest.raises(SystemExit):
        of("", MARS_ENABLE_FAULTHANDLER="perhaps")
    assert os.environ["PYTHONFAULTHANDLER"] == "1"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-e 127.0.0.2:7004 -H 127.0.0.2", "-H"),
        ("-e 7004", "IP:PORT"),
        ("-p x", "port"),
        ("-H [::", "IPv6"),
        ("-s 127.0.0.1", "IP:PORT"),
        ("-s 127.0.0.1:99999", "IP:PORT"),
        ("-s 127.0.0.1:0", "IP:PORT"),
        ("-s fd00::5:7001", "[::1]:7001"),
        ("-a [fd00::5", "IPv6"),
        ("-D 'marsdask.web.hosts=\"*.example.com\"'", "'*.example.com'; give whole names"),
        ("-s 127.0.0.1:7001,tcp://host", "tcp://host"),
        ("--no-such-option", "--no-such-option"),
        ("-f /gone.yml", "/gone.yml"),
        ("-c {", "JSON"),
        ("-s http://127.0.0.1:7005", "port of its -p"),
        ("--log-level loud", "debug"),
        ("--log-format '%(nope)s'", "%(message)s"),
        ("--log-format '%(message'", "%(message)s"),
        ("--log-conf /gone.conf", "/gone.conf"),
        ("--use-uvloop yes", "uvloop"),
        ("--tls-cert /gone.pem", "/gone.pem"),
        ("--load-modules no.such.module", "no"),
        ("--load-modules .relative", "--load-modules"),
        ("-D distributed.scheduler=5", "distributed.scheduler"),
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


@pytest.mark.parametrize(
    ("command", "role"), [("supervisor", "scheduler"), ("worker", "worker"), ("web", "client")]
)
def test_a_part_of_tls_in_dasks_configuration(command, role, capsys):
    """An authority alone encrypts nothing: the command says which certificate it misses."""
    with dask.config.set({"distributed.comm.tls.ca-file": "ca.pem"}):
        with pytest.raises(SystemExit):
            of("", command)
        assert f"distributed.comm.tls.{role}.cert" in capsys.readouterr().err
        with dask.config.set({f"distributed.comm.tls.{role}.cert": "cert.pem"}):
            assert of("", command).scheme == "tls"


def test_a_web_port_without_a_certificate_of_its_own(capsys):
    """A client's is not one to listen with: the port is open, and is warned of or refused."""
    tls = {"distributed.comm.tls.ca-file": "ca", "distributed.comm.tls.client.cert": "cert"}
    with dask.config.set(tls):
        of("", "web")
        assert "web service, without TLS or a token" in capsys.readouterr().err
        with pytest.raises(SystemExit):
            of("--require-secure", "web")
        with dask.config.set({"distributed.comm.tls.scheduler.cert": "cert"}):
            of("--require-secure", "web")


def test_listening_to_everybody_warns(capsys):
    """Mars's default works with a warning; the loopback needs none."""
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


def test_a_file_for_logging_that_is_no_python(tmp_path, capsys):
    """Its arguments are expressions, which may be wrong in any way."""
    (tmp_path / "logging.conf").write_text(
        "[loggers]\nkeys=root\n[handlers]\nkeys=one\n[formatters]\nkeys=\n"
        "[logger_root]\nhandlers=one\n[handler_one]\nclass=StreamHandler\nargs=(1\n"
    )
    with pytest.raises(SystemExit) as caught:
        of(f"--log-conf {tmp_path / 'logging.conf'}")
    assert caught.value.code == 2
    assert "cannot read the logging configuration" in capsys.readouterr().err


def test_a_file_for_logging_is_everybodys(tmp_path):
    """Log records go to the configured file, in worker processes too."""
    (tmp_path / "logging.conf").write_text(
        "[loggers]\nkeys=root\n[handlers]\nkeys=file\n[formatters]\nkeys=\n"
        "[logger_root]\nlevel=INFO\nhandlers=file\n"
        "[handler_file]\nclass=FileHandler\nargs=('said.log',)\n"
    )
    worker = "import logging, distributed\nlogging.getLogger('distributed.worker').info('three')\n"
    command = (
        "import logging, subprocess, sys\n"
        "from marsdask.scheduler.cli import logs\n"
        "logs.configure(None, None, None)\n"
        "logging.getLogger('marsdask.scheduler').info('one')\n"
        "logging.getLogger('distributed.core').info('two')\n"
        f"subprocess.run([sys.executable, '-c', {worker!r}], check=True)\n"
    )
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-c", command]
    done = subprocess.run(run, cwd=tmp_path, env=environ, capture_output=True, check=True)
    assert (tmp_path / "said.log").read_text().split() == ["one", "two", "three"]
    assert done.stderr == b""


def test_the_file_gives_options(tmp_path):
    """A key of the file counts where the command line is silent."""
    path = tmp_path / "conf.yml"
    path.write_text("web: {port: 7005}\nstorage: {disk: {root_dirs: [/a]}}\n")
    assert of(f"-f {path}", "supervisor").given.web_port == "7005"
    assert of(f"-f {path} -w 1", "supervisor").given.web_port == "1"
    assert of(f"-f {path}").given.spill_dir == ["/a"]
    define = "-D 'web.host=\"127.0.0.4\"'"
    for line, host, port in (
        ("", "127.0.0.4", 7005),
        ("-p 1", "127.0.0.4", 1),
        ("-e 127.0.0.5:2", "127.0.0.5", 2),
    ):
        found = of(f"-f {path} {define} {line}", "web")
        assert (found.host, found.port) == (host, port)
    assert of(f"-f {path} {define}", "supervisor").host == "0.0.0.0"


def test_dasks_variables_are_above_the_file(tmp_path):
    """And below the command line."""
    path = tmp_path / "conf.yml"
    path.write_text("cluster: {node_timeout: 30}\ndistributed.comm.retry.count: 5\n")
    variables = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "40s"}
    ttl, count = "distributed.scheduler.worker-ttl", "distributed.comm.retry.count"
    before = dask.config.get(ttl)
    of(f"-f {path}", **variables)
    assert (dask.config.get(ttl), dask.config.get(count)) == (before, 5)
    of(f"-f {path} -D cluster.node_timeout=50", **variables)
    assert dask.config.get(ttl) == 50
    of(f"-f {path}")
    assert dask.config.get(ttl) == 30


#: Only the web port of this is open to others.
WEB_HOST = "-H 127.0.0.1 -D 'web.host=\"0.0.0.0\"'"


@pytest.mark.parametrize(
    ("command", "line", "warned"),
    [
        ("worker", "-H 127.0.0.1", None),
        ("worker", "", "0.0.0.0 without TLS"),
        ("web", "-H 127.0.0.1", None),
        ("web", "", "web service, without TLS or a token"),
        ("web", "--web-token-file {token} --behind-tls-proxy", None),
        ("supervisor", "-H 127.0.0.1", None),
        ("supervisor", WEB_HOST, "web service, without TLS or a token"),
        ("supervisor", f"{WEB_HOST} --web-token-file {{token}} --behind-tls-proxy", None),
        ("supervisor", "--web-token-file {token}", "0.0.0.0 without TLS"),
    ],
)
def test_open_ports_are_warned_of_and_refused(command, line, warned, tmp_path, caplog, capsys):
    """Each port that others reach needs TLS; the web service a token, and a proxy with TLS."""
    token = tmp_path / "token"
    token.write_text(SECRET)
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
        ("supervisor", WEB_HOST, ["-D 'web.host=\"127.0.0.1\"'"], True),
        ("supervisor", "", ["-H 127.0.0.1"], False),
    ],
)
def test_a_refusal_names_what_helps(command, line, ways, token, tmp_path, capsys):
    """Each way that it names is enough, and it names a token only where that is."""
    with pytest.raises(SystemExit):
        of(f"{line} --require-secure", command)
    told = capsys.readouterr().err
    assert f"only with {' and '.join(ways)} (" in told
    of(f"{line} {' '.join(ways)} --require-secure", command)
    assert (", or --web-token-file with --behind-tls-proxy," in told) is token
    if token:
        (tmp_path / "token").write_text(SECRET)
        line += f" --web-token-file {tmp_path}/token --require-secure"
        of(f"{line} --behind-tls-proxy", command)
        with pytest.raises(SystemExit):
            of(line, command)
        assert "can read its token" in capsys.readouterr().err


def test_a_token_that_can_be_guessed(capsys):
    """It is refused, whatever else is given."""
    with pytest.raises(SystemExit):
        of("--require-secure -H 127.0.0.1", "web", MARS_WEB_TOKEN="fifteen-letters")  # noqa: S106
    assert "at least 16 characters" in capsys.readouterr().err


def test_the_secret_of_a_secure_cluster(tmp_path, capsys):
    """Another token contradicts it, and it may not be short either."""
    environ = {"MARS_SECURE_DIR": f"{tmp_path}/secure"}
    join = f"--join {SECRET}.{'0' * 64}.07005"
    for command, line in (("supervisor", "--secure"), ("worker", join), ("web", join)):
        with pytest.raises(SystemExit):
            of(line, command, MARS_WEB_TOKEN=SECRET, **environ)
        assert "give no others" in capsys.readouterr().err
    assert of("--secure", "supervisor", **environ).token is not None
    (tmp_path / "secure" / "token").write_text("0123")
    with pytest.raises(SystemExit):
        of("--secure", "supervisor", **environ)
    assert "at least 16 characters" in capsys.readouterr().err


def test_a_token_that_cannot_be_read(tmp_path, capsys):
    """The command says which file, and that an empty one holds none."""
    (tmp_path / "empty").write_text("")
    for name, words in (("gone", "cannot read the token"), ("empty", "no token in")):
        with pytest.raises(SystemExit):
            of(f"--web-token-file {tmp_path / name}", "web")
        told = capsys.readouterr().err
        assert words in told
        assert name in told
    for command in ("supervisor", "web"):
        with pytest.raises(SystemExit):
            of("", command, MARS_WEB_TOKEN_FILE=f"{tmp_path}/gone")
        assert "gone" in capsys.readouterr().err


def test_the_token_of_a_worker(tmp_path, monkeypatch, capsys):
    """It closes its HTTP port, if it is there: the variable may name a file of other hosts."""
    monkeypatch.setenv("MARS_WEB_TOKEN", SECRET)
    assert read("worker", "mars-x", [], os.environ).token is not None
    assert "MARS_WEB_TOKEN" not in os.environ
    monkeypatch.delenv("MARS_WEB_TOKEN", raising=False)
    monkeypatch.setenv("MARS_JOIN", f"{SECRET}.{'0' * 64}.07005")
    joined = read("worker", "mars-x", ["-s", "host:7001"], os.environ)
    assert joined.join is not None
    assert "MARS_JOIN" not in os.environ
    monkeypatch.setenv("MARS_WEB_TOKEN_FILE", f"{tmp_path}/gone")
    monkeypatch.setenv("MARS_WEB_TOKEN", SECRET)
    capsys.readouterr()
    assert read("worker", "mars-x", [], os.environ).token is None
    assert "gone (No such file or directory): the HTTP ports" in capsys.readouterr().err
    assert "MARS_WEB_TOKEN" not in os.environ
    with pytest.raises(SystemExit) as caught:
        of(f"--web-token-file {tmp_path}/other")
    assert caught.value.code == 2
    assert f"cannot read the token in {tmp_path}/other" in capsys.readouterr().err


def test_the_token_does_not_show():
    """Neither in the settings nor in what is left of the options."""
    found = of("", "web", MARS_WEB_TOKEN=SECRET)
    assert found.token is not None
    assert SECRET not in f"{found} {found.given}"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o600])
def test_secrets_that_others_may_read(tmp_path, monkeypatch, caplog, mode):
    """Each file is named, with the command that helps; a pod has no other users."""
    monkeypatch.setattr(private_folder, "is_own_group", lambda gid: False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    token, key = tmp_path / "token", tmp_path / "key"
    token.write_text(SECRET)
    key.touch()
    for path in (token, key):
        path.chmod(mode)
    line = f"-H 127.0.0.1 --web-token-file {token} --tls-ca-file {key} --tls-cert {key}"
    line = f"{line} --tls-key {key}"
    for pod in (False, True):
        if pod:
            monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
        caplog.clear()
        for name in logs.LOGGERS:
            monkeypatch.setattr(logging.getLogger(name), "propagate", True)
        monkeypatch.setattr(logs, "configure", lambda *args: None)
        of(line, "supervisor")
        warned = [line for line in caplog.messages if "other users may read" in line]
        wanted = [] if pod or mode == 0o600 else [key, token]
        assert warned == [
            f"other users may read the secret in {path}: chmod go= {path}" for path in wanted
        ]
