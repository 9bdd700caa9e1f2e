"""The folders of servers, and where Python looks for modules."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dask.config
import pytest
from distributed import get_worker

from marsdask.scheduler.storage import server_folder as folders
from marsdask.scheduler.storage.private_folder import check
from marsdask.scheduler.storage.server_folder import own_path, safe_children, server_folder
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsNanny, MarsWorker
from tests.cluster.loop import cluster, run


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """Have a folder for temporary files that all users share."""
    path = tmp_path / "shared"
    path.mkdir()
    path.chmod(0o1777)
    monkeypatch.setattr("tempfile.tempdir", str(path))
    return path


@pytest.mark.parametrize("given", [None, "option", "configuration"])
def test_where_it_is(shared, tmp_path, given):
    """Below a private folder, where distributed's name is added once."""
    option = str(tmp_path / "a") if given == "option" else None
    config = {"temporary-directory": str(tmp_path / "b") if given == "configuration" else None}
    with dask.config.set(config):
        path = server_folder(option)
        assert server_folder(path) == path, "as a nanny hands it to its worker"
    above = {None: shared / f"marsdask-{os.geteuid()}", "option": tmp_path / "a"}
    assert path == str(above.get(given, tmp_path / "b") / "dask-scratch-space")
    assert os.stat(path).st_mode & 0o077 == 0


@pytest.mark.parametrize("given", [None, "mine"])
def test_of_every_server(shared, tmp_path, given):
    """None is where others can write, and none is on ``sys.path``, while it runs or later."""
    path = list(sys.path)
    options: dict[str, Any] = {}
    if given is not None:
        options["local_directory"] = str(tmp_path / given)

    async def main():
        workers = ({**options, "nthreads": 1},)
        async with cluster(Supervisor, MarsWorker, workers=workers, **options) as (server, _):
            nanny = MarsNanny(server.address, **options)
            for one in (server, *server.test_workers, nanny):
                where = one.local_directory
                assert where.startswith(f"{shared if given is None else tmp_path / given}/")
                assert os.path.dirname(where) != str(shared)
                check(os.path.dirname(where))
                assert os.stat(where).st_mode & 0o077 == 0
                assert sys.path == path
            await nanny.close()
        assert sys.path == path

    run(main)
    assert [one.name for one in shared.iterdir()] in ([], [f"marsdask-{os.geteuid()}"])


def number():
    """Import a module that a client has uploaded, and read a file that it has."""
    data = Path(get_worker().local_directory, "uploaded.csv").read_text()
    return importlib.import_module("uploaded_later").NUMBER, data


def test_uploads(tmp_path, monkeypatch):
    """Modules are found wherever they are asked for first, files where Dask's documents say.

    A newer one of the same length is used in place of the older one. Both are gone at the end.
    """
    monkeypatch.syspath_prepend(tmp_path / "unrelated")
    path = list(sys.path)
    module, data = tmp_path / "uploaded_later.py", tmp_path / "uploaded.csv"
    data.write_text("1,2")

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=({},)) as (server, client):
            for value in (1, 2):
                module.write_text(f"NUMBER = {value}")
                await client.upload_file(str(module), load=False)
                await client.upload_file(str(data), load=False)
                sys.modules.pop("uploaded_later", None)
                answer = await client.submit(number, pure=False)
                assert answer == (value, "1,2")
            (worker,) = server.test_workers
            added = [one for one in sys.path if one not in path]
            owners = [server.local_directory, worker.local_directory]
            assert {os.path.dirname(one) for one in added} == set(owners)
            assert own_path() == path, "what a fork server gets"

    run(main)
    sys.modules.pop("uploaded_later", None)
    assert sys.path == path


SHOW = "import os, sys; print(sys.flags.safe_path, os.environ.get('PYTHONSAFEPATH'))"


def shown():
    done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_children(monkeypatch):
    """They start with a safe path; what users start from them does not, unless users say so."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    assert shown() == ["False", "None"]
    with safe_children():
        assert shown()[0] == "True"
        folders.forget_safe_path()
        assert shown() == ["False", "None"]
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    with safe_children():
        folders.forget_safe_path()
        assert shown() == ["True", "1"]
    assert shown() == ["True", "1"]
