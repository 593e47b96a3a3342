"""Other right ways to write each exercise: a checker that refuses one of them is wrong."""

from typing import Any

from tests.course.right_forms.attention import FORMS as ATTENTION
from tests.course.right_forms.encoder import FORMS as ENCODER
from tests.course.right_forms.multi_head_attention import FORMS as MULTI_HEAD_ATTENTION
from tests.course.right_forms.positional_encoding import FORMS as POSITIONAL_ENCODING
from tests.course.right_forms.rnn_limits import FORMS as RNN_LIMITS
from tests.course.right_forms.start_here import FORMS as START_HERE
from tests.course.right_forms.training import FORMS as TRAINING

RIGHT_FORMS: dict[str, list[Any]] = (
    START_HERE
    | RNN_LIMITS
    | ATTENTION
    | POSITIONAL_ENCODING
    | MULTI_HEAD_ATTENTION
    | ENCODER
    | TRAINING
)
