"""nbgrader's list of assignments (Submit, Fetch), out of reach of other web pages.

A browser sends JupyterLab's cookie with whatever leads to it, from any page. nbgrader's handlers
answer as HTML and repeat the address: a link from elsewhere would run its script with the rights of
JupyterLab, which has a terminal. `server_extensions.json` puts this in the place of nbgrader's own.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.server_extensions.assignment_list import handlers
from tornado.web import HTTPError, authenticated

from utils.lab.exchange import Course
from utils.lab.lessons import read_lesson
from utils.lab.standing import standings, what_passes

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


class Assignments(handlers.AssignmentList):  # type: ignore[misc]
    """nbgrader's list of assignments, with a sentence where a hand-in fails: it has a traceback."""

    def submit_assignment(self, course_id: str, assignment_id: str) -> dict[str, Any]:
        """Hand in a lesson, and return whether that worked, else why not."""
        with self.get_assignment_dir_config() as config:
            config.CourseDirectory.course_id = course_id
            config.CourseDirectory.assignment_id = assignment_id
            try:
                ExchangeFactory(config=config).Submit(
                    coursedir=CourseDirectory(config=config),
                    authenticator=Authenticator(config=config),
                    config=config,
                ).start()
            except Exception as error:  # whatever it is, the student must hear of it
                self.log.error("%s was not submitted", assignment_id, exc_info=True)
                return {"success": False, "value": str(error)}
        return {"success": True}


class HandedIn(APIHandler):
    """Tell what a lesson holds that was handed in just now."""

    @authenticated
    def get(self) -> None:
        """Answer with a line that JupyterLab shows."""
        learn = Path(self.settings["assignment_list_manager"].root_dir)
        course, name = Course(learn.parent), self.get_argument("lesson")
        if name not in course.lessons():
            raise HTTPError(404, f"There is no lesson {name!r}")
        found = standings(course.learn, read_lesson(course.source(name) / f"{name}.ipynb"))
        self.finish(json.dumps({"said": f"{name} is handed in. {what_passes(found)}"}))


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
    manager = Assignments(parent=app)
    manager.root_dir = app.root_dir
    app.web_app.settings["assignment_list_manager"] = manager
    # Answers as JSON, which no browser takes for a page.
    ours = [("/course/handed-in", HandedIn)]
    base, theirs = app.web_app.settings["base_url"], handlers.default_handlers
    rules = [*guarded(base, theirs, APIHandler), *guarded(base, ours)]
    app.web_app.add_handlers(".*$", rules)
