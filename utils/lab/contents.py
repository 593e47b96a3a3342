"""JupyterLab's view of the learner's files, with a start page that is up to date when opened."""

import logging
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

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

    def _renew(self) -> None:
        """Write the page; if that fails, the one written before is shown, with its time."""
        try:
            write_page(Course(Path(self.root_dir).parent))
        except Exception as error:  # whatever it is, the page must open
            log.error("The start page could not be renewed: %s", error)
