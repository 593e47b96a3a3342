"""Other right ways to write each exercise: a checker that refuses one of them is wrong."""

from typing import Any

from utils.checks.framework.discovery import collect

RIGHT_FORMS: dict[str, list[Any]] = dict(collect(__name__, __path__, "FORMS"))
