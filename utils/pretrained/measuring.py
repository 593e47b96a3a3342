"""Figures of lesson 07: measured where the published model is there, recorded ones elsewhere."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from utils.download import DownloadError
from utils.experiments.recorded import recorded
from utils.pretrained.weights import Files, published


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
        found, where = recorded("pretrained")
        sys.stdout.write(f"Figures {where}: {why}.\n")
        return found[name]


def rounded(value: Any) -> Any:
    """Return plain data with its numbers rounded to four digits behind the point."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, (list, tuple)) else value
