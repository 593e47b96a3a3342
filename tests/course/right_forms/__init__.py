"""Other right ways to write each exercise: a checker that refuses one of them is wrong."""

from typing import Any

from tests.course.right_forms.attention import FORMS as ATTENTION
from tests.course.right_forms.start_here import FORMS as START_HERE

RIGHT_FORMS: dict[str, list[Any]] = START_HERE | ATTENTION
