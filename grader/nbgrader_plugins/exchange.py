"""Release of feedback, from formgrader too: what was handed in another way stops no other."""

from collections.abc import Iterator
from contextlib import suppress
from glob import escape
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from grader.course.beside import BOTH, SECRET

EVERYBODY = ("", "*")


class ReleaseFeedback(ExchangeReleaseFeedback):
    """Leave out pages that nobody could fetch; nbgrader's own stops at the first of them."""

    src_path: str  # nbgrader's: where it looks for pages

    def copy_files(self) -> None:
        """Release every page of a submission that came through the exchange, folder by folder.

        nbgrader's list of whom to leave out has commas between names, and a name may hold one.
        """
        whole = self.src_path
        try:
            for folder in self._folders():
                self._release(folder)
        finally:
            self.src_path = whole

    def _folders(self) -> Iterator[Path]:
        """Yield the folders with pages; one student's takes no look at the others'."""
        if self.coursedir.student_id not in EVERYBODY:
            yield Path(self.src_path)
            return
        pages = Path(self.coursedir.format_path(self.coursedir.feedback_directory, "x", "x"))
        yield from sorted(pages.parent.parent.glob(f"*/{self.coursedir.assignment_id}"))

    def _release(self, folder: Path) -> None:
        if not all((folder / name).is_file() for name in BOTH):
            student = folder.parent.name
            self.log.warning("%s handed in another way than by the exchange: left out", student)
            return
        self.src_path = escape(str(folder))
        super().copy_files()
        self._open_pages(folder)

    def _open_pages(self, folder: Path) -> None:
        """Let students read their pages, which are closed to them here: names are secrets there."""
        secret = (folder / SECRET).read_text()
        for page in folder.glob("*.html"):
            name = notebook_hash(secret=secret, notebook_id=page.stem)
            with suppress(OSError):  # another instructor's, or of a student who is excluded
                Path(self.dest_path, f"{name}.html").chmod(0o644)
