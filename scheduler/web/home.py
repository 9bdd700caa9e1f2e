"""The first page: nodes, sessions and progress, drawn by its script.

It is one file, loads nothing from other servers, and may only send requests to this server. Its
Content-Security-Policy enforces that, even if the script fails to escape a name.
"""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import resources
from typing import Any

#: Dask's pages without bokeh, and those with it.
_PLAIN = {"info/main/workers.html": "workers", "info/main/logs.html": "logs"}
_DRAWN = {
    "status": "status",
    "tasks": "task stream",
    "system": "system",
    "profile": "profile",
    "graph": "graph",
}

_NOTE = """<p class="quiet">Dask's live charts are drawn by bokeh, which is not installed where this
supervisor runs: <code>pip install 'marsdask[web]'</code> there, and restart it.</p>"""

_FILE = resources.files(__package__).joinpath("home.html")


def page(*, drawn: bool) -> str:
    """Return the page; ``drawn`` tells whether Dask's charts exist."""
    pages = (_DRAWN if drawn else {}) | _PLAIN | {"api/cluster/nodes?resource=1": "JSON"}
    links = "".join(f'<a href="{path}">{name}</a>' for path, name in pages.items())
    text = _FILE.read_text(encoding="utf-8")
    return text.replace("$LINKS", links).replace("$NOTE", "" if drawn else _NOTE)


def headers(text: str) -> dict[str, str]:
    """Return the headers of the page: it may use only its own script and style."""
    script, style = (_digest(text, tag) for tag in ("script", "style"))
    allowed = {
        "default-src": "'none'",
        "script-src": script,
        "style-src": style,
        "connect-src": "'self'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in allowed.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }


def _digest(text: str, tag: str) -> str:
    match = re.search(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    assert match is not None
    digest = base64.b64encode(hashlib.sha256(match[1].encode()).digest()).decode()
    return f"'sha256-{digest}'"


def has_charts(application: Any) -> bool:
    """Return whether bokeh draws Dask's pages for a server: then it has a bokeh application."""
    return bool(getattr(application, "applications", ()))
