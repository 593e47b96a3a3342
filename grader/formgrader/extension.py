"""nbgrader's formgrader for one course, which no other site drives and no name or text runs in.

nbgrader's own takes its configuration from a folder that the address names, writes parts of
addresses and names into its pages as they are, answers data as pages, and serves the files of a
hand-in as pages of JupyterLab's.
"""

import json
import random
import re
import time
from collections.abc import Callable
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader
from nbgrader.api import InvalidEntry
from nbgrader.server_extensions.formgrader import apihandlers, handlers
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, BaseHandler
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension
from sqlalchemy.exc import OperationalError
from tornado.web import StaticFileHandler, authenticated

from grader.formgrader.submission_page import SubmissionPage
from utils.lab.assignments import guarded

# Hand-ins' files; and what would leave this course for the folder that an address names.
REPLACED: Final = (handlers.SubmissionFilesHandler, handlers.FormgraderHandler)
GRADED_ELSEWHERE: Final = (
    "Close this, and run make grade in a terminal. Formgrader would run the student's code "
    "with your own rights."
)
AUTOGRADE: Final = r"/formgrader/api/submission/([^/]+)/([^/]+)/autograde"
MOST_TRIES: Final = 20
PAUSE: Final = 0.1  # seconds, at most, before a save is tried again
PLAIN: Final = "text/plain; charset=UTF-8"  # the pages' own scripts read it as text
_IN_SCRIPT: Final = re.compile(r'(?<=var )(\w+) = "\{\{ (\w+) \}\}"')


class Start(BaseHandler):
    """Lead to the assignments of this course, whatever else the address says."""

    @authenticated
    def get(self) -> None:
        """Redirect."""
        self.redirect(f"{self.base_url}/formgrader/manage_assignments")


class Autograde(BaseApiHandler):
    """Say where hand-ins are graded: nbgrader's own autograde isolates nothing."""

    @authenticated
    def post(self, *_: str) -> None:
        """Answer as nbgrader's handler does when it fails."""
        self.write(json.dumps({"success": False, "error": "", "log": GRADED_ELSEWHERE}))


class Page:
    """A page that shows no picture by address, stands in no other site and sends no form."""

    @property
    def content_security_policy(self) -> str:
        """The browser's rules for the page, JupyterLab's own and ours."""
        theirs: str = super().content_security_policy  # type: ignore[misc]
        return f"{theirs}; img-src data:; object-src 'none'; base-uri 'none'; form-action 'none'"


class Data:
    """An answer that no browser takes for a page; what it saves waits for another grader's save."""

    gradebook: Any
    set_header: Callable[..., None]

    def put(self, *asked: str) -> None:
        """Save, again where somebody else saved in the same moment.

        SQLite lets none wait who has read before: of two such it refuses one at once. And of two
        who open a gradebook for the first time, one finds its course entered by the other.
        """
        for _ in range(MOST_TRIES):
            try:
                return super().put(*asked)  # type: ignore[misc, no-any-return]
            except InvalidEntry:
                pass
            except OperationalError:
                self.gradebook.db.rollback()
            time.sleep(PAUSE * random.random())
        return super().put(*asked)  # type: ignore[misc, no-any-return]

    def finish(self, *chunks: Any) -> Any:
        """End the answer."""
        self.set_header("Content-Type", PLAIN)
        return super().finish(*chunks)  # type: ignore[misc]


class Templates(FileSystemLoader):
    """nbgrader's templates, which write what goes into a script as the script's own values."""

    def get_source(self, environment: Environment, template: str) -> Any:
        """Return a template's text, its file, and whether it is current."""
        text, file, is_current = super().get_source(environment, template)
        return _IN_SCRIPT.sub(r"\1 = {{ \2 | tojson }}", text), file, is_current


class Formgrader(FormgradeExtension):
    """nbgrader's formgrader, with pages, handlers and templates of ours."""

    def init_tornado_settings(self, webapp: Any) -> None:
        """Hand the handlers what they need."""
        super().init_tornado_settings(webapp)
        webapp.settings["nbgrader_jinja2_env"] = Environment(
            loader=Templates(handlers.template_path), autoescape=True
        )
        webapp.settings["nbgrader_exporter"] = SubmissionPage(config=self.config)

    def init_handlers(self, webapp: Any) -> None:
        """Say which address leads to which handler."""
        base = webapp.settings["base_url"]
        pages = [rule for rule in handlers.default_handlers if rule[1] not in REPLACED]
        static = (r"/formgrader/static/(.*)", StaticFileHandler, {"path": handlers.static_path})
        rules = [
            *guarded(base, [(r"/formgrader/?", Start), static, *pages], Page),
            *guarded(base, [(AUTOGRADE, Autograde), *apihandlers.default_handlers], Data),
        ]
        webapp.add_handlers(".*$", rules)
