"""HEAD requests for all pages, including Dask's: health checks use them."""

from __future__ import annotations

from functools import cache
from typing import Any

from tornado import httputil, web


def answer_head_requests(application: Any) -> None:
    """Let an application answer HEAD wherever it answers GET; tornado omits the body."""
    find = application.find_handler

    def found(request: httputil.HTTPServerRequest, **options: Any) -> Any:
        delegate = find(request, **options)
        if request.method == "HEAD":
            # Only GET opens a websocket; a page may have the same path.
            request.headers.pop("Upgrade", None)
            delegate.handler_class = _heading(delegate.handler_class)
        return delegate

    application.find_handler = found


@cache
def _heading(kind: type[web.RequestHandler]) -> type[web.RequestHandler]:
    if kind.head is not web.RequestHandler.head:
        return kind
    return type(kind.__name__, (kind,), {"head": kind.get, "__module__": kind.__module__})
