"""Cutting into heads and joining them: right answers; the known mistakes are patches of them."""

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.multi_head_attention.probes import PROBES
from utils.reference.attention.heads import reference_merge, reference_split

EXERCISES = by_id(
    Exercise(PROBES["split_heads"], reference_split),
    Exercise(PROBES["merge_heads"], reference_merge),
    Exercise(PROBES["repaired_split_heads"], reference_split),
)
