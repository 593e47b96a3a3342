"""Other right ways to write each exercise: a checker that refuses one of them is wrong."""

from typing import Any

from tests.course.right_forms.registered import FIRST_TWO, is_module
from utils.checks.discovery import collect

WRITTEN: dict[str, list[Any]] = dict(collect(__name__, __path__, "FORMS"))
RIGHT_FORMS: dict[str, list[Any]] = {
    name: [*forms, *(otherwise(forms[0]) for otherwise in FIRST_TWO if is_module(forms[0]))]
    for name, forms in WRITTEN.items()
}
