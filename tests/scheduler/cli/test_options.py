"""The options of both generations, from the command line and from the environment."""

import pytest

from marsdask.scheduler.cli.options import COMMANDS, parse

#: Lines of Mars's documents and of its own --help, which must be understood as they are.
LINES = {
    "supervisor": [
        "-H 192.168.1.10 -p 7001 -w 7005 -s 192.168.1.10:7001,192.168.1.11:7002",
        "-a 192.168.1.10 -p 7001 -s 192.168.1.10:7001,192.168.1.11:7002",
        "-w 8080",
        "-e 1.2.3.4:5 -c {} -f x.yml --supervisors a:1 --log-level debug --log-format %(message)s",
        "--ports 1,2 --web-port 3 --n-process 4 --use-uvloop auto --load-modules a b",
        "--schedulers a:1 --advertise h --endpoint h:1 --nproc 4 --disable-failover --level info",
        "--format x --log_conf y -Dscheduler.default_cpu_usage=1",
    ],
    "worker": [
        "-a 192.168.1.20 -p 7003 -s a:1,b:2 --spill-dirs /mnt/disk2/spill:/mnt/disk3/spill",
        "-a localhost -p 9012 -s localhost:9010 --cache-mem 512m --phy-mem 90%",
        "--cpu-procs 4 --net-procs 4 --io-procs 4 --cuda-device 0 --ignore-avail-mem --min-mem 1g",
        "--min-cache-mem 1g --spill-dir /a --io-parallel-num 2 --disable-proc-recover",
        "--write-shuffle-to-disk --plasma-dir /dev/shm --plasma-limit 1g --disk-compression lz4",
        "--transfer-compression none --n-cpu auto --mem-bytes auto --n-io-process 1",
        "--cuda-devices 0,1",
    ],
    "web": ["-a w -p 7005 -s a:1", "-p 7005 -s a:1,b:2", "--ui-port 1 -H 0.0.0.0"],
}


@pytest.mark.parametrize(
    ("command", "line"), [(command, line) for command in LINES for line in LINES[command]]
)
def test_documented_lines(command, line):
    """Each line parses, to something else than nothing given."""
    assert parse(command, "mars", line.split(), {}) != parse(command, "mars", [], {})


def test_both_spellings_are_one_option():
    """Old and new words for the same thing end up in the same place."""
    for line in ("--cpu-procs 3 --phy-mem 4g", "--n-cpu 3 --mem-bytes 4g"):
        _, given = parse("worker", "mars", line.split(), {})
        assert (given.n_cpu, given.mem_bytes) == ("3", "4g")


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (command, option)
        for command, groups in COMMANDS.items()
        for options in groups.values()
        for option in options
        if option.env
    ],
    ids=lambda value: value if isinstance(value, str) else value.env,
)
def test_each_option_is_above_its_variable(command, option):
    """In each of its spellings; a variable counts where none of them is there."""
    switch = option.many == "store_true"
    theirs, ours = ("0", []) if switch else ("2", ["1"])
    environ = {option.env: theirs}
    _, given = parse(command, "mars", [], environ)
    assert getattr(given, option.dest) in (False, "2", ["2"])
    for flag in (*option.flags.split(), *option.hidden.split()):
        _, given = parse(command, "mars", [flag, *ours], environ)
        assert getattr(given, option.dest) in (True, "1", ["1"])


def test_variables_and_switches():
    """A variable counts where no option was given; switches say yes in words."""
    environ = {"MARS_BIND_PORT": "11111", "MARS_CPU_TOTAL": "2", "MARS_DISABLE_FAILOVER": "1"}
    _, given = parse("worker", "mars", ["-p", "7003"], environ)
    assert (given.port, given.n_cpu) == ("7003", "2")
    _, given = parse("supervisor", "mars", [], environ)
    assert (given.port, given.disable_failover) == ("11111", True)
    _, given = parse("supervisor", "mars", [], {"MARS_DISABLE_FAILOVER": "0"})
    assert given.disable_failover is False


def test_a_switch_that_means_neither(capsys):
    """A misspelt yes is no silent no."""
    with pytest.raises(SystemExit) as caught:
        parse("supervisor", "mars", [], {"MARS_REQUIRE_SECURE": "enabled"})
    assert caught.value.code == 2
    assert "invalid MARS_REQUIRE_SECURE: 'enabled'" in capsys.readouterr().err


def test_an_operator_that_requests_nothing():
    """It says 0, as nobody does on a command line."""
    _, given = parse("worker", "mars", [], {"MARS_CPU_TOTAL": "0", "MARS_MEMORY_TOTAL": "0"})
    assert (given.n_cpu, given.mem_bytes) == (None, None)
    assert parse("worker", "mars", ["--n-cpu", "0"], {})[1].n_cpu == "0"


@pytest.mark.parametrize(
    ("command", "line", "message"),
    [
        ("supervisor", "--n-cpu 2", "unrecognized arguments: --n-cpu"),
        ("worker", "--mem-byte=4g", "--mem-byte=4g. Did you mean '--mem-bytes'? (see mars"),
        ("worker", "--cuda-dev 0", "--cuda-dev"),
        ("worker", "-k redis://x", "-s"),
        ("worker", "--use-uvloop perhaps", "--use-uvloop"),
        ("web", "-w 1", "-w"),
    ],
)
def test_what_is_refused(command, line, message, capsys):
    """Options of other commands, abbreviations and the key-value store end with status 2."""
    with pytest.raises(SystemExit) as caught:
        parse(command, "mars-x", line.split(), {})
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command, capsys):
    """It shows each option, with the variable that stands for it."""
    with pytest.raises(SystemExit):
        parse(command, "mars-x", ["--help"], {})
    text = capsys.readouterr().out
    for options in COMMANDS[command].values():
        for option in options:
            assert option.flags.split()[0] in text
            assert option.env in text
    assert "--kv-store" not in text
