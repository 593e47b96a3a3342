"""nbgrader's list of assignments (Submit, Fetch), out of reach of other web pages.

A browser sends JupyterLab's cookie with whatever leads to it, from any page. nbgrader's handlers
answer as HTML and repeat the address: a link from elsewhere would run its script with the rights of
JupyterLab, which has a terminal. `server_extensions.json` puts this in the place of nbgrader's own.
"""

import os
from collections.abc import Iterator
from typing import Any

from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from nbgrader.server_extensions.assignment_list import handlers
from tornado.web import HTTPError

OWN = ("same-origin", "none")  # none: the address was typed, or comes from outside the browser


class FromOwnPages:
    """Refuse what a browser asks for on behalf of a page that is not JupyterLab's.

    A page at another port of this machine is such a page, too. Browsers name the asking page to
    every address of the machine itself and to every one with https.
    """

    request: Any

    async def prepare(self) -> None:
        """Refuse a request from another page before anything is done."""
        await super().prepare()  # type: ignore[misc]
        if self.request.headers.get("Sec-Fetch-Site", "none") not in OWN:
            raise HTTPError(403, "Another web page led here: open this from JupyterLab")


def guarded(base: str, rules: list[Any], *more: type) -> Iterator[tuple[Any, ...]]:
    """Yield nbgrader's rules below a server's address, with handlers that refuse other pages.

    Args:
        base: the server's address.
        rules: (pattern, handler, and maybe its arguments).
        more: what the handlers inherit besides.

    """
    for pattern, handler, *arguments in rules:
        if issubclass(handler, JupyterHandler):  # others hand out scripts and styles of nbgrader's
            handler = type(handler.__name__, (FromOwnPages, *more, handler), {})  # noqa: PLW2901
        yield (url_path_join(base, pattern), handler, *arguments)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: Any) -> None:
    # A file beside a notebook would stand in for a module of the kernel's own.
    os.environ["PYTHONSAFEPATH"] = "1"
    manager = handlers.AssignmentList(parent=app)
    manager.root_dir = app.root_dir
    app.web_app.settings["assignment_list_manager"] = manager
    # Answers as JSON, which no browser takes for a page.
    rules = guarded(app.web_app.settings["base_url"], handlers.default_handlers, APIHandler)
    app.web_app.add_handlers(".*$", list(rules))
