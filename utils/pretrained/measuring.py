"""Figures of lesson 07: measured where the published model is there, recorded ones elsewhere."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from utils.download import DownloadError
from utils.pretrained.weights import Files, published

RECORD: Final = Path(__file__).resolve().parents[2] / "bench" / "results" / "pretrained.json"


@dataclass
class Measuring:
    """The model's files, and what has been measured with them in this notebook.

    Attributes:
        files: of the published model, or the tiny one.
        found: name -> what was measured, rounded.

    """

    files: Files
    found: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_published(cls) -> "Measuring":
        """Begin with the published model, or the tiny one in its place."""
        return cls(published())

    def __str__(self) -> str:
        """Return where the files come from."""
        return self.files.note

    def measured(self, name: str, measure: Callable[[], Any]) -> Any:
        """Measure something with the published model; without it, return what was recorded.

        A printed line says so where figures are recorded ones.

        Args:
            name: of the figures.
            measure: called if the model is there; gives plain data.

        """
        why = "not with the tiny model"
        if self.files.is_real:
            try:
                self.found[name] = rounded(measure())
                return self.found[name]
            except DownloadError as error:
                why = str(error)
        found, where = recorded()
        sys.stdout.write(f"Recorded figures, {where} ({why}).\n")
        return found[name]


def recorded() -> tuple[dict[str, Any], str]:
    """Return the recorded figures, and on which machine and day they were measured."""
    kept = json.loads(RECORD.read_text(encoding="utf-8"))
    return kept["results"], f"{kept['date']}, {kept['processor']}, torch {kept['torch']}"


def rounded(value: Any) -> Any:
    """Return plain data with its numbers rounded to four digits behind the point."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, (list, tuple)) else value
