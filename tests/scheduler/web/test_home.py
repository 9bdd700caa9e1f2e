"""The first page: what it may do, where it leads, and that names stay names."""

import asyncio
import base64
import hashlib
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from marsdask.scheduler.web import home
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import run
from tests.scheduler.web.pages import visited

HTML = "text/html,application/xhtml+xml"

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


class HomePage(HTMLParser):
    """The links of a page, and its scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.links, self.inside, self.parts = [], "", {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.inside = tag
        self.links += [value for name, value in attrs if name in ("href", "src", "action")]
        assert not any(name == "style" or name.startswith("on") for name, _ in attrs)

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside in ("script", "style"):
            self.parts[self.inside] = self.parts.get(self.inside, "") + data


@pytest.mark.parametrize("drawn", [False, True])
def test_it_leads_nowhere_else(drawn):
    """All addresses are relative, so that it works below any prefix; nothing is loaded."""
    page = HomePage(home.page(drawn=drawn))
    links = [link for link in page.links if link != "data:,"]  # no icon, rather than ours
    assert not any(urlsplit(link).scheme or link.startswith("/") for link in links)
    assert ("status" in links) is drawn
    assert "info/main/workers.html" in links


def test_it_says_what_dasks_charts_need():
    """Where they are drawn it says nothing of that; the extra that it names exists."""
    told = home.page(drawn=False)
    (extra,) = re.findall(r"pip install 'marsdask\[(\w+)\]'", told)
    assert f"\n{extra} = [" in (Path(__file__).parents[3] / "pyproject.toml").read_text()
    assert "bokeh" not in home.page(drawn=True)


@pytest.mark.parametrize("drawn", [False, True])
def test_nothing_but_its_own_script_runs(drawn):
    """The policy names the digests of its script and style, and allows to ask this server only."""
    text = home.page(drawn=drawn)
    policy = home.headers(text)["Content-Security-Policy"]
    allowed = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert allowed["default-src"] == "'none'"
    assert allowed["connect-src"] == "'self'"
    for tag, data in HomePage(text).parts.items():
        digest = base64.b64encode(hashlib.sha256(data.encode()).digest()).decode()
        assert allowed[f"{tag}-src"] == f"'sha256-{digest}'"


def test_names_become_text():
    """The script never makes markup of strings."""
    script = HomePage(home.page(drawn=True)).parts["script"]
    for way in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function("):
        assert way not in script


@pytest.mark.parametrize("bokeh", [False, True])
def test_a_supervisor_shows_it(bokeh, monkeypatch):
    """With bokeh and without; a browser and a program get the same."""
    if bokeh:
        monkeypatch.setattr(home, "has_charts", lambda application: True)
    else:
        monkeypatch.setitem(sys.modules, "distributed.dashboard.scheduler", None)

    async def main():
        async with visited(workers=()) as (_, _, visit):
            for headers in ({}, {"Accept": HTML}):
                page = await visit("/", **headers)
                assert page.code == 200
                assert page.headers["Content-Type"].startswith("text/html")
                assert page.body.decode() == home.page(drawn=bokeh)
                assert page.headers["Cache-Control"] == "no-store"

    run(main)


#: A name that would run if it became markup.
NASTY = """<img src=x onerror="document.title = 'taken over'">"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_in_a_browser(tmp_path):
    """It shows nodes and sessions, whatever these are called, and no negative figure."""

    async def main():
        async with visited(workers=({},)) as (server, _, visit):
            await visit(f"/api/session/{quote(NASTY, safe='')}", "PUT")
            command = [
                f"{CHROMIUM}",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-breakpad",
            ]
            command += [f"--user-data-dir={tmp_path}", "--virtual-time-budget=2000", "--dump-dom"]
            done = await asyncio.to_thread(
                subprocess.run,
                [*command, f"{visit.base}/"],
                capture_output=True,
                text=True,
                timeout=DEADLINE,
                check=True,
            )
            shown = done.stdout
            assert "<title>marsdask</title>" in shown
            assert NASTY.replace("<", "&lt;").replace(">", "&gt;") in shown
            assert "1 worker, 1 core, " in shown
            for address in (server.address, *server.workers):
                assert address.removeprefix("tcp://") in shown
            figures = re.findall(r"<td class=.number.>(.*?)</td>", shown)
            assert len(figures) == 4
            assert not any(re.search(r"-\s*\d|NaN|undefined", figure) for figure in figures)

    run(main)
