"""The type by which a verdict is found among a notebook's outputs."""

from typing import Final

MIME: Final = "application/vnd.course.verdict+json"
