"""Scaled dot-product attention, also under repair: right answers."""

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.attention.answers.first import LAWS
from utils.checks.lessons.attention.probes import PROBES
from utils.reference.attention.torch_attention import reference_attention

EXERCISES = by_id(
    Exercise(PROBES["scaled_dot_product_attention"], reference_attention, invariants=LAWS),
    Exercise(PROBES["repaired_attention"], reference_attention, invariants=LAWS[:1]),
)
