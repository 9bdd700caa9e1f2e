"""What is installed: the mapping of scheduler/, the link, the guard, wheel and sdist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import marsdask
from tests.source import ROOT

# Setuptools warns of what it will drop one day; that is not what is tested here.
ENVIRONMENT = os.environ | {"PYTHONWARNINGS": "ignore"}


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a child in a folder and return what it said."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build an sdist of a copy of the tree, then a wheel of the unpacked sdist, as pip would."""
    base = tmp_path_factory.mktemp("packaging")
    copy, out = base / "copy", base / "dist"
    shutil.copytree(
        ROOT,
        copy,
        symlinks=True,
        ignore=shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__"),
    )
    hook = "import sys, setuptools.build_meta as b; getattr(b, sys.argv[1])(sys.argv[2])"
    sdist = run(sys.executable, "-c", hook, "build_sdist", str(out), cwd=copy)
    assert sdist.returncode == 0, sdist.stderr
    with tarfile.open(next(out.glob("*.tar.gz"))) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # from 3.11.4 on
        archive.extractall(base / "unpacked")  # noqa: S202 - our own archive
    unpacked = next((base / "unpacked").iterdir())
    wheel = run(sys.executable, "-c", hook, "build_wheel", str(out), cwd=unpacked)
    assert wheel.returncode == 0, wheel.stderr
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> list[str]:
    """Return the names in the wheel."""
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def sdist(built: Path) -> list[str]:
    """Return the names in the sdist, below its top folder."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def test_the_wheel_is_pure_python(built: Path) -> None:
    """One wheel serves every platform."""
    assert next(built.glob("*.whl")).name.endswith("-py3-none-any.whl")


def test_the_wheel_holds_every_module(wheel: list[str]) -> None:
    """Each file of marsdask/ and scheduler/ is in the wheel, once, under marsdask/."""
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "marsdask").rglob("*.py")}
    ours = {name for name in ours if not name.startswith("marsdask/scheduler/")}
    ours |= {f"marsdask/{path.relative_to(ROOT)}" for path in (ROOT / "scheduler").rglob("*.py")}
    assert {name for name in wheel if name.endswith(".py")} == ours
    assert "marsdask/scheduler/base.py" in wheel
    assert {"marsdask/py.typed", "marsdask/scheduler/web/home.html"} <= set(wheel)


def test_the_wheel_holds_nothing_else(wheel: list[str]) -> None:
    """No top-level `scheduler`, no tests, no benchmarks."""
    assert {name.split("/", maxsplit=1)[0] for name in wheel} == {
        "marsdask",
        f"marsdask-{marsdask.__version__}.dist-info",
    }


def test_the_sdist_holds_what_a_build_needs(sdist: list[str]) -> None:
    """The files that a build reads are there, and the licence."""
    assert {
        "LICENSE",
        "README.md",
        "marsdask/__init__.py",
        "marsdask/py.typed",
        "pyproject.toml",
        "scheduler/base.py",
        "setup.py",
    } <= set(sdist)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository")
def test_the_link_is_committed_as_a_link() -> None:
    """marsdask/scheduler is in git as a symbolic link to ../scheduler."""
    listed = run("git", "ls-files", "-s", "marsdask/scheduler", cwd=ROOT).stdout
    assert listed.startswith("120000 ")
    assert (ROOT / "marsdask/scheduler").readlink() == Path("../scheduler")


def test_the_folder_cannot_be_imported_by_its_own_name() -> None:
    """`import scheduler` from the repository's root is refused and names the right package."""
    done = run(sys.executable, "-c", "import scheduler", cwd=ROOT)
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert "marsdask.scheduler" in done.stderr


def test_the_scheduler_is_useful_alone() -> None:
    """Importing marsdask.scheduler loads no tensor, no frame and no estimator."""
    code = "import sys, marsdask.scheduler; print(*sys.modules)"
    done = run(sys.executable, "-c", code, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    users = re.compile(r"marsdask\.(tensor|dataframe|learn)\b")
    assert not [name for name in done.stdout.split() if users.match(name)]


def project() -> dict[str, Any]:
    """Return the table [project] of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def test_there_is_one_version() -> None:
    """The project and the package name the same version, and the changelog knows it."""
    version = project()["version"]
    assert marsdask.__version__ == version
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)", changelog, re.MULTILINE)[0] == version


def test_there_are_no_upper_pins() -> None:
    """A dependency of users states what it needs at least, never at most."""
    extras = project()["optional-dependencies"]
    wanted = [
        *project()["dependencies"],
        *extras["gpu"],
        *extras["kubernetes"],
        *extras["xgboost"],
        *extras["lightgbm"],
        *extras["statsmodels"],
    ]
    assert wanted
    assert not [one for one in wanted if re.search(r"<|==|~=|!=", one)]
