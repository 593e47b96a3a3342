"""Release of feedback, from formgrader too: what was handed in another way stops no other."""

from contextlib import suppress
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

from grader.course.beside import BOTH


class ReleaseFeedback(ExchangeReleaseFeedback):
    """Leave out pages that nobody could fetch; nbgrader's own stops at the first of them."""

    def copy_files(self) -> None:
        """Release every page of a submission that came through the exchange."""
        pages = Path(self.coursedir.format_path(self.coursedir.feedback_directory, "x", "x"))
        folders = pages.parent.parent.glob(f"*/{self.coursedir.assignment_id}")
        left_out = [x.parent.name for x in folders if not all((x / y).is_file() for y in BOTH)]
        for student in left_out:
            self.log.warning("%s handed in another way than by the exchange: left out", student)
        excluded = self.coursedir.student_id_exclude
        self.coursedir.student_id_exclude = ",".join([*filter(None, [excluded]), *left_out])
        try:
            super().copy_files()
        finally:
            self.coursedir.student_id_exclude = excluded
            self._open_pages()

    def _open_pages(self) -> None:
        """Let students read their pages, which are closed to them here: names are secrets there."""
        for page in Path(self.dest_path).glob("*.html"):
            with suppress(PermissionError):  # another instructor's
                page.chmod(0o644)
