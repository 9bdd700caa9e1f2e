"""The image: its file, what it has beside Python's packages, and the tool that builds it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from marsdask.compat.alias import VARIABLE
from tests.source import ROOT

TOOL = ROOT / "bin/kube-image-tool.sh"
DOCKERFILE = ROOT / "docker/Dockerfile"
SCRIPTS = (TOOL, ROOT / "docker/entrypoint.sh")

SHELLCHECK = shutil.which("shellcheck", path=Path(sys.executable).parent)

#: What ``python -m mars.deploy.kubernetes.X`` runs in the image.
RUN = """
import site, sys
before = set(sys.modules)
site.addsitedir(sys.argv[1])
assert not any(name.startswith("marsdask") for name in set(sys.modules) - before)
import runpy
for name in ("scheduler", "web", "worker", "supervisor", "probe"):
    sys.argv = [name, "--version"]
    try:
        runpy.run_module(f"mars.deploy.kubernetes.{name}", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        assert end.code == (2 if name == "probe" else 0), name
"""


def test_mars_means_marsdask_in_the_image():
    """Each module of the documents is a command; Python starts without loading anything."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(ROOT / "docker/site")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "mars-scheduler",
        "mars-web",
        "mars-worker",
        "mars-supervisor",
    ]


#: A process that a process with the alias starts, and imports marsdask first.
CHILD = "import site, sys; site.addsitedir(sys.argv[1]); import marsdask, mars"


def test_processes_that_are_started_in_the_image():
    """The alias that they inherit is that of the image, no installed Mars."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(ROOT / "docker/site")],
        env=os.environ | {"PYTHONPATH": str(ROOT), VARIABLE: "install"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def instructions():
    """Return the instructions of the image's file: [(word, rest)]."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


def test_the_file_of_the_image():
    """The base may be pinned; its user is not root; what it copies is there, and sent."""
    found = instructions()
    assert found[0] == ("ARG", "PYTHON_IMAGE=python:3.13-slim-bookworm")
    assert all(rest.startswith("${PYTHON_IMAGE}") for word, rest in found if word == "FROM")
    last = [rest for word, rest in found if word == "USER"][-1]
    assert last == "1000:1000"
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    sent = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    assert all((ROOT / name).exists() for name in sent)
    copied = [rest.split()[0] for word, rest in found if word == "COPY" and "--from" not in rest]
    assert copied == [".", "docker/entrypoint.sh"]
    assert {"docker", "marsdask", "scheduler", "pyproject.toml", "setup.py"} <= set(sent)
    for word, rest in found:
        if word == "RUN":
            subprocess.run(["bash", "-n", "-c", rest], check=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_sound(script):
    """They can be run, and shellcheck finds nothing where it is installed."""
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    if SHELLCHECK is not None:
        subprocess.run([SHELLCHECK, script], check=True)


def tool(folder, *arguments, builders=("docker",)):
    """Run the tool where only some builders are; return its status, its text, and their calls."""
    path = folder / "bin"
    path.mkdir(exist_ok=True)
    for name in ("bash", "cat", "dirname", "head", "sed"):
        link = path / name
        if not link.exists():
            link.symlink_to(shutil.which(name))
    calls = folder / "calls"
    calls.write_text("")
    for name in builders:
        (path / name).write_text(f'#!/bin/bash\necho "{name} $*" >> {shlex.quote(str(calls))}\n')
        (path / name).chmod(0o755)
    done = subprocess.run(
        [TOOL, *arguments],
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    return done.returncode, done.stdout + done.stderr, calls.read_text().splitlines()


def version():
    match = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert match is not None
    return match[1]


def test_build_as_documented(tmp_path):
    """``bin/kube-image-tool.sh build`` tags the image with the version, from any folder."""
    names = f"-t marsdask/marsdask:v{version()} -t marsdask/marsdask:latest"
    assert tool(tmp_path, "build")[2] == [f"docker build -f {DOCKERFILE} {names} {ROOT}"]
    name = ("-r", "r.example", "-o", "me", "-t", "1")
    status, _, calls = tool(tmp_path, *name, "-p", "python@sha256:0", "build")
    base = "PYTHON_IMAGE=python@sha256:0"
    assert status == 0
    assert calls == [
        f"docker build -f {DOCKERFILE} -t r.example/me/marsdask:1 --build-arg {base} {ROOT}"
    ]


def test_push(tmp_path):
    """Each name of the image goes to the registry."""
    calls = tool(tmp_path, "-r", "r.example", "push")[2]
    assert calls == [
        f"docker push r.example/marsdask/marsdask:{tag}" for tag in (f"v{version()}", "latest")
    ]


def test_any_builder(tmp_path):
    """The first of four is used, or the one that is asked for."""
    for name in ("nerdctl", "buildah", "podman"):  # each goes before those that are there
        assert tool(tmp_path, "build", builders=[name])[2][0].startswith(f"{name} build")
    assert tool(tmp_path, "-b", "nerdctl", "build")[2][0].startswith("nerdctl build")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give build or push"),
        (["rebuild"], "unknown command: rebuild"),
        (["build", "push"], "give build or push"),
        (["-x", "build"], "unknown option: -x"),
        (["-t"], "-t needs a value"),
        (["-b", "rkt", "build"], "invalid -b: rkt"),
        (["push"], "push needs -r"),
        (["-b", "podman", "build"], "found none of podman"),
    ],
    ids=str,
)
def test_wrong_arguments(tmp_path, arguments, words):
    """An error, the usage, status 1, and nothing is run."""
    status, said, calls = tool(tmp_path, *arguments)
    assert (status, calls) == (1, [])
    assert words in said
    assert "Usage: " in said


def test_help(tmp_path):
    """It names all builders and options, and runs nothing."""
    for flag in ("--help", "-h"):
        status, said, calls = tool(tmp_path, flag)
        assert (status, calls) == (0, [])
        assert "docker, podman, buildah or nerdctl" in said
