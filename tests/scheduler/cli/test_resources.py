"""The resources of a worker's options on a host."""

import dask.config
import psutil
import pytest

from marsdask.scheduler import limits
from marsdask.scheduler.cli import resources
from marsdask.scheduler.cli.options import parse
from marsdask.scheduler.cli.resources import resolve
from marsdask.scheduler.cli.sizes import ConfigError

GIB = 2**30


@pytest.fixture(autouse=True)
def _host(monkeypatch):
    """Pretend to be a host of eight cores and 16 GiB, half of which is free."""
    monkeypatch.setattr(limits, "cpus", lambda: 8)
    monkeypatch.setattr(limits, "memory", lambda: 16 * GIB)
    memory = psutil.virtual_memory()._replace(available=8 * GIB)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)


def of(line, **environ):
    """Return the resources of a command line."""
    return resolve(parse("worker", "mars-worker", line.split(), environ)[1], environ)


@pytest.mark.parametrize(
    ("line", "cpus", "threads"),
    [
        ("", 8, [2, 2, 2, 2]),
        ("--n-cpu auto", 8, [2, 2, 2, 2]),
        ("--n-cpu 3", 3, [1, 1, 1]),
        ("--cpu-procs 3 --processes 2", 3, [2, 1]),
        ("--n-cpu 12 --processes 1", 12, [12]),
    ],
)
def test_cores(line, cpus, threads):
    """All are used, or as many as asked for, shared by as many processes as make sense."""
    found = of(line)
    assert (found.n_cpu, found.threads) == (cpus, threads)


def test_memory():
    """Of the total, in both words; half of what is free is for results."""
    assert (of("").memory, of("").cache) == (16 * GIB, 4 * GIB)
    assert of("--phy-mem 50%").memory == of("--mem-bytes 8g").memory == 8 * GIB
    assert of("--cache-mem 512m --phy-mem 90%").cache == 512 * 2**20
    assert of("", MARS_CACHE_MEM_SIZE="1g", MARS_CACHE_MEM_SCALE="0.5").cache == GIB // 2


def test_io_and_devices(tmp_path):
    """Numbers have their defaults; no device is not the same as all of them."""
    found = of(f"--spill-dirs {tmp_path}/a:{tmp_path}/b")
    assert found.spill_dirs == [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert (tmp_path / "b").is_dir()
    assert (found.io_threads, found.io_parallel, found.devices) == (4, 1, None)
    assert of("--net-procs 2").io_threads == 2
    assert of("", MARS_LOCK_FREE_FILEIO="1").io_parallel > 1000
    assert of("--cuda-devices 0,1").devices == ["0", "1"]
    assert of("--cuda-device 2").devices == ["2"]
    _, given = parse("worker", "mars-worker", ["--cuda-devices", ""], {})
    assert resolve(given, {}).devices == []


def test_what_is_dasks_to_do():
    """Compression, shuffles and the directory of shared memory are its configuration."""
    found = of(
        "--disk-compression zlib --transfer-compression none --write-shuffle-to-disk "
        "--plasma-dir /dev/shm --plasma-limit 1g"
    ).config
    assert found == {
        "distributed.worker.memory.spill-compression": "zlib",
        "distributed.comm.compression": False,
        "distributed.p2p.storage.disk": True,
        "marsdask.shared.directory": "/dev/shm",
        "marsdask.shared.limit": GIB,
    }
    for name in found:
        if name.startswith("distributed"):
            dask.config.get(name)  # KeyError: distributed does not know it any more


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--n-cpu many", "--n-cpu"),
        ("--n-cpu -1", "positive integer"),
        ("--n-cpu 0", "positive integer"),
        ("--n-cpu 2 --processes 3", "--n-cpu is 2"),
        ("--phy-mem much", "--mem-bytes"),
        ("--mem-bytes 100m", "--mem-bytes 100m is less than --min-mem 128m"),
        ("--n-cpu 4 --mem-bytes 200m", "needs 64 MiB .* each of 4 gets 50: .*--mem-bytes.*--n-cpu"),
        ("--min-mem 32m --mem-bytes 48m --processes 1", "each of 1 gets 48"),
        ("--min-mem 9g", "8192 MiB of memory are free, less than --min-mem 9g"),
        ("--cache-mem 1m --min-cache-mem 1g", "--min-cache-mem 1g"),
        ("--spill-dir /proc/x", "spill to /proc/x"),
        ("--plasma-dir /proc/x", "share memory in /proc/x"),
        ("--disk-compression best", "none, "),
    ],
)
def test_what_the_host_cannot_give(line, message):
    """It is refused, by name."""
    with pytest.raises(ConfigError, match=message):
        of(line)


@pytest.mark.parametrize("line", ["", "--mem-bytes 1g", "--mem-bytes 100m"])
def test_what_is_free_is_at_most_the_containers(line, monkeypatch):
    """However much memory the host has free, and however much is asked for."""
    monkeypatch.setattr(limits, "memory", lambda: 64 * 2**20)
    with pytest.raises(ConfigError, match="64 MiB of memory are free, less than --min-mem 128m"):
        of(line)


def test_processes_share_what_the_container_has(monkeypatch):
    """Requests beyond the limit do not increase a share."""
    monkeypatch.setattr(limits, "memory", lambda: 200 * 2**20)
    for line in ("", "--mem-bytes 1g"):
        with pytest.raises(ConfigError, match="each of 4 gets 50"):
            of(f"--n-cpu 4 {line}")
    assert of("--n-cpu 4 --processes 3 --mem-bytes 1g").processes == 3


def test_a_directory_that_memory_cannot_be_shared_in(tmp_path, caplog, monkeypatch):
    """The workers start all the same, and it is said; so they do where none is named."""
    monkeypatch.setattr(resources, "problem", lambda folder: f"no file in {folder}")
    folder = tmp_path / "plasma"
    assert of(f"--plasma-dir {folder}").config["marsdask.shared.directory"] == str(folder)
    assert f"cannot share memory between processes: no file in {folder}" in caplog.text
    assert "marsdask.shared.directory" not in of("", MARS_PLASMA_DIRS=":").config


def test_further_directories_of_shared_memory(tmp_path, caplog):
    """One is used; the others are named."""
    first, second, third = (tmp_path / name for name in "abc")
    found = of(f"--plasma-dir {first},{second}:{third}")
    assert found.config["marsdask.shared.directory"] == str(first)
    assert f"ignoring {second}, {third}" in caplog.text


def test_less_free_memory_than_wished():
    """It starts all the same where that was asked for."""
    assert of("--min-mem 9g --ignore-avail-mem").memory == 16 * GIB
    assert of("--n-cpu 4 --mem-bytes 100m --ignore-avail-mem").processes == 4
