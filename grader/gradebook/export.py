"""nbgrader's table of grades (`nbgrader export`), with each submission's status."""

import csv
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin

from grader.gradebook.copies import read_copy


class StatusExportPlugin(CsvExportPlugin):
    """Adds a column "status"; where the grader itself failed, the score is empty, not zero."""

    def export(self, gradebook: Gradebook) -> None:
        """Write nbgrader's table, then add to it."""
        super().export(gradebook)
        path = Path(self.to or "grades.csv")
        folder = Path(gradebook.engine.url.database).parent
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            _add_status(row, folder)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else ["status"])
            writer.writeheader()
            writer.writerows(rows)


def _add_status(row: dict[str, str], folder: Path) -> None:
    copy = read_copy(folder, row["student_id"], row["assignment"])
    row["status"] = copy.status if copy is not None else "not submitted"
    if row["status"] == "grader error":
        row["score"] = row["raw_score"] = ""
