"""JupyterLab's view of the learner's files, with a start page that is up to date when opened."""

import logging
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado.web import HTTPError

from utils.lab.exchange import Course
from utils.lab.page import NAME, write_page

log = logging.getLogger(__name__)


class CourseFiles(AsyncLargeFileManager):
    """The files below `learn/`, as they are, but for the start page: it is written when read."""

    async def get(self, path: str, content: bool = True, *args: Any, **options: Any) -> Any:
        """Return a file's or folder's model, as the base class does."""
        if content and path.strip("/") == NAME:
            self._renew()
        return await super().get(path, content, *args, **options)  # type: ignore[no-untyped-call]

    async def rename_file(self, old_path: str, new_path: str) -> None:
        """Rename or move a file, but not the notebook of a lesson: grading reads it by its name."""
        old, new = old_path.strip("/"), new_path.strip("/")
        lesson, _, name = old.partition("/")
        if old != new and name == f"{lesson}.ipynb" and lesson in self._course().lessons():
            raise HTTPError(
                403,
                f"{name} keeps its name: Submit and grading need it. For a copy, right-click it "
                "in the list of files, then Duplicate.",
            )
        await super().rename_file(old_path, new_path)  # type: ignore[no-untyped-call]

    def _course(self) -> Course:
        return Course(Path(self.root_dir).parent)

    def _renew(self) -> None:
        """Write the page; if that fails, the one written before is shown, with its time."""
        try:
            write_page(self._course())
        except Exception as error:  # whatever it is, the page must open
            log.error("The start page could not be renewed: %s", error)
