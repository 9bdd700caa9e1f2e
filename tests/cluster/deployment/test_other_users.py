"""Other users of the host: what they put in shared folders is neither imported nor followed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import marsdask
import marsdask.tensor as mt
from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.source import ROOT

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="NOT TESTED WITHOUT ROOT: another user needs another uid",
)

OTHER = 54321

#: What another user wants to run as the one who imports it.
_EVIL = "import os; open({owned!r}, 'a').write(f'{{__name__}} {{os.getpid()}}\\n'); 1 / 0"

#: Renames what others have below the working directory, and puts a folder of its own there.
_RENAME = """
while :; do
  for path in */ */*/ */*/*/; do
    path=${path%/}
    if ! [ -L "$path" ] && ! [ -O "$path" ] && mv "$path" "$path.old" 2>/dev/null; then
      echo "moved $path"; mkdir "$path"; cp dask-scratch-space/*.py "$path"
    fi
  done
done
"""


class SharedFolder:
    """A folder like ``/tmp``, in which another user waits for this one."""

    def __init__(self, path: Path, precious: Path) -> None:
        self.path, self.owned = path, path / "owned"
        self.owned.touch()
        path.chmod(0o1777)
        evil = _EVIL.format(owned=str(self.owned))
        for name in ("dask-scratch-space", f"dask-scratch-space-{os.geteuid()}", "marsdask-0"):
            folder = path / name
            folder.mkdir()
            for module in ("resource.py", "tblib.py", "multiprocessing.py", "tempfile.py"):
                (folder / module).write_text(evil)
            for lock in ("global.lock", "purge.lock", "core-0"):
                (folder / lock).symlink_to(precious)
        (path / "multiprocessing.py").write_text(evil)
        (path / "resource.py").write_text(evil)
        for item in (path, *path.rglob("*")):
            if item not in (path, self.owned):
                os.lchown(item, OTHER, OTHER)
                if not item.is_symlink():
                    item.chmod(0o777)

    @contextlib.contextmanager
    def renaming(self) -> Iterator[None]:
        """Have the other user rename folders of this one, without success."""
        ids = (f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", "--pdeathsig=KILL")
        attacker = subprocess.Popen(
            ["setpriv", *ids, "nice", "sh", "-c", _RENAME], cwd=self.path, stdout=subprocess.PIPE
        )
        try:
            yield
            assert attacker.poll() is None
        finally:
            attacker.kill()
            moved, _ = attacker.communicate()
        assert not moved


@pytest.fixture
def shared(tmp_path):
    """Give the folder, and check in the end that nothing of the other user was used."""
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    path = Path(tempfile.mkdtemp(prefix="marsdask-shared-"))
    try:
        folder = SharedFolder(path, precious)
        yield folder
        assert folder.owned.read_text() == ""
        assert precious.read_text() == "precious"
    finally:
        shutil.rmtree(path)


_PROGRAM = """
import helper, marsdask, marsdask.remote as mr, marsdask.tensor as mt, os
scheduler, options = {session}
with marsdask.new_session(scheduler, **options) as session:
    print(mr.spawn(helper.double, (21,)).execute(session=session).fetch(session=session))
    print(float(mt.ones(8, chunk_size=4).sum().execute(session=session).fetch(session=session)))
    mr.run_script(os.path.join(os.path.dirname(__file__), "ranked.py"), session=session)
"""


@pytest.mark.parametrize("session", ["('processes', {})", "(None, {'n_worker': 1, 'n_cpu': 1})"])
def test_a_program(shared, tmp_path, session):
    """It imports its own modules, here, in children and in ranks of a script."""
    (tmp_path / "helper.py").write_text("def double(number):\n    return 2 * number\n")
    (tmp_path / "ranked.py").write_text("import helper, multiprocessing; print(helper.double(4))")
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM.format(session=session))
    with shared.renaming():
        done = subprocess.run(
            [sys.executable, program],
            cwd=shared.path,
            env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(shared.path)},
            capture_output=True,
            text=True,
            timeout=2 * DEADLINE,
            check=False,
        )
    assert done.stdout.splitlines()[:2] == ["42", "8.0"], done.stderr
    assert "[rank 0] 8" in done.stdout + done.stderr, "a worker's output is its cluster's"


_COMMAND = """
import sys
from marsdask.scheduler.cli.{name} import main
if __name__ == "__main__":
    sys.exit(main())
"""


def test_commands(shared, tmp_path):
    """Those of a cluster with secrets, in a working directory where others write."""
    for name in ("supervisor", "worker", "web"):
        (tmp_path / f"mars-{name}").write_text(_COMMAND.format(name=name))
    port, web, ui = (free_port() for _ in range(3))
    secure = tmp_path / "secure"
    environment = {"TMPDIR": str(shared.path), "MARS_SECURE_DIR": str(secure)}
    with running() as commands, shared.renaming():

        def start(line: str) -> None:
            within = ("env", "-C", str(shared.path))
            line = f"python {tmp_path}/{line}"
            commands.append(Command(line, within=within, MARS_CPU_TOTAL="1", **environment))
            commands[-1].wait_for("started at")

        start(f"mars-supervisor -H 127.0.0.1 -p {port} -w {web} --secure")
        line = commands[0].wait_for("new_session(")
        token = line.split('token="')[1].split('"')[0]
        start(f"mars-worker -H 127.0.0.1 -s 127.0.0.1:{port} --join {token}")
        start(f"mars-web -H 127.0.0.1 -p {ui} -s 127.0.0.1:{port} --join {token}")
        with marsdask.new_session(f"https://127.0.0.1:{web}", token=token) as session:
            assert mt.ones(8, chunk_size=4).sum().execute(session=session).fetch() == 8


def test_a_directory_of_another_user(shared, tmp_path):
    """One that is given is refused in one line."""
    theirs = shared.path / "dask-scratch-space"
    with running() as commands:
        commands.append(Command(f"mars-worker -H 127.0.0.1 --spill-dir {theirs}"))
        assert commands[0].wait() == 2
        assert f"{theirs} belongs to another user" in commands[0].said[-1]
        commands.append(
            Command("mars-supervisor -H 127.0.0.1", DASK_TEMPORARY_DIRECTORY=str(theirs))
        )
        assert commands[1].wait() == 1
        assert f"{theirs} belongs to another user" in commands[1].said[-1]
